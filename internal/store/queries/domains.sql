-- name: DomainsOfCustomer :many
SELECT id, customer_id, name, tld, status, paid_until, auto_renew, created_at, updated_at
FROM domains
WHERE customer_id = $1;

-- name: InsertDomain :execrows
INSERT INTO domains (id, customer_id, name, tld, status, paid_until, auto_renew, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
ON CONFLICT (name) WHERE status <> 'transferred_out' DO NOTHING;

-- name: HolderExists :one
SELECT id FROM customers WHERE id = $1 AND confirmed_at <> 0;

-- name: NamesHeldBy :many
SELECT name FROM domains
WHERE customer_id = $1 AND status <> 'transferred_out'
ORDER BY name
LIMIT $2;
