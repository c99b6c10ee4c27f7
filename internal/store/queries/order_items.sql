-- name: InsertOrderItem :exec
INSERT INTO order_items (id, order_id, position, name, tld, kind, years, net, vat, gross, account, provision_item_id, domain_id, code_sealed, state, failure, renewal_years, renewal_gross, term_end, holder_id, registrant, premium_fee, premium_renewal)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23);

-- name: DeleteOrderItems :exec
DELETE FROM order_items WHERE order_id = $1;

-- name: UpdateOrderItem :execresult
UPDATE order_items
SET years = sqlc.arg(years), net = sqlc.arg(net), vat = sqlc.arg(vat), gross = sqlc.arg(gross), account = sqlc.arg(account),
    provision_item_id = sqlc.arg(provision_item_id), domain_id = sqlc.arg(domain_id), code_sealed = sqlc.arg(code_sealed),
    state = sqlc.arg(state), failure = sqlc.arg(failure), renewal_years = sqlc.arg(renewal_years), renewal_gross = sqlc.arg(renewal_gross), term_end = sqlc.arg(term_end),
    holder_id = sqlc.arg(holder_id), registrant = sqlc.arg(registrant), premium_fee = sqlc.arg(premium_fee), premium_renewal = sqlc.arg(premium_renewal),
    failure_mailed_at = sqlc.arg(failure_mailed_at)
WHERE id = sqlc.arg(id) AND order_id = sqlc.arg(order_id);

-- name: FinishOrderItem :exec
UPDATE order_items SET state = sqlc.arg(state), failure = sqlc.arg(failure), paid_until = sqlc.arg(paid_until)
WHERE provision_item_id = sqlc.arg(provision_item_id) AND provision_item_id <> '' AND state = 'provisioning';
