-- Whether the account has registrant data, and a change of its address that waits for
-- confirmation.
-- name: GetOverviewAccount :one
SELECT
    (SELECT count(*) FROM registrants WHERE registrants.customer_id = sqlc.arg(customer_id)) AS registrants,
    CAST(coalesce((SELECT change.email FROM links AS change
        WHERE change.customer_id = sqlc.arg(customer_id) AND change.kind = 'change_email' AND change.used_at = 0 AND change.expires_at > sqlc.arg(now)
        ORDER BY change.expires_at DESC LIMIT 1), '') AS TEXT) AS new_email,
    CAST(coalesce((SELECT max(until.expires_at) FROM links AS until
        WHERE until.customer_id = sqlc.arg(customer_id) AND until.kind = 'change_email' AND until.used_at = 0 AND until.expires_at > sqlc.arg(now)), 0) AS BIGINT) AS new_email_until;

-- A customer's orders that can be paid or are being provisioned; those that wait for the
-- customer first. Their name and kind are those of the first unfinished item.
-- name: ListUnfinishedOrders :many
SELECT o.id, o.state, o.channel, o.by_kind, o.by_name, o.net, o.gross, o.vat_rule, o.pay_sealed, o.created_at, o.expires_at,
    CAST(coalesce((SELECT first.name FROM order_items AS first WHERE first.order_id = o.id
        ORDER BY CASE WHEN first.state = 'waiting' OR first.state = 'provisioning' THEN 0 ELSE 1 END, first.position LIMIT 1), '') AS TEXT) AS name,
    CAST(coalesce((SELECT first.kind FROM order_items AS first WHERE first.order_id = o.id
        ORDER BY CASE WHEN first.state = 'waiting' OR first.state = 'provisioning' THEN 0 ELSE 1 END, first.position LIMIT 1), '') AS TEXT) AS kind,
    (SELECT count(*) FROM order_items AS counted WHERE counted.order_id = o.id AND counted.state IN ('waiting', 'provisioning')) AS items,
    (SELECT count(*) FROM order_items AS counted WHERE counted.order_id = o.id AND counted.state IN ('failed', 'refunded')) AS failed
FROM orders AS o
WHERE o.id IN (
    SELECT unpaid.id FROM orders AS unpaid WHERE unpaid.customer_id = sqlc.arg(customer_id) AND unpaid.open_order = 1
    UNION ALL
    SELECT paid.id FROM orders AS paid WHERE paid.customer_id = sqlc.arg(customer_id) AND paid.state = 'provisioning')
ORDER BY CASE WHEN o.state = 'awaiting_payment' OR o.state = 'awaiting_verification' THEN 0 ELSE 1 END, o.id DESC
LIMIT sqlc.arg(max_rows);

-- name: CountUnfinishedOrders :one
SELECT CAST((SELECT count(*) FROM orders AS unpaid WHERE unpaid.customer_id = sqlc.arg(customer_id) AND unpaid.open_order = 1)
    + (SELECT count(*) FROM orders AS paid WHERE paid.customer_id = sqlc.arg(customer_id) AND paid.state = 'provisioning') AS BIGINT) AS orders;

-- Without those that a deletion has overtaken, which end with their next step.
-- name: ListOpenDomainChanges :many
SELECT domain_id, name, kind, wait_until, created_at FROM domain_changes
WHERE domain_changes.customer_id = $1 AND domain_changes.due_at > 0
    AND EXISTS (SELECT 1 FROM domains WHERE domains.id = domain_changes.domain_id AND domains.status IN ('active', 'expired'))
ORDER BY id
LIMIT $2;

-- name: CountOpenDomainChanges :one
SELECT count(*) FROM domain_changes
WHERE domain_changes.customer_id = $1 AND domain_changes.due_at > 0
    AND EXISTS (SELECT 1 FROM domains WHERE domains.id = domain_changes.domain_id AND domains.status IN ('active', 'expired'));

-- The domains that another registrar has requested.
-- name: ListLeavingDomains :many
SELECT domain_id, name, state, acts_at FROM outgoing_transfers
WHERE customer_id = $1 AND ended_at = 0
ORDER BY id
LIMIT $2;

