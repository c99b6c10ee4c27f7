-- name: InsertPendingInvoice :exec
INSERT INTO pending_invoices (id, order_id, refund_id, buyer, created_at)
VALUES ($1, $2, $3, $4, $5)
ON CONFLICT DO NOTHING;

-- name: ListPendingInvoices :many
SELECT * FROM pending_invoices
WHERE id > $1
ORDER BY id
LIMIT $2;

-- name: GetInvoiceBuyer :one
SELECT c.email, c.language,
    coalesce(r.name, '') AS name, coalesce(r.organisation, '') AS organisation, coalesce(r.street, '') AS street,
    coalesce(r.postal_code, '') AS postal_code, coalesce(r.city, '') AS city, coalesce(r.state, '') AS state,
    coalesce(r.country, '') AS country, coalesce(r.vat_id, '') AS vat_id
FROM customers c
LEFT JOIN registrants r ON r.customer_id = c.id
WHERE c.id = $1;

-- Deleting locks the rows until the end of the transaction, so that a document is issued
-- once: a concurrent transaction waits and finds no row, or issues it if the first one failed.
-- They are locked by id, so that two transactions don't wait for each other. The ids are between
-- first and last, which are found by the index.
-- name: DeletePendingInvoices :many
DELETE FROM pending_invoices WHERE id IN (
    SELECT pending.id FROM pending_invoices AS pending
    WHERE pending.id >= sqlc.arg(first) AND pending.id <= sqlc.arg(last)
        AND pending.id IN (SELECT value FROM json_array_elements_text(CAST(sqlc.arg(ids) AS TEXT)::json))
    ORDER BY pending.id
    FOR UPDATE)
RETURNING id;

-- name: TakeInvoiceNumbers :one
INSERT INTO invoice_series (series, last_number)
VALUES (sqlc.arg(series), sqlc.arg(taken))
ON CONFLICT (series) DO UPDATE SET last_number = invoice_series.last_number + excluded.last_number
RETURNING last_number;

-- name: InsertInvoices :exec
INSERT INTO invoices (id, order_id, refund_id, kind, series, number, label, net, vat, gross, issued_at, content)
SELECT value->>'id', value->>'order', value->>'refund', value->>'kind', value->>'series', CAST(value->>'number' AS BIGINT), value->>'label',
    CAST(value->>'net' AS BIGINT), CAST(value->>'vat' AS BIGINT), CAST(value->>'gross' AS BIGINT), CAST(value->>'issued_at' AS BIGINT), value->>'content'
FROM json_array_elements(CAST(sqlc.arg(documents) AS TEXT)::json);

-- name: GetInvoiceByOrder :one
SELECT content FROM invoices WHERE order_id = $1 AND refund_id = '';

-- name: GetInvoiceByLabel :one
SELECT content FROM invoices WHERE label = $1;

-- name: GetCustomerInvoice :one
SELECT invoices.content FROM invoices
JOIN orders ON orders.id = invoices.order_id
WHERE orders.customer_id = $1 AND invoices.id = $2;

-- name: ListOrderInvoices :many
SELECT invoices.content FROM invoices
JOIN orders ON orders.id = invoices.order_id
WHERE invoices.order_id = $1 AND orders.customer_id = $2
ORDER BY invoices.order_id, invoices.refund_id;

-- name: ListCustomerInvoices :many
SELECT invoices.content FROM orders
JOIN invoices ON invoices.order_id = orders.id
WHERE orders.customer_id = $1 AND invoices.id < $2
ORDER BY invoices.id DESC
LIMIT $3;

-- name: ListInvoices :many
SELECT content FROM invoices
WHERE id > $1
ORDER BY id
LIMIT $2;

-- name: ListInvoicesForReconciliation :many
SELECT id, order_id, refund_id, series, number, label, net, vat, gross, issued_at FROM invoices
WHERE id > $1
ORDER BY id
LIMIT $2;

-- name: GetFirstIssueTime :one
SELECT issued_at FROM invoices ORDER BY issued_at LIMIT 1;

-- name: SumInvoices :many
SELECT kind, count(*) AS documents, CAST(sum(net) AS BIGINT) AS net, CAST(sum(vat) AS BIGINT) AS vat, CAST(sum(gross) AS BIGINT) AS gross
FROM invoices
WHERE issued_at >= sqlc.arg(since) AND issued_at < sqlc.arg(before)
GROUP BY kind;

-- name: GetLastRevenueDay :one
SELECT day FROM revenue_days ORDER BY day DESC LIMIT 1;

-- A day that another node has summed stays as it is: its documents never change.
-- name: InsertRevenueDay :exec
INSERT INTO revenue_days (day, kind, documents, net, vat, gross)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT DO NOTHING;

-- name: ListRevenueDays :many
SELECT * FROM revenue_days
WHERE day >= sqlc.arg(first) AND day <= sqlc.arg(last)
ORDER BY day, kind;
