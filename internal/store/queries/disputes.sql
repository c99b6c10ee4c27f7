-- name: InsertDispute :execresult
INSERT INTO disputes (id, charge, intent, payment_id, order_id, status, reason, currency, amount, withdrawn, fee, charged, refunded, debit, refundable,
    bank_return, evidence_due, opened_at, lock_state, open_work, note, decided_by, decided_at, version, due_at, node, attempts, stored_at, updated_at, locked_at, lifted_at, decision)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32)
ON CONFLICT (id) DO NOTHING;

-- name: UpdateDispute :execresult
UPDATE disputes
SET charge = sqlc.arg(charge), intent = sqlc.arg(intent), payment_id = sqlc.arg(payment_id), order_id = sqlc.arg(order_id), status = sqlc.arg(status),
    reason = sqlc.arg(reason), currency = sqlc.arg(currency), amount = sqlc.arg(amount), withdrawn = sqlc.arg(withdrawn), fee = sqlc.arg(fee),
    charged = sqlc.arg(charged), refunded = sqlc.arg(refunded), debit = sqlc.arg(debit), refundable = sqlc.arg(refundable),
    evidence_due = sqlc.arg(evidence_due), lock_state = sqlc.arg(lock_state), open_work = sqlc.arg(open_work), note = sqlc.arg(note),
    decided_by = sqlc.arg(decided_by), decided_at = sqlc.arg(decided_at), version = version + 1, due_at = sqlc.arg(due_at), node = sqlc.arg(node),
    attempts = sqlc.arg(attempts), updated_at = sqlc.arg(updated_at), locked_at = sqlc.arg(locked_at), lifted_at = sqlc.arg(lifted_at), decision = sqlc.arg(decision)
WHERE id = sqlc.arg(id) AND version = sqlc.arg(was_version);

-- name: GetDispute :one
SELECT sqlc.embed(disputes), CAST(coalesce(orders.customer_id, '') AS TEXT) AS customer_id
FROM disputes LEFT JOIN orders ON orders.id = disputes.order_id
WHERE disputes.id = $1;

-- name: FindDisputedPayment :one
SELECT payments.id, payments.order_id, payments.state, orders.customer_id
FROM payments JOIN orders ON orders.id = payments.order_id
WHERE payments.intent = $1 AND payments.intent <> ''
ORDER BY payments.id
LIMIT 1;

-- name: ClaimDueDisputes :many
UPDATE disputes
SET due_at = sqlc.arg(lease), attempts = attempts + 1, node = sqlc.arg(node)
WHERE id IN (
    SELECT due.id FROM disputes AS due
    WHERE due.due_at > 0 AND due.due_at <= sqlc.arg(now)
    ORDER BY due.due_at
    LIMIT sqlc.arg(max_rows)
    FOR UPDATE SKIP LOCKED)
RETURNING *;

-- name: PostponeDispute :execrows
UPDATE disputes SET due_at = sqlc.arg(due_at), node = '', attempts = sqlc.arg(attempts)
WHERE id = sqlc.arg(id) AND due_at = sqlc.arg(lease);

-- name: ReleaseDisputes :execrows
UPDATE disputes SET due_at = sqlc.arg(now), node = ''
WHERE node = sqlc.arg(node) AND node <> '' AND due_at > 0;

-- name: ListDisputedDomains :many
SELECT DISTINCT domains.id, domains.name, domains.tld, domains.customer_id, domains.status
FROM provision_items JOIN domains ON domains.id = provision_items.domain_id
WHERE provision_items.payment = sqlc.arg(payment) AND domains.status <> 'transferred_out'
ORDER BY domains.name
LIMIT sqlc.arg(max_rows);

-- All domains that a payment was for, also those that have left.
-- name: ListPaidDomains :many
SELECT DISTINCT domains.id, domains.name, domains.tld, domains.customer_id, domains.status
FROM provision_items JOIN domains ON domains.id = provision_items.domain_id
WHERE provision_items.payment = sqlc.arg(payment)
ORDER BY domains.name
LIMIT sqlc.arg(max_rows);

