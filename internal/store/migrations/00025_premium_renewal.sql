-- +goose Up
INSERT INTO schema_compatibility (version, compatible_from) VALUES (25, 1);

-- The net price in cents of the next term of a premium name; 0: unknown, or the list price.
ALTER TABLE order_items ADD COLUMN premium_renewal BIGINT NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE order_items DROP COLUMN premium_renewal;
DELETE FROM schema_compatibility WHERE version = 25;
