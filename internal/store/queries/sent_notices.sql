-- name: InsertSentNotice :exec
INSERT INTO sent_notices (id, customer_id, domain_id, name, term_end, kind, recipient, subject, body, queued_at, sent_at, accepted, response)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
ON CONFLICT DO NOTHING;

-- name: ListSentNoticesOfDomain :many
SELECT * FROM sent_notices
WHERE domain_id = $1
ORDER BY term_end, id
LIMIT $2;

-- The receipts of those of some withdrawal notices that are an account's; see ListNoticesOfCustomer. The
-- newest first.
-- name: ListReceipts :many
SELECT * FROM sent_notices
WHERE sent_notices.customer_id = '' AND sent_notices.domain_id IN (
    SELECT named.id FROM customers JOIN withdrawal_notices AS named ON lower(named.email) = customers.email_key || ''
    WHERE customers.id = sqlc.arg(customer_id) AND named.id IN (SELECT value FROM json_array_elements_text(CAST(sqlc.arg(notice_ids) AS TEXT)::json))
    UNION
    SELECT sent.id FROM withdrawal_notices AS sent
    WHERE sent.customer_id = sqlc.arg(customer_id) AND sent.customer_id <> '' AND sent.id IN (SELECT value FROM json_array_elements_text(CAST(sqlc.arg(notice_ids) AS TEXT)::json)))
ORDER BY sent_notices.sent_at DESC, sent_notices.id DESC
LIMIT sqlc.arg(max_rows);

-- The mails about an order and about the domains that it paid for.
-- name: ListSentNoticesOfOrder :many
SELECT * FROM sent_notices
WHERE domain_id IN (
    SELECT provision_items.domain_id FROM provision_items WHERE provision_items.payment = sqlc.arg(payment) AND provision_items.domain_id <> ''
    UNION ALL SELECT CAST(sqlc.arg(order_id) AS TEXT)
)
ORDER BY sent_at, id
LIMIT sqlc.arg(max_rows);

-- The newest first.
-- name: ListSentNotices :many
SELECT * FROM sent_notices
WHERE customer_id = $1 AND id < $2
ORDER BY id DESC
LIMIT $3;

-- name: ReassignSentNotices :exec
UPDATE sent_notices SET customer_id = sqlc.arg(customer_id) WHERE customer_id = sqlc.arg(guest);
