-- name: InsertDomainLock :exec
INSERT INTO domain_locks (id, domain_id, customer_id, name, cause, reason, reference, restrictions, review_at, set_by, set_at, hold_step_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12);

-- name: GetDomainLock :one
SELECT * FROM domain_locks WHERE id = $1;

-- name: ListActiveLocksOfDomain :many
SELECT * FROM domain_locks WHERE domain_id = $1 AND lifted_at = 0 ORDER BY id;

-- name: ListActiveLocksOfCustomer :many
SELECT * FROM domain_locks
WHERE customer_id = $1 AND lifted_at = 0
ORDER BY id
LIMIT $2;

-- name: ListActiveDomainLocks :many
SELECT * FROM domain_locks
WHERE lifted_at = 0
ORDER BY review_at, id
LIMIT $1;

-- name: ListLiftedDomainLocks :many
SELECT * FROM domain_locks
WHERE lifted_at > 0
ORDER BY lifted_at DESC, id DESC
LIMIT $1;

-- name: LiftDomainLock :execresult
UPDATE domain_locks SET lifted_at = sqlc.arg(lifted_at), lifted_by = sqlc.arg(lifted_by), hold_step_at = sqlc.arg(hold_step_at)
WHERE id = sqlc.arg(id) AND lifted_at = 0;

-- Locks whose hold is due for a comparison with the registry.
-- name: ListDueLockHolds :many
SELECT * FROM domain_locks
WHERE hold_step_at > 0 AND hold_step_at <= $1
ORDER BY hold_step_at
LIMIT $2;

-- name: SetLockHoldStep :execrows
UPDATE domain_locks SET hold_step_at = sqlc.arg(hold_step_at)
WHERE id = sqlc.arg(id) AND hold_step_at = sqlc.arg(was_step) AND lifted_at = sqlc.arg(lifted_at);

-- Whether another lock than one keeps a domain out of the DNS.
-- name: IsHeldByLock :one
SELECT EXISTS (SELECT 1 FROM domain_locks
    WHERE domain_id = sqlc.arg(domain_id) AND lifted_at = 0 AND restrictions LIKE '%hold%' AND id <> sqlc.arg(except_id)) AS held;
