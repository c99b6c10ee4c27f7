-- Invoices, corrections, and those that are owed. Package invoice says why the
-- payment's transaction owes them and another one issues them.
-- Written in the one dialect that 00001 describes. Money is whole cents.

-- +goose Up

CREATE TABLE invoices_due (
    id         TEXT   NOT NULL PRIMARY KEY,
    order_id   TEXT   NOT NULL REFERENCES orders (id),
    refund_id  TEXT   NOT NULL, -- empty: the invoice itself
    buyer      TEXT   NOT NULL, -- JSON: the customer when the money came; empty: as they are now
    created_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX invoices_due_once ON invoices_due (order_id, refund_id);

-- The last number of each series. The row is the lock for the next one.
CREATE TABLE invoice_series (
    series      TEXT   NOT NULL PRIMARY KEY,
    last_number BIGINT NOT NULL
);

-- Rows are added and never changed or deleted. Whose they are is whose the order is:
-- one that an agent made may be claimed after its invoice was issued.
CREATE TABLE invoices (
    id          TEXT   NOT NULL PRIMARY KEY,
    order_id    TEXT   NOT NULL REFERENCES orders (id),
    refund_id   TEXT   NOT NULL, -- of a correction
    kind        TEXT   NOT NULL, -- invoice or correction
    series      TEXT   NOT NULL,
    number      BIGINT NOT NULL,
    label       TEXT   NOT NULL, -- both, as people read it
    net         BIGINT NOT NULL,
    vat         BIGINT NOT NULL,
    gross       BIGINT NOT NULL,
    issued_at   BIGINT NOT NULL,
    content     TEXT   NOT NULL  -- JSON: all of it
);
CREATE UNIQUE INDEX invoices_once ON invoices (order_id, refund_id);
CREATE UNIQUE INDEX invoices_number ON invoices (series, number);
CREATE UNIQUE INDEX invoices_label ON invoices (label);

-- What was paid and given back before there were invoices.
INSERT INTO invoices_due (id, order_id, refund_id, buyer, created_at)
SELECT 'due_' || id, id, '', '', paid_at FROM orders WHERE paid_at > 0 AND gross > 0;
INSERT INTO invoices_due (id, order_id, refund_id, buyer, created_at)
SELECT 'due_' || id, order_id, id, '', made_at FROM refunds WHERE provider <> '' AND item_id <> '';

-- +goose Down
DROP TABLE invoices;
DROP TABLE invoice_series;
DROP TABLE invoices_due;
