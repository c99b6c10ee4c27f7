-- +goose Up
INSERT INTO schema_compatibility (version, compatible_from) VALUES (24, 1);

-- Lists that would otherwise read past all the rows of years before the few that they show.
CREATE INDEX refunds_open ON refunds (id) WHERE provider = '' AND failure = '';
CREATE INDEX refunds_open_since ON refunds (created_at) WHERE provider = '' AND failure = '';
CREATE INDEX refunds_made ON refunds (payment_id, item_id) WHERE provider <> '';
CREATE INDEX term_ends_closed ON term_ends (domain_id) WHERE state = 'closed';
CREATE INDEX term_ends_planned ON term_ends (step_at) WHERE step_at > 0 AND state IN ('unpaid', 'held') AND waits_for = '';

-- +goose Down
DROP INDEX term_ends_planned;
DROP INDEX term_ends_closed;
DROP INDEX refunds_made;
DROP INDEX refunds_open_since;
DROP INDEX refunds_open;
DELETE FROM schema_compatibility WHERE version = 24;
