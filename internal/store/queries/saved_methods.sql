-- Locks a customer's payment methods until the end of the transaction.
-- name: LockMethods :exec
UPDATE payment_methods SET updated_at = updated_at WHERE customer_id = $1;

-- The same, for a customer who may have none yet.
-- name: LockOrInsertMethods :exec
INSERT INTO payment_methods (customer_id, provider_customer, updated_at) VALUES ($1, '', $2)
ON CONFLICT (customer_id) DO UPDATE SET updated_at = payment_methods.updated_at;

-- Adds the default of an earlier program to the saved methods.
-- name: KeepDefaultMethod :exec
INSERT INTO saved_methods (customer_id, method, provider_customer, label, fingerprint, expires, added_at)
SELECT payment_methods.customer_id, payment_methods.method, payment_methods.provider_customer, payment_methods.label, '', '', payment_methods.updated_at
FROM payment_methods
WHERE payment_methods.customer_id = $1 AND payment_methods.method <> ''
ON CONFLICT (customer_id, method) DO NOTHING;

-- name: GetMethodSetup :one
SELECT method, setup, setup_default FROM payment_methods WHERE customer_id = $1;

-- name: ListSavedMethods :many
SELECT * FROM saved_methods WHERE customer_id = sqlc.arg(customer_id) ORDER BY added_at, method LIMIT sqlc.arg(max_rows);

-- name: PutSavedMethod :exec
INSERT INTO saved_methods (customer_id, method, provider_customer, label, fingerprint, expires, added_at)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (customer_id, method) DO UPDATE
SET provider_customer = excluded.provider_customer, label = excluded.label, fingerprint = excluded.fingerprint, expires = excluded.expires;

-- name: DeleteSavedMethod :exec
DELETE FROM saved_methods WHERE customer_id = $1 AND method = $2;

-- name: SetDefaultMethod :exec
UPDATE payment_methods
SET provider_customer = sqlc.arg(provider_customer), method = sqlc.arg(method), label = sqlc.arg(label), updated_at = sqlc.arg(updated_at)
WHERE customer_id = sqlc.arg(customer_id);

-- name: ClearDefaultMethod :exec
UPDATE payment_methods SET method = '', label = '', updated_at = sqlc.arg(updated_at) WHERE customer_id = sqlc.arg(customer_id);

-- name: EndMethodSetup :exec
UPDATE payment_methods SET setup = '', setup_default = 0 WHERE customer_id = $1;

-- The next three are for a closed account.
-- name: DetachMethodsOfCustomer :exec
INSERT INTO method_detachments (method, due_at)
SELECT saved_methods.method, sqlc.arg(due_at) FROM saved_methods WHERE saved_methods.customer_id = sqlc.arg(customer_id)
ON CONFLICT (method) DO NOTHING;

-- name: DeleteSavedMethodsOfCustomer :exec
DELETE FROM saved_methods WHERE customer_id = $1;

-- name: DeletePaymentMethod :exec
DELETE FROM payment_methods WHERE customer_id = $1;

-- name: InsertMethodDetachment :exec
INSERT INTO method_detachments (method, due_at) VALUES ($1, $2)
ON CONFLICT (method) DO NOTHING;

-- SQLite has no locking clause; sqldb removes it.
-- name: ClaimDueMethodDetachments :many
UPDATE method_detachments SET due_at = sqlc.arg(lease)
WHERE method IN (
    SELECT due.method FROM method_detachments AS due
    WHERE due.due_at <= sqlc.arg(now)
    ORDER BY due.due_at
    LIMIT sqlc.arg(max_rows)
    FOR UPDATE SKIP LOCKED)
RETURNING *;

-- name: PostponeMethodDetachment :exec
UPDATE method_detachments SET due_at = sqlc.arg(due), attempts = sqlc.arg(attempts)
WHERE method = sqlc.arg(method) AND due_at = sqlc.arg(lease);

-- name: DeleteMethodDetachment :exec
DELETE FROM method_detachments WHERE method = $1;

-- name: CountRetryingMethodDetachments :one
SELECT count(*) FROM method_detachments WHERE due_at > 0 AND attempts > 0;
