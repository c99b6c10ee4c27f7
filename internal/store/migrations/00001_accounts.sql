-- One text for SQLite and PostgreSQL. Times are microseconds since 1970 (BIGINT),
-- ids and JSON are TEXT, yes/no is a BIGINT of 0 or 1. Secrets are stored as hashes only; what
-- must be read again (the secret of an authenticator app) is sealed with a key
-- that is not in the database.

-- +goose Up

CREATE TABLE customers (
    id            TEXT   NOT NULL PRIMARY KEY,
    email         TEXT   NOT NULL, -- as the customer writes it
    email_key     TEXT   NOT NULL, -- folded, for comparing
    password_hash TEXT   NOT NULL DEFAULT '', -- PHC string; empty: passkeys only, or not chosen yet
    user_handle   TEXT   NOT NULL, -- WebAuthn's name for the account: random, says nothing
    language      TEXT   NOT NULL, -- de or en
    totp_sealed   TEXT   NOT NULL DEFAULT '', -- empty: no second factor
    totp_step     BIGINT NOT NULL DEFAULT 0, -- the last time step that was used, so that none is used twice
    token_count   BIGINT NOT NULL DEFAULT 0, -- active personal access tokens, counted here to bound them under a race
    created_at    BIGINT NOT NULL,
    confirmed_at  BIGINT NOT NULL DEFAULT 0, -- 0: the address is not confirmed
    disabled_at   BIGINT NOT NULL DEFAULT 0  -- 0: not disabled
);
CREATE UNIQUE INDEX customers_email_key ON customers (email_key);
CREATE UNIQUE INDEX customers_user_handle ON customers (user_handle);
-- For deleting accounts whose address nobody has confirmed.
CREATE INDEX customers_unconfirmed ON customers (created_at) WHERE confirmed_at = 0;

CREATE TABLE registrants (
    customer_id  TEXT   NOT NULL PRIMARY KEY REFERENCES customers (id),
    kind         TEXT   NOT NULL, -- person or company
    name         TEXT   NOT NULL,
    organisation TEXT   NOT NULL,
    street       TEXT   NOT NULL,
    postal_code  TEXT   NOT NULL,
    city         TEXT   NOT NULL,
    state        TEXT   NOT NULL,
    country      TEXT   NOT NULL, -- ISO 3166-1, two letters
    phone        TEXT   NOT NULL, -- EPP's form, +49.30123456
    vat_id       TEXT   NOT NULL,
    updated_at   BIGINT NOT NULL
);

CREATE TABLE recovery_codes (
    customer_id TEXT   NOT NULL REFERENCES customers (id),
    hash        TEXT   NOT NULL,
    used_at     BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (customer_id, hash)
);

