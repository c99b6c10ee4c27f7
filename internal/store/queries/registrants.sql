-- name: GetRegistrantWithEmail :one
SELECT r.kind, r.name, r.organisation, r.street, r.postal_code, r.city, r.state, r.country, r.phone, r.updated_at, c.email
FROM registrants r JOIN customers c ON c.id = r.customer_id
WHERE r.customer_id = $1;

-- name: GetRegistrant :one
SELECT * FROM registrants WHERE customer_id = $1;

-- name: PutRegistrant :exec
INSERT INTO registrants (customer_id, kind, name, organisation, street, postal_code, city, state, country, phone, vat_id, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
ON CONFLICT (customer_id) DO UPDATE SET
    kind = excluded.kind, name = excluded.name, organisation = excluded.organisation, street = excluded.street,
    postal_code = excluded.postal_code, city = excluded.city, state = excluded.state, country = excluded.country,
    phone = excluded.phone, vat_id = excluded.vat_id, updated_at = excluded.updated_at;

-- The TLDs whose rules apply to an account's registrant: those of its domains, of open
-- provision items, and of orders being paid.
-- name: ListCustomerTLDs :many
SELECT domains.tld FROM domains WHERE domains.customer_id = sqlc.arg(customer_id) AND domains.status <> 'transferred_out'
UNION
SELECT provision_items.tld FROM provision_items WHERE provision_items.customer_id = sqlc.arg(customer_id) AND provision_items.due_at > 0
UNION
SELECT order_items.tld FROM orders JOIN order_items ON order_items.order_id = orders.id
WHERE orders.customer_id = sqlc.arg(customer_id) AND orders.open_order = 1 AND orders.state = 'paying'
ORDER BY tld;
