-- name: GetTransferList :one
SELECT list_sealed FROM transfer_lists WHERE customer_id = sqlc.arg(customer_id) AND expires_at > sqlc.arg(now);

-- Inserts the list, or replaces the one that was read. An expired one counts as none.
-- name: ReplaceTransferList :execrows
INSERT INTO transfer_lists (customer_id, names, list_sealed, expires_at)
VALUES (sqlc.arg(customer_id), sqlc.arg(names), sqlc.arg(list_sealed), sqlc.arg(expires_at))
ON CONFLICT (customer_id) DO UPDATE
SET names = excluded.names, list_sealed = excluded.list_sealed, expires_at = excluded.expires_at
WHERE transfer_lists.list_sealed = sqlc.arg(seen) OR transfer_lists.expires_at <= sqlc.arg(now);

-- name: DeleteTransferList :exec
DELETE FROM transfer_lists WHERE customer_id = $1;

-- name: DeleteExpiredTransferLists :execrows
DELETE FROM transfer_lists
WHERE customer_id IN (SELECT old.customer_id FROM transfer_lists AS old WHERE old.expires_at <= $1 ORDER BY old.expires_at LIMIT $2);

-- Those of the names that a customer holds, or whose registration or transfer is in progress.
-- name: ListAcquiredNames :many
SELECT domains.name FROM domains
WHERE domains.customer_id = sqlc.arg(customer_id) AND domains.status <> 'transferred_out'
    AND domains.name IN (SELECT value FROM json_array_elements_text(CAST(sqlc.arg(names) AS TEXT)::json))
UNION
SELECT provision_items.name FROM provision_items
WHERE provision_items.customer_id = sqlc.arg(customer_id) AND provision_items.due_at > 0 AND provision_items.kind IN ('register', 'transfer')
    AND provision_items.name IN (SELECT value FROM json_array_elements_text(CAST(sqlc.arg(names) AS TEXT)::json));
