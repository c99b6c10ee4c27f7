-- +goose Up
INSERT INTO schema_compatibility (version, compatible_from) VALUES (13, 1);

-- Transfers of our domains to other registrars; package transferaway has the states.
CREATE TABLE outgoing_transfers (
    id              TEXT   NOT NULL PRIMARY KEY,
    customer_id     TEXT   NOT NULL,
    domain_id       TEXT   NOT NULL,
    name            TEXT   NOT NULL, -- A-labels, lower case
    tld             TEXT   NOT NULL, -- with its leading dot
    account         TEXT   NOT NULL, -- the registry account's name in the configuration
    gaining         TEXT   NOT NULL, -- the other registrar's id at the registry; empty: unknown
    requested_at    BIGINT NOT NULL, -- by the registry's clock; 0: unknown
    acts_at         BIGINT NOT NULL, -- when the registry approves by itself; 0: unknown
    state           TEXT   NOT NULL,
    registry_status TEXT   NOT NULL, -- as last reported: pending, clientApproved, …; empty: unknown
    failure         TEXT   NOT NULL DEFAULT '', -- why the registry refused our last answer
    reason          TEXT   NOT NULL DEFAULT '', -- why it was stopped
    statement       TEXT   NOT NULL DEFAULT '', -- the sentence that was confirmed
    by_kind         TEXT   NOT NULL DEFAULT '', -- the actor who stopped or approved it; empty: no one
    by_id           TEXT   NOT NULL DEFAULT '',
    by_address      TEXT   NOT NULL DEFAULT '',
    decided_at      BIGINT NOT NULL DEFAULT 0,
    due_at          BIGINT NOT NULL, -- 0: ended; while leased, the end of the lease
    node            TEXT   NOT NULL DEFAULT '', -- the node that holds the lease
    attempts        BIGINT NOT NULL DEFAULT 0,
    created_at      BIGINT NOT NULL,
    updated_at      BIGINT NOT NULL,
    ended_at        BIGINT NOT NULL DEFAULT 0 -- 0: open
);
-- A request has one row, however often it is reported.
CREATE UNIQUE INDEX outgoing_transfers_request ON outgoing_transfers (domain_id, requested_at, gaining) WHERE requested_at > 0;
CREATE INDEX outgoing_transfers_domain ON outgoing_transfers (domain_id, id);
CREATE INDEX outgoing_transfers_customer ON outgoing_transfers (customer_id, id);
CREATE INDEX outgoing_transfers_leaving ON outgoing_transfers (customer_id, id) WHERE ended_at = 0;
CREATE INDEX outgoing_transfers_due ON outgoing_transfers (due_at) WHERE due_at > 0;
CREATE INDEX outgoing_transfers_node ON outgoing_transfers (node) WHERE node <> '';
CREATE INDEX outgoing_transfers_open ON outgoing_transfers (id) WHERE ended_at = 0;
CREATE INDEX outgoing_transfers_ended ON outgoing_transfers (id) WHERE ended_at <> 0;

-- The timeline of an incoming transfer shows what the registry reported.
CREATE INDEX registry_messages_transfer ON registry_messages (name, number) WHERE kind = 'transfer';

-- +goose Down
DROP INDEX registry_messages_transfer;
DROP TABLE outgoing_transfers;
DELETE FROM schema_compatibility WHERE version = 13;
