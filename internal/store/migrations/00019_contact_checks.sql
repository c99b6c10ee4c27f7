-- +goose Up
INSERT INTO schema_compatibility (version, compatible_from) VALUES (19, 1);

-- Addresses of registrants that have to be confirmed; see package contactcheck. Rows are evidence
-- and are kept.
CREATE TABLE contact_checks (
    id             TEXT   NOT NULL PRIMARY KEY,
    customer_id    TEXT   NOT NULL,
    email          TEXT   NOT NULL,
    email_key      TEXT   NOT NULL, -- case-folded, for comparison
    state          TEXT   NOT NULL, -- pending, suspended, confirmed or obsolete
    notices        BIGINT NOT NULL, -- requests and reminders that were queued
    opened_at      BIGINT NOT NULL,
    due_at         BIGINT NOT NULL, -- when its domains are suspended
    step_at        BIGINT NOT NULL, -- the next step, by business time; 0: none
    waits_for      TEXT   NOT NULL DEFAULT '', -- why an operator is needed; empty: not
    resent_at      BIGINT NOT NULL DEFAULT 0, -- when the customer last had the mail sent again
    suspended_at   BIGINT NOT NULL DEFAULT 0,
    ended_at       BIGINT NOT NULL DEFAULT 0, -- 0: open
    confirmed_by   TEXT   NOT NULL DEFAULT '', -- link, account, claim or operator
    confirmed_from TEXT   NOT NULL DEFAULT '', -- the network address, or the operator
    note           TEXT   NOT NULL DEFAULT '' -- an operator's: how the address was verified
);
CREATE INDEX contact_checks_step ON contact_checks (step_at) WHERE step_at > 0;
CREATE INDEX contact_checks_open ON contact_checks (due_at, id) WHERE ended_at = 0;
CREATE INDEX contact_checks_waiting ON contact_checks (id) WHERE waits_for <> '';
CREATE INDEX contact_checks_customer ON contact_checks (customer_id, email_key);

-- The check that a domain waits for: empty if none, new until one is opened. It is set by the
-- statement that sets the registrant, so that no domain is missed.
ALTER TABLE domains ADD COLUMN contact_check TEXT NOT NULL DEFAULT '';
-- The check for which a domain is suspended; stays until the hold is removed.
ALTER TABLE domains ADD COLUMN contact_hold TEXT NOT NULL DEFAULT '';
CREATE INDEX domains_contact_check ON domains (contact_check, id) WHERE contact_check <> '';
CREATE INDEX domains_contact_hold ON domains (contact_check, id) WHERE contact_hold <> '';

-- +goose Down
DROP INDEX domains_contact_hold;
DROP INDEX domains_contact_check;
ALTER TABLE domains DROP COLUMN contact_hold;
ALTER TABLE domains DROP COLUMN contact_check;
DROP TABLE contact_checks;
DELETE FROM schema_compatibility WHERE version = 19;
