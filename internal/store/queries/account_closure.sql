-- Counts what prevents closing an account. A canceled order stays due until its payment
-- page is closed: until then a payment may arrive, which has to be refunded.
-- name: CountClosureBlockers :one
SELECT
    (SELECT count(*) FROM domains WHERE domains.customer_id = sqlc.arg(customer_id) AND domains.status <> 'transferred_out') AS domains,
    (SELECT count(*) FROM orders
     WHERE orders.customer_id = sqlc.arg(customer_id)
         AND (orders.open_order = 1 OR orders.state = 'provisioning' OR orders.due_at > 0)) AS orders,
    (SELECT count(*) FROM refunds
     WHERE (refunds.provider = '' AND refunds.failure = '' OR refunds.task = 'returned') AND refunds.order_id IN (SELECT owing.id FROM orders AS owing WHERE owing.customer_id = sqlc.arg(customer_id))) AS refunds;

-- name: CloseCustomer :execrows
UPDATE customers
SET email = sqlc.arg(closed_email), email_key = sqlc.arg(closed_email), password_hash = '', totp_sealed = '', totp_step = 0, totp_version = totp_version + 1, token_count = 0, basket = '',
    operator = 0, disabled_at = sqlc.arg(closed_at)
WHERE id = sqlc.arg(id) AND disabled_at = 0;

-- A pending invoice without a buyer is issued to the customer's data at that time, so
-- the data is copied before the account is closed.
-- name: SetPendingInvoiceBuyer :exec
UPDATE pending_invoices SET buyer = sqlc.arg(buyer)
WHERE pending_invoices.buyer = '' AND pending_invoices.refund_id = ''
    AND pending_invoices.order_id IN (SELECT orders.id FROM orders WHERE orders.customer_id = sqlc.arg(customer_id));

-- name: RevokePersonalAccessTokensOfCustomer :exec
UPDATE personal_access_tokens SET revoked_at = sqlc.arg(revoked_at) WHERE customer_id = sqlc.arg(customer_id) AND revoked_at = 0;

-- name: RevokeGrantsOfCustomer :exec
UPDATE grants SET revoked_at = sqlc.arg(revoked_at), expires_at = sqlc.arg(revoked_at)
WHERE customer_id = sqlc.arg(customer_id) AND revoked_at = 0;

-- name: DeletePasskeysOfCustomer :exec
DELETE FROM passkeys WHERE customer_id = $1;

-- name: DeleteAgentLinksOfCustomer :exec
DELETE FROM agent_links WHERE customer_id = $1;

-- Whether a customer has or had a domain, or has paid for an order.
-- name: HasOrdered :one
SELECT EXISTS (
    SELECT 1 FROM domains WHERE domains.customer_id = sqlc.arg(customer_id)
    UNION ALL SELECT 1 FROM orders WHERE orders.customer_id = sqlc.arg(customer_id) AND orders.paid_at > 0)
AS ordered;
