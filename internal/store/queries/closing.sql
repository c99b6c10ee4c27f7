-- What keeps an account from being closed, and what goes when it is.

-- An order that was given up is due until its payment page is closed: money may come
-- until then, and whoever paid hears that it goes back.
-- name: TiesOfCustomer :one
SELECT
    (SELECT count(*) FROM domains WHERE domains.customer_id = sqlc.arg(customer_id) AND domains.status <> 'transferred_out') AS domains,
    (SELECT count(*) FROM orders
     WHERE orders.customer_id = sqlc.arg(customer_id)
         AND (orders.open_order = 1 OR orders.state = 'provisioning' OR orders.due_at > 0)) AS orders,
    (SELECT count(*) FROM refunds
     WHERE refunds.provider = '' AND refunds.order_id IN (SELECT owing.id FROM orders AS owing WHERE owing.customer_id = sqlc.arg(customer_id))) AS refunds;

-- name: CloseCustomer :execrows
UPDATE customers
SET email = sqlc.arg(nobody), email_key = sqlc.arg(nobody), password_hash = '', totp_sealed = '', totp_step = 0, totp_version = totp_version + 1, token_count = 0,
    operator = 0, disabled_at = sqlc.arg(closed_at)
WHERE id = sqlc.arg(id) AND disabled_at = 0;

-- What was paid before there were invoices is billed to the customer as they are
-- when it is issued. Afterwards there is nobody left to read that from.
-- name: KeepBuyerOf :exec
UPDATE invoices_due SET buyer = sqlc.arg(buyer)
WHERE invoices_due.buyer = '' AND invoices_due.refund_id = ''
    AND invoices_due.order_id IN (SELECT orders.id FROM orders WHERE orders.customer_id = sqlc.arg(customer_id));

-- name: RevokeTokensOf :exec
UPDATE tokens SET revoked_at = sqlc.arg(revoked_at) WHERE customer_id = sqlc.arg(customer_id) AND revoked_at = 0;

-- name: RevokeGrantsOf :exec
UPDATE grants SET revoked_at = sqlc.arg(revoked_at), expires_at = sqlc.arg(revoked_at)
WHERE customer_id = sqlc.arg(customer_id) AND revoked_at = 0;

-- name: DeletePasskeysOf :exec
DELETE FROM passkeys WHERE customer_id = $1;

-- name: DeletePaymentMethodOf :exec
DELETE FROM payment_methods WHERE customer_id = $1;

-- name: DeleteAgentLinksOf :exec
DELETE FROM agent_links WHERE customer_id = $1;
