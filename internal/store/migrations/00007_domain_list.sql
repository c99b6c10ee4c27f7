-- +goose Up
INSERT INTO schema_compatibility (version, compatible_from) VALUES (7, 1);

-- A customer's own order of their domains. Neither reaches a registry.
ALTER TABLE domains ADD COLUMN folder TEXT NOT NULL DEFAULT '';
ALTER TABLE domains ADD COLUMN note TEXT NOT NULL DEFAULT '';
CREATE INDEX domains_customer_term ON domains (customer_id, paid_until, id);
CREATE INDEX domains_customer_added ON domains (customer_id, id);
CREATE INDEX domains_customer_groups ON domains (customer_id, status, tld, folder);

-- The end of the term that a renewal or restore extends. If the domain's term ends later by
-- now, it is paid already. 0: not a renewal, or ordered before this column existed.
ALTER TABLE order_items ADD COLUMN term_end BIGINT NOT NULL DEFAULT 0;

-- One action for many domains: what was decided at once about each of them. Package bulk has
-- the rules.
CREATE TABLE bulk_actions (
    id          TEXT   NOT NULL PRIMARY KEY,
    customer_id TEXT   NOT NULL REFERENCES customers (id),
    action      TEXT   NOT NULL,
    order_id    TEXT   NOT NULL DEFAULT '', -- the order of renewals
    results     TEXT   NOT NULL, -- JSON
    created_at  BIGINT NOT NULL
);
CREATE INDEX bulk_actions_customer ON bulk_actions (customer_id, id);
ALTER TABLE domain_changes ADD COLUMN bulk_id TEXT NOT NULL DEFAULT ''; -- empty: a change of one domain
CREATE INDEX domain_changes_bulk ON domain_changes (bulk_id) WHERE bulk_id <> '';

-- +goose Down
DROP INDEX domain_changes_bulk;
ALTER TABLE domain_changes DROP COLUMN bulk_id;
DROP TABLE bulk_actions;
ALTER TABLE order_items DROP COLUMN term_end;
DROP INDEX domains_customer_groups;
DROP INDEX domains_customer_added;
DROP INDEX domains_customer_term;
ALTER TABLE domains DROP COLUMN note;
ALTER TABLE domains DROP COLUMN folder;
DELETE FROM schema_compatibility WHERE version = 7;