-- Domains whose term is over or ends before paid_before. With deciding = 1, only those that
-- need a decision: their term is over, ends before decide_before with nothing chosen, or the
-- charge of their renewal failed or only comes with the next term; with 0, only the others. The columns of SearchDomains.
-- name: ListDomainsEndingSoon :many
SELECT domains.id, domains.customer_id, domains.name, domains.tld, domains.status, domains.paid_until, domains.at_term_end, domains.registry_status, domains.created_at, domains.updated_at,
    domains.folder, domains.note, domains.premium,
    coalesce(renewals.state, '') AS renewal_state, coalesce(renewals.gross, 0) AS renewal_gross, coalesce(renewals.charge_at, 0) AS renewal_charge_at,
    coalesce(renewals.attempts, 0) AS renewal_attempts, coalesce(term_ends.state, '') AS end_state, coalesce(term_ends.waits_for, '') AS end_waits_for,
    coalesce(term_ends.step_at, 0) AS end_step_at, coalesce(term_ends.held_at, 0) AS end_held_at, coalesce(term_ends.deleted_at, 0) AS end_deleted_at,
    EXISTS (SELECT 1 FROM domain_locks WHERE domain_locks.domain_id = domains.id AND domain_locks.lifted_at = 0 AND domain_locks.restrictions LIKE '%renewal%') AS renewal_locked,
    EXISTS (SELECT 1 FROM domain_locks WHERE domain_locks.domain_id = domains.id AND domain_locks.lifted_at = 0 AND domain_locks.restrictions LIKE '%transfer%') AS transfer_locked,
    domains.contact_hold, EXISTS (SELECT 1 FROM provision_items JOIN disputes ON disputes.order_id = substr(provision_items.payment, 7)
        WHERE provision_items.name = domains.name AND provision_items.domain_id = domains.id AND disputes.order_id <> '' AND disputes.lock_state IN ('active', 'kept', 'denying', 'denied')) AS disputed,
    EXISTS (SELECT 1 FROM outgoing_transfers WHERE outgoing_transfers.domain_id = domains.id AND outgoing_transfers.ended_at = 0) AS leaving
FROM domains
LEFT JOIN renewals ON renewals.domain_id = domains.id AND renewals.term_end = domains.paid_until
LEFT JOIN term_ends ON term_ends.domain_id = domains.id AND term_ends.term_end = domains.paid_until
WHERE domains.customer_id = sqlc.arg(customer_id) AND domains.paid_until > 0 AND domains.paid_until < sqlc.arg(paid_before) AND domains.status <> 'transferred_out'
    AND CASE WHEN domains.status <> 'active'
            OR domains.at_term_end = '' AND domains.paid_until < sqlc.arg(decide_before)
            OR domains.at_term_end = 'renew' AND (renewals.state IN ('failed', 'stopped') OR renewals.state = 'announced' AND renewals.attempts > 0) THEN 1 ELSE 0 END = CAST(sqlc.arg(deciding) AS BIGINT)
ORDER BY domains.paid_until
LIMIT sqlc.arg(max_rows);

