-- Domains whose check is not opened yet, by id. A guest has been asked by the claim mail, so that
-- those of the last day wait; there are never many of them.
-- name: ListUncheckedDomains :many
SELECT domains.id, domains.customer_id, domains.name, domains.tld, domains.registrant, domains.registrant_since, domains.contact_hold, customers.email FROM domains
JOIN customers ON customers.id = domains.customer_id
WHERE domains.contact_check IN ('new', 'guest') AND domains.contact_check <> '' AND domains.id > sqlc.arg(after_id)
    AND (domains.contact_check = 'new' OR domains.registrant_since <= sqlc.arg(guests_since))
ORDER BY domains.id
LIMIT sqlc.arg(max_rows);

-- name: SetContactCheck :execresult
UPDATE domains SET contact_check = sqlc.arg(contact_check)
WHERE id = sqlc.arg(id) AND customer_id = sqlc.arg(customer_id) AND contact_check IN ('new', 'guest') AND registrant = sqlc.arg(registrant);

-- Whether the address of an account is confirmed, and not only that of a guest.
-- name: IsConfirmedAddress :one
SELECT EXISTS (
    SELECT 1 FROM customers
    WHERE customers.id = sqlc.arg(customer_id) AND customers.email_key = sqlc.arg(email_key) AND customers.confirmed_at <> 0 AND customers.guest = 0)
AS confirmed;

-- The newest first.
-- name: ListChecksOfAddress :many
SELECT * FROM contact_checks
WHERE customer_id = $1 AND email_key = $2
ORDER BY id DESC
LIMIT $3;

-- The registrant gets all mails in the language of the first one, whatever the customer chooses later.
-- name: InsertContactCheck :exec
INSERT INTO contact_checks (id, customer_id, email, email_key, state, notices, opened_at, due_at, step_at, language)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, COALESCE((SELECT customers.language FROM customers WHERE customers.id = $2), ''));

-- name: GetContactCheck :one
SELECT * FROM contact_checks WHERE id = $1;

-- While the brake is engaged, nothing is suspended; the last notice is the third.
-- name: ListDueContactChecks :many
SELECT * FROM contact_checks
WHERE step_at > 0 AND step_at <= sqlc.arg(now)
    AND (sqlc.arg(stopped) = 0 OR state <> 'pending' OR notices < sqlc.arg(last_notice))
ORDER BY step_at
LIMIT sqlc.arg(max_rows);

-- What would be suspended now.
-- name: ListPlannedSuspensions :many
SELECT domains.id, domains.customer_id, domains.name, domains.tld, domains.account, contact_checks.due_at
FROM contact_checks
JOIN domains ON domains.contact_check = contact_checks.id AND domains.contact_check <> ''
WHERE contact_checks.step_at > 0 AND contact_checks.step_at <= sqlc.arg(now) AND contact_checks.state = 'pending'
    AND contact_checks.notices >= sqlc.arg(last_notice) AND contact_checks.waits_for = '' AND domains.status <> 'transferred_out'
ORDER BY contact_checks.step_at, domains.id
LIMIT sqlc.arg(max_rows);

-- name: UpdateContactCheck :execresult
UPDATE contact_checks
SET state = sqlc.arg(state), notices = sqlc.arg(notices), due_at = sqlc.arg(due_at), step_at = sqlc.arg(step_at), waits_for = sqlc.arg(waits_for),
    resent_at = sqlc.arg(resent_at), suspended_at = sqlc.arg(suspended_at), ended_at = sqlc.arg(ended_at)
WHERE id = sqlc.arg(id) AND state = sqlc.arg(was_state) AND notices = sqlc.arg(was_notices) AND step_at = sqlc.arg(was_step) AND resent_at = sqlc.arg(was_resent);

-- The partial index needs the comparison with an empty text.
-- name: ListDomainsOfCheck :many
SELECT id, customer_id, name, tld, contact_hold, registry_status FROM domains
WHERE contact_check = sqlc.arg(contact_check) AND contact_check <> '' AND id > sqlc.arg(after_id) AND status <> 'transferred_out'
ORDER BY id
LIMIT sqlc.arg(max_rows);

-- name: CountDomainsOfCheck :one
SELECT count(*) FROM domains WHERE contact_check = $1 AND contact_check <> '' AND status <> 'transferred_out';

-- The intent of a suspension.
-- name: SetContactHolds :exec
UPDATE domains SET contact_hold = contact_check
WHERE contact_check = $1 AND contact_check <> '' AND contact_hold = '' AND status <> 'transferred_out';

