-- name: InsertGuest :exec
INSERT INTO customers (id, email, email_key, user_handle, language, created_at, confirmed_at, data_reminder_at, guest)
VALUES (sqlc.arg(id), sqlc.arg(email), sqlc.arg(email_key), sqlc.arg(user_handle), sqlc.arg(language),
    sqlc.arg(created_at), sqlc.arg(created_at), sqlc.arg(created_at), 1);

-- name: UpdateGuest :exec
UPDATE customers SET email = $1, language = $2 WHERE id = $3 AND guest = 1;

-- name: GetGuestID :one
SELECT id FROM customers WHERE id = $1 AND guest = 1;

-- name: GetLinkedCustomerID :one
SELECT customers.id FROM customers JOIN agent_links ON agent_links.customer_id = customers.id
WHERE customers.email_key = sqlc.arg(email_key) AND customers.confirmed_at <> 0 AND customers.disabled_at = 0 AND customers.guest = 0
    AND agent_links.agent_id = sqlc.arg(agent_id);

-- Locks the claiming account's row until the end of the transaction; its values stay
-- the same.
-- name: LockClaimingCustomer :execresult
UPDATE customers SET disabled_at = 0
WHERE id = $1 AND confirmed_at <> 0 AND disabled_at = 0 AND guest = 0;

-- The order rows are the lock for everything that belongs to them. The new version makes
-- concurrent updates of an order reload it.
-- name: LockOrdersOfCustomer :exec
UPDATE orders SET version = version + 1 WHERE customer_id = $1;

-- name: ReassignOrders :exec
UPDATE orders SET customer_id = sqlc.arg(customer_id), claimed = 1 WHERE customer_id = sqlc.arg(guest);

-- name: ReassignPaymentsOfOrder :exec
UPDATE payments SET customer_id = $1 WHERE order_id = $2;

-- name: ReassignPayments :exec
UPDATE payments SET customer_id = sqlc.arg(customer_id)
WHERE order_id IN (SELECT orders.id FROM orders WHERE orders.customer_id = sqlc.arg(guest));

-- name: ReassignProvisionItems :exec
UPDATE provision_items SET customer_id = sqlc.arg(customer_id) WHERE customer_id = sqlc.arg(guest);

-- The claim has confirmed the guest's address, also if no contact check was opened for it yet.
-- name: ReassignDomains :exec
UPDATE domains
SET customer_id = sqlc.arg(customer_id), contact_check = CASE WHEN contact_check = 'guest' THEN '' ELSE contact_check END
WHERE customer_id = sqlc.arg(guest);

-- An operator may have locked a domain at the registry before it was claimed.
-- name: ReassignDomainChanges :exec
UPDATE domain_changes SET customer_id = sqlc.arg(customer_id) WHERE customer_id = sqlc.arg(guest);

-- The customer sees all locks of a domain, including lifted ones.
-- name: ReassignDomainLocks :exec
UPDATE domain_locks SET customer_id = sqlc.arg(customer_id) WHERE customer_id = sqlc.arg(guest);

-- name: ReassignRegistrant :exec
UPDATE registrants SET customer_id = sqlc.arg(customer_id)
WHERE registrants.customer_id = sqlc.arg(guest)
    AND NOT EXISTS (SELECT 1 FROM registrants AS own WHERE own.customer_id = sqlc.arg(customer_id));

-- name: DeleteRegistrant :exec
DELETE FROM registrants WHERE customer_id = $1;

-- name: DeleteLinksOfCustomer :exec
DELETE FROM links WHERE customer_id = $1;

-- name: DeleteIdentity :exec
DELETE FROM identities WHERE customer_id = $1;

-- name: DeleteGuest :exec
DELETE FROM customers WHERE id = $1 AND guest = 1;

-- Guests without a payment attempt, whose orders can no longer be paid. A guest with a
-- payment in any state stays.
-- name: ListStaleGuestIDs :many
SELECT customers.id FROM customers
WHERE customers.guest = 1 AND customers.created_at < sqlc.arg(created_at)
    AND NOT EXISTS (
        SELECT 1 FROM orders WHERE orders.customer_id = customers.id
            AND (orders.due_at > 0 OR orders.state NOT IN ('canceled', 'expired')))
    AND NOT EXISTS (
        SELECT 1 FROM orders JOIN payments ON payments.order_id = orders.id WHERE orders.customer_id = customers.id)
ORDER BY customers.created_at
LIMIT sqlc.arg(max_rows);

-- name: DeleteWebhookDeliveriesOfGuest :exec
DELETE FROM webhook_deliveries WHERE order_id IN (SELECT orders.id FROM orders WHERE orders.customer_id = $1);

-- name: DeleteOrderItemsOfGuest :exec
DELETE FROM order_items WHERE order_id IN (SELECT orders.id FROM orders WHERE orders.customer_id = $1);

-- name: DeleteOrdersOfGuest :exec
DELETE FROM orders WHERE customer_id = $1 AND state IN ('canceled', 'expired');
