-- Inserts nothing if the domain is not ours at this account, or if the request has a row.
-- name: InsertOutgoingTransfer :execrows
INSERT INTO outgoing_transfers (id, customer_id, domain_id, name, tld, account, gaining, requested_at, acts_at, state, registry_status, due_at, created_at, updated_at)
SELECT sqlc.arg(id), domains.customer_id, domains.id, domains.name, domains.tld, sqlc.arg(account), sqlc.arg(gaining), sqlc.arg(requested_at),
    sqlc.arg(acts_at), sqlc.arg(state), sqlc.arg(registry_status), sqlc.arg(due_at), sqlc.arg(now), sqlc.arg(now)
FROM domains
WHERE domains.id = sqlc.arg(domain_id) AND domains.status <> 'pending' AND (domains.account = '' OR domains.account = sqlc.arg(account))
ON CONFLICT DO NOTHING;

-- What a message reports about an open transfer. One that is being worked on keeps its lease;
-- UpdateOutgoingTransfer makes it due again.
-- name: ReportOutgoingTransfer :exec
UPDATE outgoing_transfers
SET registry_status = sqlc.arg(registry_status),
    gaining = CASE WHEN gaining = '' THEN sqlc.arg(gaining) ELSE gaining END,
    requested_at = CASE WHEN requested_at = 0 THEN sqlc.arg(requested_at) ELSE requested_at END,
    acts_at = CASE WHEN CAST(sqlc.arg(acts_at) AS BIGINT) = 0 THEN acts_at ELSE CAST(sqlc.arg(acts_at) AS BIGINT) END,
    due_at = CASE WHEN node = '' THEN sqlc.arg(now) ELSE due_at END
WHERE id = sqlc.arg(id) AND ended_at = 0;

-- name: MakeOutgoingTransfersDue :exec
UPDATE outgoing_transfers SET due_at = sqlc.arg(now)
WHERE domain_id = sqlc.arg(domain_id) AND ended_at = 0 AND node = '';

-- A status that was reported meanwhile stays, and makes the transfer due, unless it has ended.
-- name: UpdateOutgoingTransfer :execresult
UPDATE outgoing_transfers
SET state = sqlc.arg(state),
    registry_status = CASE WHEN CAST(sqlc.arg(ended_at) AS BIGINT) = 0 AND registry_status <> sqlc.arg(was_status) THEN registry_status ELSE sqlc.arg(registry_status) END,
    due_at = CASE WHEN CAST(sqlc.arg(ended_at) AS BIGINT) = 0 AND registry_status <> sqlc.arg(was_status) THEN 1 ELSE CAST(sqlc.arg(due_at) AS BIGINT) END,
    gaining = sqlc.arg(gaining), requested_at = sqlc.arg(requested_at),
    acts_at = sqlc.arg(acts_at), failure = sqlc.arg(failure), node = sqlc.arg(node), attempts = sqlc.arg(attempts),
    updated_at = sqlc.arg(updated_at), ended_at = CAST(sqlc.arg(ended_at) AS BIGINT)
WHERE id = sqlc.arg(id) AND state = sqlc.arg(was_state) AND due_at = sqlc.arg(was_due);

-- A decision wins against a query in progress, and against a second decision.
-- name: DecideOutgoingTransfer :execresult
UPDATE outgoing_transfers
SET state = sqlc.arg(state), reason = sqlc.arg(reason), statement = sqlc.arg(statement), by_kind = sqlc.arg(by_kind), by_id = sqlc.arg(by_id),
    by_address = sqlc.arg(by_address), decided_at = sqlc.arg(decided_at), failure = '', due_at = sqlc.arg(due_at), node = sqlc.arg(node), attempts = 1,
    updated_at = sqlc.arg(decided_at)
WHERE id = sqlc.arg(id) AND state = 'pending';

-- name: DeleteOutgoingTransfer :execresult
DELETE FROM outgoing_transfers WHERE id = sqlc.arg(id) AND state = sqlc.arg(was_state) AND due_at = sqlc.arg(was_due);

-- Another row of the same request.
-- name: CountSameOutgoingTransfers :one
SELECT count(*) FROM outgoing_transfers
WHERE domain_id = sqlc.arg(domain_id) AND requested_at >= sqlc.arg(earliest) AND requested_at <= sqlc.arg(latest) AND requested_at > 0 AND id <> sqlc.arg(id);

-- name: ClaimDueOutgoingTransfers :many
UPDATE outgoing_transfers
SET due_at = sqlc.arg(lease), attempts = attempts + 1, node = sqlc.arg(node)
WHERE id IN (
    SELECT due.id FROM outgoing_transfers AS due
    WHERE due.due_at > 0 AND due.due_at <= sqlc.arg(clock)
    ORDER BY due.due_at
    LIMIT sqlc.arg(max_rows)
    FOR UPDATE SKIP LOCKED)
RETURNING *;

-- name: ReleaseOutgoingTransfers :execrows
UPDATE outgoing_transfers SET due_at = sqlc.arg(now), node = ''
WHERE node = sqlc.arg(node) AND node <> '' AND due_at > 0;

-- name: GetOutgoingTransfer :one
SELECT * FROM outgoing_transfers WHERE id = $1;

-- name: ListDomainOutgoingTransfers :many
SELECT * FROM outgoing_transfers
WHERE domain_id = $1
ORDER BY id DESC
LIMIT $2;

-- name: ListOpenOutgoingTransfers :many
SELECT * FROM outgoing_transfers
WHERE ended_at = 0 AND id < $1
ORDER BY id DESC
LIMIT $2;

-- name: ListEndedOutgoingTransfers :many
SELECT * FROM outgoing_transfers
WHERE ended_at <> 0 AND id < $1
ORDER BY id DESC
LIMIT $2;

-- Every operator page shows the number; above 1000 it adds no information.
-- name: CountOpenOutgoingTransfers :one
SELECT count(*) FROM (
    SELECT t.id FROM outgoing_transfers AS t WHERE t.ended_at = 0 ORDER BY t.id LIMIT 1000
) AS open_transfers;

-- name: ReassignOutgoingTransfers :exec
UPDATE outgoing_transfers SET customer_id = sqlc.arg(customer_id) WHERE customer_id = sqlc.arg(guest);

-- What the registry reported about the transfers of a name, the newest first.
-- name: ListTransferMessages :many
SELECT m.details FROM registry_messages AS m
WHERE m.name = $1 AND m.kind = 'transfer'
ORDER BY m.number DESC
LIMIT $2;
