-- name: GetCustomerDomain :one
SELECT * FROM domains WHERE id = $1 AND customer_id = $2;

-- name: SetDomainHandle :exec
UPDATE domains SET handle = sqlc.arg(handle), updated_at = sqlc.arg(updated_at) WHERE id = sqlc.arg(id);

-- name: ListCustomerDomains :many
SELECT id, customer_id, name, tld, status, paid_until, auto_renew, created_at, updated_at
FROM domains
WHERE customer_id = $1;

-- name: InsertDomain :execrows
INSERT INTO domains (id, customer_id, name, tld, status, paid_until, auto_renew, account, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
ON CONFLICT (name) WHERE status <> 'transferred_out' DO NOTHING;

-- One page of a customer's domains. The pattern is a LIKE pattern; domain names contain
-- no LIKE wildcards. The id breaks ties between rows with the same name.
-- name: SearchDomains :many
SELECT id, customer_id, name, tld, status, paid_until, auto_renew, created_at, updated_at
FROM domains
WHERE customer_id = sqlc.arg(customer_id) AND name >= sqlc.arg(after_name) AND (name > sqlc.arg(after_name) OR id > sqlc.arg(after_id))
    AND name LIKE sqlc.arg(pattern) AND (status = sqlc.arg(status) OR sqlc.arg(status) = '')
    AND (paid_until < sqlc.arg(paid_before) AND paid_until > 0 AND status <> 'transferred_out' OR sqlc.arg(paid_before) = 0)
ORDER BY name, id
LIMIT sqlc.arg(max_rows) OFFSET sqlc.arg(skip_rows);

-- Counts all domains that SearchDomains finds without its cursor.
-- name: CountSearchedDomains :one
SELECT count(*) FROM domains
WHERE customer_id = sqlc.arg(customer_id) AND name LIKE sqlc.arg(pattern)
    AND (status = sqlc.arg(status) OR sqlc.arg(status) = '')
    AND (paid_until < sqlc.arg(paid_before) AND paid_until > 0 AND status <> 'transferred_out' OR sqlc.arg(paid_before) = 0);

-- name: CountDomainsByStatus :many
SELECT status, COUNT(*) AS domains
FROM domains
WHERE customer_id = $1
GROUP BY status;

-- name: ActivateDomain :execrows
UPDATE domains
SET status = sqlc.arg(status), paid_until = sqlc.arg(paid_until), handle = sqlc.arg(handle), code_sealed = sqlc.arg(code_sealed),
    registry_expires = sqlc.arg(registry_expires), sync_due = sqlc.arg(sync_due), updated_at = sqlc.arg(updated_at)
WHERE id = sqlc.arg(id) AND status = 'pending';

-- A renewal or restore starts a new term, so its expiry notices are sent again.
-- name: RenewDomain :execrows
UPDATE domains
SET paid_until = sqlc.arg(paid_until), status = CASE WHEN status IN ('expired', 'redemption') THEN 'active' ELSE status END, expiry_notice = 0,
    registry_expires = sqlc.arg(registry_expires), sync_due = sqlc.arg(sync_due), updated_at = sqlc.arg(updated_at)
WHERE id = sqlc.arg(id) AND paid_until = sqlc.arg(was_paid_until);

-- name: DeletePendingDomain :exec
DELETE FROM domains WHERE id = $1 AND status = 'pending';

-- name: MakeDomainSyncDue :exec
UPDATE domains SET sync_due = sqlc.arg(now)
WHERE name = sqlc.arg(name) AND sync_due > 0;

-- name: ListDomainsDueForSync :many
SELECT * FROM domains
WHERE sync_due > 0 AND sync_due <= $1
ORDER BY sync_due
LIMIT $2;

-- name: ListDomains :many
SELECT * FROM domains
WHERE id > $1
ORDER BY id
LIMIT $2;

-- name: ListDomainsByName :many
SELECT * FROM domains WHERE name = $1 ORDER BY id;

-- name: UpdateDomainFromRegistry :execrows
UPDATE domains
SET status = sqlc.arg(status), registry_status = sqlc.arg(registry_status), registry_expires = sqlc.arg(registry_expires),
    synced_at = sqlc.arg(synced_at), sync_due = sqlc.arg(sync_due), updated_at = sqlc.arg(updated_at)
WHERE id = sqlc.arg(id) AND status = sqlc.arg(was_status) AND sync_due = sqlc.arg(was_due);

-- name: SetAutoRenew :execrows
UPDATE domains SET auto_renew = sqlc.arg(auto_renew), updated_at = sqlc.arg(updated_at)
WHERE id = sqlc.arg(id) AND customer_id = sqlc.arg(customer_id) AND status <> 'transferred_out'
  AND (status = 'active' OR auto_renew >= sqlc.arg(auto_renew));

-- Automatic renewal needs a payment method.
-- name: DisableAutoRenewWithoutPaymentMethod :exec
UPDATE domains SET auto_renew = 0
WHERE domains.customer_id = sqlc.arg(customer_id) AND auto_renew = 1
    AND NOT EXISTS (SELECT 1 FROM payment_methods WHERE payment_methods.customer_id = sqlc.arg(customer_id) AND method <> '');

-- name: GetCurrentDomainByName :one
SELECT * FROM domains WHERE name = $1 AND status <> 'transferred_out';

-- Automatic renewal chosen at checkout takes effect only with a payment method.
-- name: EnableOrderedAutoRenew :exec
UPDATE domains SET auto_renew = 1
WHERE domains.id = sqlc.arg(domain_id) AND EXISTS (
    SELECT 1 FROM orders JOIN payment_methods ON payment_methods.customer_id = orders.customer_id
    WHERE orders.id = sqlc.arg(order_id) AND orders.auto_renew = 1 AND payment_methods.method <> '');
