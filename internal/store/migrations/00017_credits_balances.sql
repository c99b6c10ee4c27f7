-- +goose Up
INSERT INTO schema_compatibility (version, compatible_from) VALUES (17, 1);

-- What credit notes take back from the revenue in margin_months: one row per refund and order
-- item whose revenue was counted. Rows never change.
CREATE TABLE margin_credits (
    id         TEXT   NOT NULL PRIMARY KEY, -- the refund's and the order item's
    tld        TEXT   NOT NULL,
    net        BIGINT NOT NULL, -- cents, above zero
    eur_known  BIGINT NOT NULL, -- that of the item's charge
    month      TEXT   NOT NULL, -- in which the credit note was issued, in Germany, 2026-11
    created_at BIGINT NOT NULL  -- when it was issued
);

-- The balance that a registry reported when it was last queried (EPP balance mapping).
CREATE TABLE registry_balances (
    account    TEXT   NOT NULL PRIMARY KEY, -- the registry account's name in the configuration
    details    TEXT   NOT NULL, -- inbox.Balance as JSON
    queried_at BIGINT NOT NULL, -- business time
    stored_at  BIGINT NOT NULL  -- wall clock
);

-- +goose Down
DROP TABLE registry_balances;
DROP TABLE margin_credits;
DELETE FROM schema_compatibility WHERE version = 17;
