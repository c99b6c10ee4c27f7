-- The operators' lists of all orders, payments and refunds, the newest first. The lists of
-- orders have the same columns, and so have those of payments and of refunds.
-- name: ListAllOrders :many
SELECT o.id, o.customer_id, o.state, o.channel, o.gross, o.created_at, o.paid_at,
    CAST(coalesce((SELECT c.email FROM customers AS c WHERE c.id = o.customer_id), '') AS TEXT) AS email,
    CAST(coalesce((SELECT first.name FROM order_items AS first WHERE first.order_id = o.id ORDER BY first.position LIMIT 1), '') AS TEXT) AS name,
    (SELECT count(*) FROM order_items AS counted WHERE counted.order_id = o.id) AS items
FROM orders AS o
WHERE o.id < $1
ORDER BY o.id DESC
LIMIT $2;

-- name: ListAllOrdersInState :many
SELECT o.id, o.customer_id, o.state, o.channel, o.gross, o.created_at, o.paid_at,
    CAST(coalesce((SELECT c.email FROM customers AS c WHERE c.id = o.customer_id), '') AS TEXT) AS email,
    CAST(coalesce((SELECT first.name FROM order_items AS first WHERE first.order_id = o.id ORDER BY first.position LIMIT 1), '') AS TEXT) AS name,
    (SELECT count(*) FROM order_items AS counted WHERE counted.order_id = o.id) AS items
FROM orders AS o
WHERE o.state = $1 AND o.id < $2
ORDER BY o.id DESC
LIMIT $3;

-- The orders of the account with an address.
-- name: ListAllOrdersOfAddress :many
SELECT o.id, o.customer_id, o.state, o.channel, o.gross, o.created_at, o.paid_at,
    CAST(coalesce((SELECT c.email FROM customers AS c WHERE c.id = o.customer_id), '') AS TEXT) AS email,
    CAST(coalesce((SELECT first.name FROM order_items AS first WHERE first.order_id = o.id ORDER BY first.position LIMIT 1), '') AS TEXT) AS name,
    (SELECT count(*) FROM order_items AS counted WHERE counted.order_id = o.id) AS items
FROM orders AS o
WHERE o.customer_id = (SELECT holder.id FROM customers AS holder WHERE holder.email_key = $1) AND o.id < $2
ORDER BY o.id DESC
LIMIT $3;

-- Paid orders that name the address: those of buyers without an account, and those from before an
-- account changed its address. The id is compared in the store: the index is by day of payment.
-- name: ListPaidOrdersWithAddress :many
SELECT o.id, o.customer_id, o.state, o.channel, o.gross, o.created_at, o.paid_at,
    CAST(coalesce((SELECT c.email FROM customers AS c WHERE c.id = o.customer_id), '') AS TEXT) AS email,
    CAST(coalesce((SELECT first.name FROM order_items AS first WHERE first.order_id = o.id ORDER BY first.position LIMIT 1), '') AS TEXT) AS name,
    (SELECT count(*) FROM order_items AS counted WHERE counted.order_id = o.id) AS items
FROM orders AS o
WHERE o.email_key = $1 AND o.paid_at > 0
ORDER BY o.paid_at DESC
LIMIT $2;

-- name: ListAllOrdersByName :many
SELECT o.id, o.customer_id, o.state, o.channel, o.gross, o.created_at, o.paid_at,
    CAST(coalesce((SELECT c.email FROM customers AS c WHERE c.id = o.customer_id), '') AS TEXT) AS email,
    CAST(coalesce((SELECT first.name FROM order_items AS first WHERE first.order_id = o.id ORDER BY first.position LIMIT 1), '') AS TEXT) AS name,
    (SELECT count(*) FROM order_items AS counted WHERE counted.order_id = o.id) AS items
FROM order_items AS named
JOIN orders AS o ON o.id = named.order_id
WHERE named.name = $1 AND named.order_id < $2
ORDER BY named.order_id DESC
LIMIT $3;

-- What was refunded of a payment is the sum of the refunds that order.Refund.Made reports: neither
-- those that the bank returned nor those that the provider refused.
-- name: ListAllPayments :many
SELECT p.id, p.order_id, p.kind, p.state, p.amount, p.intent, p.failure, p.updated_at,
    CAST(coalesce((SELECT c.email FROM orders AS o JOIN customers AS c ON c.id = o.customer_id WHERE o.id = p.order_id), '') AS TEXT) AS email,
    CAST(coalesce((SELECT first.name FROM order_items AS first WHERE first.order_id = p.order_id ORDER BY first.position LIMIT 1), '') AS TEXT) AS name,
    (SELECT count(*) FROM order_items AS counted WHERE counted.order_id = p.order_id) AS items,
    CAST(coalesce((SELECT sum(r.amount) FROM refunds AS r WHERE r.order_id = p.order_id AND r.payment_id = p.id AND r.provider <> '' AND r.failure = ''), 0) AS BIGINT) AS refunded,
    CAST(coalesce((SELECT sum(d.withdrawn) FROM disputes AS d WHERE d.order_id = p.order_id AND d.payment_id = p.id), 0) AS BIGINT) AS withdrawn
