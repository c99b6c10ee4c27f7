-- name: InsertCustomer :execrows
INSERT INTO customers (id, email, email_key, user_handle, language, created_at, confirmed_at)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (email_key) DO NOTHING;

-- name: CustomerByEmail :one
SELECT * FROM customers WHERE email_key = $1;

-- name: CustomerByID :one
SELECT * FROM customers WHERE id = $1;

-- name: CustomerByHandle :one
SELECT * FROM customers WHERE user_handle = $1;

-- name: CustomersAfter :many
SELECT * FROM customers WHERE id > $1 ORDER BY id LIMIT $2;

-- name: ConfirmCustomer :execrows
UPDATE customers SET confirmed_at = $1, password_hash = $2
WHERE id = $3 AND confirmed_at = 0 AND disabled_at = 0;

-- name: SetPasswordHash :execrows
UPDATE customers SET password_hash = $1 WHERE id = $2;

-- name: ReplacePasswordHash :execrows
UPDATE customers SET password_hash = $1
WHERE id = $2 AND password_hash = $3 AND totp_version = $4 AND operator = $5 AND disabled_at = 0;

-- Holds an account's row until the end of the transaction, in whatever state it is.
-- name: LockCustomer :exec
UPDATE customers SET disabled_at = disabled_at WHERE id = $1;

-- name: SetEmail :execrows
UPDATE customers SET email = $1, email_key = $2
WHERE customers.id = $3 AND NOT EXISTS (SELECT 1 FROM customers AS other WHERE other.email_key = $2 AND other.id <> $3);

-- name: SetLanguage :execrows
UPDATE customers SET language = $1 WHERE id = $2;

-- name: DisableCustomer :execrows
UPDATE customers SET disabled_at = $1 WHERE id = $2 AND disabled_at = 0;

-- name: EnableCustomer :execrows
UPDATE customers SET disabled_at = 0 WHERE id = $1 AND disabled_at <> 0;

-- name: SetSecondFactor :execrows
UPDATE customers SET totp_sealed = $1, totp_step = $2, totp_version = totp_version + 1 WHERE id = $3 AND totp_version = $4;

-- name: UseStep :execrows
UPDATE customers SET totp_step = $1 WHERE id = $2 AND totp_version = $3 AND totp_sealed <> '' AND totp_step < $1;

-- name: StaleUnconfirmed :many
SELECT id FROM customers WHERE confirmed_at = 0 AND created_at < $1 ORDER BY created_at LIMIT $2;

-- name: DeleteUnconfirmed :execrows
DELETE FROM customers WHERE id = $1 AND confirmed_at = 0;

-- name: InsertRecoveryCode :exec
INSERT INTO recovery_codes (customer_id, hash) VALUES ($1, $2);

-- name: DeleteRecoveryCodes :exec
DELETE FROM recovery_codes WHERE customer_id = $1;

-- name: UseRecoveryCode :execrows
UPDATE recovery_codes SET used_at = $1 WHERE customer_id = $2 AND hash = $3 AND used_at = 0;

-- name: CountRecoveryCodes :one
SELECT count(*) FROM recovery_codes WHERE customer_id = $1 AND used_at = 0;
