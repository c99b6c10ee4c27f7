-- The express wish of consumers that an order is carried out before their time to
-- withdraw is over. Written in the one dialect that 00001 describes.

-- +goose Up

ALTER TABLE orders ADD COLUMN consent_at BIGINT NOT NULL DEFAULT 0; -- 0: none was given
ALTER TABLE orders ADD COLUMN consent_wording TEXT NOT NULL DEFAULT ''; -- package order has the words
-- Whoever withdraws names an order or a domain.
CREATE INDEX order_items_name ON order_items (name, order_id);

-- +goose Down
DROP INDEX order_items_name;
ALTER TABLE orders DROP COLUMN consent_wording;
ALTER TABLE orders DROP COLUMN consent_at;
