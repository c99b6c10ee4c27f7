-- +goose Up
INSERT INTO schema_compatibility (version, compatible_from) VALUES (2, 1);

-- What the customer wants at the end of the term. Automatic renewal needs a consent of
-- renewal_consents; auto_renew, which an earlier program wrote, is none and is not read.
ALTER TABLE domains ADD COLUMN at_term_end TEXT NOT NULL DEFAULT ''; -- renew, expire; empty: not decided
CREATE INDEX domains_renewing ON domains (paid_until) WHERE at_term_end = 'renew' AND status = 'active';

-- What a customer who chose automatic renewal at checkout was shown.
ALTER TABLE orders ADD COLUMN renewal_wording TEXT NOT NULL DEFAULT ''; -- the version of the consent text; empty: none was shown
ALTER TABLE orders ADD COLUMN renewal_at BIGINT NOT NULL DEFAULT 0; -- when, in which session and from which address they agreed
ALTER TABLE orders ADD COLUMN renewal_session TEXT NOT NULL DEFAULT '';
ALTER TABLE orders ADD COLUMN renewal_address TEXT NOT NULL DEFAULT '';
ALTER TABLE order_items ADD COLUMN renewal_years BIGINT NOT NULL DEFAULT 0; -- the term of each renewal
ALTER TABLE order_items ADD COLUMN renewal_gross BIGINT NOT NULL DEFAULT 0; -- the renewal price that was shown; 0: none

-- The setup with which a customer adds or replaces a payment method; empty: none is open.
ALTER TABLE payment_methods ADD COLUMN setup TEXT NOT NULL DEFAULT '';

-- When the customer was last asked to check their registrant data (ICANN WDRP).
ALTER TABLE customers ADD COLUMN data_reminder_at BIGINT NOT NULL DEFAULT 0;
CREATE INDEX customers_data_reminder ON customers (data_reminder_at);

-- For the list of domains whose term had ended before the first run.
CREATE INDEX domains_expired ON domains (paid_until) WHERE status = 'expired';

-- Consents to automatic renewal. Rows are evidence: only their end is ever updated.
CREATE TABLE renewal_consents (
    id          TEXT   NOT NULL PRIMARY KEY,
    domain_id   TEXT   NOT NULL,
    customer_id TEXT   NOT NULL,
    name        TEXT   NOT NULL, -- A-labels, lower case
    wording     TEXT   NOT NULL, -- the version of the text; package renewal has the texts
    years       BIGINT NOT NULL,
    gross       BIGINT NOT NULL, -- the price that was shown, in cents
    charge_at   BIGINT NOT NULL, -- the day of the first charge that was shown
    method      TEXT   NOT NULL, -- the payment method that was shown: Visa •••• 4242
    through     TEXT   NOT NULL, -- the session in which it was given
    address     TEXT   NOT NULL,
    given_at    BIGINT NOT NULL,
    ended_at    BIGINT NOT NULL DEFAULT 0, -- 0: it is in force
    end_reason  TEXT   NOT NULL DEFAULT '' -- customer, agent, expire, no_method, transferred, closed
);
CREATE UNIQUE INDEX renewal_consents_current ON renewal_consents (domain_id) WHERE ended_at = 0;
CREATE INDEX renewal_consents_customer ON renewal_consents (customer_id, id);

-- Automatic renewals: one row per domain and term, from the announcement of its charge on.
CREATE TABLE renewals (
    domain_id    TEXT   NOT NULL,
    term_end     BIGINT NOT NULL, -- the end of the term that is renewed
    customer_id  TEXT   NOT NULL,
    name         TEXT   NOT NULL,
    tld          TEXT   NOT NULL,
    state        TEXT   NOT NULL, -- announced, charging, renewed, failed or stopped
    years        BIGINT NOT NULL,
    gross        BIGINT NOT NULL, -- announced; never charged more for this term
    announced_at BIGINT NOT NULL,
    charge_at    BIGINT NOT NULL, -- the next attempt, or the next look at its order; 0: none
    attempts     BIGINT NOT NULL DEFAULT 0,
    order_id     TEXT   NOT NULL DEFAULT '', -- the last attempt's; empty: none yet
    failure      TEXT   NOT NULL DEFAULT '', -- why the last attempt failed: a code
    updated_at   BIGINT NOT NULL,
    PRIMARY KEY (domain_id, term_end)
);
CREATE INDEX renewals_due ON renewals (charge_at) WHERE charge_at > 0;
CREATE INDEX renewals_customer ON renewals (customer_id, charge_at);
CREATE INDEX renewals_order ON renewals (order_id) WHERE order_id <> '';

