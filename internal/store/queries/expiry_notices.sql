-- Skips domains with an open provision item. The subquery counts, because PostgreSQL
-- would run a NOT EXISTS as a parallel join of both tables to return ten rows.
-- name: ListExpiringDomains :many
SELECT domains.id, domains.customer_id, domains.name, domains.tld, domains.paid_until, domains.expiry_notice, domains.at_term_end FROM domains
WHERE domains.status = 'active' AND domains.paid_until <> 0 AND domains.expiry_notice = sqlc.arg(expiry_notice) AND domains.paid_until <= sqlc.arg(until)
    AND NOT (SELECT count(*) > 0 FROM provision_items WHERE provision_items.name = domains.name AND provision_items.due_at > 0)
ORDER BY domains.paid_until
LIMIT sqlc.arg(max_rows);

-- name: SetDomainExpiryNotice :execresult
UPDATE domains SET expiry_notice = sqlc.arg(expiry_notice), status = sqlc.arg(status), updated_at = sqlc.arg(updated_at)
WHERE domains.id = sqlc.arg(id) AND domains.status = 'active' AND domains.expiry_notice = sqlc.arg(was_expiry_notice) AND domains.paid_until = sqlc.arg(paid_until)
    AND NOT EXISTS (SELECT 1 FROM provision_items WHERE provision_items.name = domains.name AND provision_items.due_at > 0);
