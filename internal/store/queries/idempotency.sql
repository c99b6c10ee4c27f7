-- name: InsertRun :execrows
INSERT INTO idempotency (scope, key, body_hash, run, node, lease_ends, ends_at)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (scope, key) DO NOTHING;

-- name: RunOfKey :one
SELECT * FROM idempotency WHERE scope = $1 AND key = $2;

-- name: TakeRunOver :execrows
-- From one that has ended, or from one that died.
UPDATE idempotency
SET body_hash = sqlc.arg(body_hash), run = sqlc.arg(run), node = sqlc.arg(node), status = 0, headers = '', answer = '',
    lease_ends = sqlc.arg(lease_ends), ends_at = sqlc.arg(ends_at)
WHERE scope = sqlc.arg(scope) AND key = sqlc.arg(key) AND run = sqlc.arg(former);

-- name: FinishRun :execrows
UPDATE idempotency SET status = $4, headers = $5, answer = $6, node = ''
WHERE scope = $1 AND key = $2 AND run = $3 AND status = 0;

-- name: DropRun :exec
DELETE FROM idempotency WHERE scope = $1 AND key = $2 AND run = $3 AND status = 0;

-- The key stays bound to its body: a retry takes it over, another request does not.
-- name: FreeRuns :execrows
UPDATE idempotency SET lease_ends = 0, node = ''
WHERE node = $1 AND node <> '' AND status = 0;

-- name: OldRuns :many
SELECT scope, key FROM idempotency WHERE ends_at <= $1 ORDER BY ends_at LIMIT $2;

-- name: DeleteRun :exec
DELETE FROM idempotency WHERE scope = $1 AND key = $2 AND ends_at <= $3;
