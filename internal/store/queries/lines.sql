-- name: LineByID :one
SELECT * FROM lines WHERE id = $1;

-- name: LineByPayment :one
SELECT * FROM lines WHERE payment = $1 AND name = $2;

-- name: LinesOfName :many
SELECT * FROM lines WHERE name = $1 ORDER BY id;

-- name: LinesAfter :many
SELECT * FROM lines
WHERE id > $1
ORDER BY id
LIMIT $2;

-- name: DueLines :many
SELECT * FROM lines
WHERE due_at > 0 AND due_at <= $1
ORDER BY due_at
LIMIT $2;

-- name: MoveLine :execrows
UPDATE lines
SET state = sqlc.arg(state), failure = sqlc.arg(failure), refund_due = sqlc.arg(refund_due),
    domain_id = sqlc.arg(domain_id), handle = sqlc.arg(handle), code_sealed = sqlc.arg(code_sealed), registrant = sqlc.arg(registrant),
    renew_from = sqlc.arg(renew_from), asked_at = sqlc.arg(asked_at), due_at = sqlc.arg(due_at), node = sqlc.arg(node), attempts = sqlc.arg(attempts),
    updated_at = sqlc.arg(updated_at)
WHERE id = sqlc.arg(id) AND state = sqlc.arg(was_state) AND due_at = sqlc.arg(was_due);

-- name: FreeLines :execrows
UPDATE lines SET due_at = sqlc.arg(now), node = ''
WHERE node = sqlc.arg(node) AND node <> '' AND due_at > 0;

-- A line that somebody works on keeps its lease.
-- name: HurryLines :exec
UPDATE lines SET due_at = sqlc.arg(now)
WHERE name = sqlc.arg(name) AND due_at > sqlc.arg(now) AND node = '' AND state = 'pending';

-- name: HolderOf :one
SELECT r.name, r.organisation, r.street, r.postal_code, r.city, r.state, r.country, r.phone, c.email
FROM registrants r JOIN customers c ON c.id = r.customer_id
WHERE r.customer_id = $1;

-- name: ActivateDomain :execrows
UPDATE domains
SET status = sqlc.arg(status), paid_until = sqlc.arg(paid_until), handle = sqlc.arg(handle), code_sealed = sqlc.arg(code_sealed),
    registry_expires = sqlc.arg(registry_expires), sync_due = sqlc.arg(sync_due), updated_at = sqlc.arg(updated_at)
WHERE id = sqlc.arg(id) AND status = 'pending';

-- The notices of the next term begin anew.
-- name: RenewDomain :execrows
UPDATE domains
SET paid_until = sqlc.arg(paid_until), status = CASE WHEN status = 'expired' THEN 'active' ELSE status END, notified = 0,
    registry_expires = sqlc.arg(registry_expires), sync_due = sqlc.arg(sync_due), updated_at = sqlc.arg(updated_at)
WHERE id = sqlc.arg(id) AND paid_until = sqlc.arg(was_paid_until);

-- name: NameDomainAccount :exec
UPDATE domains SET account = $2 WHERE id = $1;

-- name: DropDomain :exec
DELETE FROM domains WHERE id = $1 AND status = 'pending';

-- name: InsertMessage :execrows
INSERT INTO registry_messages (account, id, name, text, queued_at, stored_at)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT DO NOTHING;

-- name: HurryDomains :exec
UPDATE domains SET sync_due = sqlc.arg(now)
WHERE name = sqlc.arg(name) AND sync_due > 0;

-- name: DueDomains :many
SELECT * FROM domains
WHERE sync_due > 0 AND sync_due <= $1
ORDER BY sync_due
LIMIT $2;

-- name: DomainsAfter :many
SELECT * FROM domains
WHERE id > $1
ORDER BY id
LIMIT $2;

-- name: DomainsOfName :many
SELECT * FROM domains WHERE name = $1 ORDER BY id;

-- name: FollowDomain :execrows
UPDATE domains
SET status = sqlc.arg(status), registry_status = sqlc.arg(registry_status), registry_expires = sqlc.arg(registry_expires),
    synced_at = sqlc.arg(synced_at), sync_due = sqlc.arg(sync_due), updated_at = sqlc.arg(updated_at)
WHERE id = sqlc.arg(id) AND status = sqlc.arg(was_status) AND sync_due = sqlc.arg(was_due);