-- name: CountContactNotices :one
SELECT
    (SELECT count(*) FROM sent_notices WHERE sent_notices.domain_id = sqlc.arg(id) AND sent_notices.kind = 'contact_check' AND sent_notices.accepted = 1) AS accepted,
    (SELECT count(*) FROM mails WHERE mails.customer_id = sqlc.arg(customer_id) AND mails.kind = 'contact_check' AND mails.recipient = sqlc.arg(email)) AS queued;

-- Confirms an address for all open checks of a customer.
-- name: ConfirmAddress :many
UPDATE contact_checks
SET state = 'confirmed', step_at = 0, waits_for = '', ended_at = sqlc.arg(now), confirmed_by = sqlc.arg(confirmed_by), confirmed_from = sqlc.arg(confirmed_from),
    note = sqlc.arg(note)
WHERE customer_id = sqlc.arg(customer_id) AND email_key = sqlc.arg(email_key) AND state IN ('pending', 'suspended')
RETURNING id, suspended_at;

-- name: EndContactCheck :exec
UPDATE domains SET contact_check = '' WHERE contact_check = $1 AND contact_check <> '';

-- Domains that are suspended and no longer wait for a confirmation, by id. An expired one is
-- released when it is renewed.
-- name: ListDomainsToRelease :many
SELECT id, customer_id, name, contact_hold FROM domains
WHERE contact_hold <> '' AND contact_check = '' AND status = 'active' AND id > $1
ORDER BY id
LIMIT $2;

-- name: ClearContactHold :exec
UPDATE domains SET contact_hold = ''
WHERE id = sqlc.arg(id) AND contact_hold = sqlc.arg(contact_hold) AND contact_check = '';

-- name: IsDomainSuspended :one
SELECT EXISTS (SELECT 1 FROM domains WHERE id = $1 AND contact_hold <> '') AS suspended;

-- name: GetContactCheckOfDomain :one
SELECT contact_checks.* FROM domains
JOIN contact_checks ON contact_checks.id = domains.contact_check
WHERE domains.id = $1 AND domains.customer_id = $2;

-- Held domains are offline, as the registry has confirmed.
-- name: ListCustomerContactChecks :many
SELECT sqlc.embed(contact_checks),
    (SELECT count(*) FROM domains WHERE domains.contact_check = contact_checks.id AND domains.contact_check <> '' AND domains.registry_status LIKE '%Hold%') AS held
FROM contact_checks
WHERE contact_checks.customer_id = $1 AND contact_checks.ended_at = 0
ORDER BY due_at, id
LIMIT $2;

-- Why a domain has to be checked: its holder was changed before the check began, or long after its
-- registration; otherwise it was transferred or registered.
-- name: ListOpenContactChecks :many
SELECT sqlc.embed(contact_checks),
    (SELECT count(*) FROM domains WHERE domains.contact_check = contact_checks.id AND domains.contact_check <> ''
        AND EXISTS (SELECT 1 FROM past_registrants AS p WHERE p.domain_id = domains.id AND p.reason <> 'transfer'
            AND (p.until <= contact_checks.opened_at OR domains.created_at < contact_checks.opened_at - sqlc.arg(registration_delay)))) AS changed,
    (SELECT count(*) FROM domains WHERE domains.contact_check = contact_checks.id AND domains.contact_check <> ''
        AND NOT EXISTS (SELECT 1 FROM past_registrants AS p WHERE p.domain_id = domains.id AND p.reason <> 'transfer'
            AND (p.until <= contact_checks.opened_at OR domains.created_at < contact_checks.opened_at - sqlc.arg(registration_delay)))
        AND EXISTS (SELECT 1 FROM provision_items AS i WHERE i.name = domains.name AND i.domain_id = domains.id AND i.kind = 'transfer')) AS received,
    (SELECT count(*) FROM domains WHERE domains.contact_check = contact_checks.id AND domains.contact_check <> '') AS domains,
    (SELECT count(*) FROM domains WHERE domains.contact_check = contact_checks.id AND domains.contact_check <> '' AND domains.registry_status LIKE '%Hold%') AS held
FROM contact_checks
WHERE ended_at = 0
ORDER BY due_at, id
LIMIT sqlc.arg(max_rows);

-- name: ReassignContactChecks :exec
UPDATE contact_checks SET customer_id = sqlc.arg(customer_id) WHERE customer_id = sqlc.arg(guest);
