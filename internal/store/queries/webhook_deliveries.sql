-- Records an event of an order for its agent: the one that created it, or the one that
-- paid it and is still linked. While a delivery is in flight or waits for a retry, only
-- the event count changes.
-- name: EnqueueWebhookDelivery :exec
INSERT INTO webhook_deliveries (order_id, agent_id, event_count, delivered_count, pending_since, due_at)
SELECT orders.id, agents.id, 1, 0, sqlc.arg(now), sqlc.arg(now)
FROM orders JOIN agents ON agents.id = CASE WHEN orders.agent_id <> '' THEN orders.agent_id ELSE orders.completer_id END
WHERE orders.id = sqlc.arg(order_id) AND agents.webhook_url <> '' AND agents.removed_at = 0
    AND (orders.agent_id <> '' OR EXISTS (
        SELECT 1 FROM agent_links WHERE agent_links.customer_id = orders.customer_id AND agent_links.agent_id = agents.id))
ON CONFLICT (order_id) DO UPDATE SET
    event_count = webhook_deliveries.event_count + 1,
    pending_since = CASE WHEN webhook_deliveries.due_at = 0 THEN excluded.pending_since ELSE webhook_deliveries.pending_since END,
    due_at = CASE WHEN webhook_deliveries.due_at = 0 THEN excluded.due_at ELSE webhook_deliveries.due_at END;

-- Returns the webhook of each agent as well; its URL is empty if the agent was removed.
-- SQLite has no locking clause; sqldb removes it.
-- name: ClaimDueWebhookDeliveries :many
UPDATE webhook_deliveries SET due_at = sqlc.arg(lease), node = sqlc.arg(node)
WHERE order_id IN (
    SELECT due.order_id FROM webhook_deliveries AS due
    WHERE due.due_at > 0 AND due.due_at <= sqlc.arg(now)
    ORDER BY due.due_at
    LIMIT sqlc.arg(max_rows)
    FOR UPDATE SKIP LOCKED)
RETURNING *,
    CAST(coalesce((SELECT a.webhook_url FROM agents AS a WHERE a.id = agent_id AND a.removed_at = 0), '') AS TEXT) AS webhook_url,
    CAST(coalesce((SELECT a.webhook_version FROM agents AS a WHERE a.id = agent_id), '') AS TEXT) AS webhook_version,
    CAST(coalesce((SELECT a.webhook_sealed FROM agents AS a WHERE a.id = agent_id), '') AS TEXT) AS webhook_sealed;

-- name: CompleteWebhookDelivery :exec
UPDATE webhook_deliveries
SET delivered_count = sqlc.arg(delivered_count), attempts = 0, node = '',
    pending_since = CASE WHEN event_count > sqlc.arg(event_count) THEN sqlc.arg(now) ELSE pending_since END,
    due_at = CASE WHEN event_count > sqlc.arg(event_count) THEN sqlc.arg(now) ELSE 0 END
WHERE order_id = sqlc.arg(order_id) AND due_at = sqlc.arg(lease);

-- name: PostponeWebhookDelivery :exec
UPDATE webhook_deliveries SET due_at = sqlc.arg(due), attempts = sqlc.arg(attempts), node = ''
WHERE order_id = sqlc.arg(order_id) AND due_at = sqlc.arg(lease);

-- name: ReleaseWebhookDeliveries :execrows
UPDATE webhook_deliveries SET due_at = sqlc.arg(now), node = ''
WHERE node = sqlc.arg(node) AND node <> '' AND due_at > 0;

-- An agent that a customer has unlinked gets no more webhooks about the customer's orders.
-- name: DeleteWebhookDeliveriesOfUnlinkedAgent :exec
DELETE FROM webhook_deliveries
WHERE webhook_deliveries.agent_id = sqlc.arg(agent_id) AND webhook_deliveries.order_id IN (
    SELECT orders.id FROM orders
    WHERE orders.customer_id = sqlc.arg(customer_id) AND orders.agent_id = '' AND orders.completer_id = sqlc.arg(agent_id));
