-- Customers with a domain whose next charge is to be announced: automatic renewal is on,
-- its term ends within these bounds, and this term has neither a row yet nor a paid renewal
-- that waits for its registry. The subqueries count,
-- because PostgreSQL would run a NOT EXISTS as a parallel join of both tables.
-- name: ListCustomersToAnnounce :many
SELECT DISTINCT domains.customer_id FROM domains
WHERE domains.status = 'active' AND domains.at_term_end = 'renew'
    AND domains.paid_until >= sqlc.arg(earliest) AND domains.paid_until <= sqlc.arg(latest)
    AND (SELECT count(*) > 0 FROM renewal_consents
        WHERE renewal_consents.domain_id = domains.id AND renewal_consents.customer_id = domains.customer_id AND renewal_consents.ended_at = 0)
    AND NOT (SELECT count(*) > 0 FROM renewals WHERE renewals.domain_id = domains.id AND renewals.term_end = domains.paid_until)
    AND NOT (SELECT count(*) > 0 FROM provision_items WHERE provision_items.name = domains.name AND provision_items.due_at > 0)
ORDER BY domains.customer_id
LIMIT sqlc.arg(max_rows);

-- The domains of such a customer, each with its consent and the last announcement that
-- led to a renewal.
-- name: ListDomainsToAnnounce :many
SELECT domains.id, domains.name, domains.tld, domains.paid_until, domains.premium,
    renewal_consents.years AS consent_years, renewal_consents.gross AS consent_gross, renewal_consents.given_at,
    CAST(coalesce((SELECT past.gross FROM renewals AS past
        WHERE past.domain_id = domains.id AND past.state = 'renewed' ORDER BY past.term_end DESC LIMIT 1), 0) AS BIGINT) AS last_gross,
    CAST(coalesce((SELECT past.announced_at FROM renewals AS past
        WHERE past.domain_id = domains.id AND past.state = 'renewed' ORDER BY past.term_end DESC LIMIT 1), 0) AS BIGINT) AS last_announced_at
FROM domains
JOIN renewal_consents ON renewal_consents.domain_id = domains.id
    AND renewal_consents.customer_id = domains.customer_id AND renewal_consents.ended_at = 0
WHERE domains.customer_id = sqlc.arg(customer_id) AND domains.status = 'active' AND domains.at_term_end = 'renew'
    AND domains.paid_until >= sqlc.arg(earliest) AND domains.paid_until <= sqlc.arg(latest)
    AND NOT (SELECT count(*) > 0 FROM renewals WHERE renewals.domain_id = domains.id AND renewals.term_end = domains.paid_until)
    AND NOT (SELECT count(*) > 0 FROM provision_items WHERE provision_items.name = domains.name AND provision_items.due_at > 0)
ORDER BY domains.paid_until, domains.name
LIMIT sqlc.arg(max_rows);