-- Terms that ended without being renewed, and what was done about the domain. A term that
-- had ended before the first run has no row: it is listed for the operator.
CREATE TABLE term_ends (
    domain_id   TEXT   NOT NULL,
    term_end    BIGINT NOT NULL,
    customer_id TEXT   NOT NULL,
    name        TEXT   NOT NULL,
    tld         TEXT   NOT NULL,
    account     TEXT   NOT NULL, -- the registry account
    state       TEXT   NOT NULL, -- package lifecycle has the transitions
    step_at     BIGINT NOT NULL, -- business time of the next step; 0: none
    due_at      BIGINT NOT NULL, -- wall clock: the end of the lease or of the backoff
    node        TEXT   NOT NULL DEFAULT '', -- the node that holds the lease
    attempts    BIGINT NOT NULL DEFAULT 0,
    waits_for   TEXT   NOT NULL DEFAULT '', -- why an operator is needed: a code; empty: nothing
    held_at     BIGINT NOT NULL DEFAULT 0,
    deleted_at  BIGINT NOT NULL DEFAULT 0,
    ended_at    BIGINT NOT NULL DEFAULT 0,
    updated_at  BIGINT NOT NULL,
    PRIMARY KEY (domain_id, term_end)
);
CREATE INDEX term_ends_step ON term_ends (step_at) WHERE step_at > 0;
CREATE INDEX term_ends_waiting ON term_ends (waits_for, step_at) WHERE waits_for <> '';
CREATE INDEX term_ends_customer ON term_ends (customer_id, domain_id);
CREATE INDEX term_ends_node ON term_ends (node) WHERE node <> '';

-- The safety brake of renewals and ends of terms: one row.
CREATE TABLE brakes (
    name         TEXT   NOT NULL PRIMARY KEY,
    started_at   BIGINT NOT NULL, -- the first run; terms that had ended by then are not acted on
    last_run_at  BIGINT NOT NULL, -- business time
    day          BIGINT NOT NULL DEFAULT 0, -- the day that actions counts, in days since 1970
    actions      BIGINT NOT NULL DEFAULT 0, -- holds and deletions begun on that day
    allowed      BIGINT NOT NULL DEFAULT 0, -- how many an operator has allowed on that day; 0: the limit applies
    stopped_at   BIGINT NOT NULL DEFAULT 0, -- 0: running
    reason       TEXT   NOT NULL DEFAULT '', -- volume or clock
    confirmed_by TEXT   NOT NULL DEFAULT '',
    confirmed_at BIGINT NOT NULL DEFAULT 0
);

-- Notices that the law or ICANN requires, as they were sent. Rows are evidence.
CREATE TABLE sent_notices (
    id          TEXT   NOT NULL PRIMARY KEY, -- the mail's
    customer_id TEXT   NOT NULL,
    domain_id   TEXT   NOT NULL, -- or the id of an order; empty: it is about neither
    name        TEXT   NOT NULL,
    term_end    BIGINT NOT NULL, -- the term that it is about; 0: none
    kind        TEXT   NOT NULL, -- the mail's
    recipient   TEXT   NOT NULL,
    subject     TEXT   NOT NULL,
    body        TEXT   NOT NULL,
    queued_at   BIGINT NOT NULL,
    sent_at     BIGINT NOT NULL, -- when the mail server answered
    accepted    BIGINT NOT NULL, -- 0: abandoned
    response    TEXT   NOT NULL -- the mail server's
);
CREATE INDEX sent_notices_domain ON sent_notices (domain_id, term_end);
CREATE INDEX sent_notices_customer ON sent_notices (customer_id, id);

-- +goose Down
DROP TABLE sent_notices;
DROP TABLE brakes;
DROP TABLE term_ends;
DROP TABLE renewals;
DROP TABLE renewal_consents;
DROP INDEX domains_expired;
DROP INDEX customers_data_reminder;
ALTER TABLE customers DROP COLUMN data_reminder_at;
ALTER TABLE payment_methods DROP COLUMN setup;
ALTER TABLE order_items DROP COLUMN renewal_gross;
ALTER TABLE order_items DROP COLUMN renewal_years;
ALTER TABLE orders DROP COLUMN renewal_address;
ALTER TABLE orders DROP COLUMN renewal_session;
ALTER TABLE orders DROP COLUMN renewal_at;
ALTER TABLE orders DROP COLUMN renewal_wording;
DROP INDEX domains_renewing;
ALTER TABLE domains DROP COLUMN at_term_end;
DELETE FROM schema_compatibility WHERE version = 2;
