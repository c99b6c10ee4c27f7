-- name: GetProvisionItem :one
SELECT * FROM provision_items WHERE id = $1;

-- name: GetProvisionItemByPayment :one
SELECT * FROM provision_items WHERE payment = $1 AND name = $2;

-- name: ListProvisionItemsByName :many
SELECT * FROM provision_items WHERE name = $1 ORDER BY id;

-- name: ListProvisionItems :many
SELECT * FROM provision_items
WHERE id > $1
ORDER BY id
LIMIT $2;

-- name: ListDueProvisionItems :many
SELECT * FROM provision_items
WHERE automatic = sqlc.arg(automatic) AND due_at > 0 AND due_at <= sqlc.arg(now)
ORDER BY due_at
LIMIT sqlc.arg(max_rows);

-- name: UpdateProvisionItem :one
UPDATE provision_items
SET state = sqlc.arg(state), failure = sqlc.arg(failure), refund_due = sqlc.arg(refund_due),
    domain_id = sqlc.arg(domain_id), handle = sqlc.arg(handle), code_sealed = sqlc.arg(code_sealed), registrant = sqlc.arg(registrant),
    renew_from = sqlc.arg(renew_from), fee = sqlc.arg(fee), requested_at = sqlc.arg(requested_at), due_at = sqlc.arg(due_at), node = sqlc.arg(node), attempts = sqlc.arg(attempts),
    updated_at = sqlc.arg(updated_at)
WHERE id = sqlc.arg(id) AND state = sqlc.arg(was_state) AND due_at = sqlc.arg(was_due)
RETURNING customer_id;

-- name: ReleaseProvisionItems :execrows
UPDATE provision_items SET due_at = sqlc.arg(now), node = ''
WHERE node = sqlc.arg(node) AND node <> '' AND due_at > 0;

-- A leased item keeps its lease.
-- name: MakePendingProvisionItemsDue :exec
UPDATE provision_items SET due_at = sqlc.arg(now)
WHERE name = sqlc.arg(name) AND due_at > sqlc.arg(now) AND node = '' AND state = 'pending';

-- Inserts nothing if the name is held by a customer or has an open item.
-- name: InsertProvisionItem :execrows
INSERT INTO provision_items (id, customer_id, name, tld, kind, years, payment, state, account, domain_id, code_sealed, registrant, holder_id, premium_fee, requested_at, due_at, created_at, updated_at)
SELECT sqlc.arg(id), sqlc.arg(customer_id), sqlc.arg(name), sqlc.arg(tld), sqlc.arg(kind), sqlc.arg(years), sqlc.arg(payment), 'paid',
    sqlc.arg(account), '', sqlc.arg(code_sealed), sqlc.arg(registrant), sqlc.arg(holder_id), sqlc.arg(premium_fee), sqlc.arg(now), sqlc.arg(due_at), sqlc.arg(now), sqlc.arg(now)
WHERE NOT EXISTS (SELECT 1 FROM domains WHERE domains.name = sqlc.arg(name) AND domains.status <> 'transferred_out')
ON CONFLICT DO NOTHING;

-- A renewal applies to the domain that the customer holds, unless it is being deleted.
-- name: InsertRenewalProvisionItem :execrows
INSERT INTO provision_items (id, customer_id, name, tld, kind, years, payment, state, account, domain_id, code_sealed, automatic, premium_fee, requested_at, due_at, created_at, updated_at)
SELECT sqlc.arg(id), domains.customer_id, domains.name, domains.tld, sqlc.arg(kind), sqlc.arg(years), sqlc.arg(payment), 'paid',
    sqlc.arg(account), domains.id, '', sqlc.arg(automatic), sqlc.arg(premium_fee), sqlc.arg(now), sqlc.arg(due_at), sqlc.arg(now), sqlc.arg(now)
FROM domains
WHERE domains.id = sqlc.arg(domain_id) AND domains.customer_id = sqlc.arg(customer_id) AND domains.status <> 'transferred_out'
    AND NOT EXISTS (SELECT 1 FROM term_ends WHERE term_ends.domain_id = domains.id AND term_ends.state = 'deleting')
ON CONFLICT DO NOTHING;

-- A transfer in progress is due; one that has ended is not. The newest come first.
-- name: ListRunningTransfers :many
SELECT * FROM provision_items
WHERE customer_id = sqlc.arg(customer_id) AND kind = 'transfer' AND due_at > 0
ORDER BY created_at DESC, name
LIMIT sqlc.arg(max_rows) OFFSET sqlc.arg(skip_rows);

-- Those that have ended in a state, active or failed. An ordered transfer whose name was held
-- when it was paid has no provision item.
-- name: ListEndedTransfers :many
SELECT p.name, p.tld, p.payment, p.state, p.failure, p.domain_id, p.created_at, p.updated_at FROM provision_items AS p
WHERE p.customer_id = sqlc.arg(customer_id) AND p.kind = 'transfer' AND p.due_at = 0 AND p.state = sqlc.arg(state)
UNION ALL
SELECT refused.name, refused.tld, 'order:' || orders.id, 'failed', refused.failure, '', orders.paid_at, orders.paid_at
FROM orders JOIN order_items AS refused ON refused.order_id = orders.id
WHERE sqlc.arg(state) = 'failed' AND orders.customer_id = sqlc.arg(customer_id) AND orders.paid_at > 0
    AND refused.kind = 'transfer' AND refused.provision_item_id = '' AND refused.state IN ('failed', 'refunded')
ORDER BY created_at DESC, name
LIMIT sqlc.arg(max_rows) OFFSET sqlc.arg(skip_rows);

-- name: CountTransfers :many
SELECT p.state, count(*) AS total FROM provision_items AS p
WHERE p.customer_id = sqlc.arg(customer_id) AND p.kind = 'transfer'
GROUP BY p.state
UNION ALL
SELECT 'failed', count(*)
FROM orders JOIN order_items AS refused ON refused.order_id = orders.id
WHERE orders.customer_id = sqlc.arg(customer_id) AND orders.paid_at > 0
    AND refused.kind = 'transfer' AND refused.provision_item_id = '' AND refused.state IN ('failed', 'refunded');
