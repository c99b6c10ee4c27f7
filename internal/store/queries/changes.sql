-- Nothing is stored for a domain that is not the customer's any more, nor beside an
-- open change.
-- name: InsertChange :execrows
INSERT INTO changes (id, customer_id, domain_id, name, tld, account, kind, wanted, handle, old_handle, code_sealed, state,
    by_kind, by_id, by_address, due_at, node, attempts, created_at, updated_at)
SELECT sqlc.arg(id), domains.customer_id, domains.id, domains.name, domains.tld, sqlc.arg(account), sqlc.arg(kind), sqlc.arg(wanted),
    sqlc.arg(handle), sqlc.arg(old_handle), sqlc.arg(code_sealed), sqlc.arg(state), sqlc.arg(by_kind), sqlc.arg(by_id),
    sqlc.arg(by_address), sqlc.arg(due_at), sqlc.arg(node), sqlc.arg(attempts), sqlc.arg(now), sqlc.arg(now)
FROM domains
WHERE domains.id = sqlc.arg(domain_id) AND domains.customer_id = sqlc.arg(customer_id) AND domains.status IN ('active', 'expired')
ON CONFLICT (domain_id) WHERE due_at > 0 DO NOTHING;

-- name: MoveChange :execrows
UPDATE changes
SET state = sqlc.arg(state), failure = sqlc.arg(failure), code_sealed = sqlc.arg(code_sealed), due_at = sqlc.arg(due_at),
    node = sqlc.arg(node), attempts = sqlc.arg(attempts), updated_at = sqlc.arg(updated_at)
WHERE id = sqlc.arg(id) AND state = sqlc.arg(was_state) AND due_at = sqlc.arg(was_due);

-- name: DueChanges :many
SELECT * FROM changes
WHERE due_at > 0 AND due_at <= $1
ORDER BY due_at
LIMIT $2;

-- name: FreeChanges :execrows
UPDATE changes SET due_at = sqlc.arg(now), node = ''
WHERE node = sqlc.arg(node) AND node <> '' AND due_at > 0;

-- name: ChangeByID :one
SELECT * FROM changes WHERE id = $1;

-- name: ChangesOfDomain :many
SELECT * FROM changes
WHERE domain_id = $1
ORDER BY id DESC
LIMIT $2;

-- name: SecuringsOfDomain :many
SELECT * FROM changes
WHERE domain_id = $1 AND kind = 'secure'
ORDER BY id DESC
LIMIT $2;

-- name: OwnDomain :one
SELECT * FROM domains WHERE id = $1 AND customer_id = $2;

-- name: HandOverDomain :exec
UPDATE domains SET handle = sqlc.arg(handle), updated_at = sqlc.arg(updated_at) WHERE id = sqlc.arg(id);

-- name: RecordOfDomain :one
SELECT data, read_at FROM registry_records WHERE domain_id = $1;

-- name: KeepRecord :exec
INSERT INTO registry_records (domain_id, data, read_at)
VALUES ($1, $2, $3)
ON CONFLICT (domain_id) DO UPDATE SET data = excluded.data, read_at = excluded.read_at
WHERE excluded.read_at >= registry_records.read_at;

-- name: DeedsAbout :many
SELECT id, customer_id, actor_kind, actor, through, address, action, object, at
FROM deeds
WHERE customer_id = $1 AND object = $2
ORDER BY id DESC
LIMIT $3;
