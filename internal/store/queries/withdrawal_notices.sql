-- Without an account that sent it, it is that of the account whose confirmed address it names.
-- name: InsertWithdrawalNotice :exec
INSERT INTO withdrawal_notices (id, kind, name, email, contract, ground, reason, end_day, language, created_at, customer_id)
VALUES (@id, @kind, @name, @email, @contract, @ground, @reason, @end_day, @language, @created_at,
    coalesce(nullif(CAST(@customer_id AS TEXT), ''),
        (SELECT owner.id FROM customers AS owner WHERE owner.email_key = @email_key AND owner.confirmed_at <> 0 AND owner.guest = 0), ''));

-- An account that changes its address keeps the notices that were sent with it.
-- name: KeepNoticesOfAddress :exec
UPDATE withdrawal_notices SET customer_id = @customer_id
WHERE withdrawal_notices.customer_id = '' AND withdrawal_notices.id IN (
    SELECT named.id FROM customers AS owner JOIN withdrawal_notices AS named ON lower(named.email) = owner.email_key || ''
    WHERE owner.id = @customer_id AND owner.confirmed_at <> 0 AND owner.guest = 0);

-- name: ListWithdrawalNotices :many
SELECT *
FROM withdrawal_notices
WHERE id > $1
ORDER BY id
LIMIT $2;

-- name: GetWithdrawalNotice :one
SELECT * FROM withdrawal_notices WHERE id = $1;

-- A page of the notices of an account (|| '' has no type affinity, which would keep SQLite from the
-- index of addresses), the newest first: those sent with its address, and those that it sent with
-- another one or before it changed its address. They are open, or were sent since a time. Each half is
-- read from its index, and no further than a page.
-- name: ListNoticesOfCustomer :many
SELECT id, kind, name, email, contract, ground, reason, end_day, language, created_at, done_at, done_by, done_note, customer_id, done_reply, done_ends
FROM (
    SELECT by_address.* FROM (
        SELECT named.* FROM customers JOIN withdrawal_notices AS named ON lower(named.email) = customers.email_key || ''
        WHERE customers.id = sqlc.arg(customer_id) AND named.id < sqlc.arg(before_id)
            AND (named.done_at = 0 OR named.created_at >= sqlc.arg(handled_since))
        ORDER BY named.id DESC
        LIMIT sqlc.arg(max_rows)
    ) AS by_address
    UNION
    SELECT by_account.* FROM (
        SELECT sent.* FROM withdrawal_notices AS sent
        WHERE sent.customer_id = sqlc.arg(customer_id) AND sent.customer_id <> '' AND sent.id < sqlc.arg(before_id)
            AND (sent.done_at = 0 OR sent.created_at >= sqlc.arg(handled_since))
        ORDER BY sent.id DESC
        LIMIT sqlc.arg(max_rows)
    ) AS by_account
) AS notices
ORDER BY id DESC
LIMIT sqlc.arg(max_rows);

-- What a notice about the contracts of domains may mention: a row for each order of a domain, or one
-- without an order. An order that is being provisioned has its domain in the paid item only.
-- name: ListContractMentions :many
SELECT domains.id, domains.name, domains.created_at,
    CAST(coalesce(orders.id, '') AS TEXT) AS order_id, CAST(coalesce(orders.created_at, 0) AS BIGINT) AS ordered_at
FROM domains
LEFT JOIN order_items ON order_items.name = domains.name
LEFT JOIN provision_items ON provision_items.id = order_items.provision_item_id
LEFT JOIN orders ON orders.id = order_items.order_id AND orders.customer_id = domains.customer_id
    AND (order_items.domain_id = domains.id OR provision_items.domain_id = domains.id)
WHERE domains.customer_id = sqlc.arg(customer_id)
    AND domains.id IN (SELECT value FROM json_array_elements_text(CAST(sqlc.arg(domain_ids) AS TEXT)::json));

-- A page of the domains that renew automatically and that a notice may be about: it mentions them, or an order
-- for a domain of that name. They belong to the account that sent it, or whose address it names.
-- name: ListRenewalsMentioned :many
SELECT domains.id, domains.customer_id, domains.name, domains.paid_until
FROM domains
JOIN customers ON customers.id = domains.customer_id
WHERE domains.at_term_end = 'renew' AND domains.status <> 'transferred_out'
    AND (customers.id = sqlc.arg(customer_id) OR customers.email_key = sqlc.arg(email_key))
    AND (domains.customer_id > sqlc.arg(after_customer) OR domains.customer_id = sqlc.arg(after_customer) AND domains.name > sqlc.arg(after_name))
    AND domains.name IN (
        SELECT value FROM json_array_elements_text(CAST(sqlc.arg(mentions) AS TEXT)::json)
        UNION
        SELECT order_items.name FROM order_items
        WHERE order_items.order_id IN (SELECT value FROM json_array_elements_text(CAST(sqlc.arg(mentions) AS TEXT)::json)))
ORDER BY domains.customer_id, domains.name
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

-- name: MarkWithdrawalNoticeDone :execresult
UPDATE withdrawal_notices
SET done_at = @done_at, done_by = @done_by, done_note = @done_note, done_reply = @done_reply, done_ends = @done_ends
WHERE id = @id AND done_at = 0;

-- Who closed it, and the note, stay until it is closed again.
-- name: ReopenWithdrawalNotice :execrows
UPDATE withdrawal_notices SET done_at = 0 WHERE id = $1 AND done_at <> 0;
