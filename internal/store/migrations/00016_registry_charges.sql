-- +goose Up
INSERT INTO schema_compatibility (version, compatible_from) VALUES (16, 1);

-- What the registry reported for a request that it decides later, like 8.00 EUR. Empty: nothing.
ALTER TABLE provision_items ADD COLUMN fee TEXT NOT NULL DEFAULT '';

-- What registries charge; package cost has the rules. Rows never change.
CREATE TABLE registry_charges (
    id         TEXT   NOT NULL PRIMARY KEY, -- the provision item's
    domain_id  TEXT   NOT NULL,
    account    TEXT   NOT NULL, -- the registry account's name in the configuration
    tld        TEXT   NOT NULL,
    operation  TEXT   NOT NULL, -- register, renew, transfer or restore
    years      BIGINT NOT NULL,
    amount     BIGINT NOT NULL, -- ten-thousandths of the currency's unit
    currency   TEXT   NOT NULL, -- empty: the amount is unknown
    source     TEXT   NOT NULL, -- registry, catalogue or unknown
    euros      BIGINT NOT NULL, -- cents
    eur_known  BIGINT NOT NULL, -- 0: the amount in euros is unknown
    revenue    BIGINT NOT NULL, -- the net price of the order item in cents
    month      TEXT   NOT NULL, -- in Germany, 2026-11
    created_at BIGINT NOT NULL
);
-- It contains the amounts, so that a balance does not read the rows.
CREATE INDEX registry_charges_account ON registry_charges (account, currency, created_at, amount);

-- Sums of registry_charges by month and extension, maintained in their transactions. A month
-- has several shards, so that concurrent charges don't wait for one row.
CREATE TABLE margin_months (
    month           TEXT   NOT NULL,
    tld             TEXT   NOT NULL,
    shard           BIGINT NOT NULL,
    items           BIGINT NOT NULL,
    revenue         BIGINT NOT NULL, -- of all items
    euros           BIGINT NOT NULL, -- the cost of those whose cost is known
    unknown_items   BIGINT NOT NULL, -- items of unknown cost
    unknown_revenue BIGINT NOT NULL,
    PRIMARY KEY (month, tld, shard)
);

-- Euro reference rates of the European Central Bank.
CREATE TABLE exchange_rates (
    day      TEXT   NOT NULL, -- 2026-11-16
    currency TEXT   NOT NULL,
    rate     BIGINT NOT NULL, -- millionths of the currency's unit for one euro
    PRIMARY KEY (day, currency)
);

-- Accounts that are paid in advance.
CREATE TABLE registry_funds (
    id         TEXT   NOT NULL PRIMARY KEY,
    account    TEXT   NOT NULL,
    kind       TEXT   NOT NULL, -- opening, deposit or statement
    amount     BIGINT NOT NULL, -- ten-thousandths; a statement's is the whole balance
    currency   TEXT   NOT NULL,
    at         BIGINT NOT NULL, -- when it was booked or stated
    reference  TEXT   NOT NULL,
    created_by TEXT   NOT NULL, -- the operator's account, or the user at the command line
    created_at BIGINT NOT NULL
);
CREATE INDEX registry_funds_account ON registry_funds (account, at);

-- +goose Down
DROP TABLE registry_funds;
DROP TABLE exchange_rates;
DROP TABLE margin_months;
DROP TABLE registry_charges;
ALTER TABLE provision_items DROP COLUMN fee;
DELETE FROM schema_compatibility WHERE version = 16;
