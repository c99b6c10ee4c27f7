-- The domain that a consent is about, with the saved payment method. A renewal of this
-- term that is being charged blocks every change.
-- name: GetRenewalDomain :one
SELECT domains.id, domains.name, domains.tld, domains.status, domains.paid_until, domains.at_term_end, domains.premium,
    coalesce(payment_methods.label, '') AS method
FROM domains
LEFT JOIN payment_methods ON payment_methods.customer_id = domains.customer_id AND payment_methods.method <> ''
WHERE domains.id = sqlc.arg(id) AND domains.customer_id = sqlc.arg(customer_id) AND domains.status <> 'transferred_out';

-- name: ChooseRenewal :execrows
UPDATE domains SET at_term_end = 'renew', updated_at = sqlc.arg(updated_at)
WHERE id = sqlc.arg(id) AND customer_id = sqlc.arg(customer_id) AND status = 'active' AND paid_until = sqlc.arg(paid_until) AND at_term_end <> 'renew';

-- The row is locked even if the choice stays the same: a charge locks it, too.
-- name: ChooseTermEnd :execresult
UPDATE domains SET at_term_end = sqlc.arg(choice), updated_at = sqlc.arg(updated_at)
WHERE id = sqlc.arg(id) AND customer_id = sqlc.arg(customer_id) AND at_term_end = sqlc.arg(was) AND status <> 'transferred_out';

-- The same for a domain that an operator has seen in a termination's preview.
-- name: LetSeenDomainExpire :execresult
UPDATE domains SET at_term_end = 'expire', updated_at = sqlc.arg(updated_at)
WHERE id = sqlc.arg(id) AND customer_id = sqlc.arg(customer_id) AND at_term_end = sqlc.arg(was) AND paid_until = sqlc.arg(paid_until) AND status = sqlc.arg(status);

-- name: InsertRenewalConsent :execresult
INSERT INTO renewal_consents (id, domain_id, customer_id, name, wording, years, gross, charge_at, method, through, address, given_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
ON CONFLICT (domain_id) WHERE ended_at = 0 DO NOTHING;

-- The newest first.
-- name: ListRenewalConsents :many
SELECT * FROM renewal_consents
WHERE customer_id = sqlc.arg(customer_id)
ORDER BY id DESC
LIMIT sqlc.arg(max_rows);

-- name: EndRenewalConsent :exec
UPDATE renewal_consents SET ended_at = sqlc.arg(ended_at), end_reason = sqlc.arg(end_reason)
WHERE domain_id = sqlc.arg(domain_id) AND ended_at = 0;

-- The next three end the automatic renewal of all of a customer's domains.
-- name: ClearRenewalChoices :exec
UPDATE domains SET at_term_end = '', updated_at = sqlc.arg(updated_at) WHERE customer_id = sqlc.arg(customer_id) AND at_term_end = 'renew';

-- name: EndRenewalConsentsOfCustomer :exec
UPDATE renewal_consents SET ended_at = sqlc.arg(ended_at), end_reason = sqlc.arg(end_reason)
WHERE customer_id = sqlc.arg(customer_id) AND ended_at = 0;

-- name: StopAnnouncedRenewalsOfCustomer :exec
UPDATE renewals SET state = 'stopped', charge_at = 0, updated_at = sqlc.arg(updated_at)
WHERE customer_id = sqlc.arg(customer_id) AND charge_at > 0 AND state = 'announced';

-- name: HasPaymentMethod :one
SELECT count(*) FROM payment_methods WHERE customer_id = $1 AND method <> '';

-- A consent given within 45 days of the end of a term announces the charge itself. A
-- renewal of the same term that was stopped or has failed starts again.
-- The order of an earlier attempt is kept: the next one expires it.
-- name: AnnounceConsentedRenewal :exec
INSERT INTO renewals (domain_id, term_end, customer_id, name, tld, state, years, gross, announced_at, charge_at, updated_at)
VALUES (sqlc.arg(domain_id), sqlc.arg(term_end), sqlc.arg(customer_id), sqlc.arg(name), sqlc.arg(tld), sqlc.arg(state), sqlc.arg(years),
    sqlc.arg(gross), sqlc.arg(announced_at), sqlc.arg(charge_at), sqlc.arg(announced_at))
ON CONFLICT (domain_id, term_end) DO UPDATE
SET state = excluded.state, years = excluded.years, gross = excluded.gross, announced_at = excluded.announced_at, charge_at = excluded.charge_at,
    attempts = 0, failure = '', updated_at = excluded.updated_at
WHERE renewals.state IN ('stopped', 'failed');

-- name: StopAnnouncedRenewals :exec
UPDATE renewals SET state = 'stopped', charge_at = 0, updated_at = sqlc.arg(updated_at)
WHERE domain_id = sqlc.arg(domain_id) AND state = 'announced';


-- name: CountUnpaidRenewalsInFlight :one
SELECT count(*) FROM renewals WHERE customer_id = $1 AND charge_at > 0 AND state = 'charging';

-- Domains that renew automatically, for example to say which renewals end with a payment
-- method.
-- name: ListRenewingDomains :many
SELECT name FROM domains WHERE customer_id = $1 AND at_term_end = 'renew' ORDER BY name LIMIT $2;

-- What a paid item's order says about automatic renewal, with the domain as it is now.
-- name: GetOrderedConsent :one
SELECT orders.customer_id, orders.renewal_wording, orders.renewal_at, orders.renewal_session, orders.renewal_address,
    orders.vat_rate, order_items.renewal_years, order_items.renewal_gross,
    domains.name, domains.tld, domains.paid_until, payment_methods.label AS method
FROM order_items
JOIN orders ON orders.id = order_items.order_id
JOIN domains ON domains.id = sqlc.arg(domain_id) AND domains.customer_id = orders.customer_id
JOIN payment_methods ON payment_methods.customer_id = orders.customer_id AND payment_methods.method <> ''
WHERE order_items.provision_item_id = sqlc.arg(provision_item_id) AND order_items.renewal_gross > 0 AND orders.renewal_wording <> ''
    AND domains.at_term_end <> 'renew';

-- Notices about a domain, about orders that paid for it (a payment is order: and the order's id), and
-- about the address of its holder, the newest first.
-- name: ListDomainNotices :many
SELECT kind, subject, body, recipient, sent_at, accepted FROM sent_notices
WHERE sent_notices.customer_id = sqlc.arg(customer_id) AND sent_notices.domain_id IN (
    SELECT held.id FROM domains AS held WHERE held.id = sqlc.arg(domain_id)
    UNION ALL
    SELECT substr(provision_items.payment, 7) FROM domains AS paid
        JOIN provision_items ON provision_items.name = paid.name
        WHERE paid.id = sqlc.arg(domain_id) AND provision_items.domain_id = paid.id
    UNION ALL
    SELECT asked.contact_check FROM domains AS asked WHERE asked.id = sqlc.arg(domain_id) AND asked.contact_check <> '')
ORDER BY sent_at DESC, id DESC
LIMIT sqlc.arg(max_rows);
