-- +goose Up
INSERT INTO schema_compatibility (version, compatible_from) VALUES (27, 1);

-- The refund that an event about an order is about. An older release leaves it empty.
ALTER TABLE audit_events ADD COLUMN refund_id TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE audit_events DROP COLUMN refund_id;
DELETE FROM schema_compatibility WHERE version = 27;
