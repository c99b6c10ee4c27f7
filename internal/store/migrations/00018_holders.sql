-- +goose Up
INSERT INTO schema_compatibility (version, compatible_from) VALUES (18, 1);

-- The people and organisations for whom a customer registers domains, besides the customer;
-- see package holder.
CREATE TABLE holders (
    id           TEXT   NOT NULL PRIMARY KEY,
    customer_id  TEXT   NOT NULL REFERENCES customers (id),
    kind         TEXT   NOT NULL, -- person or company
    name         TEXT   NOT NULL,
    organisation TEXT   NOT NULL,
    street       TEXT   NOT NULL,
    postal_code  TEXT   NOT NULL,
    city         TEXT   NOT NULL,
    state        TEXT   NOT NULL,
    country      TEXT   NOT NULL, -- ISO 3166-1 alpha-2
    phone        TEXT   NOT NULL, -- EPP format, +49.30123456
    email        TEXT   NOT NULL,
    created_at   BIGINT NOT NULL,
    updated_at   BIGINT NOT NULL
);
CREATE INDEX holders_customer ON holders (customer_id, id);

-- The registrant of a domain is a copy: editing a holder changes no domain. Domains that were
-- registered before this migration have none until the customer's data first change.
ALTER TABLE domains ADD COLUMN holder_id TEXT NOT NULL DEFAULT ''; -- empty: the customer
ALTER TABLE domains ADD COLUMN registrant TEXT NOT NULL DEFAULT ''; -- JSON; empty: the customer's registrant data
ALTER TABLE domains ADD COLUMN registrant_since BIGINT NOT NULL DEFAULT 0; -- 0: created_at
CREATE INDEX domains_holder ON domains (holder_id, name) WHERE holder_id <> '';

-- The registrants that a domain had before.
CREATE TABLE past_registrants (
    id          TEXT   NOT NULL PRIMARY KEY, -- the domain change that replaced it
    domain_id   TEXT   NOT NULL,
    customer_id TEXT   NOT NULL,
    holder_id   TEXT   NOT NULL,
    registrant  TEXT   NOT NULL, -- JSON
    reason      TEXT   NOT NULL, -- why it was replaced
    since       BIGINT NOT NULL,
    until       BIGINT NOT NULL
);
CREATE INDEX past_registrants_domain ON past_registrants (domain_id, id);
CREATE INDEX past_registrants_customer ON past_registrants (customer_id, id);

ALTER TABLE order_items ADD COLUMN holder_id TEXT NOT NULL DEFAULT ''; -- empty: the customer
ALTER TABLE order_items ADD COLUMN registrant TEXT NOT NULL DEFAULT ''; -- JSON: the holder's data; empty without a holder, and once the order is final
ALTER TABLE provision_items ADD COLUMN holder_id TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE provision_items DROP COLUMN holder_id;
ALTER TABLE order_items DROP COLUMN registrant;
ALTER TABLE order_items DROP COLUMN holder_id;
DROP TABLE past_registrants;
DROP INDEX domains_holder;
ALTER TABLE domains DROP COLUMN registrant_since;
ALTER TABLE domains DROP COLUMN registrant;
ALTER TABLE domains DROP COLUMN holder_id;
DROP TABLE holders;
DELETE FROM schema_compatibility WHERE version = 18;
