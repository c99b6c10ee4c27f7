-- name: InsertItem :exec
INSERT INTO order_items (id, order_id, place, name, tld, kind, years, net, vat, gross, account, line_id, domain_id, code_sealed, state, failure)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16);

-- name: DeleteItems :exec
DELETE FROM order_items WHERE order_id = $1;

-- name: ItemsOfOrder :many
SELECT * FROM order_items WHERE order_id = $1 ORDER BY place;

-- name: ItemsOfOrders :many
SELECT * FROM order_items
WHERE order_id >= sqlc.arg(first) AND order_id <= sqlc.arg(last)
ORDER BY order_id, place;

-- name: ChangeItem :execrows
UPDATE order_items
SET years = sqlc.arg(years), net = sqlc.arg(net), vat = sqlc.arg(vat), gross = sqlc.arg(gross), account = sqlc.arg(account),
    line_id = sqlc.arg(line_id), domain_id = sqlc.arg(domain_id), code_sealed = sqlc.arg(code_sealed),
    state = sqlc.arg(state), failure = sqlc.arg(failure)
WHERE id = sqlc.arg(id) AND order_id = sqlc.arg(order_id);

-- name: EndItem :exec
UPDATE order_items SET state = sqlc.arg(state), failure = sqlc.arg(failure)
WHERE line_id = sqlc.arg(line_id) AND line_id <> '' AND state = 'provisioning';

-- A name that somebody holds, or that another open line wants, gets no line.
-- name: InsertItemLine :execrows
INSERT INTO lines (id, customer_id, name, tld, kind, years, payment, state, account, domain_id, code_sealed, registrant, asked_at, due_at, created_at, updated_at)
SELECT sqlc.arg(id), sqlc.arg(customer_id), sqlc.arg(name), sqlc.arg(tld), sqlc.arg(kind), sqlc.arg(years), sqlc.arg(payment), 'paid',
    sqlc.arg(account), '', sqlc.arg(code_sealed), sqlc.arg(registrant), sqlc.arg(now), sqlc.arg(now), sqlc.arg(now), sqlc.arg(now)
WHERE NOT EXISTS (SELECT 1 FROM domains WHERE domains.name = sqlc.arg(name) AND domains.status <> 'transferred_out')
ON CONFLICT DO NOTHING;

-- A renewal is for the domain that its customer holds.
-- name: InsertRenewalLine :execrows
INSERT INTO lines (id, customer_id, name, tld, kind, years, payment, state, account, domain_id, code_sealed, asked_at, due_at, created_at, updated_at)
SELECT sqlc.arg(id), domains.customer_id, domains.name, domains.tld, sqlc.arg(kind), sqlc.arg(years), sqlc.arg(payment), 'paid',
    sqlc.arg(account), domains.id, '', sqlc.arg(now), sqlc.arg(now), sqlc.arg(now), sqlc.arg(now)
FROM domains
WHERE domains.id = sqlc.arg(domain_id) AND domains.customer_id = sqlc.arg(customer_id) AND domains.status <> 'transferred_out'
ON CONFLICT DO NOTHING;

-- What the customer wished when paying holds if there is a means of payment.
-- name: KeepRenewing :exec
UPDATE domains SET auto_renew = 1
WHERE domains.id = sqlc.arg(domain_id) AND EXISTS (
    SELECT 1 FROM orders JOIN payment_methods ON payment_methods.customer_id = orders.customer_id
    WHERE orders.id = sqlc.arg(order_id) AND orders.auto_renew = 1 AND payment_methods.method <> '');
