-- Operators and what they see: locks on domains, work that goes wrong. Written in
-- the one dialect that 00001 describes.

-- +goose Up

-- A customer who may open the operators' pages.
ALTER TABLE customers ADD COLUMN operator BIGINT NOT NULL DEFAULT 0;
CREATE INDEX customers_operator ON customers (id) WHERE operator = 1;
-- How the person proved to be there: password, password_and_code, passkey or link.
ALTER TABLE sessions ADD COLUMN proof TEXT NOT NULL DEFAULT '';

-- What a dispute, a court or abuse forbids to do with a domain.
CREATE TABLE domain_locks (
    id          TEXT   NOT NULL PRIMARY KEY,
    domain_id   TEXT   NOT NULL,
    customer_id TEXT   NOT NULL, -- who held it then
    name        TEXT   NOT NULL, -- A-labels, lower case
    cause       TEXT   NOT NULL, -- chargeback, udrp, court or abuse
    reason      TEXT   NOT NULL, -- the operator's words; the holder reads them
    reference   TEXT   NOT NULL, -- the other side's number; empty: none
    blocks      TEXT   NOT NULL, -- words: transfer nameservers renewal delete
    review_at   BIGINT NOT NULL, -- when an operator has to look again; it stays until one lifts it
    set_by      TEXT   NOT NULL,
    set_at      BIGINT NOT NULL,
    lifted_by   TEXT   NOT NULL DEFAULT '',
    lifted_at   BIGINT NOT NULL DEFAULT 0 -- 0: in force
);
CREATE INDEX domain_locks_domain ON domain_locks (domain_id) WHERE lifted_at = 0;
CREATE INDEX domain_locks_review ON domain_locks (review_at, id) WHERE lifted_at = 0;
CREATE INDEX domain_locks_lifted ON domain_locks (lifted_at, id) WHERE lifted_at > 0;

-- Why a piece of work did not get on, the last time that it was tried.
CREATE TABLE setbacks (
    job  TEXT   NOT NULL PRIMARY KEY, -- line, order, change, mail or event, a colon, and the id
    code TEXT   NOT NULL,
    at   BIGINT NOT NULL
);
CREATE INDEX setbacks_at ON setbacks (at);

-- Work that was tried before and is not done.
CREATE INDEX lines_tried ON lines (attempts, id) WHERE due_at > 0 AND attempts > 0;
CREATE INDEX orders_tried ON orders (attempts, id) WHERE due_at > 0 AND attempts > 0;
CREATE INDEX changes_tried ON changes (attempts, id) WHERE due_at > 0 AND attempts > 0;
CREATE INDEX mails_tried ON mails (attempts, id) WHERE attempts > 0;
CREATE INDEX agent_events_tried ON agent_events (attempts, order_id) WHERE due_at > 0 AND attempts > 0;

-- +goose Down
DROP INDEX agent_events_tried;
DROP INDEX mails_tried;
DROP INDEX changes_tried;
DROP INDEX orders_tried;
DROP INDEX lines_tried;
DROP TABLE setbacks;
DROP TABLE domain_locks;
ALTER TABLE sessions DROP COLUMN proof;
DROP INDEX customers_operator;
ALTER TABLE customers DROP COLUMN operator;
