-- +goose Up
INSERT INTO schema_compatibility (version, compatible_from) VALUES (34, 1);

-- When the first mail about a failed item was queued; 0: none was. An older release
-- leaves it 0, and mails only failures with a refund, which then has the item.
ALTER TABLE order_items ADD COLUMN failure_mailed_at BIGINT NOT NULL DEFAULT 0;

-- The language of the mails to the registrant; empty: the customer's current one. An older release
-- leaves it empty.
ALTER TABLE contact_checks ADD COLUMN language TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE contact_checks DROP COLUMN language;
ALTER TABLE order_items DROP COLUMN failure_mailed_at;
DELETE FROM schema_compatibility WHERE version = 34;
