-- Who adds an order, begins to pay one, or gives the customer something holds the
-- customer's row until the end, so that on PostgreSQL those who race for the same
-- account come one by one. The row itself stays as it is.
-- name: HoldBuyer :execrows
UPDATE customers SET disabled_at = 0
WHERE id = $1 AND confirmed_at <> 0 AND disabled_at = 0;

-- name: OpenOrderOf :one
SELECT * FROM orders WHERE customer_id = $1 AND items_key = $2 AND open_order = 1;

-- name: CountOpenOrders :one
SELECT count(*) FROM orders WHERE customer_id = $1 AND open_order = 1;

-- name: InsertOrder :exec
INSERT INTO orders (
    id, customer_id, email_key, state, channel, by_kind, by_id, by_address, by_name, items_key,
    net, vat, gross, vat_rate, vat_rule, vat_country, vat_id, vat_unchecked,
    pay_link, pay_sealed, verify_link, verify_sealed, auto_renew,
    created_at, updated_at, expires_at, paid_at, version, due_at, node, attempts, open_order,
    agent_id, contact, claimed, claim_asked_at, completer_id, registrant)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32, $33, $34, $35, $36, $37, $38);

-- name: OrderByID :one
SELECT * FROM orders WHERE id = $1;

-- name: OrderOfCustomer :one
SELECT * FROM orders WHERE customer_id = $1 AND id = $2;

-- name: OrderByPayLink :one
SELECT * FROM orders WHERE pay_link = $1;

-- name: OrderByVerifyLink :one
SELECT * FROM orders WHERE verify_link = $1 AND verify_link <> '';

-- name: OrderBySession :one
SELECT orders.* FROM payments JOIN orders ON orders.id = payments.order_id
WHERE payments.session = $1 AND payments.session <> '';

-- name: OrderByIntent :one
SELECT orders.* FROM payments JOIN orders ON orders.id = payments.order_id
WHERE payments.intent = $1 AND payments.intent <> ''
ORDER BY payments.id
LIMIT 1;

-- name: OrdersBefore :many
SELECT * FROM orders
WHERE customer_id = $1 AND id < $2
ORDER BY id DESC
LIMIT $3;

-- One page of a customer's orders, newest first; an empty state means all.
-- name: PageOfOrders :many
SELECT * FROM orders
WHERE customer_id = sqlc.arg(customer_id) AND (state = sqlc.arg(state) OR sqlc.arg(state) = '')
ORDER BY id DESC
LIMIT sqlc.arg(most) OFFSET sqlc.arg(skipped);

-- name: CountOrders :one
SELECT count(*) FROM orders
WHERE customer_id = sqlc.arg(customer_id) AND (state = sqlc.arg(state) OR sqlc.arg(state) = '');

-- Unpaid orders of a customer whose prices have ended.
-- name: OverdueOrdersOf :many
SELECT * FROM orders
WHERE customer_id = sqlc.arg(customer_id) AND open_order = 1 AND state <> 'paying' AND expires_at <= sqlc.arg(now)
ORDER BY id
LIMIT sqlc.arg(most);

-- name: OrdersAfter :many
SELECT * FROM orders
WHERE id > $1
ORDER BY id
LIMIT $2;

-- name: DueOrders :many
SELECT * FROM orders
WHERE due_at > 0 AND due_at <= $1
ORDER BY due_at
LIMIT $2;

-- name: WaitingForIdentity :many
SELECT id FROM orders
WHERE customer_id = $1 AND open_order = 1 AND state = 'awaiting_verification'
ORDER BY id;

-- name: MoveOrder :execrows
UPDATE orders
SET state = sqlc.arg(state), open_order = sqlc.arg(open_order),
    customer_id = sqlc.arg(customer_id), email_key = sqlc.arg(email_key), items_key = sqlc.arg(items_key),
    contact = sqlc.arg(contact), claimed = sqlc.arg(claimed), claim_asked_at = sqlc.arg(claim_asked_at),
    completer_id = sqlc.arg(completer_id), registrant = sqlc.arg(registrant),
    net = sqlc.arg(net), vat = sqlc.arg(vat), gross = sqlc.arg(gross),
    vat_rate = sqlc.arg(vat_rate), vat_rule = sqlc.arg(vat_rule), vat_country = sqlc.arg(vat_country),
    vat_id = sqlc.arg(vat_id), vat_unchecked = sqlc.arg(vat_unchecked),
    verify_link = sqlc.arg(verify_link), verify_sealed = sqlc.arg(verify_sealed), auto_renew = sqlc.arg(auto_renew),
    consent_at = sqlc.arg(consent_at), consent_wording = sqlc.arg(consent_wording),
    updated_at = sqlc.arg(updated_at), expires_at = sqlc.arg(expires_at), paid_at = sqlc.arg(paid_at),
    due_at = sqlc.arg(due_at), node = sqlc.arg(node), attempts = sqlc.arg(attempts), version = version + 1
WHERE id = sqlc.arg(id) AND state = sqlc.arg(was_state) AND version = sqlc.arg(was_version);

-- name: WakeOrder :exec
UPDATE orders SET due_at = $2 WHERE id = $1;

-- Something of the order has changed: it is looked at now, or when it was due
-- before.
-- name: HurryOrder :exec
UPDATE orders
SET version = version + 1, due_at = CASE WHEN due_at > 0 AND due_at < sqlc.arg(now) THEN due_at ELSE sqlc.arg(now) END
WHERE id = sqlc.arg(id);

-- name: FreeOrders :execrows
UPDATE orders SET due_at = sqlc.arg(now), node = '', version = version + 1
WHERE node = sqlc.arg(node) AND node <> '' AND due_at > 0;

-- name: SpentByCustomer :one
SELECT CAST(coalesce(sum(gross), 0) AS BIGINT) FROM orders WHERE customer_id = $1 AND paid_at > 0 AND paid_at >= $2;

-- name: PayingByCustomer :one
SELECT CAST(coalesce(sum(gross), 0) AS BIGINT) FROM orders WHERE customer_id = $1 AND open_order = 1 AND state = 'paying';

-- name: SpentByAddress :one
SELECT CAST(coalesce(sum(gross), 0) AS BIGINT) FROM orders WHERE email_key = $1 AND paid_at > 0 AND paid_at >= $2;

-- name: SalesByRule :one
SELECT CAST(coalesce(sum(net), 0) AS BIGINT) FROM orders WHERE vat_rule = $1 AND paid_at > 0 AND paid_at >= $2;

-- name: BuyerOf :one
SELECT c.id, c.email, c.language,
    coalesce(r.customer_id, '') AS told, coalesce(r.kind, '') AS kind, coalesce(r.name, '') AS name,
    coalesce(r.organisation, '') AS organisation, coalesce(r.street, '') AS street, coalesce(r.postal_code, '') AS postal_code,
    coalesce(r.city, '') AS city, coalesce(r.state, '') AS state, coalesce(r.country, '') AS country, coalesce(r.phone, '') AS phone, coalesce(r.vat_id, '') AS vat_id,
    coalesce(m.holder, '') AS holder, coalesce(m.label, '') AS label
FROM customers c
LEFT JOIN registrants r ON r.customer_id = c.id
LEFT JOIN payment_methods m ON m.customer_id = c.id
WHERE c.id = $1 AND c.confirmed_at <> 0 AND c.disabled_at = 0;
