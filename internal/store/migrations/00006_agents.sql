-- Agents that check out for customers, and what their requests leave behind.
-- Written in the one dialect that 00001 describes.

-- +goose Up

CREATE TABLE agents (
    id              TEXT   NOT NULL PRIMARY KEY,
    name            TEXT   NOT NULL, -- as the operator calls it; customers read it
    profile         TEXT   NOT NULL, -- how it signs: ours, body or canonical
    key_hash        TEXT   NOT NULL, -- of its bearer key
    webhook_url     TEXT   NOT NULL DEFAULT '', -- empty: it wants to hear nothing
    webhook_version TEXT   NOT NULL DEFAULT '', -- of the protocol, whose shape they have; empty: the newest
    webhook_sealed  TEXT   NOT NULL DEFAULT '', -- the secret that our messages to it are signed with
    created_at      BIGINT NOT NULL,
    removed_at      BIGINT NOT NULL DEFAULT 0 -- 0: live
);
CREATE UNIQUE INDEX agents_key ON agents (key_hash);
CREATE UNIQUE INDEX agents_name ON agents (name) WHERE removed_at = 0;
CREATE INDEX agents_live ON agents (profile, id) WHERE removed_at = 0;

-- What an agent signs with: two at most are live, so that it can change from one
-- to the next.
CREATE TABLE agent_secrets (
    id         TEXT   NOT NULL PRIMARY KEY,
    agent_id   TEXT   NOT NULL REFERENCES agents (id),
    sealed     TEXT   NOT NULL, -- it must be read to verify, so a hash is not enough
    created_at BIGINT NOT NULL,
    ended_at   BIGINT NOT NULL DEFAULT 0 -- 0: live
);
CREATE INDEX agent_secrets_agent ON agent_secrets (agent_id, id);

-- Customers who let an agent see and pay their orders. Ending it removes the row;
-- the audit keeps both.
CREATE TABLE agent_links (
    customer_id TEXT   NOT NULL REFERENCES customers (id),
    agent_id    TEXT   NOT NULL REFERENCES agents (id),
    by_kind     TEXT   NOT NULL, -- person or operator
    by_id       TEXT   NOT NULL,
    created_at  BIGINT NOT NULL,
    PRIMARY KEY (customer_id, agent_id)
);
CREATE INDEX agent_links_agent ON agent_links (agent_id, customer_id);

-- Signatures of completions, until their time is over: each is good for one path.
CREATE TABLE signatures_seen (
    agent_id TEXT   NOT NULL,
    mac      TEXT   NOT NULL, -- the signature itself, not one of its spellings
    path     TEXT   NOT NULL,
    ends_at  BIGINT NOT NULL,
    PRIMARY KEY (agent_id, mac)
);
CREATE INDEX signatures_seen_ends ON signatures_seen (ends_at);

-- Requests that carried an Idempotency-Key, and what was answered.
CREATE TABLE idempotency (
    scope      TEXT   NOT NULL, -- a hash of the agent and the path
    key        TEXT   NOT NULL, -- a hash of it
    body_hash  TEXT   NOT NULL, -- of the body's canonical form
    run        TEXT   NOT NULL, -- who carries it out, or did
    status     BIGINT NOT NULL DEFAULT 0, -- 0: it is being carried out
    headers    TEXT   NOT NULL DEFAULT '', -- JSON
    answer     TEXT   NOT NULL DEFAULT '', -- sealed
    lease_ends BIGINT NOT NULL, -- when another may take over what nobody finished
    ends_at    BIGINT NOT NULL,
    PRIMARY KEY (scope, key)
);
CREATE INDEX idempotency_ends ON idempotency (ends_at);

-- What agents have to hear of an order: one row each, written with the change that
-- it tells of. The message itself is made when it leaves.
CREATE TABLE agent_events (
    order_id TEXT   NOT NULL PRIMARY KEY REFERENCES orders (id),
    agent_id TEXT   NOT NULL REFERENCES agents (id),
    changes  BIGINT NOT NULL, -- how many there were
    told     BIGINT NOT NULL, -- how many of them the agent knows; 0: it has not heard of the order
    since    BIGINT NOT NULL, -- when the first happened that it does not know
    due_at   BIGINT NOT NULL, -- while somebody sends it, the end of the lease; 0: there is nothing to tell
    attempts BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX agent_events_due ON agent_events (due_at) WHERE due_at > 0;

ALTER TABLE orders ADD COLUMN agent_id TEXT NOT NULL DEFAULT ''; -- the agent whose session it is; empty: none
ALTER TABLE orders ADD COLUMN completer_id TEXT NOT NULL DEFAULT ''; -- the agent that pays an order which its customer made
ALTER TABLE orders ADD COLUMN contact TEXT NOT NULL DEFAULT ''; -- JSON: the buyer as the agent told; empty: nobody
ALTER TABLE orders ADD COLUMN claimed BIGINT NOT NULL DEFAULT 1; -- 0: it hangs on an account that nobody can sign in to
ALTER TABLE orders ADD COLUMN claim_asked_at BIGINT NOT NULL DEFAULT 0; -- when a letter with which to claim it was last stored
CREATE INDEX orders_agent ON orders (agent_id, id) WHERE agent_id <> '';
CREATE INDEX orders_agent_open ON orders (agent_id) WHERE open_order = 1 AND agent_id <> '';

-- A buyer without an account has one that nobody can sign in to, until somebody
-- claims it.
ALTER TABLE customers ADD COLUMN shadow BIGINT NOT NULL DEFAULT 0;
CREATE INDEX customers_shadow ON customers (created_at) WHERE shadow = 1;

-- How a payment is made: on the provider's page, or with a token of the buyer's,
-- which is kept nowhere.
ALTER TABLE payments ADD COLUMN kind TEXT NOT NULL DEFAULT 'page'; -- page or token
ALTER TABLE payments ADD COLUMN failure TEXT NOT NULL DEFAULT ''; -- why a token did not pay: a code

-- +goose Down
ALTER TABLE payments DROP COLUMN failure;
ALTER TABLE payments DROP COLUMN kind;
DROP INDEX customers_shadow;
ALTER TABLE customers DROP COLUMN shadow;
DROP INDEX orders_agent_open;
DROP INDEX orders_agent;
ALTER TABLE orders DROP COLUMN claim_asked_at;
ALTER TABLE orders DROP COLUMN claimed;
ALTER TABLE orders DROP COLUMN contact;
ALTER TABLE orders DROP COLUMN completer_id;
ALTER TABLE orders DROP COLUMN agent_id;
DROP TABLE agent_events;
DROP TABLE idempotency;
DROP TABLE signatures_seen;
DROP TABLE agent_links;
DROP TABLE agent_secrets;
DROP TABLE agents;
