-- +goose Up
INSERT INTO schema_compatibility (version, compatible_from) VALUES (35, 1);

-- The locks in force, among all disputes that ever locked something.
CREATE INDEX disputes_locking ON disputes (opened_at, id) WHERE order_id <> '' AND lock_state IN ('active', 'kept', 'denying', 'denied');

-- +goose Down
DROP INDEX disputes_locking;
DELETE FROM schema_compatibility WHERE version = 35;
