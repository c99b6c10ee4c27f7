-- The accounts of buyers who have none, until somebody claims what hangs on them.

-- name: CountOpenSessions :one
SELECT count(*) FROM orders WHERE agent_id = $1 AND agent_id <> '' AND open_order = 1;

-- name: InsertShadow :exec
INSERT INTO customers (id, email, email_key, user_handle, language, created_at, confirmed_at, shadow)
VALUES ($1, $2, $3, $4, $5, $6, $7, 1);

-- name: ChangeShadow :execrows
UPDATE customers SET email = $1, language = $2 WHERE id = $3 AND shadow = 1;

-- name: ShadowExists :one
SELECT id FROM customers WHERE id = $1 AND shadow = 1;

-- name: LinkedCustomer :one
SELECT customers.id FROM customers JOIN agent_links ON agent_links.customer_id = customers.id
WHERE customers.email_key = sqlc.arg(email_key) AND customers.confirmed_at <> 0 AND customers.disabled_at = 0 AND customers.shadow = 0
    AND agent_links.agent_id = sqlc.arg(agent_id);

-- Who claims holds the account's row until the end; the row stays as it is.
-- name: HoldClaimer :execrows
UPDATE customers SET disabled_at = 0
WHERE id = $1 AND confirmed_at <> 0 AND disabled_at = 0 AND shadow = 0;

-- The orders' rows are the lock for all the rest. Somebody who thinks about one of
-- them right now thinks anew.
-- name: HoldOrdersOf :exec
UPDATE orders SET version = version + 1 WHERE customer_id = $1;

-- name: GiveOrders :exec
UPDATE orders SET customer_id = sqlc.arg(customer_id), claimed = 1 WHERE customer_id = sqlc.arg(shadow);

-- name: GivePaymentsOfOrder :exec
UPDATE payments SET customer_id = $1 WHERE order_id = $2;

-- name: GivePayments :exec
UPDATE payments SET customer_id = sqlc.arg(customer_id)
WHERE order_id IN (SELECT orders.id FROM orders WHERE orders.customer_id = sqlc.arg(shadow));

-- name: GiveLines :exec
UPDATE lines SET customer_id = sqlc.arg(customer_id) WHERE customer_id = sqlc.arg(shadow);

-- name: GiveDomains :exec
UPDATE domains SET customer_id = sqlc.arg(customer_id) WHERE customer_id = sqlc.arg(shadow);

-- An operator may have had the registry lock a domain before somebody claimed it.
-- name: GiveChanges :exec
UPDATE changes SET customer_id = sqlc.arg(customer_id) WHERE customer_id = sqlc.arg(shadow);

-- Whoever holds a domain hears of its locks, also of those that were lifted.
-- name: GiveDomainLocks :exec
UPDATE domain_locks SET customer_id = sqlc.arg(customer_id) WHERE customer_id = sqlc.arg(shadow);

-- name: GiveRegistrant :exec
UPDATE registrants SET customer_id = sqlc.arg(customer_id)
WHERE registrants.customer_id = sqlc.arg(shadow)
    AND NOT EXISTS (SELECT 1 FROM registrants AS own WHERE own.customer_id = sqlc.arg(customer_id));

-- name: DeleteRegistrant :exec
DELETE FROM registrants WHERE customer_id = $1;

-- name: DeleteLinksOf :exec
DELETE FROM links WHERE customer_id = $1;

-- name: DeleteIdentityOf :exec
DELETE FROM identities WHERE customer_id = $1;

-- name: DeleteShadow :execrows
DELETE FROM customers WHERE id = $1 AND shadow = 1;

-- Those that nobody has tried to pay for, and nobody can any more. An order with a
-- payment stays, whatever became of it.
-- name: StaleShadows :many
SELECT customers.id FROM customers
WHERE customers.shadow = 1 AND customers.created_at < sqlc.arg(created_at)
    AND NOT EXISTS (
        SELECT 1 FROM orders WHERE orders.customer_id = customers.id
            AND (orders.due_at > 0 OR orders.state NOT IN ('canceled', 'expired')))
    AND NOT EXISTS (
        SELECT 1 FROM orders JOIN payments ON payments.order_id = orders.id WHERE orders.customer_id = customers.id)
ORDER BY customers.created_at
LIMIT sqlc.arg(most);

-- name: DeleteEventsOfShadow :exec
DELETE FROM agent_events WHERE order_id IN (SELECT orders.id FROM orders WHERE orders.customer_id = $1);

-- name: DeleteItemsOfShadow :exec
DELETE FROM order_items WHERE order_id IN (SELECT orders.id FROM orders WHERE orders.customer_id = $1);

-- name: DeleteOrdersOfShadow :exec
DELETE FROM orders WHERE customer_id = $1 AND state IN ('canceled', 'expired');
