-- +goose Up
INSERT INTO schema_compatibility (version, compatible_from) VALUES (32, 1);

-- When an operator closed the task of a refund, who did, and what was done: for example that money which
-- the bank had returned was paid another way. An older release adds the latter to the note.
ALTER TABLE refunds ADD COLUMN settled_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE refunds ADD COLUMN settled_by TEXT NOT NULL DEFAULT '';
ALTER TABLE refunds ADD COLUMN settlement TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE refunds DROP COLUMN settlement;
ALTER TABLE refunds DROP COLUMN settled_by;
ALTER TABLE refunds DROP COLUMN settled_at;
DELETE FROM schema_compatibility WHERE version = 32;
