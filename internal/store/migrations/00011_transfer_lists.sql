-- +goose Up
INSERT INTO schema_compatibility (version, compatible_from) VALUES (11, 1);

-- The transfers that a customer has entered and not ordered yet, so that a line that can't be
-- ordered now is corrected later.
CREATE TABLE transfer_lists (
    customer_id TEXT   NOT NULL PRIMARY KEY REFERENCES customers (id),
    names       TEXT   NOT NULL, -- of the list, separated by spaces
    list_sealed TEXT   NOT NULL, -- order.ListedTransfer, with auth codes
    expires_at  BIGINT NOT NULL
);
CREATE INDEX transfer_lists_expires ON transfer_lists (expires_at);

-- +goose Down
DROP TABLE transfer_lists;
DELETE FROM schema_compatibility WHERE version = 11;
