-- What holders want of their domains at registries, and what registries told last.
-- Written in the one dialect that 00001 describes.

-- +goose Up

CREATE TABLE changes (
    id          TEXT   NOT NULL PRIMARY KEY,
    customer_id TEXT   NOT NULL REFERENCES customers (id),
    domain_id   TEXT   NOT NULL,
    name        TEXT   NOT NULL, -- A-labels, lower case
    tld         TEXT   NOT NULL, -- with its dot
    account     TEXT   NOT NULL, -- the registry account's name in the configuration
    kind        TEXT   NOT NULL, -- nameservers, ds_add, ds_remove, lock, unlock, auth_code, holder
    wanted      TEXT   NOT NULL, -- JSON: what shall be so
    handle      TEXT   NOT NULL DEFAULT '', -- the new contact
    old_handle  TEXT   NOT NULL DEFAULT '', -- the contact that it replaces
    code_sealed TEXT   NOT NULL DEFAULT '', -- the auth code, until it is set
    state       TEXT   NOT NULL, -- open, pending, done, refused
    failure     TEXT   NOT NULL DEFAULT '', -- a code; empty: not refused
    by_kind     TEXT   NOT NULL, -- who asked for it
    by_id       TEXT   NOT NULL,
    by_address  TEXT   NOT NULL,
    due_at      BIGINT NOT NULL, -- 0: at its end; while somebody works on it, the end of the lease
    node        TEXT   NOT NULL DEFAULT '', -- who works on it
    attempts    BIGINT NOT NULL DEFAULT 0,
    created_at  BIGINT NOT NULL,
    updated_at  BIGINT NOT NULL
);
-- A domain has one open change at a time.
CREATE UNIQUE INDEX changes_open ON changes (domain_id) WHERE due_at > 0;
CREATE INDEX changes_due ON changes (due_at) WHERE due_at > 0;
CREATE INDEX changes_node ON changes (node) WHERE node <> '';
CREATE INDEX changes_domain ON changes (domain_id, id);
CREATE INDEX changes_customer ON changes (customer_id);

CREATE TABLE registry_records (
    domain_id TEXT   NOT NULL PRIMARY KEY,
    data      TEXT   NOT NULL, -- JSON: statuses, nameservers, DS records, dates, the holder's handle
    read_at   BIGINT NOT NULL
);

-- The history of one object.
CREATE INDEX deeds_object ON deeds (customer_id, object, id);

-- +goose Down
DROP INDEX deeds_object;
DROP TABLE registry_records;
DROP TABLE changes;
