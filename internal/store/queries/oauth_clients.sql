-- name: InsertClient :exec
INSERT INTO clients (id, kind, name, redirect_uris, auth_method, secret_hash, created_at, last_used_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8);

-- name: UpsertDocumentClient :exec
INSERT INTO clients (id, kind, name, redirect_uris, auth_method, secret_hash, created_at, last_used_at)
VALUES ($1, 'document', $2, $3, 'none', '', $4, $4)
ON CONFLICT (id) DO UPDATE SET name = excluded.name, redirect_uris = excluded.redirect_uris, last_used_at = excluded.last_used_at;

-- name: GetClient :one
SELECT id, kind, name, redirect_uris, auth_method, secret_hash, created_at, last_used_at
FROM clients
WHERE id = $1;

-- name: TouchClient :execrows
UPDATE clients SET last_used_at = $2
WHERE id = $1;

-- This query and DeleteUnusedClients read only the oldest clients, however many are
-- connected.
-- name: TouchConnectedClients :execrows
UPDATE clients SET last_used_at = sqlc.arg(last_used_at)
WHERE clients.last_used_at < sqlc.arg(before) AND clients.id IN (
    SELECT c.id FROM clients c
    WHERE c.last_used_at < sqlc.arg(before)
    ORDER BY c.last_used_at
    LIMIT sqlc.arg(max_rows)
) AND EXISTS (SELECT 1 FROM grants g WHERE g.client_id = clients.id);

-- name: DeleteUnusedClients :execrows
DELETE FROM clients
WHERE clients.last_used_at < $1 AND clients.id IN (
    SELECT c.id FROM clients c
    WHERE c.last_used_at < $1
    ORDER BY c.last_used_at
    LIMIT $2
) AND NOT EXISTS (SELECT 1 FROM grants g WHERE g.client_id = clients.id);
