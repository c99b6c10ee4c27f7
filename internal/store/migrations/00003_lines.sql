-- Paid lines on their way to a registry, and what registries say of domains.
-- Written in the one dialect that 00001 describes.

-- +goose Up

-- One row is one paid item and the whole state of its provisioning: there is no
-- queue beside it.
CREATE TABLE lines (
    id          TEXT   NOT NULL PRIMARY KEY,
    customer_id TEXT   NOT NULL REFERENCES customers (id),
    name        TEXT   NOT NULL, -- A-labels, lower case
    tld         TEXT   NOT NULL, -- with its dot
    kind        TEXT   NOT NULL, -- register or transfer
    years       BIGINT NOT NULL,
    payment     TEXT   NOT NULL, -- manual: and a reference
    state       TEXT   NOT NULL, -- paid, contacts, hosts, requested, pending, undoing, active, failed
    failure     TEXT   NOT NULL DEFAULT '', -- a code; empty: not refused
    refund_due  BIGINT NOT NULL DEFAULT 0,
    account     TEXT   NOT NULL, -- the registry account's name in the configuration
    domain_id   TEXT   NOT NULL DEFAULT '', -- empty: not taken up yet
    handle      TEXT   NOT NULL DEFAULT '', -- the contact at the registry; empty: none
    code_sealed TEXT   NOT NULL DEFAULT '', -- the auth code
    asked_at    BIGINT NOT NULL, -- when the intent of the present state was written
    due_at      BIGINT NOT NULL, -- 0: at the end; while somebody works on it, the end of the lease
    node        TEXT   NOT NULL DEFAULT '', -- who works on it
    attempts    BIGINT NOT NULL DEFAULT 0,
    created_at  BIGINT NOT NULL,
    updated_at  BIGINT NOT NULL
);
-- The same payment pays for the same name once.
CREATE UNIQUE INDEX lines_payment ON lines (payment, name);
-- A name is wanted by one open line at a time.
CREATE UNIQUE INDEX lines_open ON lines (name) WHERE due_at > 0;
CREATE INDEX lines_due ON lines (due_at) WHERE due_at > 0;
CREATE INDEX lines_node ON lines (node) WHERE node <> '';
CREATE INDEX lines_name ON lines (name, id);
CREATE INDEX lines_customer ON lines (customer_id, id);

-- What registries told, kept before it is acknowledged.
CREATE TABLE registry_messages (
    account   TEXT   NOT NULL,
    id        TEXT   NOT NULL, -- the registry's
    name      TEXT   NOT NULL, -- the domain that it is about; empty: something else
    text      TEXT   NOT NULL,
    queued_at BIGINT NOT NULL,
    stored_at BIGINT NOT NULL,
    PRIMARY KEY (account, id)
);

ALTER TABLE domains ADD COLUMN account TEXT NOT NULL DEFAULT ''; -- the registry account; empty: none of ours did it
ALTER TABLE domains ADD COLUMN handle TEXT NOT NULL DEFAULT ''; -- the holder's contact at the registry
ALTER TABLE domains ADD COLUMN code_sealed TEXT NOT NULL DEFAULT ''; -- the auth code that it was registered with
ALTER TABLE domains ADD COLUMN registry_status TEXT NOT NULL DEFAULT ''; -- the registry's words, separated by spaces
ALTER TABLE domains ADD COLUMN registry_expires BIGINT NOT NULL DEFAULT 0;
ALTER TABLE domains ADD COLUMN synced_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE domains ADD COLUMN sync_due BIGINT NOT NULL DEFAULT 0; -- 0: only on request
CREATE INDEX domains_sync ON domains (sync_due) WHERE sync_due > 0;
CREATE INDEX domains_name ON domains (name, id);

-- +goose Down
DROP INDEX domains_name;
DROP INDEX domains_sync;
ALTER TABLE domains DROP COLUMN sync_due;
ALTER TABLE domains DROP COLUMN synced_at;
ALTER TABLE domains DROP COLUMN registry_expires;
ALTER TABLE domains DROP COLUMN registry_status;
ALTER TABLE domains DROP COLUMN code_sealed;
ALTER TABLE domains DROP COLUMN handle;
ALTER TABLE domains DROP COLUMN account;
DROP TABLE registry_messages;
DROP TABLE lines;
