-- Domains whose term ends are found by the same plan however many there are: PostgreSQL
-- takes a comparison with both ends of a range for so rare that it would plan anew each
-- time. Written in the one dialect that 00001 describes.

-- +goose Up

DROP INDEX domains_expiring;
CREATE INDEX domains_expiring ON domains (notified, paid_until) WHERE status = 'active' AND paid_until <> 0;

-- +goose Down
DROP INDEX domains_expiring;
CREATE INDEX domains_expiring ON domains (notified, paid_until) WHERE status = 'active' AND paid_until > 0;
