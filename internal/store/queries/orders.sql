-- Locks the customer's row until the end of the transaction, so that on PostgreSQL
-- transactions that add or pay an order of the same customer run one after the other.
-- The row's values stay the same.
-- name: LockBuyer :execresult
UPDATE customers SET disabled_at = 0
WHERE id = $1 AND confirmed_at <> 0 AND disabled_at = 0;

-- The number of a customer's open orders, and the id of the one with these items.
-- name: CountOpenOrders :one
SELECT count(*) AS open, CAST(coalesce(max(CASE WHEN items_key = sqlc.arg(items_key) THEN id ELSE '' END), '') AS TEXT) AS same_items
FROM orders WHERE customer_id = sqlc.arg(customer_id) AND open_order = 1;

-- Inserts no row if it is an agent's order and the agent has too many open ones.
-- name: InsertOrder :execresult
INSERT INTO orders (
    id, customer_id, email_key, state, channel, by_kind, by_id, by_address, by_name, items_key,
    net, vat, gross, vat_rate, vat_rule, vat_country, vat_id, vat_unchecked,
    pay_link, pay_sealed, verify_link, verify_sealed, auto_renew,
    created_at, updated_at, expires_at, paid_at, version, due_at, node, attempts, open_order,
    agent_id, contact, claimed, claim_mailed_at, completer_id, registrant)
SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32, $33, $34, $35, $36, $37, $38
WHERE $33 = '' OR (
    SELECT count(*) FROM orders AS other WHERE other.agent_id = $33 AND other.agent_id <> '' AND other.open_order = 1) < CAST(sqlc.arg(max_open_of_agent) AS BIGINT);

-- A whole order in one statement, one row for each pair of an item and a payment: most
-- orders have one of each. An order has items before it has payments. The same columns
-- are read by GetOrderByPayLink, GetOrderBySession, GetOrderByIntent, ListOrders,
-- ListDueOrders, ListOrdersOfDeliveries and ListOrdersOfPendingInvoices.
-- name: GetOrder :many
SELECT sqlc.embed(orders), sqlc.embed(order_items),
    coalesce(payments.id, '') AS payment_id, coalesce(payments.kind, '') AS payment_kind, coalesce(payments.state, '') AS payment_state,
    coalesce(payments.amount, 0) AS payment_amount, coalesce(payments.session, '') AS session, coalesce(payments.url, '') AS url,
    coalesce(payments.intent, '') AS intent, coalesce(payments.card, '') AS card, coalesce(payments.failure, '') AS payment_failure,
    coalesce(payments.created_at, 0) AS payment_created_at, coalesce(payments.ends_at, 0) AS payment_ends_at, coalesce(payments.updated_at, 0) AS payment_updated_at
FROM orders
JOIN order_items ON order_items.order_id = orders.id
LEFT JOIN payments ON payments.order_id = orders.id
WHERE orders.id = $1
ORDER BY order_items.position, payments.id;

-- name: GetOrderByPayLink :many
SELECT sqlc.embed(orders), sqlc.embed(order_items),
    coalesce(payments.id, '') AS payment_id, coalesce(payments.kind, '') AS payment_kind, coalesce(payments.state, '') AS payment_state,
    coalesce(payments.amount, 0) AS payment_amount, coalesce(payments.session, '') AS session, coalesce(payments.url, '') AS url,
    coalesce(payments.intent, '') AS intent, coalesce(payments.card, '') AS card, coalesce(payments.failure, '') AS payment_failure,
    coalesce(payments.created_at, 0) AS payment_created_at, coalesce(payments.ends_at, 0) AS payment_ends_at, coalesce(payments.updated_at, 0) AS payment_updated_at
FROM orders
JOIN order_items ON order_items.order_id = orders.id
LEFT JOIN payments ON payments.order_id = orders.id
WHERE orders.pay_link = $1
ORDER BY order_items.position, payments.id;

-- name: GetOrderIDByVerifyLink :one
SELECT id FROM orders WHERE verify_link = $1 AND verify_link <> '';

