-- +goose Up
INSERT INTO schema_compatibility (version, compatible_from) VALUES (3, 1);

-- Items of automatic renewals have their own worker: thousands of them become due in a
-- night, and customers who buy must not wait for those. The index of migration 1 without the
-- first column is for the operator's lists.
ALTER TABLE provision_items ADD COLUMN automatic BIGINT NOT NULL DEFAULT 0; -- 1: of an automatic renewal
CREATE INDEX provision_items_queue ON provision_items (automatic, due_at) WHERE due_at > 0;

-- +goose Down
DROP INDEX provision_items_queue;
ALTER TABLE provision_items DROP COLUMN automatic;
DELETE FROM schema_compatibility WHERE version = 3;
