-- Orders, their payments and refunds, and what paying needs to know of customers.
-- Written in the one dialect that 00001 describes. Money is whole cents.

-- +goose Up

CREATE TABLE orders (
    id             TEXT   NOT NULL PRIMARY KEY,
    customer_id    TEXT   NOT NULL REFERENCES customers (id),
    email_key      TEXT   NOT NULL, -- the account's address at that time, folded
    state          TEXT   NOT NULL, -- package order has the table
    channel        TEXT   NOT NULL, -- mcp or portal
    by_kind        TEXT   NOT NULL, -- who asked for it: person, token, application
    by_id          TEXT   NOT NULL,
    by_address     TEXT   NOT NULL,
    by_name        TEXT   NOT NULL, -- the token's or application's name at that time
    items_key      TEXT   NOT NULL, -- equal for equal items
    net            BIGINT NOT NULL,
    vat            BIGINT NOT NULL,
    gross          BIGINT NOT NULL,
    vat_rate       BIGINT NOT NULL, -- hundredths of a percent
    vat_rule       TEXT   NOT NULL,
    vat_country    TEXT   NOT NULL,
    vat_id         TEXT   NOT NULL,
    vat_unchecked  BIGINT NOT NULL,
    pay_link       TEXT   NOT NULL, -- a hash
    pay_sealed     TEXT   NOT NULL, -- the link's secret, to be shown again
    verify_link    TEXT   NOT NULL, -- empty: no identity was needed yet
    verify_sealed  TEXT   NOT NULL,
    auto_renew     BIGINT NOT NULL DEFAULT 0,
    created_at     BIGINT NOT NULL,
    updated_at     BIGINT NOT NULL,
    expires_at     BIGINT NOT NULL,
    paid_at        BIGINT NOT NULL DEFAULT 0,
    version        BIGINT NOT NULL DEFAULT 1,
    due_at         BIGINT NOT NULL DEFAULT 0, -- 0: nobody has to look
    node           TEXT   NOT NULL DEFAULT '',
    attempts       BIGINT NOT NULL DEFAULT 0,
    open_order     BIGINT NOT NULL -- 1 while it can be paid: for the two indexes below
);
CREATE UNIQUE INDEX orders_pay_link ON orders (pay_link);
CREATE UNIQUE INDEX orders_verify_link ON orders (verify_link) WHERE verify_link <> '';
-- The same items are open once.
CREATE UNIQUE INDEX orders_open ON orders (customer_id, items_key) WHERE open_order = 1;
CREATE INDEX orders_customer ON orders (customer_id, id);
CREATE INDEX orders_due ON orders (due_at) WHERE due_at > 0;
CREATE INDEX orders_node ON orders (node) WHERE node <> '';
-- What was paid lately: by account, by address, and by VAT rule for the threshold.
-- The sums are in the indexes, so that many orders are added up fast.
CREATE INDEX orders_spent ON orders (customer_id, paid_at, gross) WHERE paid_at > 0;
CREATE INDEX orders_spent_email ON orders (email_key, paid_at, gross) WHERE paid_at > 0;
CREATE INDEX orders_rule ON orders (vat_rule, paid_at, net) WHERE paid_at > 0;

CREATE TABLE order_items (
    id          TEXT   NOT NULL PRIMARY KEY,
    order_id    TEXT   NOT NULL REFERENCES orders (id),
    place       BIGINT NOT NULL,
    name        TEXT   NOT NULL,
    tld         TEXT   NOT NULL,
    kind        TEXT   NOT NULL, -- register, transfer or renew
    years       BIGINT NOT NULL,
    net         BIGINT NOT NULL,
    vat         BIGINT NOT NULL,
    gross       BIGINT NOT NULL,
    account     TEXT   NOT NULL,
    line_id     TEXT   NOT NULL DEFAULT '',
    domain_id   TEXT   NOT NULL DEFAULT '',
    code_sealed TEXT   NOT NULL DEFAULT '',
    state       TEXT   NOT NULL,
    failure     TEXT   NOT NULL DEFAULT ''
);
CREATE UNIQUE INDEX order_items_place ON order_items (order_id, place);
CREATE INDEX order_items_line ON order_items (line_id) WHERE line_id <> '';

