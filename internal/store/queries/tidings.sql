-- Something has happened to an order that its agent can see: the one that made it, or
-- the one that paid it and is still linked. While a message is under way or waits for
-- another attempt, the change only counts.
-- name: TellAgent :exec
INSERT INTO agent_events (order_id, agent_id, changes, told, since, due_at)
SELECT orders.id, agents.id, 1, 0, sqlc.arg(now), sqlc.arg(now)
FROM orders JOIN agents ON agents.id = CASE WHEN orders.agent_id <> '' THEN orders.agent_id ELSE orders.completer_id END
WHERE orders.id = sqlc.arg(order_id) AND agents.webhook_url <> '' AND agents.removed_at = 0
    AND (orders.agent_id <> '' OR EXISTS (
        SELECT 1 FROM agent_links WHERE agent_links.customer_id = orders.customer_id AND agent_links.agent_id = agents.id))
ON CONFLICT (order_id) DO UPDATE SET
    changes = agent_events.changes + 1,
    since = CASE WHEN agent_events.due_at = 0 THEN excluded.since ELSE agent_events.since END,
    due_at = CASE WHEN agent_events.due_at = 0 THEN excluded.due_at ELSE agent_events.due_at END;

-- name: DueTidings :many
SELECT * FROM agent_events
WHERE due_at > 0 AND due_at <= $1
ORDER BY due_at
LIMIT $2;

-- name: ClaimTiding :one
UPDATE agent_events SET due_at = sqlc.arg(lease), node = sqlc.arg(node)
WHERE order_id = sqlc.arg(order_id) AND due_at = sqlc.arg(was_due)
RETURNING *;

-- name: SettleTiding :exec
UPDATE agent_events
SET told = sqlc.arg(told), attempts = 0, node = '',
    since = CASE WHEN changes > sqlc.arg(seen) THEN sqlc.arg(now) ELSE since END,
    due_at = CASE WHEN changes > sqlc.arg(seen) THEN sqlc.arg(now) ELSE 0 END
WHERE order_id = sqlc.arg(order_id) AND due_at = sqlc.arg(lease);

-- name: PostponeTiding :exec
UPDATE agent_events SET due_at = sqlc.arg(due), attempts = sqlc.arg(attempts), node = ''
WHERE order_id = sqlc.arg(order_id) AND due_at = sqlc.arg(lease);

-- name: FreeAgentEvents :execrows
UPDATE agent_events SET due_at = sqlc.arg(now), node = ''
WHERE node = sqlc.arg(node) AND node <> '' AND due_at > 0;

-- An agent that a customer has unlinked does not hear of that customer's orders.
-- name: DropTidings :exec
DELETE FROM agent_events
WHERE agent_events.agent_id = sqlc.arg(agent_id) AND agent_events.order_id IN (
    SELECT orders.id FROM orders
    WHERE orders.customer_id = sqlc.arg(customer_id) AND orders.agent_id = '' AND orders.completer_id = sqlc.arg(agent_id));