-- name: GetOrderBySession :many
SELECT sqlc.embed(orders), sqlc.embed(order_items),
    coalesce(payments.id, '') AS payment_id, coalesce(payments.kind, '') AS payment_kind, coalesce(payments.state, '') AS payment_state,
    coalesce(payments.amount, 0) AS payment_amount, coalesce(payments.session, '') AS session, coalesce(payments.url, '') AS url,
    coalesce(payments.intent, '') AS intent, coalesce(payments.card, '') AS card, coalesce(payments.failure, '') AS payment_failure,
    coalesce(payments.created_at, 0) AS payment_created_at, coalesce(payments.ends_at, 0) AS payment_ends_at, coalesce(payments.updated_at, 0) AS payment_updated_at
FROM orders
JOIN order_items ON order_items.order_id = orders.id
LEFT JOIN payments ON payments.order_id = orders.id
WHERE orders.id = (SELECT paid.order_id FROM payments AS paid WHERE paid.session = $1 AND paid.session <> '')
ORDER BY order_items.position, payments.id;

-- name: GetOrderByIntent :many
SELECT sqlc.embed(orders), sqlc.embed(order_items),
    coalesce(payments.id, '') AS payment_id, coalesce(payments.kind, '') AS payment_kind, coalesce(payments.state, '') AS payment_state,
    coalesce(payments.amount, 0) AS payment_amount, coalesce(payments.session, '') AS session, coalesce(payments.url, '') AS url,
    coalesce(payments.intent, '') AS intent, coalesce(payments.card, '') AS card, coalesce(payments.failure, '') AS payment_failure,
    coalesce(payments.created_at, 0) AS payment_created_at, coalesce(payments.ends_at, 0) AS payment_ends_at, coalesce(payments.updated_at, 0) AS payment_updated_at
FROM orders
JOIN order_items ON order_items.order_id = orders.id
LEFT JOIN payments ON payments.order_id = orders.id
WHERE orders.id = (
    SELECT paid.order_id FROM payments AS paid WHERE paid.intent = $1 AND paid.intent <> '' ORDER BY paid.id LIMIT 1)
ORDER BY order_items.position, payments.id;

-- name: ListCustomerOrderIDs :many
SELECT id FROM orders
WHERE customer_id = $1 AND id < $2
ORDER BY id DESC
LIMIT $3;

-- A customer's orders of which something was refunded for a withdrawal notice.
-- name: ListOrderIDsOfNotice :many
SELECT DISTINCT refunds.order_id FROM refunds
JOIN orders ON orders.id = refunds.order_id
WHERE refunds.notice_id = sqlc.arg(notice_id) AND refunds.notice_id <> '' AND orders.customer_id = sqlc.arg(customer_id)
ORDER BY refunds.order_id;

-- One page of a customer's orders, newest first; an empty state matches all.
-- name: SearchOrderIDs :many
SELECT id FROM orders
WHERE customer_id = sqlc.arg(customer_id) AND (state = sqlc.arg(state) OR sqlc.arg(state) = '')
ORDER BY id DESC
LIMIT sqlc.arg(max_rows) OFFSET sqlc.arg(skip_rows);

-- name: CountOrders :one
SELECT count(*) FROM orders
WHERE customer_id = sqlc.arg(customer_id) AND (state = sqlc.arg(state) OR sqlc.arg(state) = '');

-- Unpaid orders of a customer whose quoted prices have expired.
-- name: ListOverdueOrderIDs :many
SELECT id FROM orders
WHERE customer_id = sqlc.arg(customer_id) AND open_order = 1 AND state <> 'paying' AND expires_at <= sqlc.arg(now)
ORDER BY id
LIMIT sqlc.arg(max_rows);

-- name: ListOpenRenewalOrderIDs :many
SELECT id FROM orders
WHERE customer_id = sqlc.arg(customer_id) AND open_order = 1 AND items_key LIKE 'basket:renewals%'
ORDER BY id;

