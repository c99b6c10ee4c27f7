-- A term that had ended before the first run gets no row.
-- name: InsertTermEnd :exec
INSERT INTO term_ends (domain_id, term_end, customer_id, name, tld, account, state, step_at, due_at, updated_at)
SELECT domains.id, domains.paid_until, domains.customer_id, domains.name, domains.tld, domains.account, 'unpaid',
    sqlc.arg(step_at), sqlc.arg(due_at), sqlc.arg(updated_at)
FROM domains
WHERE domains.id = sqlc.arg(domain_id)
    AND domains.paid_until >= (SELECT brakes.started_at FROM brakes WHERE brakes.name = 'terms')
ON CONFLICT DO NOTHING;

-- An operator starts the procedure for a term that had ended before the first run.
-- name: InsertOverdueTermEnd :execresult
INSERT INTO term_ends (domain_id, term_end, customer_id, name, tld, account, state, step_at, due_at, updated_at)
SELECT domains.id, domains.paid_until, domains.customer_id, domains.name, domains.tld, domains.account, 'unpaid',
    sqlc.arg(step_at), sqlc.arg(due_at), sqlc.arg(updated_at)
FROM domains
WHERE domains.id = sqlc.arg(domain_id) AND domains.status = 'expired'
ON CONFLICT DO NOTHING;

-- Follows a domain that its registry deleted after its term, and that has no row. Its term may have ended
-- before the first run; we only read its state.
-- name: InsertDeletedTermEnd :exec
INSERT INTO term_ends (domain_id, term_end, customer_id, name, tld, account, state, step_at, due_at, deleted_at, updated_at)
SELECT domains.id, domains.paid_until, domains.customer_id, domains.name, domains.tld, domains.account, 'redemption',
    sqlc.arg(step_at), sqlc.arg(due_at), sqlc.arg(deleted_at), sqlc.arg(updated_at)
FROM domains
WHERE domains.id = sqlc.arg(domain_id) AND domains.status = 'redemption'
    AND NOT EXISTS (SELECT 1 FROM term_ends AS open WHERE open.domain_id = domains.id AND open.ended_at = 0)
ON CONFLICT DO NOTHING;

-- name: GetTermEnd :one
SELECT * FROM term_ends WHERE domain_id = $1 AND term_end = $2;

-- name: GetOpenTermEnd :one
SELECT * FROM term_ends WHERE domain_id = $1 AND ended_at = 0;

-- While the brake is engaged, only what was begun is followed.
-- name: ListDueTermEnds :many
SELECT * FROM term_ends
WHERE step_at > 0 AND step_at <= sqlc.arg(now) AND due_at <= sqlc.arg(clock)
    AND (sqlc.arg(stopped) = 0 OR state IN ('holding', 'deleting', 'redemption', 'releasing'))
ORDER BY step_at
LIMIT sqlc.arg(max_rows);

-- What would begin now.
-- name: ListPlannedTermEnds :many
SELECT * FROM term_ends
WHERE step_at > 0 AND step_at <= sqlc.arg(now) AND state IN ('unpaid', 'held') AND waits_for = ''
ORDER BY step_at
LIMIT sqlc.arg(max_rows);

-- name: ListWaitingTermEnds :many
SELECT * FROM term_ends
WHERE waits_for <> ''
ORDER BY waits_for, step_at
LIMIT $1;

-- name: ListCustomerTermEnds :many
SELECT * FROM term_ends
WHERE customer_id = $1
ORDER BY domain_id
LIMIT $2;

-- name: ListOverdueDomains :many
SELECT id, customer_id, name, tld, account, paid_until FROM domains
WHERE status = 'expired' AND paid_until < sqlc.arg(started_at)
    AND NOT EXISTS (SELECT 1 FROM term_ends WHERE term_ends.domain_id = domains.id AND term_ends.ended_at = 0)
ORDER BY paid_until
LIMIT sqlc.arg(max_rows);

-- name: ListClosedDomainIDs :many
SELECT domain_id FROM term_ends
WHERE domain_id > $1 AND state = 'closed'
ORDER BY domain_id
LIMIT $2;

-- name: UpdateTermEnd :execresult
UPDATE term_ends
SET state = sqlc.arg(state), step_at = sqlc.arg(step_at), due_at = sqlc.arg(due_at), node = sqlc.arg(node), attempts = sqlc.arg(attempts),
    waits_for = sqlc.arg(waits_for), held_at = sqlc.arg(held_at), deleted_at = sqlc.arg(deleted_at), ended_at = sqlc.arg(ended_at),
    updated_at = sqlc.arg(updated_at)
WHERE domain_id = sqlc.arg(domain_id) AND term_end = sqlc.arg(term_end) AND state = sqlc.arg(was_state) AND due_at = sqlc.arg(was_due);