CREATE TABLE passkeys (
    id            TEXT   NOT NULL PRIMARY KEY, -- ours, for pages and the audit
    customer_id   TEXT   NOT NULL REFERENCES customers (id),
    credential_id TEXT   NOT NULL, -- the authenticator's, base64url
    credential    TEXT   NOT NULL, -- JSON: public key, counter, flags
    name          TEXT   NOT NULL,
    created_at    BIGINT NOT NULL,
    last_used_at  BIGINT NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX passkeys_credential_id ON passkeys (credential_id);
CREATE INDEX passkeys_customer ON passkeys (customer_id, id);

CREATE TABLE sessions (
    hash             TEXT   NOT NULL PRIMARY KEY,
    id               TEXT   NOT NULL, -- for pages and the audit
    customer_id      TEXT   NOT NULL REFERENCES customers (id),
    state            TEXT   NOT NULL, -- second_factor: password was right, a code is missing; open: signed in
    address          TEXT   NOT NULL,
    agent            TEXT   NOT NULL, -- the browser, shortened
    device           TEXT   NOT NULL, -- hash of the known device it began at; empty: a new one
    attempts         BIGINT NOT NULL DEFAULT 0, -- codes that were tried while one is missing
    created_at       BIGINT NOT NULL,
    authenticated_at BIGINT NOT NULL, -- when the person last proved to be there
    seen_at          BIGINT NOT NULL,
    expires_at       BIGINT NOT NULL
);
CREATE INDEX sessions_customer ON sessions (customer_id, id);
CREATE INDEX sessions_expires ON sessions (expires_at);

-- Browsers that have signed in to an account before. They open nothing: wrong
-- passwords from them have a budget of their own.
CREATE TABLE devices (
    hash        TEXT   NOT NULL PRIMARY KEY,
    customer_id TEXT   NOT NULL REFERENCES customers (id),
    created_at  BIGINT NOT NULL,
    expires_at  BIGINT NOT NULL
);
CREATE INDEX devices_customer ON devices (customer_id, created_at);
CREATE INDEX devices_expires ON devices (expires_at);

-- A passkey ceremony under way: what was asked, until it is answered once.
CREATE TABLE ceremonies (
    hash        TEXT   NOT NULL PRIMARY KEY,
    kind        TEXT   NOT NULL, -- sign_in, add_passkey or second_factor
    customer_id TEXT   NOT NULL, -- empty where a passkey will say who it is
    data        TEXT   NOT NULL,
    expires_at  BIGINT NOT NULL
);
CREATE INDEX ceremonies_expires ON ceremonies (expires_at);

-- Links in mails: confirm, reset, change_email.
CREATE TABLE links (
    hash        TEXT   NOT NULL PRIMARY KEY,
    kind        TEXT   NOT NULL,
    customer_id TEXT   NOT NULL REFERENCES customers (id),
    email       TEXT   NOT NULL, -- the address that the link was sent to
    expires_at  BIGINT NOT NULL,
    used_at     BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX links_customer ON links (customer_id, kind);
CREATE INDEX links_expires ON links (expires_at);

-- Mails to be sent. A row holds no secret: the link in a mail is made when the
-- mail is, and only its hash is stored.
CREATE TABLE mails (
    id           TEXT   NOT NULL PRIMARY KEY,
    kind         TEXT   NOT NULL,
    customer_id  TEXT   NOT NULL, -- empty: to an address without an account
    recipient    TEXT   NOT NULL,
    language     TEXT   NOT NULL,
    data         TEXT   NOT NULL, -- JSON: what the text needs
    created_at   BIGINT NOT NULL,
    due_at       BIGINT NOT NULL,
    attempts     BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX mails_due ON mails (due_at);
CREATE INDEX mails_customer ON mails (customer_id, kind);

-- Personal access tokens.
CREATE TABLE tokens (
    id           TEXT   NOT NULL PRIMARY KEY,
    customer_id  TEXT   NOT NULL REFERENCES customers (id),
    name         TEXT   NOT NULL,
    hash         TEXT   NOT NULL,
    created_at   BIGINT NOT NULL,
    last_used_at BIGINT NOT NULL DEFAULT 0,
    revoked_at   BIGINT NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX tokens_hash ON tokens (hash);
CREATE INDEX tokens_customer ON tokens (customer_id, id);
-- Who makes and revokes many has few active ones.
CREATE INDEX tokens_active ON tokens (customer_id, id) WHERE revoked_at = 0;

-- What customers hold.
CREATE TABLE domains (
    id          TEXT   NOT NULL PRIMARY KEY,
    customer_id TEXT   NOT NULL REFERENCES customers (id),
    name        TEXT   NOT NULL, -- A-labels, lower case
    tld         TEXT   NOT NULL, -- with its dot
    status      TEXT   NOT NULL, -- active, pending, expired, redemption, transit, transferred_out
    paid_until  BIGINT NOT NULL DEFAULT 0, -- 0: nothing yet
    auto_renew  BIGINT NOT NULL DEFAULT 0,
    created_at  BIGINT NOT NULL,
    updated_at  BIGINT NOT NULL
);
CREATE INDEX domains_customer ON domains (customer_id, name);
-- A name that went elsewhere may come back, to this customer or another one.
CREATE UNIQUE INDEX domains_held ON domains (name) WHERE status <> 'transferred_out';

-- The audit: who did what, when, from where.
CREATE TABLE deeds (
    id          TEXT   NOT NULL PRIMARY KEY,
    customer_id TEXT   NOT NULL, -- the account that it concerns; empty: none
    actor_kind  TEXT   NOT NULL,
    actor       TEXT   NOT NULL, -- the account, token, application or operator
    through     TEXT   NOT NULL,
    address     TEXT   NOT NULL,
    action      TEXT   NOT NULL,
    object      TEXT   NOT NULL,
    at          BIGINT NOT NULL
);
CREATE INDEX deeds_customer ON deeds (customer_id, id);

-- +goose Down
DROP TABLE deeds;
DROP TABLE domains;
DROP TABLE tokens;
DROP TABLE mails;
DROP TABLE links;
DROP TABLE ceremonies;
DROP TABLE devices;
DROP TABLE sessions;
DROP TABLE passkeys;
DROP TABLE recovery_codes;
DROP TABLE registrants;
DROP TABLE customers;
