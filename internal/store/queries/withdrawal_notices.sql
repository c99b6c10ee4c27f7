-- name: InsertWithdrawalNotice :exec
INSERT INTO withdrawal_notices (id, kind, name, email, contract, ground, reason, end_day, language, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10);

-- name: ListWithdrawalNotices :many
SELECT *
FROM withdrawal_notices
WHERE id > $1
ORDER BY id
LIMIT $2;

-- name: GetWithdrawalNotice :one
SELECT * FROM withdrawal_notices WHERE id = $1;

-- name: ListNoticesOfAddress :many
SELECT * FROM withdrawal_notices
WHERE lower(email) = sqlc.arg(email_key)
ORDER BY id DESC
LIMIT sqlc.arg(max_rows);

-- name: ListNoticesOfCustomer :many
SELECT withdrawal_notices.* FROM withdrawal_notices
JOIN customers ON customers.email_key = lower(withdrawal_notices.email)
WHERE customers.id = sqlc.arg(customer_id)
ORDER BY withdrawal_notices.id DESC
LIMIT sqlc.arg(max_rows);

-- What a notice about the contract of a domain may mention: a row for each of its orders, or one
-- without an order.
-- name: ListContractMentions :many
SELECT domains.name, domains.created_at, CAST(coalesce(orders.id, '') AS TEXT) AS order_id
FROM domains
LEFT JOIN order_items ON order_items.name = domains.name
LEFT JOIN orders ON orders.id = order_items.order_id AND orders.customer_id = domains.customer_id
WHERE domains.id = sqlc.arg(domain_id) AND domains.customer_id = sqlc.arg(customer_id) AND domains.status <> 'transferred_out';

-- name: ListOpenWithdrawalNotices :many
SELECT * FROM withdrawal_notices
WHERE done_at = 0
ORDER BY id
LIMIT $1;

-- The newest first.
-- name: ListHandledWithdrawalNotices :many
SELECT * FROM withdrawal_notices
WHERE done_at <> 0 AND id < $1
ORDER BY id DESC
LIMIT $2;

-- Every operator page shows the number; above 1000 it adds no information.
-- name: CountOpenWithdrawalNotices :one
SELECT count(*) FROM (SELECT id FROM withdrawal_notices WHERE done_at = 0 ORDER BY id LIMIT 1000) AS open_notices;

-- name: MarkWithdrawalNoticeDone :execrows
UPDATE withdrawal_notices
SET done_at = @done_at, done_by = @done_by, done_note = @done_note
WHERE id = @id AND done_at = 0;
