-- name: InsertPayment :exec
INSERT INTO payments (id, order_id, customer_id, state, amount, session, url, intent, card, created_at, ends_at, updated_at, kind, failure)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14);

-- name: ChangePayment :execrows
UPDATE payments
SET state = sqlc.arg(state), amount = sqlc.arg(amount), session = sqlc.arg(session), url = sqlc.arg(url), intent = sqlc.arg(intent),
    card = sqlc.arg(card), failure = sqlc.arg(failure), ends_at = sqlc.arg(ends_at), updated_at = sqlc.arg(updated_at)
WHERE id = sqlc.arg(id) AND order_id = sqlc.arg(order_id);

-- name: PaymentsOfOrder :many
SELECT * FROM payments WHERE order_id = $1 ORDER BY id;

-- name: PaymentsOfOrders :many
SELECT * FROM payments
WHERE order_id >= sqlc.arg(first) AND order_id <= sqlc.arg(last)
ORDER BY order_id, id;

-- name: CardsOf :many
SELECT DISTINCT card FROM payments WHERE customer_id = $1 AND state = 'kept' AND card <> '';

-- name: SpentByCard :one
SELECT CAST(coalesce(sum(amount), 0) AS BIGINT) FROM payments WHERE card = $1 AND card <> '' AND state = 'kept' AND updated_at >= $2;

-- name: InsertRefund :exec
INSERT INTO refunds (id, order_id, payment_id, item_id, amount, provider, created_at, made_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8);

-- name: ChangeRefund :execrows
UPDATE refunds SET provider = sqlc.arg(provider), made_at = sqlc.arg(made_at)
WHERE id = sqlc.arg(id) AND order_id = sqlc.arg(order_id);

-- name: RefundsOfOrder :many
SELECT * FROM refunds WHERE order_id = $1 ORDER BY id;

-- name: RefundsOfOrders :many
SELECT * FROM refunds
WHERE order_id >= sqlc.arg(first) AND order_id <= sqlc.arg(last)
ORDER BY order_id, id;

-- name: RefundsDue :one
-- It and OrdersDue count to a thousand: they are asked often, and who hears of a
-- thousand has heard enough.
SELECT count(*) AS waiting, CAST(coalesce(min(r.created_at), 0) AS BIGINT) AS oldest FROM (
    SELECT created_at FROM refunds WHERE provider = '' AND created_at > 0 ORDER BY created_at LIMIT 1000
) AS r;

-- name: OrdersDue :one
SELECT count(*) AS waiting, CAST(coalesce(min(o.due_at), 0) AS BIGINT) AS oldest FROM (
    SELECT due_at FROM orders WHERE due_at > 0 AND due_at <= $1 ORDER BY due_at LIMIT 1000
) AS o;

-- name: PutMethod :exec
INSERT INTO payment_methods (customer_id, holder, method, label, updated_at)
VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (customer_id) DO UPDATE SET holder = excluded.holder, method = excluded.method, label = excluded.label, updated_at = excluded.updated_at;

-- name: MethodOf :one
SELECT holder, method, label FROM payment_methods WHERE customer_id = $1;

-- name: PutPaymentHolder :exec
INSERT INTO payment_methods (customer_id, holder, updated_at)
VALUES ($1, $2, $3)
ON CONFLICT (customer_id) DO UPDATE SET holder = excluded.holder, method = '', label = '', updated_at = excluded.updated_at
WHERE payment_methods.holder <> excluded.holder;