-- A renewal or restore ends the row. While a hold may be in flight or set, the row stays
-- until its worker has removed it. Until then ended_at is 0; as a constant, PostgreSQL would
-- take the parameters for 32-bit numbers.
-- name: EndTermPaid :many
UPDATE term_ends
SET state = CASE WHEN state IN ('holding', 'held', 'releasing') THEN 'releasing' ELSE 'paid' END,
    step_at = CASE WHEN state IN ('holding', 'held', 'releasing') THEN sqlc.arg(now) ELSE ended_at END,
    due_at = CASE WHEN state IN ('holding', 'releasing') THEN due_at ELSE sqlc.arg(clock) END,
    ended_at = CASE WHEN state IN ('holding', 'held', 'releasing') THEN ended_at ELSE sqlc.arg(now) END,
    waits_for = '', attempts = 0, updated_at = sqlc.arg(now)
WHERE domain_id = sqlc.arg(domain_id) AND ended_at = 0
RETURNING held_at, deleted_at;

-- name: ReleaseTermEnds :execrows
UPDATE term_ends SET due_at = sqlc.arg(now), node = ''
WHERE node = sqlc.arg(node) AND node <> '';

-- name: ReassignTermEnds :exec
UPDATE term_ends SET customer_id = sqlc.arg(customer_id) WHERE customer_id = sqlc.arg(guest);

-- Locks the domain's row until the end of the transaction.
-- name: LockDomain :one
UPDATE domains SET paid_until = paid_until
WHERE id = $1
RETURNING status, paid_until, at_term_end;

-- What keeps a domain from being held or deleted.
-- name: CountTermEndObstacles :one
SELECT
    (SELECT count(*) FROM provision_items WHERE provision_items.name = sqlc.arg(name) AND provision_items.due_at > 0) AS items,
    (SELECT count(*) FROM order_items JOIN orders ON orders.id = order_items.order_id
     WHERE order_items.name = sqlc.arg(name) AND order_items.domain_id = sqlc.arg(domain_id) AND orders.state = 'paying') AS payments,
    (SELECT count(*) FROM domain_locks WHERE domain_locks.domain_id = sqlc.arg(domain_id) AND domain_locks.lifted_at = 0) AS locks;

-- name: CountTermNotices :one
SELECT
    (SELECT count(*) FROM sent_notices
     WHERE sent_notices.domain_id = sqlc.arg(domain_id) AND sent_notices.term_end = sqlc.arg(term_end) AND sent_notices.accepted = 1
         AND sent_notices.kind IN ('expiring_month', 'expiring_week')) AS before_end,
    (SELECT count(*) FROM sent_notices
     WHERE sent_notices.domain_id = sqlc.arg(domain_id) AND sent_notices.term_end = sqlc.arg(term_end) AND sent_notices.accepted = 1
         AND sent_notices.kind IN ('expired', 'domain_held')) AS after_end,
    (SELECT count(*) FROM mails
     WHERE mails.customer_id = sqlc.arg(customer_id) AND mails.kind IN ('expiring_month', 'expiring_week', 'expired', 'domain_held')) AS queued;

-- name: SetDomainStatus :exec
UPDATE domains SET status = sqlc.arg(status), updated_at = sqlc.arg(updated_at),
    sync_due = CASE WHEN sync_due > 0 THEN sqlc.arg(sync_due) ELSE sync_due END
WHERE id = sqlc.arg(id);

-- name: DeleteDomain :exec
DELETE FROM domains WHERE id = $1;

-- name: DeleteRegistryRecord :exec
DELETE FROM registry_records WHERE domain_id = $1;

-- name: LiftLocksOfDomain :exec
UPDATE domain_locks SET lifted_at = sqlc.arg(now), lifted_by = 'closed'
WHERE domain_id = sqlc.arg(domain_id) AND lifted_at = 0;

-- name: GetRenewalOfTerm :one
SELECT state, gross, charge_at, attempts FROM renewals
WHERE domain_id = $1 AND term_end = $2;

-- name: GetDomainHandle :one
SELECT handle FROM domains WHERE id = $1;

-- name: CountDomainLocks :one
SELECT count(*) FROM domain_locks WHERE domain_id = $1 AND lifted_at = 0;

-- Automatic renewals of a term that were not declined, but could not be charged.
-- name: CountUnsettledRenewals :one
SELECT count(*) FROM renewals
WHERE domain_id = $1 AND term_end = $2 AND (state IN ('announced', 'charging') OR failure IN ('too_late', 'provider_unavailable'));

-- The domains of an order's completed items that were deleted since, or handed over to the
-- registry.
-- name: ListEndedDomainsOfOrder :many
SELECT order_items.id, term_ends.tld, term_ends.cause, term_ends.deleted_at
FROM order_items
JOIN provision_items ON provision_items.id = order_items.provision_item_id
JOIN term_ends ON term_ends.domain_id = provision_items.domain_id
WHERE order_items.order_id = $1 AND order_items.state = 'active' AND term_ends.state IN ('redemption', 'closed') AND term_ends.deleted_at > 0
ORDER BY term_ends.deleted_at;