FROM payments AS p
WHERE p.id < $1
ORDER BY p.id DESC
LIMIT $2;

-- name: ListAllPaymentsInState :many
SELECT p.id, p.order_id, p.kind, p.state, p.amount, p.intent, p.failure, p.updated_at,
    CAST(coalesce((SELECT c.email FROM orders AS o JOIN customers AS c ON c.id = o.customer_id WHERE o.id = p.order_id), '') AS TEXT) AS email,
    CAST(coalesce((SELECT first.name FROM order_items AS first WHERE first.order_id = p.order_id ORDER BY first.position LIMIT 1), '') AS TEXT) AS name,
    (SELECT count(*) FROM order_items AS counted WHERE counted.order_id = p.order_id) AS items,
    CAST(coalesce((SELECT sum(r.amount) FROM refunds AS r WHERE r.order_id = p.order_id AND r.payment_id = p.id AND r.provider <> '' AND r.failure = ''), 0) AS BIGINT) AS refunded,
    CAST(coalesce((SELECT sum(d.withdrawn) FROM disputes AS d WHERE d.order_id = p.order_id AND d.payment_id = p.id), 0) AS BIGINT) AS withdrawn
FROM payments AS p
WHERE p.state = $1 AND p.id < $2
ORDER BY p.id DESC
LIMIT $3;

-- Payments with a refund in part or in full, once each, including those whose refund the bank
-- returned. Every payment in the state refunded has a refund.
-- name: ListAllRefundedPayments :many
SELECT p.id, p.order_id, p.kind, p.state, p.amount, p.intent, p.failure, p.updated_at,
    CAST(coalesce((SELECT c.email FROM orders AS o JOIN customers AS c ON c.id = o.customer_id WHERE o.id = p.order_id), '') AS TEXT) AS email,
    CAST(coalesce((SELECT first.name FROM order_items AS first WHERE first.order_id = p.order_id ORDER BY first.position LIMIT 1), '') AS TEXT) AS name,
    (SELECT count(*) FROM order_items AS counted WHERE counted.order_id = p.order_id) AS items,
    CAST(coalesce((SELECT sum(r.amount) FROM refunds AS r WHERE r.order_id = p.order_id AND r.payment_id = p.id AND r.provider <> '' AND r.failure = ''), 0) AS BIGINT) AS refunded,
    CAST(coalesce((SELECT sum(d.withdrawn) FROM disputes AS d WHERE d.order_id = p.order_id AND d.payment_id = p.id), 0) AS BIGINT) AS withdrawn
FROM refunds AS made
JOIN payments AS p ON p.id = made.payment_id
WHERE made.payment_id < $1 AND made.provider <> '' AND made.item_id = (
    SELECT min(lowest.item_id) FROM refunds AS lowest WHERE lowest.payment_id = made.payment_id AND lowest.provider <> '')
ORDER BY made.payment_id DESC
LIMIT $2;

-- A refund is named after the items that it is for; one of the whole payment, which has none, after
-- those of the order. Ids are unique, so that an item is part of a refund if the parts have its id. It was
-- paid at a time if an operator paid what the bank had returned another way.
-- name: ListAllRefunds :many
SELECT r.id, r.order_id, r.payment_id, r.amount, r.provider, r.created_at, r.made_at, r.source, r.reason, r.item_id, r.task, r.failure, r.failed_at, r.notice_id,
    CAST(CASE WHEN r.failure = '' OR r.task <> '' OR r.provider = '' AND r.replaces = '' THEN 0 WHEN r.settled_at > 0 THEN r.settled_at
        ELSE coalesce((SELECT max(again.settled_at) FROM refunds AS again WHERE again.order_id = r.order_id AND again.replaces = r.id), 0) END AS BIGINT) AS paid_at,
    CAST(coalesce((SELECT n.created_at FROM withdrawal_notices AS n WHERE n.id = r.notice_id), 0) AS BIGINT) AS declared_at,
    CAST(coalesce((SELECT o.customer_id FROM orders AS o WHERE o.id = r.order_id), '') AS TEXT) AS customer_id,
    CAST(coalesce((SELECT c.email FROM orders AS o JOIN customers AS c ON c.id = o.customer_id WHERE o.id = r.order_id), '') AS TEXT) AS email,
    CAST(coalesce((SELECT first.name FROM order_items AS first WHERE first.order_id = r.order_id
        ORDER BY CASE WHEN first.id = r.item_id OR r.parts LIKE '%"' || first.id || '"%' THEN 0 ELSE 1 END, first.position LIMIT 1), '') AS TEXT) AS name,
    (SELECT count(*) FROM order_items AS counted WHERE counted.order_id = r.order_id) AS items,
    (SELECT count(*) FROM order_items AS part WHERE part.order_id = r.order_id AND (part.id = r.item_id OR r.parts LIKE '%"' || part.id || '"%')) AS refunded_items
