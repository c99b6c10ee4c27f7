-- Accounts that never had a reminder, nor a date for the first one.
-- name: ListUndatedReminders :many
SELECT id, created_at FROM customers
WHERE data_reminder_at = 0
ORDER BY id
LIMIT $1;

-- name: ListDueDataReminders :many
SELECT id, data_reminder_at FROM customers
WHERE data_reminder_at > 0 AND data_reminder_at <= $1
ORDER BY data_reminder_at
LIMIT $2;

-- name: SetDataReminder :execresult
UPDATE customers SET data_reminder_at = sqlc.arg(now)
WHERE id = sqlc.arg(id) AND data_reminder_at = sqlc.arg(was);

-- name: CountRemindableDomains :one
SELECT count(*) FROM domains JOIN customers ON customers.id = domains.customer_id
WHERE domains.customer_id = $1 AND domains.status IN ('active', 'expired') AND customers.disabled_at = 0;
