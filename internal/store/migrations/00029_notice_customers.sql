-- +goose Up
INSERT INTO schema_compatibility (version, compatible_from) VALUES (29, 1);

-- The account that sent the notice signed in, or whose confirmed address it was sent with; empty if
-- there is none. The address of an account may change. An older release leaves it empty.
ALTER TABLE withdrawal_notices ADD COLUMN customer_id TEXT NOT NULL DEFAULT '';
CREATE INDEX withdrawal_notices_customer ON withdrawal_notices (customer_id, id) WHERE customer_id <> '';

-- +goose Down
DROP INDEX withdrawal_notices_customer;
ALTER TABLE withdrawal_notices DROP COLUMN customer_id;
DELETE FROM schema_compatibility WHERE version = 29;
