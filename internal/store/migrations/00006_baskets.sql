-- +goose Up
INSERT INTO schema_compatibility (version, compatible_from) VALUES (6, 1);

-- The basket of a customer, so that it is the same in all of their browsers.
ALTER TABLE customers ADD COLUMN basket TEXT NOT NULL DEFAULT ''; -- items such as register:example.de, separated by ~

-- +goose Down
ALTER TABLE customers DROP COLUMN basket;
DELETE FROM schema_compatibility WHERE version = 6;
