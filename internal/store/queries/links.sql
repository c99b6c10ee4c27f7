-- name: InsertLink :exec
INSERT INTO links (hash, kind, customer_id, email, expires_at) VALUES ($1, $2, $3, $4, $5);

-- name: GetLink :one
SELECT * FROM links WHERE hash = $1 AND kind = $2 AND used_at = 0 AND expires_at > $3;

-- name: UseLink :one
UPDATE links SET used_at = $1
WHERE hash = $2 AND kind = $3 AND used_at = 0 AND expires_at > $1
RETURNING *;

-- name: DeleteExpiredLinks :execrows
DELETE FROM links
WHERE hash IN (SELECT old.hash FROM links AS old WHERE old.expires_at <= $1 ORDER BY old.expires_at LIMIT $2);

-- name: DeleteLinksOfUnconfirmed :exec
DELETE FROM links
WHERE customer_id = $1
    AND EXISTS (SELECT 1 FROM customers WHERE customers.id = $1 AND customers.confirmed_at = 0);

-- name: DeleteUnusedLinks :exec
DELETE FROM links
WHERE customer_id = $1 AND kind = $2 AND used_at = 0 AND hash <> sqlc.arg(new_hash);

-- Inserts no row if the mail is gone or its lease has ended. The mail stays locked until the
-- end of the transaction; SQLite has no locking clause, and sqldb removes it. Returns whether
-- the customer has older unused links of this kind; most have none.
-- name: InsertMailedLink :one
INSERT INTO links (hash, kind, customer_id, email, expires_at)
SELECT sqlc.arg(hash), sqlc.arg(kind), sqlc.arg(customer_id), sqlc.arg(email), sqlc.arg(expires_at)
FROM mails WHERE mails.id = sqlc.arg(mail_id) AND mails.due_at = sqlc.arg(lease)
FOR UPDATE
RETURNING CASE WHEN EXISTS (
    SELECT 1 FROM links AS older
    WHERE older.customer_id = links.customer_id AND older.kind = links.kind AND older.used_at = 0 AND older.hash <> links.hash)
THEN 1 ELSE 0 END AS replaces;
