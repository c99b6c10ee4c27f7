-- +goose Up
INSERT INTO schema_compatibility (version, compatible_from) VALUES (30, 1);

-- What the sender of a closed notice was told: the operator's reply, and the days on which contracts
-- end, separated by spaces. An older release leaves both empty.
ALTER TABLE withdrawal_notices ADD COLUMN done_reply TEXT NOT NULL DEFAULT '';
ALTER TABLE withdrawal_notices ADD COLUMN done_ends TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE withdrawal_notices DROP COLUMN done_ends;
ALTER TABLE withdrawal_notices DROP COLUMN done_reply;
DELETE FROM schema_compatibility WHERE version = 30;
