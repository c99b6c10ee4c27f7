-- The revenue is that of the order item; an item that an operator vouched for has none.
-- name: InsertRegistryCharge :exec
INSERT INTO registry_charges (id, domain_id, account, tld, operation, years, amount, currency, source, euros, eur_known, revenue, month, created_at)
SELECT sqlc.arg(id), sqlc.arg(domain_id), sqlc.arg(account), sqlc.arg(tld), sqlc.arg(operation), sqlc.arg(years),
    sqlc.arg(amount), sqlc.arg(currency), sqlc.arg(source), sqlc.arg(euros), sqlc.arg(eur_known),
    COALESCE((SELECT max(net) FROM order_items WHERE provision_item_id = sqlc.arg(id) AND provision_item_id <> ''), 0),
    sqlc.arg(month), sqlc.arg(created_at);

-- What a registry returns is no item.
-- name: AddChargeToMargin :exec
INSERT INTO margin_months (month, tld, shard, items, revenue, euros, unknown_items, unknown_revenue)
SELECT month, tld, sqlc.arg(shard), CASE WHEN operation = 'delete' THEN 0 ELSE 1 END, revenue, euros,
    CASE WHEN operation = 'delete' THEN 0 ELSE 1 - eur_known END, CASE WHEN eur_known = 0 THEN revenue ELSE 0 END
FROM registry_charges WHERE registry_charges.id = sqlc.arg(id)
ON CONFLICT (month, tld, shard) DO UPDATE SET
    items = margin_months.items + excluded.items, revenue = margin_months.revenue + excluded.revenue,
    euros = margin_months.euros + excluded.euros, unknown_items = margin_months.unknown_items + excluded.unknown_items,
    unknown_revenue = margin_months.unknown_revenue + excluded.unknown_revenue;

-- name: ListMarginMonths :many
SELECT month, tld, CAST(sum(items) AS BIGINT) AS items, CAST(sum(revenue) AS BIGINT) AS revenue, CAST(sum(euros) AS BIGINT) AS euros,
    CAST(sum(unknown_items) AS BIGINT) AS unknown_items, CAST(sum(unknown_revenue) AS BIGINT) AS unknown_revenue
FROM margin_months
WHERE month >= sqlc.arg(first_month) AND month <= sqlc.arg(last_month)
GROUP BY month, tld
ORDER BY month, tld;

-- name: GetFirstMarginMonth :one
SELECT month FROM margin_months ORDER BY month LIMIT 1;

-- name: ListRegistryCharges :many
SELECT * FROM registry_charges
WHERE id > sqlc.arg(after)
ORDER BY id
LIMIT sqlc.arg(max_rows);

-- name: GetRegistryCharge :one
SELECT * FROM registry_charges WHERE id = $1;

-- The charge for the registration of a domain whose term has ended or is being ended.
-- name: GetRegistrationCharge :one
SELECT registry_charges.* FROM term_ends
JOIN provision_items ON provision_items.name = term_ends.name AND provision_items.domain_id = term_ends.domain_id
JOIN registry_charges ON registry_charges.id = provision_items.id
WHERE term_ends.domain_id = $1 AND registry_charges.operation = 'register'
LIMIT 1;

-- name: GetBookedCurrency :one
SELECT currency FROM registry_funds WHERE account = $1 ORDER BY at DESC, id DESC LIMIT 1;

-- The first and the last currency of an account's charges: the same if they have one.
-- name: GetChargedCurrencies :one
SELECT
    CAST(coalesce((SELECT a.currency FROM registry_charges AS a WHERE a.account = sqlc.arg(account) AND a.currency > '' ORDER BY a.currency LIMIT 1), '') AS TEXT) AS first_currency,
    CAST(coalesce((SELECT b.currency FROM registry_charges AS b WHERE b.account = sqlc.arg(account) AND b.currency > '' ORDER BY b.currency DESC LIMIT 1), '') AS TEXT) AS last_currency;

-- Locks the order's row until the end of the transaction: items are completed and refunds are
-- assigned under the same lock.
-- name: LockOrder :exec
UPDATE orders SET version = version WHERE id = $1;

-- When the credit note of a refund was issued.
-- name: GetCreditNoteTime :one
SELECT issued_at FROM invoices WHERE order_id = $1 AND refund_id = $2;

-- The refunds of an item's order that have a credit note.
-- name: ListCreditNotesOfItem :many
SELECT refunds.id, refunds.parts, invoices.issued_at FROM order_items
JOIN refunds ON refunds.order_id = order_items.order_id
JOIN invoices ON invoices.order_id = refunds.order_id AND invoices.refund_id = refunds.id
WHERE order_items.provision_item_id = $1 AND order_items.provision_item_id <> '';

-- Nothing is inserted for an item without a charge: its revenue was not counted.
-- name: InsertMarginCredit :one
INSERT INTO margin_credits (id, tld, net, eur_known, month, created_at)
SELECT sqlc.arg(id), registry_charges.tld, sqlc.arg(net), registry_charges.eur_known, sqlc.arg(month), sqlc.arg(created_at)
FROM order_items JOIN registry_charges ON registry_charges.id = order_items.provision_item_id
WHERE order_items.id = sqlc.arg(item_id) AND order_items.provision_item_id <> ''
ON CONFLICT DO NOTHING
RETURNING *;

-- name: AddCreditToMargin :exec
INSERT INTO margin_months (month, tld, shard, items, revenue, euros, unknown_items, unknown_revenue)
VALUES (sqlc.arg(month), sqlc.arg(tld), sqlc.arg(shard), 0, sqlc.arg(revenue), 0, 0, sqlc.arg(unknown_revenue))
ON CONFLICT (month, tld, shard) DO UPDATE SET
    revenue = margin_months.revenue + excluded.revenue, unknown_revenue = margin_months.unknown_revenue + excluded.unknown_revenue;

-- name: ListMarginCredits :many
SELECT * FROM margin_credits
WHERE id > sqlc.arg(after)
ORDER BY id
LIMIT sqlc.arg(max_rows);

-- name: UpsertExchangeRate :exec
INSERT INTO exchange_rates (day, currency, rate) VALUES ($1, $2, $3)
ON CONFLICT (day, currency) DO UPDATE SET rate = excluded.rate;

-- name: ListExchangeRates :many
SELECT * FROM exchange_rates WHERE day >= $1 ORDER BY day, currency;

-- name: InsertRegistryFunds :exec
INSERT INTO registry_funds (id, account, kind, amount, currency, at, reference, created_by, created_at)
VALUES (sqlc.arg(id), sqlc.arg(account), sqlc.arg(kind), sqlc.arg(amount), sqlc.arg(currency), sqlc.arg(at), sqlc.arg(reference),
    sqlc.arg(created_by), sqlc.arg(created_at));

-- name: ListRegistryFunds :many
SELECT * FROM registry_funds ORDER BY account, at, id LIMIT sqlc.arg(max_rows);

-- name: ListRegistryFundsSince :many
SELECT kind, amount, currency FROM registry_funds
WHERE account = sqlc.arg(account) AND at > sqlc.arg(since)
ORDER BY at, id
LIMIT sqlc.arg(max_rows);
