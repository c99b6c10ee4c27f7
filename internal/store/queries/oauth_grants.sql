-- name: InsertGrant :exec
INSERT INTO grants (id, customer_id, client_id, client_name, redirect_uri, scope, resource, generation, created_at, last_used_at, expires_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, 1, $8, $8, $9);

-- A sibling that lags behind within the leeway doesn't lower the generation. The first
-- one used after the leeway starts a new epoch, which only its own lineage belongs to.
-- name: AdvanceGrant :one
UPDATE grants
SET generation = CASE
        WHEN siblings_until > 0 AND siblings_until <= sqlc.arg(now) THEN sqlc.arg(generation)
        WHEN generation < sqlc.arg(generation) THEN sqlc.arg(generation)
        ELSE generation
    END,
    epoch = CASE WHEN siblings_until > 0 AND siblings_until <= sqlc.arg(now) THEN epoch + 1 ELSE epoch END,
    siblings_until = CASE WHEN siblings_until <= sqlc.arg(now) THEN 0 ELSE siblings_until END,
    last_used_at = sqlc.arg(now), expires_at = sqlc.arg(expires_at)
WHERE id = sqlc.arg(id) AND revoked_at = 0 AND epoch = sqlc.arg(epoch)
RETURNING epoch;

-- A second fork doesn't extend the leeway of the first: otherwise a client that keeps
-- refreshing could keep siblings alive forever.
-- name: ForkGrant :execrows
UPDATE grants
SET siblings_until = CASE WHEN siblings_until = 0 THEN sqlc.arg(siblings_until) ELSE siblings_until END,
    last_used_at = sqlc.arg(now), expires_at = sqlc.arg(expires_at)
WHERE id = sqlc.arg(id) AND revoked_at = 0;

-- name: LockGrant :one
UPDATE grants SET generation = generation
WHERE id = $1 AND revoked_at = 0
RETURNING generation, epoch, siblings_until;

-- name: TouchGrant :exec
UPDATE grants SET last_used_at = $2
WHERE id = $1 AND last_used_at < $2;

-- name: RevokeGrant :one
UPDATE grants SET revoked_at = $2, expires_at = $2
WHERE id = $1 AND revoked_at = 0
RETURNING client_name, redirect_uri;

-- name: GetGrantClient :one
SELECT client_id, client_name, redirect_uri
FROM grants
WHERE id = $1 AND customer_id = $2;

-- name: ListLiveGrantIDs :many
SELECT id
FROM grants
WHERE customer_id = $1 AND client_id = $2 AND revoked_at = 0
ORDER BY id;

-- name: ListCustomerGrants :many
SELECT id, client_id, client_name, redirect_uri, scope, created_at, last_used_at, expires_at
FROM grants
WHERE customer_id = $1 AND revoked_at = 0 AND expires_at > $2
ORDER BY client_id, id;

-- name: DeleteEndedGrants :execrows
DELETE FROM grants
WHERE id IN (SELECT g.id FROM grants g WHERE g.expires_at < $1 ORDER BY g.expires_at LIMIT $2);

-- name: InsertAccessToken :exec
INSERT INTO access_tokens (hash, grant_id, scope, expires_at)
VALUES ($1, $2, $3, $4);

-- name: GetAccessToken :one
SELECT a.scope, a.expires_at, g.id AS grant_id, g.customer_id, g.client_id, g.resource, g.revoked_at, c.disabled_at
FROM access_tokens a
JOIN grants g ON g.id = a.grant_id
JOIN customers c ON c.id = g.customer_id
WHERE a.hash = $1;

-- name: DeleteExpiredAccessTokens :execrows
DELETE FROM access_tokens
WHERE hash IN (SELECT a.hash FROM access_tokens a WHERE a.expires_at < $1 ORDER BY a.expires_at LIMIT $2);

-- name: InsertRefreshToken :exec
INSERT INTO refresh_tokens (hash, grant_id, generation, expires_at, epoch)
VALUES ($1, $2, $3, $4, $5);

-- name: GetRefreshToken :one
SELECT r.generation, r.expires_at, r.used_at, r.epoch, g.epoch AS grant_epoch,
       g.id AS grant_id, g.customer_id, g.client_id, g.scope, g.resource, g.revoked_at, c.disabled_at
FROM refresh_tokens r
JOIN grants g ON g.id = r.grant_id
JOIN customers c ON c.id = g.customer_id
WHERE r.hash = $1;

-- name: UseRefreshToken :execrows
UPDATE refresh_tokens SET used_at = $2
WHERE hash = $1 AND used_at = 0 AND expires_at > $2;

-- name: ReuseRefreshToken :one
UPDATE refresh_tokens SET reuses = reuses + 1
WHERE hash = $1 AND used_at > 0
RETURNING generation, used_at, reuses, epoch;

-- name: SetRefreshTokenEpoch :exec
UPDATE refresh_tokens SET epoch = $2 WHERE hash = $1;

-- name: DeleteExpiredRefreshTokens :execrows
DELETE FROM refresh_tokens
WHERE hash IN (SELECT r.hash FROM refresh_tokens r WHERE r.expires_at < $1 ORDER BY r.expires_at LIMIT $2);
