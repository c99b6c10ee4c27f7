-- name: RegistrantOf :one
SELECT * FROM registrants WHERE customer_id = $1;

-- name: PaymentUnderWay :one
SELECT id FROM orders WHERE customer_id = $1 AND open_order = 1 AND state = 'paying' LIMIT 1;

-- name: PutRegistrant :exec
INSERT INTO registrants (customer_id, kind, name, organisation, street, postal_code, city, state, country, phone, vat_id, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
ON CONFLICT (customer_id) DO UPDATE SET
    kind = excluded.kind, name = excluded.name, organisation = excluded.organisation, street = excluded.street,
    postal_code = excluded.postal_code, city = excluded.city, state = excluded.state, country = excluded.country,
    phone = excluded.phone, vat_id = excluded.vat_id, updated_at = excluded.updated_at;

-- The extensions whose rules bind the registrant of an account: those of its domains,
-- of what is paid and not carried out yet, and of what is being paid.
-- name: ExtensionsOf :many
SELECT domains.tld FROM domains WHERE domains.customer_id = sqlc.arg(customer_id) AND domains.status <> 'transferred_out'
UNION
SELECT lines.tld FROM lines WHERE lines.customer_id = sqlc.arg(customer_id) AND lines.due_at > 0
UNION
SELECT order_items.tld FROM orders JOIN order_items ON order_items.order_id = orders.id
WHERE orders.customer_id = sqlc.arg(customer_id) AND orders.open_order = 1 AND orders.state = 'paying'
ORDER BY tld;

-- name: VerifiedName :one
SELECT name FROM identities WHERE customer_id = $1 AND verified_at <> 0;
