-- Inserts nothing if the domain no longer belongs to the customer, or if it already
-- has an open change.
-- name: InsertDomainChange :execresult
INSERT INTO domain_changes (id, customer_id, domain_id, name, tld, account, kind, desired, handle, old_handle, code_sealed, state,
    by_kind, by_id, by_address, due_at, node, attempts, created_at, updated_at, bulk_id)
SELECT sqlc.arg(id), domains.customer_id, domains.id, domains.name, domains.tld, sqlc.arg(account), sqlc.arg(kind), sqlc.arg(desired),
    sqlc.arg(handle), sqlc.arg(old_handle), sqlc.arg(code_sealed), sqlc.arg(state), sqlc.arg(by_kind), sqlc.arg(by_id),
    sqlc.arg(by_address), sqlc.arg(due_at), sqlc.arg(node), sqlc.arg(attempts), sqlc.arg(now), sqlc.arg(now), sqlc.arg(bulk_id)
FROM domains
WHERE domains.id = sqlc.arg(domain_id) AND domains.customer_id = sqlc.arg(customer_id) AND domains.status IN ('active', 'expired')
ON CONFLICT (domain_id) WHERE due_at > 0 DO NOTHING;

-- name: UpdateDomainChange :execresult
UPDATE domain_changes
SET state = sqlc.arg(state), failure = sqlc.arg(failure), desired = sqlc.arg(desired), wait_until = sqlc.arg(wait_until), code_sealed = sqlc.arg(code_sealed), due_at = sqlc.arg(due_at),
    node = sqlc.arg(node), attempts = sqlc.arg(attempts), updated_at = sqlc.arg(updated_at)
WHERE id = sqlc.arg(id) AND state = sqlc.arg(was_state) AND due_at = sqlc.arg(was_due);

-- A change that waits is due by the business time, which may be ahead of the clock.
-- name: ClaimDueDomainChanges :many
UPDATE domain_changes
SET due_at = sqlc.arg(lease), attempts = attempts + 1, node = sqlc.arg(node)
WHERE id IN (
    SELECT due.id FROM domain_changes AS due
    WHERE due.due_at > 0 AND (due.due_at <= sqlc.arg(clock) OR due.wait_until > 0 AND due.wait_until <= sqlc.arg(now) AND due.node = '')
    ORDER BY due.due_at
    LIMIT sqlc.arg(max_rows)
    FOR UPDATE SKIP LOCKED)
RETURNING *;

-- name: ReleaseDomainChanges :execrows
UPDATE domain_changes SET due_at = sqlc.arg(now), node = ''
WHERE node = sqlc.arg(node) AND node <> '' AND due_at > 0;

-- name: GetDomainChange :one
SELECT * FROM domain_changes WHERE id = $1;

-- name: ListDomainChanges :many
SELECT * FROM domain_changes
WHERE domain_id = $1
ORDER BY id DESC
LIMIT $2;

-- desired is JSON; a pattern such as %"for":"du_1"% finds what a change was stored for.
-- name: GetLastChangeFor :one
SELECT * FROM domain_changes
WHERE domain_id = sqlc.arg(domain_id) AND (kind = sqlc.arg(kind) OR kind = sqlc.arg(other_kind)) AND desired LIKE sqlc.arg(pattern)
ORDER BY id DESC
LIMIT 1;

-- name: CountOpeningsSince :one
SELECT count(*) FROM domain_changes
WHERE domain_id = sqlc.arg(domain_id) AND id > sqlc.arg(change_id) AND kind IN ('unlock', 'auth_code') AND state <> 'refused';

-- name: ListSecureChanges :many
SELECT * FROM domain_changes
WHERE domain_id = $1 AND kind = 'secure'
ORDER BY id DESC
LIMIT $2;
