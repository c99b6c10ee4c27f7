-- Locks the row on PostgreSQL, so that concurrent requests can't exceed the limit.
-- name: IncrementTokenCount :execrows
UPDATE customers SET token_count = token_count + 1
WHERE id = $1 AND token_count < $2 AND disabled_at = 0;

-- name: DecrementTokenCount :exec
UPDATE customers SET token_count = token_count - sqlc.arg(ended)
WHERE id = sqlc.arg(id) AND token_count >= sqlc.arg(ended);

-- name: GetTokenCount :one
SELECT token_count, disabled_at FROM customers WHERE id = $1;

-- name: InsertPersonalAccessToken :exec
INSERT INTO personal_access_tokens (id, customer_id, name, purpose, hash, created_at, expires_at)
VALUES ($1, $2, $3, $4, $5, $6, $7);

-- Expired tokens stay listed until their customer removes them or needs their place.
-- name: ListActivePersonalAccessTokens :many
SELECT * FROM personal_access_tokens
WHERE customer_id = $1 AND revoked_at = 0
ORDER BY id DESC;

-- name: ListLatestPersonalAccessTokens :many
SELECT * FROM personal_access_tokens
WHERE customer_id = $1
ORDER BY id DESC
LIMIT $2;

-- name: GetPersonalAccessToken :one
SELECT * FROM personal_access_tokens
WHERE id = $1;

-- name: RevokePersonalAccessToken :execresult
UPDATE personal_access_tokens SET revoked_at = $3
WHERE id = $1 AND customer_id = $2 AND revoked_at = 0;

-- name: GetPersonalAccessTokenByHash :one
SELECT personal_access_tokens.id, personal_access_tokens.customer_id, personal_access_tokens.revoked_at, personal_access_tokens.expires_at, customers.disabled_at, customers.confirmed_at
FROM personal_access_tokens
JOIN customers ON customers.id = personal_access_tokens.customer_id
WHERE personal_access_tokens.hash = $1;

-- name: TouchPersonalAccessToken :exec
UPDATE personal_access_tokens SET last_used_at = $2
WHERE id = $1 AND last_used_at < $2;
