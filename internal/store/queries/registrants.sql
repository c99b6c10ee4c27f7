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