-- name: ListOrders :many
SELECT sqlc.embed(orders), sqlc.embed(order_items),
    coalesce(payments.id, '') AS payment_id, coalesce(payments.kind, '') AS payment_kind, coalesce(payments.state, '') AS payment_state,
    coalesce(payments.amount, 0) AS payment_amount, coalesce(payments.session, '') AS session, coalesce(payments.url, '') AS url,
    coalesce(payments.intent, '') AS intent, coalesce(payments.card, '') AS card, coalesce(payments.failure, '') AS payment_failure,
    coalesce(payments.created_at, 0) AS payment_created_at, coalesce(payments.ends_at, 0) AS payment_ends_at, coalesce(payments.updated_at, 0) AS payment_updated_at
FROM orders
JOIN order_items ON order_items.order_id = orders.id
LEFT JOIN payments ON payments.order_id = orders.id
WHERE orders.id IN (SELECT page.id FROM orders AS page WHERE page.id > $1 ORDER BY page.id LIMIT $2)
ORDER BY orders.id, order_items.position, payments.id;

-- name: ListDueOrders :many
SELECT sqlc.embed(orders), sqlc.embed(order_items),
    coalesce(payments.id, '') AS payment_id, coalesce(payments.kind, '') AS payment_kind, coalesce(payments.state, '') AS payment_state,
    coalesce(payments.amount, 0) AS payment_amount, coalesce(payments.session, '') AS session, coalesce(payments.url, '') AS url,
    coalesce(payments.intent, '') AS intent, coalesce(payments.card, '') AS card, coalesce(payments.failure, '') AS payment_failure,
    coalesce(payments.created_at, 0) AS payment_created_at, coalesce(payments.ends_at, 0) AS payment_ends_at, coalesce(payments.updated_at, 0) AS payment_updated_at
FROM orders
JOIN order_items ON order_items.order_id = orders.id
LEFT JOIN payments ON payments.order_id = orders.id
WHERE orders.id IN (SELECT due.id FROM orders AS due WHERE due.due_at > 0 AND due.due_at <= $1 ORDER BY due.due_at LIMIT $2)
ORDER BY orders.due_at, orders.id, order_items.position, payments.id;

-- The orders of the webhook deliveries that a node has claimed with a lease.
-- name: ListOrdersOfDeliveries :many
SELECT sqlc.embed(orders), sqlc.embed(order_items),
    coalesce(payments.id, '') AS payment_id, coalesce(payments.kind, '') AS payment_kind, coalesce(payments.state, '') AS payment_state,
    coalesce(payments.amount, 0) AS payment_amount, coalesce(payments.session, '') AS session, coalesce(payments.url, '') AS url,
    coalesce(payments.intent, '') AS intent, coalesce(payments.card, '') AS card, coalesce(payments.failure, '') AS payment_failure,
    coalesce(payments.created_at, 0) AS payment_created_at, coalesce(payments.ends_at, 0) AS payment_ends_at, coalesce(payments.updated_at, 0) AS payment_updated_at
FROM orders
JOIN order_items ON order_items.order_id = orders.id
LEFT JOIN payments ON payments.order_id = orders.id
WHERE orders.id IN (
    SELECT leased.order_id FROM webhook_deliveries AS leased
    WHERE leased.due_at = sqlc.arg(lease) AND leased.due_at > 0 AND leased.node = sqlc.arg(node))
ORDER BY orders.id, order_items.position, payments.id;

-- name: ListOrdersOfPendingInvoices :many
SELECT sqlc.embed(orders), sqlc.embed(order_items),
    coalesce(payments.id, '') AS payment_id, coalesce(payments.kind, '') AS payment_kind, coalesce(payments.state, '') AS payment_state,
    coalesce(payments.amount, 0) AS payment_amount, coalesce(payments.session, '') AS session, coalesce(payments.url, '') AS url,
    coalesce(payments.intent, '') AS intent, coalesce(payments.card, '') AS card, coalesce(payments.failure, '') AS payment_failure,
    coalesce(payments.created_at, 0) AS payment_created_at, coalesce(payments.ends_at, 0) AS payment_ends_at, coalesce(payments.updated_at, 0) AS payment_updated_at
