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
