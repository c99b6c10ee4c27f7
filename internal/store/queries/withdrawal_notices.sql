-- name: InsertWithdrawalNotice :exec
INSERT INTO withdrawal_notices (id, kind, name, email, contract, ground, reason, end_day, language, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10);

-- name: ListWithdrawalNotices :many
SELECT *
FROM withdrawal_notices
WHERE id > $1
ORDER BY id
LIMIT $2;

-- name: MarkWithdrawalNoticeDone :execrows
UPDATE withdrawal_notices
SET done_at = @done_at
WHERE id = @id AND done_at = 0;
