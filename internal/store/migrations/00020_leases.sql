-- Which node holds the lease on a mail, a message to an agent, or an idempotency key,
-- so that a node that starts gives back what it held when it died. Orders, lines and
-- changes have the same column. Written in the one dialect that 00001 describes.

-- +goose Up

ALTER TABLE mails ADD COLUMN node TEXT NOT NULL DEFAULT '';
CREATE INDEX mails_node ON mails (node) WHERE node <> '';
ALTER TABLE agent_events ADD COLUMN node TEXT NOT NULL DEFAULT '';
CREATE INDEX agent_events_node ON agent_events (node) WHERE node <> '';
ALTER TABLE idempotency ADD COLUMN node TEXT NOT NULL DEFAULT '';
CREATE INDEX idempotency_node ON idempotency (node) WHERE node <> '';

-- +goose Down
DROP INDEX idempotency_node;
ALTER TABLE idempotency DROP COLUMN node;
DROP INDEX agent_events_node;
ALTER TABLE agent_events DROP COLUMN node;
DROP INDEX mails_node;
ALTER TABLE mails DROP COLUMN node;
