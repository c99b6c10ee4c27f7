-- The registrant for whom an order was approved, while it is being paid and carried
-- out. Provisioning registers exactly this one, whatever the account's data say by
-- then. Written in the one dialect that 00001 describes.

-- +goose Up

ALTER TABLE orders ADD COLUMN registrant TEXT NOT NULL DEFAULT ''; -- JSON; empty unless paying or provisioning
ALTER TABLE lines ADD COLUMN registrant TEXT NOT NULL DEFAULT ''; -- JSON; empty once the line has ended

-- +goose Down
ALTER TABLE lines DROP COLUMN registrant;
ALTER TABLE orders DROP COLUMN registrant;
