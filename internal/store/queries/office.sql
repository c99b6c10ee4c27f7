-- name: SetOperator :execrows
UPDATE customers SET operator = sqlc.arg(operator)
WHERE id = sqlc.arg(id) AND operator <> sqlc.arg(operator) AND confirmed_at <> 0 AND shadow = 0;

-- name: Operators :many
SELECT * FROM customers WHERE operator = 1 ORDER BY id LIMIT $1;

-- name: InsertDomainLock :exec
INSERT INTO domain_locks (id, domain_id, customer_id, name, cause, reason, reference, blocks, review_at, set_by, set_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11);

-- name: DomainLockByID :one
SELECT * FROM domain_locks WHERE id = $1;

-- name: DomainLocksOf :many
SELECT * FROM domain_locks WHERE domain_id = $1 AND lifted_at = 0 ORDER BY id;

-- name: DomainLocksInForce :many
SELECT * FROM domain_locks
WHERE lifted_at = 0
ORDER BY review_at, id
LIMIT $1;

-- name: DomainLocksLifted :many
SELECT * FROM domain_locks
WHERE lifted_at > 0
ORDER BY lifted_at DESC, id DESC
LIMIT $1;

-- name: LiftDomainLock :execrows
UPDATE domain_locks SET lifted_at = $1, lifted_by = $2
WHERE id = $3 AND lifted_at = 0;

-- name: PutSetback :exec
INSERT INTO setbacks (job, code, at)
VALUES ($1, $2, $3)
ON CONFLICT (job) DO UPDATE SET code = excluded.code, at = excluded.at;

-- name: SetbackOf :one
SELECT * FROM setbacks WHERE job = $1;

-- name: DeleteOldSetbacks :execrows
DELETE FROM setbacks
WHERE job IN (SELECT old.job FROM setbacks AS old WHERE old.at < $1 ORDER BY old.at LIMIT $2);

-- name: TriedLines :many
SELECT id, kind, state, name, due_at, node, attempts FROM lines
WHERE due_at > 0 AND attempts > 0
ORDER BY attempts DESC, id DESC
LIMIT $1;

-- name: NextLines :many
SELECT id, kind, state, name, due_at, node, attempts FROM lines
WHERE due_at > 0
ORDER BY due_at
LIMIT $1;

-- name: TriedOrders :many
SELECT id, channel, state, due_at, node, attempts FROM orders
WHERE due_at > 0 AND attempts > 0
ORDER BY attempts DESC, id DESC
LIMIT $1;

-- name: NextOrders :many
SELECT id, channel, state, due_at, node, attempts FROM orders
WHERE due_at > 0
ORDER BY due_at
LIMIT $1;

-- name: TriedChanges :many
SELECT id, kind, state, name, due_at, node, attempts FROM changes
WHERE due_at > 0 AND attempts > 0
ORDER BY attempts DESC, id DESC
LIMIT $1;

-- name: NextChanges :many
SELECT id, kind, state, name, due_at, node, attempts FROM changes
WHERE due_at > 0
ORDER BY due_at
LIMIT $1;

-- name: TriedMails :many
SELECT id, kind, due_at, attempts FROM mails
WHERE attempts > 0
ORDER BY attempts DESC, id DESC
LIMIT $1;

-- name: NextMails :many
SELECT id, kind, due_at, attempts FROM mails
ORDER BY due_at
LIMIT $1;

-- name: TriedEvents :many
SELECT order_id, due_at, attempts FROM agent_events
WHERE due_at > 0 AND attempts > 0
ORDER BY attempts DESC, order_id DESC
LIMIT $1;

-- name: NextEvents :many
SELECT order_id, due_at, attempts FROM agent_events
WHERE due_at > 0
ORDER BY due_at
LIMIT $1;

-- What somebody works on keeps its lease.
-- name: RetryLine :execrows
UPDATE lines SET due_at = sqlc.arg(now) WHERE id = sqlc.arg(id) AND due_at > sqlc.arg(now) AND node = '';

-- name: RetryOrder :execrows
UPDATE orders SET due_at = sqlc.arg(now), version = version + 1
WHERE id = sqlc.arg(id) AND due_at > sqlc.arg(now) AND node = '';

-- name: RetryChange :execrows
UPDATE changes SET due_at = sqlc.arg(now) WHERE id = sqlc.arg(id) AND due_at > sqlc.arg(now) AND node = '';

-- These two do not tell a lease from a pause, so what could be a lease is left alone:
-- it ends soon.
-- name: RetryMail :execrows
UPDATE mails SET due_at = sqlc.arg(now) WHERE id = sqlc.arg(id) AND due_at > sqlc.arg(longest_lease);

-- name: RetryEvent :execrows
UPDATE agent_events SET due_at = sqlc.arg(now) WHERE order_id = sqlc.arg(id) AND due_at > sqlc.arg(longest_lease);

-- name: RefundsWaiting :many
SELECT order_id, id, amount, created_at FROM refunds
WHERE provider = ''
ORDER BY created_at
LIMIT $1;

-- name: HeldDomain :one
SELECT * FROM domains WHERE name = $1 AND status <> 'transferred_out';
