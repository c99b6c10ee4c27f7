-- name: DomainsOfCustomer :many
SELECT id, customer_id, name, tld, status, paid_until, auto_renew, created_at, updated_at
FROM domains
WHERE customer_id = $1;

-- name: InsertDomain :execrows
INSERT INTO domains (id, customer_id, name, tld, status, paid_until, auto_renew, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
ON CONFLICT (name) WHERE status <> 'transferred_out' DO NOTHING;

-- Holds the row of an account that gets a domain, so that it is not closed meanwhile.
-- name: HoldHolder :execrows
UPDATE customers SET disabled_at = disabled_at
WHERE id = $1 AND confirmed_at <> 0;

-- name: NamesHeldBy :many
SELECT name FROM domains
WHERE customer_id = $1 AND status <> 'transferred_out'
ORDER BY name
LIMIT $2;

-- One page of a customer's domains. The pattern is one of LIKE, whose signs no name has;
-- of names that were held more than once the id decides.
-- name: PageOfDomains :many
SELECT id, customer_id, name, tld, status, paid_until, auto_renew, created_at, updated_at
FROM domains
WHERE customer_id = sqlc.arg(customer_id) AND name >= sqlc.arg(after_name) AND (name > sqlc.arg(after_name) OR id > sqlc.arg(after_id))
    AND name LIKE sqlc.arg(pattern) AND (status = sqlc.arg(status) OR sqlc.arg(status) = '')
    AND (paid_until < sqlc.arg(paid_before) AND paid_until > 0 AND status <> 'transferred_out' OR sqlc.arg(paid_before) = 0)
ORDER BY name, id
LIMIT sqlc.arg(most) OFFSET sqlc.arg(skipped);

-- How many domains PageOfDomains finds from its beginning.
-- name: CountMatchingDomains :one
SELECT count(*) FROM domains
WHERE customer_id = sqlc.arg(customer_id) AND name LIKE sqlc.arg(pattern)
    AND (status = sqlc.arg(status) OR sqlc.arg(status) = '')
    AND (paid_until < sqlc.arg(paid_before) AND paid_until > 0 AND status <> 'transferred_out' OR sqlc.arg(paid_before) = 0);

-- name: CountDomains :many
SELECT status, COUNT(*) AS domains
FROM domains
WHERE customer_id = $1
GROUP BY status;
