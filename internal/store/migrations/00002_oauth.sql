-- Applications that customers connect by OAuth. Written in the one dialect that
-- 00001 describes. Codes and tokens are hashes only.

-- +goose Up

-- Applications. Dynamic ones registered themselves; documents are known by the
-- address of their own description, which is also their id.
CREATE TABLE clients (
    id            TEXT   NOT NULL PRIMARY KEY,
    kind          TEXT   NOT NULL, -- dynamic or document
    name          TEXT   NOT NULL, -- as the application calls itself: a claim
    redirect_uris TEXT   NOT NULL, -- JSON, a list of texts
    auth_method   TEXT   NOT NULL, -- none or client_secret_post
    secret_hash   TEXT   NOT NULL DEFAULT '', -- empty: a public client
    created_at    BIGINT NOT NULL,
    last_used_at  BIGINT NOT NULL -- registered, approved or redeemed
);
CREATE INDEX clients_last_used ON clients (last_used_at);

-- A question to a customer, until it is answered once, in the session that it
-- was asked in.
CREATE TABLE consents (
    hash        TEXT   NOT NULL PRIMARY KEY,
    session_id  TEXT   NOT NULL,
    customer_id TEXT   NOT NULL,
    request     TEXT   NOT NULL, -- JSON: what was asked for
    expires_at  BIGINT NOT NULL,
    used_at     BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX consents_session ON consents (session_id, expires_at);
CREATE INDEX consents_expires ON consents (expires_at);

-- What a customer approved, until the application redeems it once. A used one is
-- kept for a while: coming a second time it betrays a theft.
CREATE TABLE codes (
    hash         TEXT   NOT NULL PRIMARY KEY,
    client_id    TEXT   NOT NULL,
    client_name  TEXT   NOT NULL,
    customer_id  TEXT   NOT NULL REFERENCES customers (id),
    redirect_uri TEXT   NOT NULL,
    challenge    TEXT   NOT NULL, -- PKCE, S256
    scope        TEXT   NOT NULL,
    resource     TEXT   NOT NULL,
    expires_at   BIGINT NOT NULL,
    used_at      BIGINT NOT NULL DEFAULT 0,
    grant_id     TEXT   NOT NULL DEFAULT '' -- what it was redeemed for; empty: nothing
);
CREATE INDEX codes_customer ON codes (customer_id, client_id);
CREATE INDEX codes_expires ON codes (expires_at);

-- One connection of an application to a customer: the family of all tokens that
-- came out of one code. They live only as long as it does, so ending it is one
-- update, and tokens need no reference that an index would have to serve.
CREATE TABLE grants (
    id           TEXT   NOT NULL PRIMARY KEY,
    customer_id  TEXT   NOT NULL REFERENCES customers (id),
    client_id    TEXT   NOT NULL REFERENCES clients (id),
    client_name  TEXT   NOT NULL,
    redirect_uri TEXT   NOT NULL,
    scope        TEXT   NOT NULL,
    resource     TEXT   NOT NULL,
    generation   BIGINT NOT NULL, -- that of the newest refresh token
    created_at   BIGINT NOT NULL,
    last_used_at BIGINT NOT NULL,
    expires_at   BIGINT NOT NULL, -- that of the newest refresh token, or when it was revoked
    revoked_at   BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX grants_customer ON grants (customer_id, client_id);
CREATE INDEX grants_client ON grants (client_id);
CREATE INDEX grants_expires ON grants (expires_at);

CREATE TABLE access_tokens (
    hash       TEXT   NOT NULL PRIMARY KEY,
    grant_id   TEXT   NOT NULL,
    scope      TEXT   NOT NULL, -- may be less than the grant's
    expires_at BIGINT NOT NULL
);
CREATE INDEX access_tokens_expires ON access_tokens (expires_at);

CREATE TABLE refresh_tokens (
    hash       TEXT   NOT NULL PRIMARY KEY,
    grant_id   TEXT   NOT NULL,
    generation BIGINT NOT NULL, -- 1, and one more with each rotation
    expires_at BIGINT NOT NULL,
    used_at    BIGINT NOT NULL DEFAULT 0,
    reuses     BIGINT NOT NULL DEFAULT 0 -- within the leeway, to bound them
);
CREATE INDEX refresh_tokens_expires ON refresh_tokens (expires_at);

-- +goose Down
DROP TABLE refresh_tokens;
DROP TABLE access_tokens;
DROP TABLE grants;
DROP TABLE codes;
DROP TABLE consents;
DROP TABLE clients;
