-- +goose Up
INSERT INTO schema_compatibility (version, compatible_from) VALUES (5, 1);

-- Who handled a withdrawal or a termination, and what they did about it. A program from
-- before only sets done_at.
ALTER TABLE withdrawal_notices ADD COLUMN done_by TEXT NOT NULL DEFAULT ''; -- the operator's account, or the user at the command line
ALTER TABLE withdrawal_notices ADD COLUMN done_note TEXT NOT NULL DEFAULT '';
CREATE INDEX withdrawal_notices_open ON withdrawal_notices (id) WHERE done_at = 0;
CREATE INDEX withdrawal_notices_done ON withdrawal_notices (id) WHERE done_at <> 0;

-- The operators' lists of all orders, payments and refunds.
CREATE INDEX orders_state ON orders (state, id);
CREATE INDEX payments_state ON payments (state, id);
CREATE INDEX refunds_pending ON refunds (id) WHERE provider = '';

-- Sums of the documents of each past day, so that a year is read without its documents.
-- Two rows per day, one per kind of document; package invoice says when a day is summed.
CREATE TABLE revenue_days (
    day       TEXT   NOT NULL, -- in Germany, 2026-11-16
    kind      TEXT   NOT NULL, -- invoice or correction
    documents BIGINT NOT NULL,
    net       BIGINT NOT NULL,
    vat       BIGINT NOT NULL,
    gross     BIGINT NOT NULL,
    PRIMARY KEY (day, kind)
);
-- It contains the amounts, so that a sum does not read the documents.
CREATE INDEX invoices_issued ON invoices (issued_at, kind, net, vat, gross);

-- +goose Down
DROP INDEX invoices_issued;
DROP TABLE revenue_days;
DROP INDEX refunds_pending;
DROP INDEX payments_state;
DROP INDEX orders_state;
DROP INDEX withdrawal_notices_done;
DROP INDEX withdrawal_notices_open;
ALTER TABLE withdrawal_notices DROP COLUMN done_note;
ALTER TABLE withdrawal_notices DROP COLUMN done_by;
DELETE FROM schema_compatibility WHERE version = 5;