CREATE TABLE payments (
    id          TEXT   NOT NULL PRIMARY KEY, -- the idempotency key, too
    order_id    TEXT   NOT NULL REFERENCES orders (id),
    customer_id TEXT   NOT NULL, -- the order's
    state       TEXT   NOT NULL,
    amount      BIGINT NOT NULL,
    session     TEXT   NOT NULL DEFAULT '', -- the provider's page
    url         TEXT   NOT NULL DEFAULT '',
    intent      TEXT   NOT NULL DEFAULT '', -- the provider's payment
    card        TEXT   NOT NULL DEFAULT '', -- the provider's fingerprint
    created_at  BIGINT NOT NULL,
    ends_at     BIGINT NOT NULL,
    updated_at  BIGINT NOT NULL
);
CREATE INDEX payments_order ON payments (order_id, id);
CREATE UNIQUE INDEX payments_session ON payments (session) WHERE session <> '';
CREATE INDEX payments_intent ON payments (intent) WHERE intent <> '';
-- What was paid lately by a card, and the cards that an account has paid with.
CREATE INDEX payments_card ON payments (card, updated_at, amount) WHERE state = 'kept' AND card <> '';
CREATE INDEX payments_cards_of ON payments (customer_id, card) WHERE state = 'kept' AND card <> '';
-- An order keeps one payment, whatever is retried.
CREATE UNIQUE INDEX payments_kept ON payments (order_id) WHERE state = 'kept';

CREATE TABLE refunds (
    id         TEXT   NOT NULL PRIMARY KEY, -- the idempotency key, too
    order_id   TEXT   NOT NULL REFERENCES orders (id),
    payment_id TEXT   NOT NULL REFERENCES payments (id),
    item_id    TEXT   NOT NULL, -- empty: a surplus payment, whole
    amount     BIGINT NOT NULL,
    provider   TEXT   NOT NULL DEFAULT '', -- the provider's id; empty: due
    created_at BIGINT NOT NULL,
    made_at    BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX refunds_order ON refunds (order_id, id);
CREATE INDEX refunds_due ON refunds (created_at) WHERE provider = '';
-- A failed item is paid back once, and a surplus payment too.
CREATE UNIQUE INDEX refunds_item ON refunds (payment_id, item_id);

CREATE TABLE identities (
    customer_id TEXT   NOT NULL PRIMARY KEY REFERENCES customers (id),
    session     TEXT   NOT NULL DEFAULT '', -- the provider's verification
    url         TEXT   NOT NULL DEFAULT '',
    name        TEXT   NOT NULL DEFAULT '', -- the verified one
    verified_at BIGINT NOT NULL DEFAULT 0,
    failure     TEXT   NOT NULL DEFAULT '',
    updated_at  BIGINT NOT NULL
);
CREATE UNIQUE INDEX identities_session ON identities (session) WHERE session <> '';

-- The means of payment that a customer lets us keep for renewals: one.
CREATE TABLE payment_methods (
    customer_id TEXT   NOT NULL PRIMARY KEY REFERENCES customers (id),
    holder      TEXT   NOT NULL, -- the provider's customer
    method      TEXT   NOT NULL DEFAULT '', -- empty: only the provider's customer is known
    label       TEXT   NOT NULL DEFAULT '',
    updated_at  BIGINT NOT NULL
);

-- What VIES said of VAT ids, to be asked again after a while.
CREATE TABLE vat_checks (
    vat_id     TEXT   NOT NULL PRIMARY KEY,
    valid      BIGINT NOT NULL,
    checked_at BIGINT NOT NULL
);

-- A renewal is recognised by the registry's expiry at which it begins.
ALTER TABLE lines ADD COLUMN renew_from BIGINT NOT NULL DEFAULT 0;

-- Which notice about the end of the term the customer got last: 0 none, 1 a month
-- before, 2 a week before, 3 after it. A renewal begins anew.
ALTER TABLE domains ADD COLUMN notified BIGINT NOT NULL DEFAULT 0;
CREATE INDEX domains_expiring ON domains (notified, paid_until) WHERE status = 'active' AND paid_until > 0;

-- +goose Down
DROP INDEX domains_expiring;
ALTER TABLE domains DROP COLUMN notified;
ALTER TABLE lines DROP COLUMN renew_from;
DROP TABLE vat_checks;
DROP TABLE payment_methods;
DROP TABLE identities;
DROP TABLE refunds;
DROP TABLE payments;
DROP TABLE order_items;
DROP TABLE orders;
