-- name: ListLiveAgentIDs :many
SELECT id FROM agents WHERE removed_at = 0 ORDER BY profile, id LIMIT $1;

-- name: InsertAgent :execresult
INSERT INTO agents (id, name, profile, key_hash, webhook_url, webhook_version, webhook_sealed, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (name) WHERE removed_at = 0 DO NOTHING;

-- name: ListAgents :many
SELECT * FROM agents ORDER BY id LIMIT $1;

-- name: GetAgent :one
SELECT * FROM agents WHERE id = $1;

-- name: ListLiveAgentSecretsByKey :many
SELECT sqlc.embed(agents), sqlc.embed(agent_secrets)
FROM agents
JOIN agent_secrets ON agent_secrets.agent_id = agents.id
WHERE agents.key_hash = $1 AND agents.removed_at = 0 AND agent_secrets.ended_at = 0
ORDER BY agent_secrets.id;

-- name: ListLiveAgentSecretsByProfile :many
SELECT sqlc.embed(agents), sqlc.embed(agent_secrets)
FROM agents
JOIN agent_secrets ON agent_secrets.agent_id = agents.id
WHERE agents.profile = $1 AND agents.removed_at = 0 AND agent_secrets.ended_at = 0
ORDER BY agents.profile, agents.id, agent_secrets.id
LIMIT $2;

-- name: SetAgentKey :exec
UPDATE agents SET key_hash = $2 WHERE id = $1 AND removed_at = 0;

-- name: SetAgentWebhook :exec
UPDATE agents SET webhook_url = $2, webhook_version = $3, webhook_sealed = $4 WHERE id = $1 AND removed_at = 0;

-- Locks the row of a live agent on PostgreSQL, so that changes of its secrets and
-- links run one after the other. The column is in no index, so none is written.
-- name: LockLiveAgent :execresult
UPDATE agents SET webhook_version = webhook_version WHERE id = $1 AND removed_at = 0;

-- name: RemoveAgent :exec
UPDATE agents SET removed_at = $2, webhook_url = '', webhook_sealed = '' WHERE id = $1 AND removed_at = 0;

-- name: InsertAgentSecret :exec
INSERT INTO agent_secrets (id, agent_id, sealed, created_at) VALUES ($1, $2, $3, $4);

-- name: ListAgentSecrets :many
SELECT * FROM agent_secrets WHERE agent_id = $1 AND ended_at = 0 ORDER BY id DESC LIMIT $2;

-- An ended secret has no use, so it is erased as well.
-- name: EndAgentSecret :exec
UPDATE agent_secrets SET ended_at = $2, sealed = '' WHERE id = $1 AND ended_at = 0;

-- name: InsertAgentLink :execrows
INSERT INTO agent_links (customer_id, agent_id, by_kind, by_id, created_at)
VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (customer_id, agent_id) DO NOTHING;

-- name: DeleteAgentLink :execresult
DELETE FROM agent_links WHERE customer_id = $1 AND agent_id = $2;

-- name: ListAgentLinks :many
SELECT agents.id, agents.name, agents.profile, agents.created_at, agent_links.created_at AS linked_at
FROM agent_links
JOIN agents ON agents.id = agent_links.agent_id
WHERE agent_links.customer_id = $1
ORDER BY agents.name;

-- name: ListLinkedCustomerIDs :many
SELECT customer_id FROM agent_links WHERE agent_id = $1 ORDER BY customer_id LIMIT $2;

-- name: GetLiveAgentLink :one
SELECT agent_links.created_at
FROM agent_links
JOIN agents ON agents.id = agent_links.agent_id
JOIN customers ON customers.id = agent_links.customer_id
WHERE agent_links.customer_id = $1 AND agent_links.agent_id = $2 AND agents.removed_at = 0 AND customers.disabled_at = 0;

-- name: InsertSeenSignature :execrows
INSERT INTO seen_signatures (agent_id, mac, path, ends_at)
VALUES ($1, $2, $3, $4)
ON CONFLICT (agent_id, mac) DO NOTHING;

-- name: GetSeenSignaturePath :one
SELECT path FROM seen_signatures WHERE agent_id = $1 AND mac = $2;

-- name: DeleteExpiredSignatures :execrows
DELETE FROM seen_signatures
WHERE (agent_id, mac) IN (SELECT old.agent_id, old.mac FROM seen_signatures AS old WHERE old.ends_at <= $1 ORDER BY old.ends_at LIMIT $2);
