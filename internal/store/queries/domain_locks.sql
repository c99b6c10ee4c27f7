-- name: InsertDomainLock :exec
INSERT INTO domain_locks (id, domain_id, customer_id, name, cause, reason, reference, restrictions, review_at, set_by, set_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11);

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

-- name: LiftDomainLock :execrows
UPDATE domain_locks SET lifted_at = $1, lifted_by = $2
WHERE id = $3 AND lifted_at = 0;
