-- +goose Up
INSERT INTO schema_compatibility (version, compatible_from) VALUES (21, 1);

-- The registry's fee for the whole term that the price of a premium name is based on, such as
-- '250.00 EUR'; empty: the list price.
ALTER TABLE order_items ADD COLUMN premium_fee TEXT NOT NULL DEFAULT '';
ALTER TABLE provision_items ADD COLUMN premium_fee TEXT NOT NULL DEFAULT '';
-- 1: the registry charged such a fee the last time, so the price of the next term is queried.
ALTER TABLE domains ADD COLUMN premium BIGINT NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE domains DROP COLUMN premium;
ALTER TABLE provision_items DROP COLUMN premium_fee;
ALTER TABLE order_items DROP COLUMN premium_fee;
DELETE FROM schema_compatibility WHERE version = 21;
