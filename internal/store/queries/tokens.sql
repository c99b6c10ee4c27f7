-- name: CountTokenIn :execrows
-- Takes the row's lock on PostgreSQL, so that those who race count one by one.
UPDATE customers SET token_count = token_count + 1
WHERE id = $1 AND token_count < $2 AND disabled_at = 0;

-- name: CountTokenOut :execrows
UPDATE customers SET token_count = token_count - 1
WHERE id = $1 AND token_count > 0;

-- name: TokenCount :one
SELECT token_count, disabled_at FROM customers WHERE id = $1;

-- name: InsertToken :exec
INSERT INTO tokens (id, customer_id, name, hash, created_at)
VALUES ($1, $2, $3, $4, $5);

-- name: ActiveTokensOfCustomer :many
SELECT id, customer_id, name, hash, created_at, last_used_at, revoked_at
FROM tokens
WHERE customer_id = $1 AND revoked_at = 0
ORDER BY id DESC;

-- name: LatestTokensOfCustomer :many
SELECT id, customer_id, name, hash, created_at, last_used_at, revoked_at
FROM tokens
WHERE customer_id = $1
ORDER BY id DESC
LIMIT $2;

-- name: TokenByID :one
SELECT id, customer_id, name, hash, created_at, last_used_at, revoked_at
FROM tokens
WHERE id = $1;

-- name: RevokeToken :execrows
UPDATE tokens SET revoked_at = $3
WHERE id = $1 AND customer_id = $2 AND revoked_at = 0;

-- name: BearingOfToken :one
SELECT tokens.id, tokens.customer_id, tokens.revoked_at, customers.disabled_at, customers.confirmed_at
FROM tokens
JOIN customers ON customers.id = tokens.customer_id
WHERE tokens.hash = $1;

-- name: TokenUsed :exec
UPDATE tokens SET last_used_at = $2
WHERE id = $1 AND last_used_at < $2;
