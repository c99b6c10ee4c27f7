-- +goose Up
INSERT INTO schema_compatibility (version, compatible_from) VALUES (28, 1);

-- The refunds that complete a withdrawal notice: few of all.
CREATE INDEX refunds_notice ON refunds (notice_id) WHERE notice_id <> '';

-- +goose Down
DROP INDEX refunds_notice;
DELETE FROM schema_compatibility WHERE version = 28;
