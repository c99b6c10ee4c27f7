-- +goose Up
INSERT INTO schema_compatibility (version, compatible_from) VALUES (12, 1);

-- What registries report, for operators to read; package inbox has the kinds. A message from
-- before has no number and was handled by the sync.
ALTER TABLE registry_messages ADD COLUMN number TEXT NOT NULL DEFAULT ''; -- ours, in the order of arrival
ALTER TABLE registry_messages ADD COLUMN kind TEXT NOT NULL DEFAULT '';
ALTER TABLE registry_messages ADD COLUMN details TEXT NOT NULL DEFAULT ''; -- inbox.Details as JSON
ALTER TABLE registry_messages ADD COLUMN raw TEXT NOT NULL DEFAULT ''; -- the frame, if parts of it were not understood
ALTER TABLE registry_messages ADD COLUMN domain_id TEXT NOT NULL DEFAULT ''; -- the domain held, or last held, under the name
ALTER TABLE registry_messages ADD COLUMN unread BIGINT NOT NULL DEFAULT 0; -- 1: an operator has to read it
ALTER TABLE registry_messages ADD COLUMN read_at BIGINT NOT NULL DEFAULT 0; -- 0: not by an operator
ALTER TABLE registry_messages ADD COLUMN read_by TEXT NOT NULL DEFAULT ''; -- the operator's account
ALTER TABLE registry_messages ADD COLUMN note TEXT NOT NULL DEFAULT '';

CREATE INDEX registry_messages_number ON registry_messages (number) WHERE number <> '';
CREATE INDEX registry_messages_unread ON registry_messages (unread, number) WHERE number <> '';
CREATE INDEX registry_messages_kind ON registry_messages (unread, kind, number) WHERE number <> '';
CREATE INDEX registry_messages_account ON registry_messages (unread, account, number) WHERE number <> '';
CREATE INDEX registry_messages_balance ON registry_messages (account, number) WHERE kind = 'balance';

-- The node that polls the messages of an account.
CREATE TABLE registry_pollers (
    account TEXT   NOT NULL PRIMARY KEY,
    node    TEXT   NOT NULL, -- the node that holds the lease
    due_at  BIGINT NOT NULL -- wall clock: the end of the lease
);
CREATE INDEX registry_pollers_node ON registry_pollers (node) WHERE node <> '';

-- +goose Down
DROP TABLE registry_pollers;
DROP INDEX registry_messages_balance;
DROP INDEX registry_messages_account;
DROP INDEX registry_messages_kind;
DROP INDEX registry_messages_unread;
DROP INDEX registry_messages_number;
ALTER TABLE registry_messages DROP COLUMN note;
ALTER TABLE registry_messages DROP COLUMN read_by;
ALTER TABLE registry_messages DROP COLUMN read_at;
ALTER TABLE registry_messages DROP COLUMN unread;
ALTER TABLE registry_messages DROP COLUMN domain_id;
ALTER TABLE registry_messages DROP COLUMN raw;
ALTER TABLE registry_messages DROP COLUMN details;
ALTER TABLE registry_messages DROP COLUMN kind;
ALTER TABLE registry_messages DROP COLUMN number;
DELETE FROM schema_compatibility WHERE version = 12;
