-- name: PutJobError :exec
INSERT INTO job_errors (job, code, at)
VALUES ($1, $2, $3)
ON CONFLICT (job) DO UPDATE SET code = excluded.code, at = excluded.at;

-- name: GetJobError :one
SELECT * FROM job_errors WHERE job = $1;

-- name: DeleteJobError :exec
DELETE FROM job_errors WHERE job = $1;

-- name: DeleteOldJobErrors :exec
DELETE FROM job_errors
WHERE job IN (SELECT old.job FROM job_errors AS old WHERE old.at < $1 ORDER BY old.at LIMIT $2);

-- All lists have the same columns.
-- name: ListRetryingProvisionItems :many
SELECT id, kind AS what, state, name, due_at, node, attempts, created_at AS since FROM provision_items
WHERE due_at > 0 AND attempts > 0
ORDER BY attempts DESC, id DESC
LIMIT $1;

-- name: ListNextProvisionItems :many
SELECT id, kind AS what, state, name, due_at, node, attempts, created_at AS since FROM provision_items
WHERE due_at > 0
ORDER BY due_at
LIMIT $1;

-- name: ListRetryingOrders :many
SELECT orders.id, orders.channel AS what, orders.state,
    CAST(coalesce((SELECT first.name FROM order_items AS first WHERE first.order_id = orders.id ORDER BY first.position LIMIT 1), '') AS TEXT) AS name,
    orders.due_at, orders.node, orders.attempts, orders.created_at AS since
FROM orders
WHERE due_at > 0 AND attempts > 0
ORDER BY attempts DESC, id DESC
LIMIT $1;

-- name: ListNextOrders :many
SELECT orders.id, orders.channel AS what, orders.state,
    CAST(coalesce((SELECT first.name FROM order_items AS first WHERE first.order_id = orders.id ORDER BY first.position LIMIT 1), '') AS TEXT) AS name,
    orders.due_at, orders.node, orders.attempts, orders.created_at AS since
FROM orders
WHERE due_at > 0
ORDER BY due_at
LIMIT $1;

-- name: ListRetryingDomainChanges :many
SELECT id, kind AS what, state, name, due_at, node, attempts, created_at AS since FROM domain_changes
WHERE due_at > 0 AND attempts > 0
ORDER BY attempts DESC, id DESC
LIMIT $1;

-- name: ListNextDomainChanges :many
SELECT id, kind AS what, state, name, due_at, node, attempts, created_at AS since FROM domain_changes
WHERE due_at > 0
ORDER BY due_at
LIMIT $1;

-- name: ListRetryingMails :many
SELECT id, kind AS what, '' AS state, '' AS name, due_at, '' AS node, attempts, created_at AS since FROM mails
WHERE attempts > 0
ORDER BY attempts DESC, id DESC
LIMIT $1;

-- name: ListNextMails :many
SELECT id, kind AS what, '' AS state, '' AS name, due_at, '' AS node, attempts, created_at AS since FROM mails
ORDER BY due_at
LIMIT $1;

-- name: ListRetryingWebhookDeliveries :many
SELECT webhook_deliveries.order_id AS id, '' AS what, '' AS state,
    CAST(coalesce((SELECT first.name FROM order_items AS first WHERE first.order_id = webhook_deliveries.order_id ORDER BY first.position LIMIT 1), '') AS TEXT) AS name,
    webhook_deliveries.due_at, '' AS node, webhook_deliveries.attempts, webhook_deliveries.pending_since AS since
FROM webhook_deliveries
WHERE due_at > 0 AND attempts > 0
ORDER BY attempts DESC, order_id DESC
LIMIT $1;

-- name: ListNextWebhookDeliveries :many
SELECT webhook_deliveries.order_id AS id, '' AS what, '' AS state,
    CAST(coalesce((SELECT first.name FROM order_items AS first WHERE first.order_id = webhook_deliveries.order_id ORDER BY first.position LIMIT 1), '') AS TEXT) AS name,
    webhook_deliveries.due_at, '' AS node, webhook_deliveries.attempts, webhook_deliveries.pending_since AS since