FROM orders
JOIN order_items ON order_items.order_id = orders.id
LEFT JOIN payments ON payments.order_id = orders.id
WHERE orders.id IN (
    SELECT pending.order_id FROM pending_invoices AS pending WHERE pending.id > sqlc.arg(after) AND pending.id <= sqlc.arg(last))
ORDER BY orders.id, order_items.position, payments.id;

-- name: ListOrderIDsAwaitingIdentity :many
SELECT id FROM orders
WHERE customer_id = $1 AND open_order = 1 AND state = 'awaiting_verification'
ORDER BY id;

-- name: UpdateOrder :execresult
UPDATE orders
SET state = sqlc.arg(state), open_order = sqlc.arg(open_order),
    customer_id = sqlc.arg(customer_id), email_key = sqlc.arg(email_key), items_key = sqlc.arg(items_key),
    contact = sqlc.arg(contact), claimed = sqlc.arg(claimed), claim_mailed_at = sqlc.arg(claim_mailed_at),
    completer_id = sqlc.arg(completer_id), registrant = sqlc.arg(registrant),
    net = sqlc.arg(net), vat = sqlc.arg(vat), gross = sqlc.arg(gross),
    vat_rate = sqlc.arg(vat_rate), vat_rule = sqlc.arg(vat_rule), vat_country = sqlc.arg(vat_country),
    vat_id = sqlc.arg(vat_id), vat_unchecked = sqlc.arg(vat_unchecked),
    verify_link = sqlc.arg(verify_link), verify_sealed = sqlc.arg(verify_sealed), auto_renew = sqlc.arg(auto_renew),
    consent_at = sqlc.arg(consent_at), consent_wording = sqlc.arg(consent_wording),
    renewal_wording = sqlc.arg(renewal_wording), renewal_at = sqlc.arg(renewal_at), renewal_session = sqlc.arg(renewal_session), renewal_address = sqlc.arg(renewal_address),
    updated_at = sqlc.arg(updated_at), expires_at = sqlc.arg(expires_at), paid_at = sqlc.arg(paid_at),
    due_at = sqlc.arg(due_at), node = sqlc.arg(node), attempts = sqlc.arg(attempts), refund_count = sqlc.arg(refund_count), version = version + 1
WHERE id = sqlc.arg(id) AND state = sqlc.arg(was_state) AND version = sqlc.arg(was_version);

-- name: SetOrderDue :exec
UPDATE orders SET due_at = $2 WHERE id = $1;

-- Makes the unpaid orders due whose quoted prices have expired: due_at was computed before the business
-- time jumped.
-- name: MakeOverdueOrdersDue :exec
UPDATE orders SET due_at = sqlc.arg(clock), version = version + 1
WHERE (state = 'awaiting_payment' OR state = 'awaiting_verification') AND expires_at <= sqlc.arg(now) AND due_at > sqlc.arg(clock) AND node = '';

-- Makes the order due now, unless it was due earlier. The new version makes concurrent
-- updates reload it. It is completed next if no item is left.
-- name: MakeOrderDue :one
UPDATE orders
SET version = version + 1, due_at = CASE WHEN due_at > 0 AND due_at < sqlc.arg(now) THEN due_at ELSE sqlc.arg(now) END
WHERE orders.id = sqlc.arg(id)
RETURNING renewal_wording, agent_id, completer_id, refund_count,
    CASE WHEN orders.state = 'provisioning' AND NOT EXISTS (
        SELECT 1 FROM order_items AS i WHERE i.order_id = orders.id AND i.state <> 'active')
    THEN 1 ELSE 0 END AS completed_next;

