-- +goose Up
INSERT INTO schema_compatibility (version, compatible_from) VALUES (31, 1);

-- When the hold of a lock is next compared with the registry, by business time; 0: the lock has no hold,
-- or it has ended. An older release sets no such lock.
ALTER TABLE domain_locks ADD COLUMN hold_step_at BIGINT NOT NULL DEFAULT 0;
CREATE INDEX domain_locks_hold ON domain_locks (hold_step_at) WHERE hold_step_at > 0;

-- +goose Down
DROP INDEX domain_locks_hold;
ALTER TABLE domain_locks DROP COLUMN hold_step_at;
DELETE FROM schema_compatibility WHERE version = 31;
