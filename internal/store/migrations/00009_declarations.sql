-- What customers declare about their contracts without signing in. Package
-- declaration says what is checked and what is not.
-- Written in the one dialect that 00001 describes.

-- +goose Up

-- Rows are added, and marked once they are dealt with.
CREATE TABLE declarations (
    id         TEXT   NOT NULL PRIMARY KEY,
    kind       TEXT   NOT NULL, -- withdrawal or termination
    name       TEXT   NOT NULL,
    email      TEXT   NOT NULL,
    contract   TEXT   NOT NULL, -- in the words of who declares
    ground     TEXT   NOT NULL, -- of a termination: ordinary or extraordinary
    reason     TEXT   NOT NULL,
    end_day    TEXT   NOT NULL, -- empty: as soon as possible
    language   TEXT   NOT NULL,
    created_at BIGINT NOT NULL,
    done_at    BIGINT NOT NULL DEFAULT 0
);

-- +goose Down
DROP TABLE declarations;
