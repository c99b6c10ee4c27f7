-- name: ListObjectAuditEvents :many
SELECT id, customer_id, actor_kind, actor, through, address, action, object, at, refund_id
FROM audit_events
WHERE customer_id = $1 AND object = $2
ORDER BY id DESC
LIMIT $3;

-- name: InsertAuditEvent :exec
INSERT INTO audit_events (id, customer_id, actor_kind, actor, through, address, action, object, at, refund_id)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10);

-- name: ListAuditEvents :many
SELECT id, customer_id, actor_kind, actor, through, address, action, object, at, refund_id
FROM audit_events
WHERE customer_id = $1 AND id < $2
ORDER BY id DESC
LIMIT $3;

-- name: DeleteAuditEventsOfCustomer :exec
DELETE FROM audit_events WHERE customer_id = $1;

-- name: DeleteAccountlessAuditEvents :execrows
DELETE FROM audit_events
WHERE id IN (SELECT old.id FROM audit_events AS old WHERE old.customer_id = '' AND old.id < $1 ORDER BY old.id LIMIT $2);
