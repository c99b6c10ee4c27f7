-- name: DeleteUnsentMails :exec
DELETE FROM mails WHERE customer_id = $1 AND kind = $2;

-- name: InsertMail :exec
INSERT INTO mails (id, kind, customer_id, recipient, language, data, created_at, due_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8);

-- An empty recipient or language is the customer's. A mail with this id is kept.
-- name: InsertCustomerMail :execresult
INSERT INTO mails (id, kind, customer_id, recipient, language, data, created_at, due_at)
SELECT sqlc.arg(id), sqlc.arg(kind), customers.id,
    CASE WHEN sqlc.arg(recipient) = '' THEN customers.email ELSE sqlc.arg(recipient) END,
    CASE WHEN sqlc.arg(language) = '' THEN customers.language ELSE sqlc.arg(language) END,
    sqlc.arg(data), sqlc.arg(now), sqlc.arg(due)
FROM customers
WHERE customers.id = sqlc.arg(customer_id)
ON CONFLICT (id) DO NOTHING;

-- A mail that a node has tried to send keeps its text.
-- name: ReplaceQueuedMail :execrows
UPDATE mails
SET kind = sqlc.arg(kind), data = sqlc.arg(data), due_at = sqlc.arg(due)
WHERE id = sqlc.arg(id) AND attempts = 0;

-- name: LockQueuedMail :one
SELECT data FROM mails WHERE id = $1 AND kind = $2 AND attempts = 0 FOR UPDATE;

-- SQLite has no locking clause; sqldb removes it.
-- name: ClaimDueMails :many
UPDATE mails
SET due_at = sqlc.arg(lease), attempts = attempts + 1, node = sqlc.arg(node)
WHERE id IN (
    SELECT due.id FROM mails AS due
    WHERE due.due_at <= sqlc.arg(now)
    ORDER BY due.due_at
    LIMIT sqlc.arg(max_rows)
    FOR UPDATE SKIP LOCKED)
RETURNING id, kind, customer_id, recipient, language, data, created_at, due_at, attempts,
    EXISTS (SELECT 1 FROM customers WHERE customers.id = mails.customer_id AND customers.password_hash = '') AS no_password;

-- name: PostponeMail :exec
UPDATE mails
SET due_at = sqlc.arg(due), node = ''
WHERE id = sqlc.arg(id) AND due_at = sqlc.arg(lease);

-- name: ReleaseMails :execrows
UPDATE mails SET due_at = sqlc.arg(now), node = ''
WHERE node = sqlc.arg(node) AND node <> '';

-- name: DeleteMail :exec
DELETE FROM mails
WHERE id = $1;
