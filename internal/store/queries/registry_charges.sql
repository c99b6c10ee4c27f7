-- The revenue is that of the order item; an item that an operator vouched for has none.
-- name: InsertRegistryCharge :exec
INSERT INTO registry_charges (id, domain_id, account, tld, operation, years, amount, currency, source, euros, eur_known, revenue, month, created_at)
SELECT sqlc.arg(id), sqlc.arg(domain_id), sqlc.arg(account), sqlc.arg(tld), sqlc.arg(operation), sqlc.arg(years),
    sqlc.arg(amount), sqlc.arg(currency), sqlc.arg(source), sqlc.arg(euros), sqlc.arg(eur_known),
    COALESCE((SELECT max(net) FROM order_items WHERE provision_item_id = sqlc.arg(id) AND provision_item_id <> ''), 0),
    sqlc.arg(month), sqlc.arg(created_at);

-- name: AddChargeToMargin :exec
INSERT INTO margin_months (month, tld, shard, items, revenue, euros, unknown_items, unknown_revenue)
SELECT month, tld, sqlc.arg(shard), 1, revenue, euros, 1 - eur_known, CASE WHEN eur_known = 0 THEN revenue ELSE 0 END
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