-- name: InsertRenewal :execresult
INSERT INTO renewals (domain_id, term_end, customer_id, name, tld, state, years, gross, announced_at, charge_at, failure, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
ON CONFLICT (domain_id, term_end) DO NOTHING;

-- The customers of due renewals, the longest overdue first. A customer is listed for each
-- renewal: grouping them would read all that are due, for every batch of a night.
-- name: ListCustomersOfDueRenewals :many
SELECT customer_id, charge_at FROM renewals
WHERE charge_at > 0 AND charge_at <= sqlc.arg(now)
ORDER BY charge_at
LIMIT sqlc.arg(max_rows);

-- The due renewals of a customer, each with what prevents its charge: the consent or the
-- term has ended (stopped), or the domain has another paid or paying order (busy).
-- name: ListDueRenewals :many
SELECT sqlc.embed(renewals), CAST(CASE
    WHEN NOT (SELECT count(*) > 0 FROM domains
        WHERE domains.id = renewals.domain_id AND domains.customer_id = renewals.customer_id AND domains.status = 'active'
            AND domains.at_term_end = 'renew' AND domains.paid_until = renewals.term_end) THEN 'stopped'
    WHEN NOT (SELECT count(*) > 0 FROM renewal_consents
        WHERE renewal_consents.domain_id = renewals.domain_id AND renewal_consents.customer_id = renewals.customer_id
            AND renewal_consents.ended_at = 0) THEN 'stopped'
    WHEN (SELECT count(*) > 0 FROM order_items JOIN orders ON orders.id = order_items.order_id
        WHERE order_items.name = renewals.name AND order_items.domain_id = renewals.domain_id
            AND orders.state IN ('paying', 'provisioning')) THEN 'busy'
    WHEN (SELECT count(*) > 0 FROM provision_items
        WHERE provision_items.name = renewals.name AND provision_items.due_at > 0) THEN 'busy'
    ELSE '' END AS TEXT) AS obstacle
FROM renewals
WHERE renewals.customer_id = sqlc.arg(customer_id) AND renewals.charge_at > 0 AND renewals.charge_at <= sqlc.arg(due_by)
ORDER BY renewals.charge_at, renewals.domain_id
LIMIT sqlc.arg(max_rows);

-- Locks the domains whose renewal is due until the end of the transaction, so that a
-- consent can't be withdrawn while its charge begins.
-- name: LockDueRenewalDomains :exec
UPDATE domains SET updated_at = updated_at
WHERE domains.customer_id = sqlc.arg(customer_id) AND domains.id IN (
    SELECT renewals.domain_id FROM renewals
    WHERE renewals.customer_id = sqlc.arg(customer_id) AND renewals.charge_at > 0 AND renewals.charge_at <= sqlc.arg(due_by)
        AND renewals.state = 'announced');

-- Moves the renewals of an order's items from announced to charging.
-- name: StartRenewals :execrows
UPDATE renewals SET state = 'charging', order_id = sqlc.arg(order_id), charge_at = sqlc.arg(charge_at), updated_at = sqlc.arg(now)
WHERE renewals.customer_id = sqlc.arg(customer_id) AND renewals.charge_at > 0 AND renewals.charge_at <= sqlc.arg(due_by)
    AND renewals.state = 'announced'
    AND renewals.term_end = (SELECT domains.paid_until FROM domains WHERE domains.id = renewals.domain_id)
    AND renewals.domain_id IN (SELECT order_items.domain_id FROM order_items WHERE order_items.order_id = sqlc.arg(order_id));

-- name: UpdateRenewal :execresult
UPDATE renewals
SET state = sqlc.arg(state), charge_at = sqlc.arg(charge_at), attempts = sqlc.arg(attempts), failure = sqlc.arg(failure), updated_at = sqlc.arg(updated_at)
WHERE domain_id = sqlc.arg(domain_id) AND term_end = sqlc.arg(term_end)
    AND state = sqlc.arg(was_state) AND order_id = sqlc.arg(was_order) AND charge_at = sqlc.arg(was_charge_at);

-- The order is paid: its items decide.
-- name: SetRenewalsPaid :exec
UPDATE renewals SET state = 'charging', charge_at = 0, failure = '', updated_at = sqlc.arg(now)
WHERE order_id = sqlc.arg(order_id) AND order_id <> '' AND state IN ('announced', 'charging');

-- A term was extended, by the renewal's own order or by another one.
-- name: EndRenewalsOfTerm :exec
UPDATE renewals
SET state = CASE WHEN order_id = sqlc.arg(order_id) AND order_id <> '' THEN 'renewed' ELSE 'stopped' END, charge_at = 0, updated_at = sqlc.arg(now)
WHERE domain_id = sqlc.arg(domain_id) AND term_end = sqlc.arg(term_end) AND state IN ('announced', 'charging');

-- The registry refused a paid renewal.
-- name: FailPaidRenewal :exec
UPDATE renewals SET state = 'failed', failure = sqlc.arg(failure), charge_at = 0, updated_at = sqlc.arg(now)
WHERE domain_id = sqlc.arg(domain_id) AND order_id = sqlc.arg(order_id) AND order_id <> '' AND state = 'charging';

-- What an order's payment would collide with: charging is an automatic renewal that another
-- order pays for, renewed one of this order whose term was extended since. Paid is an item
-- whose term was extended since, elsewhere one whose domain another order extends right now.
-- name: CountRenewalCollisions :one
SELECT
    CAST((SELECT count(*) FROM order_items JOIN renewals ON renewals.domain_id = order_items.domain_id
        WHERE order_items.order_id = sqlc.arg(order_id) AND order_items.domain_id <> '' AND renewals.state = 'charging'
            AND renewals.order_id <> sqlc.arg(order_id)) AS BIGINT) AS charging,
    CAST((SELECT count(*) FROM renewals JOIN domains ON domains.id = renewals.domain_id
        WHERE renewals.order_id = sqlc.arg(order_id) AND renewals.order_id <> ''
            AND domains.paid_until <> renewals.term_end) AS BIGINT) AS renewed,
    CAST((SELECT count(*) FROM order_items JOIN term_ends ON term_ends.domain_id = order_items.domain_id
        WHERE order_items.order_id = sqlc.arg(order_id) AND order_items.domain_id <> '' AND term_ends.state = 'deleting') AS BIGINT) AS deleting,
    CAST((SELECT count(*) FROM order_items JOIN domains ON domains.id = order_items.domain_id
        WHERE order_items.order_id = sqlc.arg(order_id) AND order_items.term_end > 0
            AND domains.paid_until <> order_items.term_end) AS BIGINT) AS paid,
    CAST((SELECT count(*) FROM order_items
        JOIN order_items AS others ON others.name = order_items.name AND others.domain_id = order_items.domain_id
        JOIN orders ON orders.id = others.order_id
        WHERE order_items.order_id = sqlc.arg(order_id) AND order_items.domain_id <> '' AND others.order_id <> sqlc.arg(order_id)
            AND others.state IN ('waiting', 'provisioning') AND orders.state IN ('paying', 'provisioning')) AS BIGINT) AS elsewhere;

-- name: CountChargingRenewals :one
SELECT count(*) FROM renewals WHERE domain_id = $1 AND state = 'charging';

-- name: ListRenewalsAfter :many
SELECT * FROM renewals
WHERE domain_id >= sqlc.arg(domain_id) AND (domain_id > sqlc.arg(domain_id) OR term_end > sqlc.arg(term_end))
ORDER BY domain_id, term_end
LIMIT sqlc.arg(max_rows);

-- This query stops at 1000, as CountDueOrders.
-- name: CountDueRenewals :one
SELECT count(*) AS waiting, CAST(coalesce(min(r.charge_at), 0) AS BIGINT) AS oldest FROM (
    SELECT charge_at FROM renewals WHERE charge_at > 0 AND charge_at <= $1 ORDER BY charge_at LIMIT 1000
) AS r;

-- Locks a domain whose charge is announced, so that its consent can't be withdrawn before.
-- name: LockDomainToAnnounce :execresult
UPDATE domains SET updated_at = updated_at
WHERE id = sqlc.arg(id) AND customer_id = sqlc.arg(customer_id) AND status = 'active' AND at_term_end = 'renew' AND paid_until = sqlc.arg(term_end);

-- name: ListRenewalsOfOrder :many
SELECT * FROM renewals WHERE order_id = $1 AND order_id <> '' ORDER BY name, term_end;
