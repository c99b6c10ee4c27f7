-- name: InsertRefund :exec
INSERT INTO refunds (id, order_id, payment_id, item_id, amount, provider, created_at, made_at,
    source, reason, note, decided_by, notice_id, parts, replaces, task, failure, failed_at)
VALUES (sqlc.arg(id), sqlc.arg(order_id), sqlc.arg(payment_id), sqlc.arg(item_id), sqlc.arg(amount), sqlc.arg(provider), sqlc.arg(created_at), sqlc.arg(made_at),
    sqlc.arg(source), sqlc.arg(reason), sqlc.arg(note), sqlc.arg(decided_by), sqlc.arg(notice_id), sqlc.arg(parts), sqlc.arg(replaces), sqlc.arg(task), sqlc.arg(failure), sqlc.arg(failed_at));

-- name: UpdateRefund :execresult
UPDATE refunds SET provider = sqlc.arg(provider), made_at = sqlc.arg(made_at), note = sqlc.arg(note), parts = sqlc.arg(parts), task = sqlc.arg(task),
    failure = sqlc.arg(failure), failed_at = sqlc.arg(failed_at),
    settled_at = sqlc.arg(settled_at), settled_by = sqlc.arg(settled_by), settlement = sqlc.arg(settlement)
WHERE id = sqlc.arg(id) AND order_id = sqlc.arg(order_id);

-- name: CountOpenNotice :one
SELECT count(*) FROM withdrawal_notices WHERE id = $1 AND done_at = 0;

-- The domains that an order registered and that can be deleted: the customer still holds them
-- with the term of the registration.
-- name: ListRegisteredDomains :many
SELECT ordered.id AS item_id, domains.id AS domain_id, domains.created_at
FROM order_items AS ordered
JOIN provision_items AS registered ON registered.id = ordered.provision_item_id
JOIN domains ON domains.id = registered.domain_id
WHERE ordered.order_id = $1 AND ordered.kind = 'register' AND ordered.state = 'active'
    AND domains.status = 'active'
    AND NOT (SELECT count(*) > 0 FROM provision_items AS later
        WHERE later.name = domains.name AND later.domain_id = domains.id AND later.id <> registered.id AND later.state <> 'failed')
    AND NOT (SELECT count(*) > 0 FROM order_items AS renewal JOIN orders ON orders.id = renewal.order_id
        WHERE renewal.name = domains.name AND renewal.domain_id = domains.id AND orders.state = 'paying')
    AND NOT (SELECT count(*) > 0 FROM domain_locks WHERE domain_locks.domain_id = domains.id AND domain_locks.lifted_at = 0)
    AND NOT (SELECT count(*) > 0 FROM term_ends WHERE term_ends.domain_id = domains.id AND term_ends.ended_at = 0)
ORDER BY ordered.position;

-- The intent to delete a domain whose registration was refunded.
-- name: InsertRefundedTermEnd :execrows
INSERT INTO term_ends (domain_id, term_end, customer_id, name, tld, account, state, step_at, due_at, updated_at, cause)
SELECT domains.id, domains.paid_until, domains.customer_id, domains.name, domains.tld, domains.account, 'deleting',
    sqlc.arg(step_at), sqlc.arg(due_at), sqlc.arg(updated_at), 'refund'
FROM domains
WHERE domains.id = sqlc.arg(domain_id) AND domains.status = 'active'
ON CONFLICT DO NOTHING;

-- Those of some orders whose payment was refunded in full, by the refunds that order.Refund.Made reports.
-- Compared alone, the state would make SQLite read all captured payments.
-- name: ListRefundedOrders :many
SELECT captured.order_id
FROM payments AS captured
WHERE captured.order_id IN (SELECT value FROM json_array_elements_text(CAST(sqlc.arg(order_ids) AS TEXT)::json))
    AND CASE captured.state WHEN 'captured' THEN captured.amount ELSE 0 END > 0
    AND captured.amount <= coalesce((SELECT sum(made.amount) FROM refunds AS made
        WHERE made.order_id = captured.order_id AND made.payment_id = captured.id AND made.provider <> '' AND made.failure = ''), 0);
