-- The price list, so that all nodes quote the same prices. Written in the one dialect
-- that 00001 describes.

-- +goose Up

-- One row for each import; the newest edition is in force. Without a row the list that
-- ships with the program is.
CREATE TABLE price_lists (
    edition    BIGINT NOT NULL PRIMARY KEY,
    content    TEXT   NOT NULL, -- CSV; empty: the list that ships with the program
    created_at BIGINT NOT NULL
);

-- +goose Down
DROP TABLE price_lists;
