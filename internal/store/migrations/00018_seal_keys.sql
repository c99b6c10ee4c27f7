-- Which keys the database is sealed with, and which nodes can read what.
-- Written in the one dialect that 00001 describes.

-- +goose Up

-- Keys themselves are never stored. A node that does not have every key which is not
-- retired refuses to start.
CREATE TABLE seal_keys (
    id         TEXT   NOT NULL PRIMARY KEY, -- registrar.SealKey.KeyID
    state      TEXT   NOT NULL, -- next, active, previous or retired
    canary     TEXT   NOT NULL, -- sealed with the key: opens only with that very key
    created_at BIGINT NOT NULL,
    changed_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX seal_keys_active ON seal_keys (state) WHERE state = 'active';

-- Running nodes, for a rotation that has to wait for all of them.
CREATE TABLE seal_nodes (
    name     TEXT   NOT NULL PRIMARY KEY,
    key_ids  TEXT   NOT NULL, -- those it can open, separated by spaces
    write_id TEXT   NOT NULL, -- the one it seals with
    seen_at  BIGINT NOT NULL
);

-- Counts the changes of the second factor. It is compared where totp_sealed was, which
-- a rotation of keys changes as well.
ALTER TABLE customers ADD COLUMN totp_version BIGINT NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE customers DROP COLUMN totp_version;
DROP TABLE seal_nodes;
DROP TABLE seal_keys;
