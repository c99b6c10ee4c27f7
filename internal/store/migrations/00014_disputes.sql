-- +goose Up
INSERT INTO schema_compatibility (version, compatible_from) VALUES (14, 1);

-- Payments that a bank takes back or asks about; package dispute has the states.
CREATE TABLE disputes (
    id            TEXT   NOT NULL PRIMARY KEY, -- the provider's
    charge        TEXT   NOT NULL, -- the provider's
    intent        TEXT   NOT NULL, -- the provider's payment intent; empty: none
    payment_id    TEXT   NOT NULL, -- empty: an unknown charge
    order_id      TEXT   NOT NULL, -- empty: an unknown charge
    status        TEXT   NOT NULL, -- the provider's
    reason        TEXT   NOT NULL, -- the provider's code
    currency      TEXT   NOT NULL,
    amount        BIGINT NOT NULL,
    withdrawn     BIGINT NOT NULL, -- taken back and not returned
    fee           BIGINT NOT NULL,
    charged       BIGINT NOT NULL, -- the amount of the charge
    refunded      BIGINT NOT NULL, -- what was refunded of the charge
    debit         BIGINT NOT NULL, -- 1: a direct debit
    refundable    BIGINT NOT NULL, -- 1: the charge can still be refunded
    bank_return   BIGINT NOT NULL, -- 1: lost from the start
    evidence_due  BIGINT NOT NULL, -- 0: no evidence is possible
    opened_at     BIGINT NOT NULL, -- at the provider
    lock_state    TEXT   NOT NULL,
    open_work     BIGINT NOT NULL, -- 1: an operator has to act
    note          TEXT   NOT NULL, -- the reason of the last decision
    decided_by    TEXT   NOT NULL, -- the operator's account
    decided_at    BIGINT NOT NULL, -- 0: not decided
    version       BIGINT NOT NULL,
    due_at        BIGINT NOT NULL, -- wall clock; 0: never; while leased, the end of the lease
    node          TEXT   NOT NULL, -- the node that holds the lease
    attempts      BIGINT NOT NULL,
    stored_at     BIGINT NOT NULL,
    updated_at    BIGINT NOT NULL
);
CREATE INDEX disputes_list ON disputes (open_work, opened_at, id);
CREATE INDEX disputes_order ON disputes (order_id, id);
CREATE INDEX disputes_due ON disputes (due_at) WHERE due_at > 0;
CREATE INDEX disputes_node ON disputes (node) WHERE node <> '';

-- The daily list of disputes at a provider, in case a webhook was lost.
CREATE TABLE dispute_listings (
    provider     TEXT   NOT NULL PRIMARY KEY,
    listed_until BIGINT NOT NULL, -- business time; 0: never
    due_at       BIGINT NOT NULL, -- wall clock; while leased, the end of the lease
    node         TEXT   NOT NULL -- the node that holds the lease
);
CREATE INDEX dispute_listings_node ON dispute_listings (node) WHERE node <> '';

-- +goose Down
DROP TABLE dispute_listings;
DROP TABLE disputes;
DELETE FROM schema_compatibility WHERE version = 14;