FROM webhook_deliveries
WHERE due_at > 0
ORDER BY due_at
LIMIT $1;

-- Items that failed with a code and wait for their next attempt. One that the registry has accepted
-- is pending. The errors lead to the items; those of other jobs have other prefixes, and only the range
-- keeps them from being read.
-- name: ListFailedItems :many
SELECT p.id, p.account, CAST(coalesce(o.order_id, '') AS TEXT) AS order_id, CAST(coalesce(o.gross, 0) AS BIGINT) AS gross
FROM job_errors AS e JOIN provision_items AS p ON p.id = substr(e.job, 6) AND e.job = 'item:' || p.id
LEFT JOIN order_items AS o ON o.provision_item_id = p.id AND o.provision_item_id <> ''
WHERE e.code = sqlc.arg(code) AND e.job > 'item:' AND e.job < 'item:~' AND p.attempts > 0 AND p.due_at > sqlc.arg(now) AND p.node = '' AND p.state <> 'pending'
ORDER BY e.job DESC
LIMIT sqlc.arg(max_rows);

-- A leased job keeps its lease.
-- name: RetryProvisionItem :execresult
UPDATE provision_items SET due_at = sqlc.arg(now) WHERE id = sqlc.arg(id) AND due_at > sqlc.arg(now) AND node = '';

-- name: RetryOrder :execresult
UPDATE orders SET due_at = sqlc.arg(now), version = version + 1
WHERE id = sqlc.arg(id) AND due_at > sqlc.arg(now) AND node = '';

-- name: RetryDomainChange :execresult
UPDATE domain_changes SET due_at = sqlc.arg(now) WHERE id = sqlc.arg(id) AND due_at > sqlc.arg(now) AND node = '';

-- The row doesn't distinguish a lease from a backoff delay, so anything that could be a
-- lease is left alone: it ends soon. The same holds for RetryWebhookDelivery.
-- name: RetryMail :execresult
UPDATE mails SET due_at = sqlc.arg(now) WHERE id = sqlc.arg(id) AND due_at > sqlc.arg(longest_lease);

-- name: RetryWebhookDelivery :execresult
UPDATE webhook_deliveries SET due_at = sqlc.arg(now) WHERE order_id = sqlc.arg(id) AND due_at > sqlc.arg(longest_lease);

-- Rows that are due by the business time or by the real one, and rows that a node is
-- working on. A sandbox waits for them when its clock was moved.
-- name: CountDueWork :one
SELECT CAST(
    (SELECT count(*) FROM mails WHERE mails.due_at <= sqlc.arg(clock) OR mails.node <> '')
    + (SELECT count(*) FROM orders WHERE orders.due_at > 0 AND (orders.due_at <= sqlc.arg(clock) OR orders.node <> ''))
    + (SELECT count(*) FROM provision_items WHERE provision_items.due_at > 0 AND (provision_items.due_at <= sqlc.arg(clock) OR provision_items.node <> ''))
    + (SELECT count(*) FROM domain_changes WHERE domain_changes.due_at > 0 AND (domain_changes.due_at <= sqlc.arg(clock) OR domain_changes.node <> ''
        OR domain_changes.wait_until > 0 AND domain_changes.wait_until <= sqlc.arg(now)))
    + (SELECT count(*) FROM outgoing_transfers WHERE outgoing_transfers.due_at > 0 AND (outgoing_transfers.due_at <= sqlc.arg(clock) OR outgoing_transfers.node <> ''))
    + (SELECT count(*) FROM pending_invoices)
    + (SELECT count(*) FROM brakes WHERE brakes.last_run_at < sqlc.arg(last_run) AND brakes.reason <> 'clock')
    + (SELECT count(*) FROM renewals WHERE renewals.charge_at > 0 AND renewals.charge_at <= sqlc.arg(now))
    + (SELECT count(*) FROM term_ends WHERE term_ends.step_at > 0 AND term_ends.step_at <= sqlc.arg(now) AND term_ends.waits_for = ''
        AND (term_ends.due_at <= sqlc.arg(clock) OR term_ends.node <> ''))
    + (SELECT count(*) FROM contact_checks WHERE contact_checks.step_at > 0 AND contact_checks.step_at <= sqlc.arg(now) AND contact_checks.waits_for = '')
    + (SELECT count(*) FROM domains AS unchecked WHERE unchecked.contact_check = 'new' OR unchecked.contact_check = 'guest' AND unchecked.registrant_since <= sqlc.arg(guests_since))
    + (SELECT count(*) FROM domain_locks WHERE domain_locks.hold_step_at > 0 AND domain_locks.hold_step_at <= sqlc.arg(now))
    + (SELECT count(*) FROM domains AS confirmed WHERE confirmed.contact_hold <> '' AND confirmed.contact_check = '' AND confirmed.status = 'active')
    + (SELECT count(*) FROM domains WHERE domains.status = 'active' AND domains.paid_until <> 0
        AND (domains.expiry_notice = 0 AND domains.paid_until <= sqlc.arg(month)
            OR domains.expiry_notice = 1 AND domains.paid_until <= sqlc.arg(week)
            OR domains.expiry_notice = 2 AND domains.paid_until <= sqlc.arg(now))
        AND NOT (SELECT count(*) > 0 FROM provision_items AS open_items WHERE open_items.name = domains.name AND open_items.due_at > 0))
AS BIGINT) AS due;

