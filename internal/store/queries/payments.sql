-- Locks the saved payment method until the end of the transaction, so that it can't be
-- removed while a renewal starts to depend on it.
-- name: LockPaymentMethod :execresult
UPDATE payment_methods SET updated_at = updated_at WHERE customer_id = $1 AND method <> '';

-- name: ListPendingRefunds :many
SELECT r.order_id, r.id, r.amount, r.created_at,
    CAST(coalesce((SELECT first.name FROM order_items AS first WHERE first.order_id = r.order_id
        ORDER BY CASE WHEN first.id = r.item_id OR r.parts LIKE '%"' || first.id || '"%' THEN 0 ELSE 1 END, first.position LIMIT 1), '') AS TEXT) AS name,
    (SELECT count(*) FROM order_items AS counted WHERE counted.order_id = r.order_id) AS items,
    (SELECT count(*) FROM order_items AS part WHERE part.order_id = r.order_id AND (part.id = r.item_id OR r.parts LIKE '%"' || part.id || '"%')) AS refunded_items
FROM refunds AS r
WHERE r.provider = '' AND r.failure = '' AND r.created_at > 0
ORDER BY r.created_at
LIMIT $1;

-- name: InsertPayment :exec
INSERT INTO payments (id, order_id, customer_id, state, amount, session, url, intent, card, created_at, ends_at, updated_at, kind, failure)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14);

-- name: UpdatePayment :execresult
UPDATE payments
SET state = sqlc.arg(state), amount = sqlc.arg(amount), session = sqlc.arg(session), url = sqlc.arg(url), intent = sqlc.arg(intent),
    card = sqlc.arg(card), failure = sqlc.arg(failure), ends_at = sqlc.arg(ends_at), updated_at = sqlc.arg(updated_at)
WHERE id = sqlc.arg(id) AND order_id = sqlc.arg(order_id);

-- name: ListOrderRefunds :many
SELECT * FROM refunds WHERE order_id = $1 ORDER BY id;

-- name: ListRefundsInOrderRange :many
SELECT * FROM refunds
WHERE order_id >= sqlc.arg(first) AND order_id <= sqlc.arg(last)
ORDER BY order_id, id;

-- This query and CountDueOrders stop at 1000: they run often, and a larger number adds
-- no information.
-- name: CountPendingRefunds :one
SELECT count(*) AS waiting, CAST(coalesce(min(r.created_at), 0) AS BIGINT) AS oldest FROM (
    SELECT created_at FROM refunds WHERE provider = '' AND failure = '' AND created_at > 0 ORDER BY created_at LIMIT 1000
) AS r;

-- name: CountDueOrders :one
SELECT count(*) AS waiting, CAST(coalesce(min(o.due_at), 0) AS BIGINT) AS oldest FROM (
    SELECT due_at FROM orders WHERE due_at > 0 AND due_at <= $1 ORDER BY due_at LIMIT 1000
) AS o;

-- name: GetPaymentMethod :one
SELECT provider_customer, method, label FROM payment_methods WHERE customer_id = $1;

-- The newest setup replaces an unfinished one.
-- name: PutPaymentMethodSetup :exec
INSERT INTO payment_methods (customer_id, provider_customer, setup, setup_default, updated_at)
VALUES (sqlc.arg(customer_id), '', sqlc.arg(setup), sqlc.arg(setup_default), sqlc.arg(updated_at))
ON CONFLICT (customer_id) DO UPDATE SET setup = excluded.setup, setup_default = excluded.setup_default;

-- name: PutProviderCustomer :exec
INSERT INTO payment_methods (customer_id, provider_customer, updated_at)
VALUES ($1, $2, $3)
ON CONFLICT (customer_id) DO UPDATE SET provider_customer = excluded.provider_customer, method = '', label = '', updated_at = excluded.updated_at
WHERE payment_methods.provider_customer <> excluded.provider_customer;
