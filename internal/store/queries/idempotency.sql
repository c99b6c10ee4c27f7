-- name: InsertRun :execrows
INSERT INTO idempotency (scope, key, body_hash, run, lease_ends, ends_at)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (scope, key) DO NOTHING;

-- name: RunOfKey :one
SELECT * FROM idempotency WHERE scope = $1 AND key = $2;

-- name: TakeRunOver :execrows
-- From one that has ended, or from one that died.
UPDATE idempotency
SET body_hash = sqlc.arg(body_hash), run = sqlc.arg(run), status = 0, headers = '', answer = '',
    lease_ends = sqlc.arg(lease_ends), ends_at = sqlc.arg(ends_at)
WHERE scope = sqlc.arg(scope) AND key = sqlc.arg(key) AND run = sqlc.arg(former);

-- name: FinishRun :execrows
UPDATE idempotency SET status = $4, headers = $5, answer = $6
WHERE scope = $1 AND key = $2 AND run = $3 AND status = 0;

-- name: DropRun :exec
DELETE FROM idempotency WHERE scope = $1 AND key = $2 AND run = $3 AND status = 0;

-- name: OldRuns :many
SELECT scope, key FROM idempotency WHERE ends_at <= $1 ORDER BY ends_at LIMIT $2;

-- name: DeleteRun :exec
DELETE FROM idempotency WHERE scope = $1 AND key = $2 AND ends_at <= $3;
