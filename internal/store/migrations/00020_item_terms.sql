-- +goose Up
INSERT INTO schema_compatibility (version, compatible_from) VALUES (20, 1);

-- The end of the term that the item has paid for, for the mail about the outcome; 0: not known.
ALTER TABLE order_items ADD COLUMN paid_until BIGINT NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE order_items DROP COLUMN paid_until;
DELETE FROM schema_compatibility WHERE version = 20;
