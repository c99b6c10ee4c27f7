-- name: InsertIdempotencyKey :execrows
INSERT INTO idempotency_keys (scope, key, body_hash, run, node, lease_ends, ends_at)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (scope, key) DO NOTHING;

-- name: GetIdempotencyKey :one
SELECT * FROM idempotency_keys WHERE scope = $1 AND key = $2;

-- Takes a key over from an execution that has expired or crashed.
-- name: TakeOverIdempotencyKey :execrows
UPDATE idempotency_keys
SET body_hash = sqlc.arg(body_hash), run = sqlc.arg(run), node = sqlc.arg(node), status = 0, headers = '', response_sealed = '',
    lease_ends = sqlc.arg(lease_ends), ends_at = sqlc.arg(ends_at)
WHERE scope = sqlc.arg(scope) AND key = sqlc.arg(key) AND run = sqlc.arg(previous_run);

-- name: StoreIdempotencyResponse :execrows
UPDATE idempotency_keys SET status = $4, headers = $5, response_sealed = $6, node = ''
WHERE scope = $1 AND key = $2 AND run = $3 AND status = 0;

-- name: DeletePendingIdempotencyKey :exec
DELETE FROM idempotency_keys WHERE scope = $1 AND key = $2 AND run = $3 AND status = 0;

-- The key stays bound to its body: a retry takes it over, a different request doesn't.
-- name: ReleaseIdempotencyKeys :execrows
UPDATE idempotency_keys SET lease_ends = 0, node = ''
WHERE node = $1 AND node <> '' AND status = 0;

-- name: DeleteExpiredIdempotencyKeys :execrows
DELETE FROM idempotency_keys AS expired
WHERE expired.ends_at <= $1 AND (expired.scope, expired.key) IN (SELECT old.scope, old.key FROM idempotency_keys AS old WHERE old.ends_at <= $1 ORDER BY old.ends_at LIMIT $2);
