-- Locks the row of an account that links an agent, so that it can't be closed meanwhile.
-- name: LockOpenAccount :execresult
UPDATE customers SET disabled_at = 0
WHERE id = $1 AND disabled_at = 0 AND guest = 0;

-- name: InsertCustomer :execrows
INSERT INTO customers (id, email, email_key, user_handle, language, created_at, confirmed_at)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (email_key) DO NOTHING;

-- name: GetCustomerByEmail :one
SELECT * FROM customers WHERE email_key = $1;

-- name: GetCustomer :one
SELECT * FROM customers WHERE id = $1;

-- name: GetCustomerByUserHandle :one
SELECT * FROM customers WHERE user_handle = $1;

-- name: ListCustomers :many
SELECT * FROM customers WHERE id > $1 ORDER BY id LIMIT $2;

-- name: ConfirmCustomer :execrows
UPDATE customers SET confirmed_at = $1, password_hash = $2
WHERE id = $3 AND confirmed_at = 0 AND disabled_at = 0;

-- name: SetPasswordHash :exec
UPDATE customers SET password_hash = $1 WHERE id = $2;

-- name: ReplacePasswordHash :execrows
UPDATE customers SET password_hash = $1
WHERE id = $2 AND password_hash = $3 AND totp_version = $4 AND operator = $5 AND disabled_at = 0;

-- Locks an account's row until the end of the transaction, whatever its state.
-- name: LockCustomer :exec
UPDATE customers SET disabled_at = disabled_at WHERE id = $1;

-- name: SetEmail :execrows
UPDATE customers SET email = $1, email_key = $2
WHERE customers.id = $3 AND NOT EXISTS (SELECT 1 FROM customers AS other WHERE other.email_key = $2 AND other.id <> $3);

-- name: ReplaceBasket :execrows
UPDATE customers SET basket = sqlc.arg(basket) WHERE id = sqlc.arg(id) AND basket = sqlc.arg(seen);

-- name: SetLanguage :exec
UPDATE customers SET language = $1 WHERE id = $2;

-- name: DisableCustomer :execrows
UPDATE customers SET disabled_at = $1 WHERE id = $2 AND disabled_at = 0;

-- name: EnableCustomer :execrows
UPDATE customers SET disabled_at = 0 WHERE id = $1 AND disabled_at <> 0;

-- name: SetSecondFactor :execrows
UPDATE customers SET totp_sealed = $1, totp_step = $2, totp_version = totp_version + 1 WHERE id = $3 AND totp_version = $4;

-- name: UseTOTPStep :execrows
UPDATE customers SET totp_step = $1 WHERE id = $2 AND totp_version = $3 AND totp_sealed <> '' AND totp_step < $1;

-- name: ListStaleUnconfirmedCustomers :many
SELECT id FROM customers WHERE confirmed_at = 0 AND created_at < $1 ORDER BY created_at LIMIT $2;

-- name: DeleteUnconfirmedCustomer :execrows
DELETE FROM customers WHERE id = $1 AND confirmed_at = 0;

-- name: InsertRecoveryCode :exec
INSERT INTO recovery_codes (customer_id, hash) VALUES ($1, $2);

-- name: DeleteRecoveryCodes :exec
DELETE FROM recovery_codes WHERE customer_id = $1;

-- name: UseRecoveryCode :execrows
UPDATE recovery_codes SET used_at = $1 WHERE customer_id = $2 AND hash = $3 AND used_at = 0;

-- name: CountRecoveryCodes :one
SELECT count(*) FROM recovery_codes WHERE customer_id = $1 AND used_at = 0;

-- Locks the row of an account that gets a domain, so that it can't be closed meanwhile.
-- name: LockConfirmedCustomer :execresult
UPDATE customers SET disabled_at = disabled_at
WHERE id = $1 AND confirmed_at <> 0;

-- name: SetOperator :execrows
UPDATE customers SET operator = sqlc.arg(operator)
WHERE id = sqlc.arg(id) AND operator <> sqlc.arg(operator) AND confirmed_at <> 0 AND guest = 0;

-- name: ListOperators :many
SELECT * FROM customers WHERE operator = 1 ORDER BY id LIMIT $1;
