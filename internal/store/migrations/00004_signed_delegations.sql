-- +goose Up
INSERT INTO schema_compatibility (version, compatible_from) VALUES (4, 4);

-- A nameserver change removes the DS records first and then waits until resolvers have
-- forgotten them.
ALTER TABLE domain_changes ADD COLUMN wait_until BIGINT NOT NULL DEFAULT 0; -- business time; 0: the change does not wait

-- +goose Down
ALTER TABLE domain_changes DROP COLUMN wait_until;
DELETE FROM schema_compatibility WHERE version = 4;
