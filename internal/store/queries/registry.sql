-- name: GetRegistryRecord :one
SELECT data, read_at FROM registry_records WHERE domain_id = $1;

-- name: PutRegistryRecord :exec
INSERT INTO registry_records (domain_id, data, read_at)
VALUES ($1, $2, $3)
ON CONFLICT (domain_id) DO UPDATE SET data = excluded.data, read_at = excluded.read_at
WHERE excluded.read_at >= registry_records.read_at;
