-- A domain that a paid line is about is left alone. They are counted, because
-- PostgreSQL would join both tables for a NOT EXISTS, in parallel, for ten rows.
-- name: EndingDomains :many
SELECT domains.id, domains.customer_id, domains.name, domains.paid_until, domains.notified FROM domains
WHERE domains.status = 'active' AND domains.paid_until <> 0 AND domains.notified = sqlc.arg(told) AND domains.paid_until <= sqlc.arg(until)
    AND NOT (SELECT count(*) > 0 FROM lines WHERE lines.name = domains.name AND lines.due_at > 0)
ORDER BY domains.paid_until
LIMIT sqlc.arg(most);

-- name: TellDomain :execrows
UPDATE domains SET notified = sqlc.arg(told), status = sqlc.arg(status), updated_at = sqlc.arg(updated_at)
WHERE domains.id = sqlc.arg(id) AND domains.status = 'active' AND domains.notified = sqlc.arg(was_told) AND domains.paid_until = sqlc.arg(paid_until)
    AND NOT EXISTS (SELECT 1 FROM lines WHERE lines.name = domains.name AND lines.due_at > 0);

-- name: SetAutoRenew :execrows
UPDATE domains SET auto_renew = sqlc.arg(auto_renew), updated_at = sqlc.arg(updated_at)
WHERE id = sqlc.arg(id) AND customer_id = sqlc.arg(customer_id) AND status <> 'transferred_out'
  AND (status = 'active' OR auto_renew >= sqlc.arg(auto_renew));

-- Holds the kept means of payment until the end of the transaction: it is not taken
-- away while a renewal comes to rely on it.
-- name: HoldMethod :execrows
UPDATE payment_methods SET updated_at = updated_at WHERE customer_id = $1 AND method <> '';

-- Nothing renews by itself without a means of payment.
-- name: StopRenewing :exec
UPDATE domains SET auto_renew = 0
WHERE domains.customer_id = sqlc.arg(customer_id) AND auto_renew = 1
    AND NOT EXISTS (SELECT 1 FROM payment_methods WHERE payment_methods.customer_id = sqlc.arg(customer_id) AND method <> '');
