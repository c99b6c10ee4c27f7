-- name: PutCeremony :exec
INSERT INTO ceremonies (hash, kind, customer_id, data, expires_at)
VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (hash) DO UPDATE SET data = excluded.data, expires_at = excluded.expires_at;

-- name: CeremonyByHash :one
SELECT * FROM ceremonies WHERE hash = $1 AND kind = $2 AND expires_at > $3;

-- name: TakeCeremony :one
DELETE FROM ceremonies WHERE hash = $1 AND kind = $2 AND expires_at > $3
RETURNING *;

-- name: DeleteExpiredCeremonies :execrows
DELETE FROM ceremonies
WHERE hash IN (SELECT old.hash FROM ceremonies AS old WHERE old.expires_at <= $1 ORDER BY old.expires_at LIMIT $2);
