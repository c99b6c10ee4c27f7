-- name: InsertRegistryMessage :execrows
INSERT INTO registry_messages (account, id, name, text, queued_at, stored_at, number, kind, details, raw, domain_id, unread)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
ON CONFLICT DO NOTHING;

-- What we know about a name: orders in progress or ended, and a deletion by us.
-- name: ListOrderedKindsOfName :many
SELECT kind, state, due_at FROM provision_items WHERE name = $1 ORDER BY id DESC LIMIT 20;

-- name: CountDeletionsOfDomain :one
SELECT count(*) FROM term_ends WHERE domain_id = $1 AND (deleted_at > 0 OR state = 'deleting');

-- The customer and the order are those of now: an order may have been claimed since.
-- name: GetRegistryMessage :one
SELECT m.account, m.id, m.name, m.text, m.queued_at, m.stored_at, m.number, m.kind, m.details, m.raw, m.domain_id, m.unread, m.read_at, m.read_by, m.note,
    CAST(coalesce((SELECT d.customer_id FROM domains AS d WHERE d.id = m.domain_id), '') AS TEXT) AS customer_id,
    CAST(coalesce((SELECT i.order_id FROM order_items AS i WHERE i.name = m.name AND m.name <> '' ORDER BY i.order_id DESC LIMIT 1), '') AS TEXT) AS order_id
FROM registry_messages AS m
WHERE m.number = $1 AND m.number <> '';

-- The newest first. Raw frames are left out: a page of them is megabytes.
-- name: ListRegistryMessages :many
SELECT m.account, m.id, m.name, m.text, m.queued_at, m.stored_at, m.number, m.kind, m.details, m.domain_id, m.unread, m.read_at, m.read_by, m.note
FROM registry_messages AS m
WHERE m.unread = $1 AND m.number < $2 AND m.number <> ''
ORDER BY m.number DESC
LIMIT $3;

-- name: ListRegistryMessagesOfKind :many
SELECT m.account, m.id, m.name, m.text, m.queued_at, m.stored_at, m.number, m.kind, m.details, m.domain_id, m.unread, m.read_at, m.read_by, m.note
FROM registry_messages AS m
WHERE m.unread = $1 AND m.kind = $2 AND m.number < $3 AND m.number <> ''
ORDER BY m.number DESC
LIMIT $4;

-- name: ListRegistryMessagesOfAccount :many
SELECT m.account, m.id, m.name, m.text, m.queued_at, m.stored_at, m.number, m.kind, m.details, m.domain_id, m.unread, m.read_at, m.read_by, m.note
FROM registry_messages AS m
WHERE m.unread = $1 AND m.account = $2 AND m.number < $3 AND m.number <> ''
ORDER BY m.number DESC
LIMIT $4;

-- name: ListRegistryMessagesOfKindAndAccount :many
SELECT m.account, m.id, m.name, m.text, m.queued_at, m.stored_at, m.number, m.kind, m.details, m.domain_id, m.unread, m.read_at, m.read_by, m.note
FROM registry_messages AS m
WHERE m.unread = $1 AND m.kind = $2 AND m.account = $3 AND m.number < $4 AND m.number <> ''
ORDER BY m.number DESC
LIMIT $5;

-- Every operator page shows the number; above 1000 it adds no information.
-- name: CountUnreadRegistryMessages :one
SELECT count(*) FROM (
    SELECT m.number FROM registry_messages AS m WHERE m.unread = 1 AND m.number <> '' ORDER BY m.number LIMIT 1000
) AS unread_messages;

-- name: GetNewestBalanceMessage :one
SELECT m.account, m.id, m.name, m.text, m.queued_at, m.stored_at, m.number, m.kind, m.details, m.domain_id, m.unread, m.read_at, m.read_by, m.note
FROM registry_messages AS m
WHERE m.account = $1 AND m.kind = 'balance'
ORDER BY m.number DESC
LIMIT 1;

-- name: MarkRegistryMessageRead :execresult
UPDATE registry_messages
SET unread = 0, read_at = sqlc.arg(read_at), read_by = sqlc.arg(read_by), note = sqlc.arg(note)
WHERE number = sqlc.arg(number) AND number <> '' AND unread = 1;

-- Those up to a number, so that one that arrives meanwhile stays unread.
-- name: MarkRegistryMessagesRead :execrows
UPDATE registry_messages
SET unread = 0, read_at = sqlc.arg(read_at), read_by = sqlc.arg(read_by)
WHERE number IN (
    SELECT old.number FROM registry_messages AS old
    WHERE old.unread = 1 AND old.kind = sqlc.arg(kind) AND old.number <= sqlc.arg(last_number) AND old.number <> ''
    ORDER BY old.number LIMIT sqlc.arg(max_rows)) AND number <> '';

-- name: ClaimRegistryPoller :execrows
INSERT INTO registry_pollers (account, node, due_at)
VALUES (sqlc.arg(account), sqlc.arg(node), sqlc.arg(due_at))
ON CONFLICT (account) DO UPDATE SET node = excluded.node, due_at = excluded.due_at
WHERE registry_pollers.node = excluded.node OR registry_pollers.due_at <= sqlc.arg(now);

-- name: ReleaseRegistryPoller :exec
UPDATE registry_pollers SET due_at = sqlc.arg(now), node = ''
WHERE account = sqlc.arg(account) AND node = sqlc.arg(node);

-- name: ReleaseRegistryPollers :execrows
UPDATE registry_pollers SET due_at = sqlc.arg(now), node = ''
WHERE node = sqlc.arg(node) AND node <> '';

-- name: PutRegistryBalance :exec
INSERT INTO registry_balances (account, details, queried_at, stored_at)
VALUES (sqlc.arg(account), sqlc.arg(details), sqlc.arg(queried_at), sqlc.arg(stored_at))
ON CONFLICT (account) DO UPDATE SET details = excluded.details, queried_at = excluded.queried_at, stored_at = excluded.stored_at;

-- name: GetRegistryBalance :one
SELECT * FROM registry_balances WHERE account = $1;
