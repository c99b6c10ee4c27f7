-- name: InsertDeed :exec
INSERT INTO deeds (id, customer_id, actor_kind, actor, through, address, action, object, at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9);

-- name: DeedsOfCustomer :many
SELECT id, customer_id, actor_kind, actor, through, address, action, object, at
FROM deeds
WHERE customer_id = $1 AND id < $2
ORDER BY id DESC
LIMIT $3;

-- name: DeleteDeedsOf :exec
DELETE FROM deeds WHERE customer_id = $1;

-- name: DeleteDeedsOfNobody :execrows
DELETE FROM deeds
WHERE id IN (SELECT old.id FROM deeds AS old WHERE old.customer_id = '' AND old.id < $1 ORDER BY old.id LIMIT $2);
