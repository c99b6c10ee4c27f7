-- What a customer's tokens, applications and agents have ordered: orders, those that are
-- paid, and the amount without refunds.
-- name: ListOrdersThrough :many
SELECT o.by_kind, o.by_id, CAST(max(o.created_at) AS BIGINT) AS last_at, count(*) AS orders, CAST(sum(CASE WHEN o.paid_at > 0 THEN 1 ELSE 0 END) AS BIGINT) AS paid,
    CAST(sum(CASE WHEN o.paid_at > 0 THEN o.gross - coalesce((SELECT sum(refunds.amount) FROM refunds WHERE refunds.order_id = o.id AND refunds.item_id <> '' AND refunds.replaces = '' AND (refunds.provider <> '' OR refunds.failure = '') AND (refunds.source = '' OR refunds.parts <> '')), 0) ELSE 0 END) AS BIGINT) AS spent
FROM orders AS o
WHERE o.customer_id = $1 AND o.channel <> 'portal' AND o.channel <> 'renewal'
GROUP BY o.by_kind, o.by_id
ORDER BY o.by_kind, o.by_id;

-- Orders of the customer that a linked agent has paid, by agent and creator.
-- name: ListOrdersCompleted :many
SELECT o.completer_id, o.by_kind, o.by_id, CAST(max(o.paid_at) AS BIGINT) AS last_at, count(*) AS orders,
    CAST(sum(o.gross - coalesce((SELECT sum(refunds.amount) FROM refunds WHERE refunds.order_id = o.id AND refunds.item_id <> '' AND refunds.replaces = '' AND (refunds.provider <> '' OR refunds.failure = '') AND (refunds.source = '' OR refunds.parts <> '')), 0)) AS BIGINT) AS spent
FROM orders AS o
WHERE o.customer_id = $1 AND o.completer_id <> '' AND o.paid_at > 0
GROUP BY o.completer_id, o.by_kind, o.by_id
ORDER BY o.completer_id, o.by_kind, o.by_id;

-- name: ListUnrevokedGrants :many
SELECT id, client_id, client_name, redirect_uri FROM grants
WHERE customer_id = $1 AND revoked_at = 0
ORDER BY id;

-- name: RevokeAuthorizationCodesOfCustomer :exec
UPDATE authorization_codes SET used_at = $2 WHERE customer_id = $1 AND used_at = 0;
