-- +goose Up
-- A program from before would accept expired tokens.
INSERT INTO schema_compatibility (version, compatible_from) VALUES (8, 8);

ALTER TABLE personal_access_tokens ADD COLUMN purpose TEXT NOT NULL DEFAULT ''; -- what the customer says it is for
ALTER TABLE personal_access_tokens ADD COLUMN expires_at BIGINT NOT NULL DEFAULT 0; -- 0: it does not expire

ALTER TABLE sessions ADD COLUMN country TEXT NOT NULL DEFAULT ''; -- of the sign-in, as a trusted proxy reports it: ISO 3166-1; empty: unknown

-- The customers' overview: ends of terms, which are counted in the index alone, orders and
-- changes in progress.
CREATE INDEX domains_ending ON domains (customer_id, paid_until) WHERE status <> 'transferred_out';
CREATE INDEX orders_customer_provisioning ON orders (customer_id, id) WHERE state = 'provisioning';
CREATE INDEX domain_changes_customer_open ON domain_changes (customer_id, id) WHERE due_at > 0;

-- What was ordered and paid through tokens, applications and agents.
CREATE INDEX orders_through ON orders (customer_id, by_kind, by_id) WHERE channel <> 'portal' AND channel <> 'renewal';
CREATE INDEX orders_completer ON orders (customer_id, completer_id) WHERE completer_id <> '';

-- +goose Down
DROP INDEX orders_completer;
DROP INDEX orders_through;
DROP INDEX domain_changes_customer_open;
DROP INDEX orders_customer_provisioning;
DROP INDEX domains_ending;
ALTER TABLE sessions DROP COLUMN country;
ALTER TABLE personal_access_tokens DROP COLUMN expires_at;
ALTER TABLE personal_access_tokens DROP COLUMN purpose;
DELETE FROM schema_compatibility WHERE version = 8;
