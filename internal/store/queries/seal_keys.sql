-- name: ListSealKeys :many
SELECT * FROM seal_keys ORDER BY id LIMIT $1;

-- name: InsertSealKey :execrows
INSERT INTO seal_keys (id, state, canary, created_at, changed_at)
VALUES ($1, $2, $3, $4, $4)
ON CONFLICT DO NOTHING;

-- name: UpdateSealKeyState :execresult
UPDATE seal_keys SET state = sqlc.arg(state), changed_at = sqlc.arg(now)
WHERE id = sqlc.arg(id) AND state = sqlc.arg(was_state);

-- name: PutSealNode :exec
INSERT INTO seal_nodes (name, key_ids, write_id, seen_at)
VALUES ($1, $2, $3, $4)
ON CONFLICT (name) DO UPDATE SET key_ids = excluded.key_ids, write_id = excluded.write_id, seen_at = excluded.seen_at;

-- name: TouchSealNode :exec
UPDATE seal_nodes SET seen_at = sqlc.arg(seen_at) WHERE name = sqlc.arg(name);

-- The report of a node stays locked until the end of the transaction if it is still the same.
-- name: LockSealNode :execresult
UPDATE seal_nodes SET write_id = write_id WHERE name = sqlc.arg(name) AND seen_at = sqlc.arg(seen_at);

-- name: DeleteSealNode :exec
DELETE FROM seal_nodes WHERE name = $1;

-- name: ListSealNodes :many
SELECT * FROM seal_nodes WHERE name > sqlc.arg(after) ORDER BY name LIMIT sqlc.arg(max_rows);

-- name: DeleteStaleSealNode :exec
DELETE FROM seal_nodes WHERE name = sqlc.arg(name) AND seen_at < sqlc.arg(oldest);

-- name: DeleteNextSealKey :exec
DELETE FROM seal_keys WHERE id = $1 AND state = 'next';
