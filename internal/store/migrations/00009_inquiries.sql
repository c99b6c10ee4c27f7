-- +goose Up
INSERT INTO schema_compatibility (version, compatible_from) VALUES (9, 1);

-- Messages from the contact form; package inquiry has the states.
CREATE TABLE inquiries (
    id          TEXT   NOT NULL PRIMARY KEY, -- the reference number
    customer_id TEXT   NOT NULL, -- empty: sent without signing in
    name        TEXT   NOT NULL,
    email       TEXT   NOT NULL,
    topic       TEXT   NOT NULL,
    about       TEXT   NOT NULL, -- an order number or a domain, as the sender describes it
    message     TEXT   NOT NULL,
    language    TEXT   NOT NULL,
    digest      TEXT   NOT NULL, -- equal for a repetition on the same day
    created_at  BIGINT NOT NULL,
    done_at     BIGINT NOT NULL DEFAULT 0,
    done_by     TEXT   NOT NULL DEFAULT '', -- the operator's account
    done_note   TEXT   NOT NULL DEFAULT ''
);
CREATE UNIQUE INDEX inquiries_digest ON inquiries (digest);
CREATE INDEX inquiries_open ON inquiries (id) WHERE done_at = 0;
CREATE INDEX inquiries_handled ON inquiries (id) WHERE done_at <> 0;
CREATE INDEX inquiries_done_at ON inquiries (done_at) WHERE done_at <> 0;
-- A customer's data export has what they sent while signed in, and what was sent from their
-- address without.
CREATE INDEX inquiries_customer ON inquiries (customer_id, id);
CREATE INDEX inquiries_email ON inquiries (lower(email), id);

-- +goose Down
DROP TABLE inquiries;
DELETE FROM schema_compatibility WHERE version = 9;
