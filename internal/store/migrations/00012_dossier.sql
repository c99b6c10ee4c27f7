-- What customers are handed when they ask for all that is stored about them, found
-- by an index of its own; and a block that bound nothing. Written in the one dialect
-- that 00001 describes.

-- +goose Up

CREATE INDEX changes_of_customer ON changes (customer_id, id);
DROP INDEX changes_customer;
CREATE INDEX domain_locks_customer ON domain_locks (customer_id, id);
CREATE INDEX declarations_email ON declarations (lower(email), id);

-- Nothing here gives a domain up, so there is nothing that a lock could forbid about it.
UPDATE domain_locks SET blocks = trim(replace(' ' || blocks || ' ', ' delete ', ' '));

-- +goose Down
DROP INDEX declarations_email;
DROP INDEX domain_locks_customer;
CREATE INDEX changes_customer ON changes (customer_id);
DROP INDEX changes_of_customer;