FROM refunds AS r
WHERE r.id < $1
ORDER BY r.id DESC
LIMIT $2;

-- name: ListAllPendingRefunds :many
SELECT r.id, r.order_id, r.payment_id, r.amount, r.provider, r.created_at, r.made_at, r.source, r.reason, r.item_id, r.task, r.failure, r.failed_at, r.notice_id, CAST(0 AS BIGINT) AS paid_at,
    CAST(coalesce((SELECT n.created_at FROM withdrawal_notices AS n WHERE n.id = r.notice_id), 0) AS BIGINT) AS declared_at,
    CAST(coalesce((SELECT o.customer_id FROM orders AS o WHERE o.id = r.order_id), '') AS TEXT) AS customer_id,
    CAST(coalesce((SELECT c.email FROM orders AS o JOIN customers AS c ON c.id = o.customer_id WHERE o.id = r.order_id), '') AS TEXT) AS email,
    CAST(coalesce((SELECT first.name FROM order_items AS first WHERE first.order_id = r.order_id
        ORDER BY CASE WHEN first.id = r.item_id OR r.parts LIKE '%"' || first.id || '"%' THEN 0 ELSE 1 END, first.position LIMIT 1), '') AS TEXT) AS name,
    (SELECT count(*) FROM order_items AS counted WHERE counted.order_id = r.order_id) AS items,
    (SELECT count(*) FROM order_items AS part WHERE part.order_id = r.order_id AND (part.id = r.item_id OR r.parts LIKE '%"' || part.id || '"%')) AS refunded_items
FROM refunds AS r
WHERE r.provider = '' AND r.failure = '' AND r.id < $1
ORDER BY r.id DESC
LIMIT $2;

-- name: ListAllUndecidedRefunds :many
SELECT r.id, r.order_id, r.payment_id, r.amount, r.provider, r.created_at, r.made_at, r.source, r.reason, r.item_id, r.task, r.failure, r.failed_at, r.notice_id, CAST(0 AS BIGINT) AS paid_at,
    CAST(coalesce((SELECT n.created_at FROM withdrawal_notices AS n WHERE n.id = r.notice_id), 0) AS BIGINT) AS declared_at,
    CAST(coalesce((SELECT o.customer_id FROM orders AS o WHERE o.id = r.order_id), '') AS TEXT) AS customer_id,
    CAST(coalesce((SELECT c.email FROM orders AS o JOIN customers AS c ON c.id = o.customer_id WHERE o.id = r.order_id), '') AS TEXT) AS email,
    CAST(coalesce((SELECT first.name FROM order_items AS first WHERE first.order_id = r.order_id
        ORDER BY CASE WHEN first.id = r.item_id OR r.parts LIKE '%"' || first.id || '"%' THEN 0 ELSE 1 END, first.position LIMIT 1), '') AS TEXT) AS name,
    (SELECT count(*) FROM order_items AS counted WHERE counted.order_id = r.order_id) AS items,
    (SELECT count(*) FROM order_items AS part WHERE part.order_id = r.order_id AND (part.id = r.item_id OR r.parts LIKE '%"' || part.id || '"%')) AS refunded_items
FROM refunds AS r
WHERE r.task <> '' AND r.id < $1
ORDER BY r.id DESC
LIMIT $2;

-- name: GetOrderIDByPayment :one
SELECT order_id FROM payments WHERE id = $1;

-- name: GetOrderIDByRefund :one
SELECT order_id FROM refunds WHERE id = $1;

-- name: GetOrderIDByInvoiceNumber :one
SELECT order_id FROM invoices WHERE label = $1;

-- The unfinished jobs of one order, with the columns of the lists of jobs.
-- name: ListProvisionItemJobsOfOrder :many
SELECT id, kind AS what, state, name, due_at, node, attempts, created_at AS since FROM provision_items
WHERE due_at > 0 AND id IN (
    SELECT ordered.provision_item_id FROM order_items AS ordered WHERE ordered.order_id = $1 AND ordered.provision_item_id <> '')
ORDER BY id;

-- name: ListWebhookJobsOfOrder :many
SELECT order_id AS id, '' AS what, '' AS state, '' AS name, due_at, '' AS node, attempts, pending_since AS since FROM webhook_deliveries
WHERE order_id = $1 AND due_at > 0;

-- name: ListOrderJob :many
SELECT id, channel AS what, state, '' AS name, due_at, node, attempts, created_at AS since FROM orders
WHERE id = $1 AND due_at > 0;

-- name: ListQueuedMailsOfCustomer :many
SELECT id, kind, data, due_at, attempts FROM mails
WHERE customer_id = $1
ORDER BY kind
LIMIT $2;
