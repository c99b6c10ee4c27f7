-- Something has happened to an order that its agent can see. While a message is
-- under way or waits for another attempt, the change only counts.
-- name: TellAgent :exec
INSERT INTO agent_events (order_id, agent_id, changes, told, since, due_at)
SELECT orders.id, agents.id, 1, 0, sqlc.arg(now), sqlc.arg(now)
FROM orders JOIN agents ON agents.id = orders.agent_id
WHERE orders.id = sqlc.arg(order_id) AND agents.webhook_url <> '' AND agents.removed_at = 0
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
UPDATE agent_events SET due_at = sqlc.arg(lease)
WHERE order_id = sqlc.arg(order_id) AND due_at = sqlc.arg(was_due)
RETURNING *;

-- name: SettleTiding :exec
UPDATE agent_events
SET told = sqlc.arg(told), attempts = 0,
    since = CASE WHEN changes > sqlc.arg(seen) THEN sqlc.arg(now) ELSE since END,
    due_at = CASE WHEN changes > sqlc.arg(seen) THEN sqlc.arg(now) ELSE 0 END
WHERE order_id = sqlc.arg(order_id) AND due_at = sqlc.arg(lease);

-- name: PostponeTiding :exec
UPDATE agent_events SET due_at = sqlc.arg(due), attempts = sqlc.arg(attempts)
WHERE order_id = sqlc.arg(order_id) AND due_at = sqlc.arg(lease);
