-- name: InsertBulkAction :exec
INSERT INTO bulk_actions (id, customer_id, action, order_id, results, created_at)
VALUES ($1, $2, $3, $4, $5, $6);

-- Keeps a customer's newest ones.
-- name: DeleteOldBulkActions :exec
DELETE FROM bulk_actions
WHERE bulk_actions.customer_id = sqlc.arg(customer_id) AND bulk_actions.id < (
    SELECT kept.id FROM bulk_actions AS kept WHERE kept.customer_id = sqlc.arg(customer_id)
    ORDER BY kept.id DESC LIMIT 1 OFFSET 49);

-- name: GetBulkAction :one
SELECT * FROM bulk_actions WHERE id = $1 AND customer_id = $2;

-- name: ListBulkChanges :many
SELECT * FROM domain_changes WHERE bulk_id = $1 AND bulk_id <> '' AND customer_id = $2;

-- name: DeleteBulkActionsOfCustomer :exec
DELETE FROM bulk_actions WHERE customer_id = $1;