-- The disputes whose locks are in force for a domain. A payment is order: and the order's id.
-- name: ListDomainDisputes :many
SELECT disputes.* FROM domains
JOIN provision_items ON provision_items.name = domains.name
JOIN disputes ON disputes.order_id = substr(provision_items.payment, 7)
WHERE domains.id = sqlc.arg(domain_id) AND provision_items.domain_id = domains.id AND disputes.order_id <> ''
    AND disputes.lock_state IN ('active', 'kept', 'denying', 'denied')
ORDER BY disputes.opened_at, disputes.id
LIMIT 20;

-- name: ListDisputes :many
SELECT sqlc.embed(disputes), CAST(coalesce(orders.customer_id, '') AS TEXT) AS customer_id,
    CAST(coalesce((SELECT customers.email FROM customers WHERE customers.id = orders.customer_id), '') AS TEXT) AS email
FROM disputes LEFT JOIN orders ON orders.id = disputes.order_id
WHERE disputes.open_work = sqlc.arg(open_work)
    AND (disputes.opened_at < sqlc.arg(before_opened) OR disputes.opened_at = sqlc.arg(before_opened) AND disputes.id < sqlc.arg(before_id))
ORDER BY disputes.opened_at DESC, disputes.id DESC
LIMIT sqlc.arg(max_rows);

-- The disputes whose locks are in force, the newest first.
-- name: ListLockingDisputes :many
SELECT sqlc.embed(disputes), CAST(coalesce(orders.customer_id, '') AS TEXT) AS customer_id
FROM disputes LEFT JOIN orders ON orders.id = disputes.order_id
WHERE disputes.order_id <> '' AND disputes.lock_state IN ('active', 'kept', 'denying', 'denied')
ORDER BY disputes.opened_at DESC, disputes.id DESC
LIMIT $1;

-- name: ListOrderDisputes :many
SELECT * FROM disputes WHERE order_id = sqlc.arg(order_id) AND order_id <> '' ORDER BY opened_at, id LIMIT 50;

-- name: ListDisputesOfOrders :many
SELECT disputes.* FROM orders JOIN disputes ON disputes.order_id = orders.id
WHERE orders.id IN (SELECT value FROM json_array_elements_text(CAST(sqlc.arg(order_ids) AS TEXT)::json))
ORDER BY disputes.opened_at, disputes.id
LIMIT 500;

-- The disputes of a customer's orders from one to another, by id.
-- name: ListCustomerDisputes :many
SELECT disputes.* FROM orders JOIN disputes ON disputes.order_id = orders.id
WHERE orders.customer_id = sqlc.arg(customer_id) AND orders.id >= sqlc.arg(first_order) AND orders.id <= sqlc.arg(last_order)
ORDER BY disputes.opened_at, disputes.id
LIMIT 500;

-- name: ListDisputesAfter :many
SELECT * FROM disputes WHERE id > $1 ORDER BY id LIMIT $2;

-- name: CountOpenDisputes :one
SELECT count(*) FROM (SELECT 1 FROM disputes WHERE open_work = 1 LIMIT 1000) AS counted;

-- name: ClaimDisputeListing :many
INSERT INTO dispute_listings (provider, listed_until, due_at, node) VALUES (sqlc.arg(provider), 0, sqlc.arg(lease), sqlc.arg(node))
ON CONFLICT (provider) DO UPDATE SET due_at = excluded.due_at, node = excluded.node WHERE dispute_listings.due_at <= sqlc.arg(now)
RETURNING listed_until;

-- name: FinishDisputeListing :execrows
UPDATE dispute_listings SET listed_until = sqlc.arg(listed_until), due_at = sqlc.arg(due_at), node = ''
WHERE provider = sqlc.arg(provider) AND due_at = sqlc.arg(lease);

-- name: ReleaseDisputeListings :execrows
UPDATE dispute_listings SET due_at = sqlc.arg(now), node = ''
WHERE node = sqlc.arg(node) AND node <> '';