-- Ends the orders of failed automatic renewals whose terms have all been paid otherwise: nothing is
-- left to pay.
-- name: ExpireOrdersOfPaidTerms :exec
UPDATE orders SET expires_at = sqlc.arg(now), due_at = sqlc.arg(clock), version = version + 1
WHERE orders.id IN (SELECT paid.order_id FROM order_items AS paid WHERE paid.name = sqlc.arg(name) AND paid.domain_id = sqlc.arg(domain_id))
    AND orders.channel = 'renewal' AND orders.state IN ('awaiting_payment', 'awaiting_verification')
    AND NOT EXISTS (SELECT 1 FROM order_items AS unpaid LEFT JOIN domains ON domains.id = unpaid.domain_id
        WHERE unpaid.order_id = orders.id AND (unpaid.term_end = 0 OR domains.paid_until IS NULL OR domains.paid_until = unpaid.term_end));

-- name: ReleaseOrders :execrows
UPDATE orders SET due_at = sqlc.arg(now), node = '', version = version + 1
WHERE node = sqlc.arg(node) AND node <> '' AND due_at > 0;

-- One statement, so that an order counts once while it is being paid. By card, it is the
-- largest sum of a card with which the customer has paid before. Without statistics, SQLite would
-- read all orders being paid and all captured payments if state were compared first; items_key
-- leads it to the customer's open orders.
-- name: SumSpending :one
SELECT
    CAST(coalesce((SELECT sum(CASE o.state WHEN 'paying' THEN o.gross ELSE 0 END) FROM orders AS o
        WHERE o.customer_id = sqlc.arg(customer_id) AND o.open_order = 1 AND o.items_key >= ''), 0) AS BIGINT) AS paying,
    CAST(coalesce((SELECT sum(o.gross) FROM orders AS o
        WHERE o.customer_id = sqlc.arg(customer_id) AND o.paid_at > 0 AND o.paid_at >= sqlc.arg(since)), 0) AS BIGINT) AS by_account,
    CAST(coalesce((SELECT sum(o.gross) FROM orders AS o
        WHERE o.email_key = sqlc.arg(email_key) AND o.paid_at > 0 AND o.paid_at >= sqlc.arg(since)), 0) AS BIGINT) AS by_email,
    CAST(coalesce((SELECT max((SELECT sum(p.amount) FROM payments AS p
            WHERE p.card = cards.card AND p.card <> '' AND p.state = 'captured' AND p.updated_at >= sqlc.arg(since)))
        FROM (SELECT DISTINCT own.card FROM payments AS own
            WHERE own.customer_id = sqlc.arg(customer_id) AND own.state = 'captured' AND own.card <> '') AS cards), 0) AS BIGINT) AS by_card;

-- name: SumSalesByVATRule :one
SELECT CAST(coalesce(sum(net), 0) AS BIGINT) FROM orders WHERE vat_rule = $1 AND paid_at > 0 AND paid_at >= $2;

-- name: GetBuyer :one
SELECT c.id, c.email, c.language,
    coalesce(r.customer_id, '') AS registrant_customer_id, coalesce(r.kind, '') AS kind, coalesce(r.name, '') AS name,
    coalesce(r.organisation, '') AS organisation, coalesce(r.street, '') AS street, coalesce(r.postal_code, '') AS postal_code,
    coalesce(r.city, '') AS city, coalesce(r.state, '') AS state, coalesce(r.country, '') AS country, coalesce(r.phone, '') AS phone, coalesce(r.vat_id, '') AS vat_id,
    coalesce(m.provider_customer, '') AS provider_customer, coalesce(m.method, '') AS method, coalesce(m.label, '') AS label
FROM customers c
LEFT JOIN registrants r ON r.customer_id = c.id
LEFT JOIN payment_methods m ON m.customer_id = c.id
WHERE c.id = $1 AND c.confirmed_at <> 0 AND c.disabled_at = 0;

-- name: GetOrderInPayment :one
SELECT id FROM orders WHERE customer_id = $1 AND open_order = 1 AND state = 'paying' LIMIT 1;