-- Ends of terms in twelve months and after them. Ranges of an index are counted much faster
-- than rows are grouped.
-- name: CountTermEnds :one
SELECT
    (SELECT count(*) FROM domains AS d0 WHERE d0.customer_id = sqlc.arg(customer_id) AND d0.status <> 'transferred_out' AND d0.paid_until >= sqlc.arg(month_0) AND d0.paid_until < sqlc.arg(month_1)) AS count_0,
    (SELECT count(*) FROM domains AS d1 WHERE d1.customer_id = sqlc.arg(customer_id) AND d1.status <> 'transferred_out' AND d1.paid_until >= sqlc.arg(month_1) AND d1.paid_until < sqlc.arg(month_2)) AS count_1,
    (SELECT count(*) FROM domains AS d2 WHERE d2.customer_id = sqlc.arg(customer_id) AND d2.status <> 'transferred_out' AND d2.paid_until >= sqlc.arg(month_2) AND d2.paid_until < sqlc.arg(month_3)) AS count_2,
    (SELECT count(*) FROM domains AS d3 WHERE d3.customer_id = sqlc.arg(customer_id) AND d3.status <> 'transferred_out' AND d3.paid_until >= sqlc.arg(month_3) AND d3.paid_until < sqlc.arg(month_4)) AS count_3,
    (SELECT count(*) FROM domains AS d4 WHERE d4.customer_id = sqlc.arg(customer_id) AND d4.status <> 'transferred_out' AND d4.paid_until >= sqlc.arg(month_4) AND d4.paid_until < sqlc.arg(month_5)) AS count_4,
    (SELECT count(*) FROM domains AS d5 WHERE d5.customer_id = sqlc.arg(customer_id) AND d5.status <> 'transferred_out' AND d5.paid_until >= sqlc.arg(month_5) AND d5.paid_until < sqlc.arg(month_6)) AS count_5,
    (SELECT count(*) FROM domains AS d6 WHERE d6.customer_id = sqlc.arg(customer_id) AND d6.status <> 'transferred_out' AND d6.paid_until >= sqlc.arg(month_6) AND d6.paid_until < sqlc.arg(month_7)) AS count_6,
    (SELECT count(*) FROM domains AS d7 WHERE d7.customer_id = sqlc.arg(customer_id) AND d7.status <> 'transferred_out' AND d7.paid_until >= sqlc.arg(month_7) AND d7.paid_until < sqlc.arg(month_8)) AS count_7,
    (SELECT count(*) FROM domains AS d8 WHERE d8.customer_id = sqlc.arg(customer_id) AND d8.status <> 'transferred_out' AND d8.paid_until >= sqlc.arg(month_8) AND d8.paid_until < sqlc.arg(month_9)) AS count_8,
    (SELECT count(*) FROM domains AS d9 WHERE d9.customer_id = sqlc.arg(customer_id) AND d9.status <> 'transferred_out' AND d9.paid_until >= sqlc.arg(month_9) AND d9.paid_until < sqlc.arg(month_10)) AS count_9,
    (SELECT count(*) FROM domains AS d10 WHERE d10.customer_id = sqlc.arg(customer_id) AND d10.status <> 'transferred_out' AND d10.paid_until >= sqlc.arg(month_10) AND d10.paid_until < sqlc.arg(month_11)) AS count_10,
    (SELECT count(*) FROM domains AS d11 WHERE d11.customer_id = sqlc.arg(customer_id) AND d11.status <> 'transferred_out' AND d11.paid_until >= sqlc.arg(month_11) AND d11.paid_until < sqlc.arg(month_12)) AS count_11,
    (SELECT count(*) FROM domains AS later WHERE later.customer_id = sqlc.arg(customer_id) AND later.status <> 'transferred_out' AND later.paid_until >= sqlc.arg(month_12)) AS count_later;

-- All domains of ListDomainsEndingSoon, and those that need a decision.
-- name: CountDomainsEndingSoon :one
SELECT count(*) AS ending,
    CAST(coalesce(sum(CASE WHEN domains.status <> 'active'
            OR domains.at_term_end = '' AND domains.paid_until < sqlc.arg(decide_before)
            OR domains.at_term_end = 'renew' AND (renewals.state IN ('failed', 'stopped') OR renewals.state = 'announced' AND renewals.attempts > 0) THEN 1 ELSE 0 END), 0) AS BIGINT) AS deciding
FROM domains
LEFT JOIN renewals ON renewals.domain_id = domains.id AND renewals.term_end = domains.paid_until
WHERE domains.customer_id = sqlc.arg(customer_id) AND domains.paid_until > 0 AND domains.paid_until < sqlc.arg(paid_before) AND domains.status <> 'transferred_out';

-- Refunds count on the day of the payment, except those that the bank returned: the last repetition of one,
-- or itself, has a task until an operator pays it another way. Days are those since 1970.
-- name: SumSpendingByDay :many
SELECT CAST(o.paid_at / 86400000000 AS BIGINT) AS day,
    CAST(sum(o.gross - coalesce((SELECT sum(CASE WHEN refunds.replaces = '' THEN refunds.amount ELSE -refunds.amount END) FROM refunds
            WHERE refunds.order_id = o.id AND refunds.item_id <> '' AND (refunds.source = '' OR refunds.parts <> '')
                AND (refunds.replaces = '' AND (refunds.provider <> '' OR refunds.failure = '') AND refunds.task <> 'returned'
                    OR refunds.replaces <> '' AND refunds.task IN ('returned', 'refused'))), 0)
        - coalesce((SELECT sum(disputes.withdrawn) FROM disputes WHERE disputes.order_id = o.id AND disputes.order_id <> '' AND disputes.status = 'lost'), 0)) AS BIGINT) AS spent
FROM orders AS o
WHERE o.customer_id = sqlc.arg(customer_id) AND o.paid_at > 0 AND o.paid_at >= sqlc.arg(since)
GROUP BY o.paid_at / 86400000000
ORDER BY 1;
