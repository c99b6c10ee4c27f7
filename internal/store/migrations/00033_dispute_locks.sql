-- +goose Up
INSERT INTO schema_compatibility (version, compatible_from) VALUES (33, 1);

-- When the lock of a dispute was set and lifted, which may be long after an inquiry became a dispute, and what
-- an operator decided: the bank may lift the lock later. An older release writes none of them.
ALTER TABLE disputes ADD COLUMN locked_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE disputes ADD COLUMN lifted_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE disputes ADD COLUMN decision TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE disputes DROP COLUMN decision;
ALTER TABLE disputes DROP COLUMN lifted_at;
ALTER TABLE disputes DROP COLUMN locked_at;
DELETE FROM schema_compatibility WHERE version = 33;
