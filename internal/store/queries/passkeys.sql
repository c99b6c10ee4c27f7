-- name: InsertPasskey :execrows
INSERT INTO passkeys (id, customer_id, credential_id, credential, name, created_at)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (credential_id) DO NOTHING;

-- name: ListPasskeys :many
SELECT * FROM passkeys WHERE customer_id = $1 ORDER BY id;

-- name: UsePasskey :execrows
UPDATE passkeys SET credential = $1, last_used_at = $2 WHERE id = $3 AND credential = $4;

-- name: DeletePasskey :execrows
DELETE FROM passkeys WHERE customer_id = $1 AND id = $2;
