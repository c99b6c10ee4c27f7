-- name: InsertDeclaration :exec
INSERT INTO declarations (id, kind, name, email, contract, ground, reason, end_day, language, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10);

-- name: DeclarationsAfter :many
SELECT *
FROM declarations
WHERE id > $1
ORDER BY id
LIMIT $2;

-- name: FinishDeclaration :execrows
UPDATE declarations
SET done_at = @done_at
WHERE id = @id AND done_at = 0;

-- name: OrdersWithName :many
SELECT orders.id, orders.paid_at, orders.consent_at, orders.consent_wording
FROM order_items JOIN orders ON orders.id = order_items.order_id
WHERE order_items.name = $1 AND orders.paid_at > 0
ORDER BY order_items.order_id DESC
LIMIT $2;