-- Jobs that were tried and failed, and refunds that have been due since $1 or wait for an operator; each count stops at
-- 100. A job that only waits, such as a pending transfer, has no error.
-- name: CountFailedJobs :one
SELECT
    (SELECT count(*) FROM (SELECT id AS id FROM orders WHERE due_at > 0 AND attempts > 0 ORDER BY attempts DESC, id DESC LIMIT 100) AS tried_orders
        WHERE EXISTS (SELECT 1 FROM job_errors AS e WHERE e.job = 'order:' || tried_orders.id)) AS orders,
    (SELECT count(*) FROM (SELECT id AS id FROM provision_items WHERE due_at > 0 AND attempts > 0 ORDER BY attempts DESC, id DESC LIMIT 100) AS tried_items
        WHERE EXISTS (SELECT 1 FROM job_errors AS e WHERE e.job = 'item:' || tried_items.id)) AS items,
    (SELECT count(*) FROM (SELECT id AS id FROM domain_changes WHERE due_at > 0 AND attempts > 0 ORDER BY attempts DESC, id DESC LIMIT 100) AS tried_changes
        WHERE EXISTS (SELECT 1 FROM job_errors AS e WHERE e.job = 'change:' || tried_changes.id)) AS changes,
    (SELECT count(*) FROM (SELECT id AS id FROM mails WHERE attempts > 0 ORDER BY attempts DESC, id DESC LIMIT 100) AS tried_mails
        WHERE EXISTS (SELECT 1 FROM job_errors AS e WHERE e.job = 'mail:' || tried_mails.id)) AS mails,
    (SELECT count(*) FROM (SELECT order_id AS id FROM webhook_deliveries WHERE due_at > 0 AND attempts > 0 ORDER BY attempts DESC, order_id DESC LIMIT 100) AS tried_webhooks
        WHERE EXISTS (SELECT 1 FROM job_errors AS e WHERE e.job = 'webhook:' || tried_webhooks.id)) AS webhooks,
    (SELECT count(*) FROM (SELECT refunds.id FROM refunds WHERE refunds.provider = '' AND refunds.failure = '' AND refunds.created_at <= $1 ORDER BY refunds.created_at LIMIT 100) AS overdue) AS refunds,
    (SELECT count(*) FROM (SELECT refunds.id FROM refunds WHERE refunds.task <> '' ORDER BY refunds.id LIMIT 100) AS undecided) AS undecided_refunds;
