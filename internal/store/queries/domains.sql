-- name: GetCustomerDomain :one
SELECT * FROM domains WHERE id = $1 AND customer_id = $2;

-- name: SetRegistryStatus :exec
UPDATE domains SET registry_status = sqlc.arg(registry_status) WHERE id = sqlc.arg(id);

-- The statuses of an expired or deleted domain that end with its renewal: those of the deletion, and a
-- hold (" clientHold ") unless it stays (empty).
-- name: ReleaseRegistryStatus :exec
UPDATE domains
SET registry_status = trim(replace(replace(replace(' ' || registry_status || ' ', CAST(sqlc.arg(hold) AS TEXT), ' '), ' pendingDelete ', ' '), ' redemptionPeriod ', ' '))
WHERE id = sqlc.arg(id);

-- name: ListCustomerDomains :many
SELECT id, customer_id, name, tld, status, paid_until, at_term_end, premium, created_at, updated_at
FROM domains
WHERE customer_id = $1;

-- name: InsertDomain :execresult
INSERT INTO domains (id, customer_id, name, tld, status, paid_until, account, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
ON CONFLICT (name) WHERE status <> 'transferred_out' DO NOTHING;

-- One page of a customer's domains, by name. The pattern is a LIKE pattern; domain names
-- contain no LIKE wildcards. The id breaks ties between rows with the same name. Lacking is a
-- LIKE pattern of registry statuses that must not match; other_choice a choice at the end of
-- the term that the domain must not have. With urgent_before, only domains that need
-- attention: their term is over or ends unpaid before it, their renewal failed or begins with the
-- next term, another registrar has requested them, their holder's address is not confirmed, they are on hold, or their payment is
-- disputed.
-- SearchDomainsByTerm and SearchNewestDomains are the same in another order.
-- name: SearchDomains :many
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
WHERE domains.customer_id = sqlc.arg(customer_id) AND domains.name >= sqlc.arg(after_name) AND (domains.name > sqlc.arg(after_name) OR domains.id > sqlc.arg(after_id))
    AND domains.name LIKE sqlc.arg(pattern) AND (domains.status = sqlc.arg(status) OR sqlc.arg(status) = '')
    AND (domains.paid_until < sqlc.arg(paid_before) AND domains.paid_until > 0 AND domains.status <> 'transferred_out' OR sqlc.arg(paid_before) = 0)
    AND (domains.tld = sqlc.arg(tld) OR sqlc.arg(tld) = '') AND (domains.folder = sqlc.arg(folder) OR sqlc.arg(folder) = '')
    AND (domains.at_term_end = sqlc.arg(choice) OR sqlc.arg(choice) = '') AND domains.at_term_end <> sqlc.arg(other_choice)
    AND domains.registry_status NOT LIKE sqlc.arg(lacking) AND domains.registry_status LIKE sqlc.arg(having_status)
    AND (domains.status IN ('expired', 'redemption', 'transit')
        OR domains.status = 'active' AND domains.at_term_end = '' AND domains.paid_until > 0 AND domains.paid_until < sqlc.arg(urgent_before)
        OR domains.status = 'active' AND (renewals.state = 'failed' OR renewals.state = 'announced' AND renewals.attempts > 0 OR renewals.state = 'stopped' AND domains.at_term_end = 'renew')
        OR domains.status <> 'transferred_out' AND (domains.contact_check NOT IN ('', 'new', 'guest')
            OR EXISTS (SELECT 1 FROM outgoing_transfers WHERE outgoing_transfers.domain_id = domains.id AND outgoing_transfers.ended_at = 0))
        OR domains.status = 'active' AND (domains.registry_status LIKE '%Hold%' OR EXISTS (SELECT 1 FROM provision_items JOIN disputes ON disputes.order_id = substr(provision_items.payment, 7)
            WHERE provision_items.name = domains.name AND provision_items.domain_id = domains.id AND disputes.order_id <> '' AND disputes.lock_state IN ('active', 'kept', 'denying', 'denied')))
        OR sqlc.arg(urgent_before) = 0)
ORDER BY domains.name, domains.id
LIMIT sqlc.arg(max_rows) OFFSET sqlc.arg(skip_rows);

-- Domains with a term, by its end.
-- name: SearchDomainsByTerm :many
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
WHERE domains.customer_id = sqlc.arg(customer_id) AND domains.paid_until >= sqlc.arg(after_end) AND (domains.paid_until > sqlc.arg(after_end) OR domains.id > sqlc.arg(after_id))
    AND domains.status <> 'pending' AND domains.status <> 'transferred_out'
    AND domains.name LIKE sqlc.arg(pattern) AND (domains.status = sqlc.arg(status) OR sqlc.arg(status) = '')
    AND (domains.paid_until < sqlc.arg(paid_before) AND domains.paid_until > 0 AND domains.status <> 'transferred_out' OR sqlc.arg(paid_before) = 0)
    AND (domains.tld = sqlc.arg(tld) OR sqlc.arg(tld) = '') AND (domains.folder = sqlc.arg(folder) OR sqlc.arg(folder) = '')
    AND (domains.at_term_end = sqlc.arg(choice) OR sqlc.arg(choice) = '') AND domains.at_term_end <> sqlc.arg(other_choice)
    AND domains.registry_status NOT LIKE sqlc.arg(lacking) AND domains.registry_status LIKE sqlc.arg(having_status)
    AND (domains.status IN ('expired', 'redemption', 'transit')
        OR domains.status = 'active' AND domains.at_term_end = '' AND domains.paid_until > 0 AND domains.paid_until < sqlc.arg(urgent_before)
        OR domains.status = 'active' AND (renewals.state = 'failed' OR renewals.state = 'announced' AND renewals.attempts > 0 OR renewals.state = 'stopped' AND domains.at_term_end = 'renew')
        OR domains.status <> 'transferred_out' AND (domains.contact_check NOT IN ('', 'new', 'guest')
            OR EXISTS (SELECT 1 FROM outgoing_transfers WHERE outgoing_transfers.domain_id = domains.id AND outgoing_transfers.ended_at = 0))
        OR domains.status = 'active' AND (domains.registry_status LIKE '%Hold%' OR EXISTS (SELECT 1 FROM provision_items JOIN disputes ON disputes.order_id = substr(provision_items.payment, 7)
            WHERE provision_items.name = domains.name AND provision_items.domain_id = domains.id AND disputes.order_id <> '' AND disputes.lock_state IN ('active', 'kept', 'denying', 'denied')))
        OR sqlc.arg(urgent_before) = 0)
ORDER BY domains.paid_until, domains.id
LIMIT sqlc.arg(max_rows);

-- The id begins with the time at which a domain was added.
-- name: SearchNewestDomains :many
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
WHERE domains.customer_id = sqlc.arg(customer_id) AND domains.id < sqlc.arg(before_id)
    AND domains.name LIKE sqlc.arg(pattern) AND (domains.status = sqlc.arg(status) OR sqlc.arg(status) = '')
    AND (domains.paid_until < sqlc.arg(paid_before) AND domains.paid_until > 0 AND domains.status <> 'transferred_out' OR sqlc.arg(paid_before) = 0)
    AND (domains.tld = sqlc.arg(tld) OR sqlc.arg(tld) = '') AND (domains.folder = sqlc.arg(folder) OR sqlc.arg(folder) = '')
    AND (domains.at_term_end = sqlc.arg(choice) OR sqlc.arg(choice) = '') AND domains.at_term_end <> sqlc.arg(other_choice)
    AND domains.registry_status NOT LIKE sqlc.arg(lacking) AND domains.registry_status LIKE sqlc.arg(having_status)
    AND (domains.status IN ('expired', 'redemption', 'transit')
        OR domains.status = 'active' AND domains.at_term_end = '' AND domains.paid_until > 0 AND domains.paid_until < sqlc.arg(urgent_before)
        OR domains.status = 'active' AND (renewals.state = 'failed' OR renewals.state = 'announced' AND renewals.attempts > 0 OR renewals.state = 'stopped' AND domains.at_term_end = 'renew')
        OR domains.status <> 'transferred_out' AND (domains.contact_check NOT IN ('', 'new', 'guest')
            OR EXISTS (SELECT 1 FROM outgoing_transfers WHERE outgoing_transfers.domain_id = domains.id AND outgoing_transfers.ended_at = 0))
        OR domains.status = 'active' AND (domains.registry_status LIKE '%Hold%' OR EXISTS (SELECT 1 FROM provision_items JOIN disputes ON disputes.order_id = substr(provision_items.payment, 7)
            WHERE provision_items.name = domains.name AND provision_items.domain_id = domains.id AND disputes.order_id <> '' AND disputes.lock_state IN ('active', 'kept', 'denying', 'denied')))
        OR sqlc.arg(urgent_before) = 0)
ORDER BY domains.id DESC
LIMIT sqlc.arg(max_rows);

-- name: GetDomainTerm :one
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
WHERE domains.id = sqlc.arg(id) AND domains.customer_id = sqlc.arg(customer_id);

-- Counts all domains that SearchDomains finds without its cursor.
-- name: CountSearchedDomains :one
SELECT count(*) FROM domains
WHERE customer_id = sqlc.arg(customer_id) AND name LIKE sqlc.arg(pattern)
    AND (status = sqlc.arg(status) OR sqlc.arg(status) = '')
    AND (paid_until < sqlc.arg(paid_before) AND paid_until > 0 AND status <> 'transferred_out' OR sqlc.arg(paid_before) = 0);

-- Active domains that are on hold, whose payment is disputed, or that another registrar has
-- requested. A payment is order: and the order's id.
-- name: ListRestrictedDomains :many
SELECT domains.id, domains.name, domains.tld, domains.folder, domains.registry_status, domains.contact_hold,
    EXISTS (SELECT 1 FROM outgoing_transfers WHERE outgoing_transfers.domain_id = domains.id AND outgoing_transfers.ended_at = 0) AS leaving
FROM domains
WHERE domains.customer_id = sqlc.arg(customer_id) AND domains.status = 'active'
    AND (domains.registry_status LIKE '%Hold%' OR domains.id IN (
        SELECT provision_items.domain_id FROM orders
        JOIN disputes ON disputes.order_id = orders.id
        JOIN provision_items ON provision_items.payment = 'order:' || orders.id
        WHERE orders.customer_id = sqlc.arg(customer_id) AND disputes.lock_state IN ('active', 'kept', 'denying', 'denied'))
        OR domains.id IN (
            SELECT outgoing_transfers.domain_id FROM outgoing_transfers
            WHERE outgoing_transfers.customer_id = sqlc.arg(customer_id) AND outgoing_transfers.ended_at = 0))
ORDER BY domains.name, domains.id
LIMIT sqlc.arg(max_rows);

-- name: CountDomainGroups :many
SELECT status, tld, folder, COUNT(*) AS domains
FROM domains
WHERE customer_id = $1
GROUP BY status, tld, folder;

-- Counts what SearchDomains finds with urgent_before, what it finds active with paid_before, and which
-- domains lack the lock, by extension and status. What is rare is read from its own table once, not for each row.
-- name: CountDomainFilters :many
SELECT domains.tld,
    CAST(sum(CASE WHEN domains.status = 'active' AND domains.paid_until > 0 AND domains.paid_until < sqlc.arg(soon) THEN 1 ELSE 0 END) AS BIGINT) AS ending,
    CAST(sum(CASE WHEN domains.status = 'active' AND domains.registry_status <> '' AND domains.registry_status NOT LIKE sqlc.arg(lacking) THEN 1 ELSE 0 END) AS BIGINT) AS lacking,
    CAST(sum(CASE WHEN domains.status IN ('expired', 'redemption', 'transit')
        OR domains.status = 'active' AND (domains.at_term_end = '' AND domains.paid_until > 0 AND domains.paid_until < sqlc.arg(soon) OR domains.registry_status LIKE '%Hold%')
        OR domains.status <> 'transferred_out' AND (domains.contact_check NOT IN ('', 'new', 'guest') OR domains.id IN (
            SELECT outgoing_transfers.domain_id FROM outgoing_transfers WHERE outgoing_transfers.customer_id = sqlc.arg(customer_id) AND outgoing_transfers.ended_at = 0))
        OR domains.status = 'active' AND (domains.id IN (
            SELECT renewals.domain_id FROM renewals JOIN domains AS renewed ON renewed.id = renewals.domain_id AND renewed.paid_until = renewals.term_end
            WHERE renewals.customer_id = sqlc.arg(customer_id) AND (renewals.state = 'failed' OR renewals.state = 'announced' AND renewals.attempts > 0 OR renewals.state = 'stopped' AND renewed.at_term_end = 'renew'))
            OR domains.id IN (
            SELECT provision_items.domain_id FROM orders
            JOIN disputes ON disputes.order_id = orders.id
            JOIN provision_items ON provision_items.payment = 'order:' || orders.id
            WHERE orders.customer_id = sqlc.arg(customer_id) AND disputes.lock_state IN ('active', 'kept', 'denying', 'denied')))
        THEN 1 ELSE 0 END) AS BIGINT) AS urgent
FROM domains
WHERE domains.customer_id = sqlc.arg(customer_id)
GROUP BY domains.status, domains.tld;

-- name: SetDomainLabels :execresult
UPDATE domains SET folder = sqlc.arg(folder), note = sqlc.arg(note)
WHERE id = sqlc.arg(id) AND customer_id = sqlc.arg(customer_id);

-- name: SetDomainFolder :execresult
UPDATE domains SET folder = sqlc.arg(folder)
WHERE id = sqlc.arg(id) AND customer_id = sqlc.arg(customer_id);

-- name: HasFolder :one
SELECT EXISTS (SELECT 1 FROM domains WHERE customer_id = sqlc.arg(customer_id) AND folder = sqlc.arg(folder));

-- name: CountFolders :one
SELECT count(DISTINCT folder) FROM domains
WHERE customer_id = $1 AND folder <> '';

-- name: ClearDomainLabels :exec
UPDATE domains SET folder = '', note = '' WHERE customer_id = $1 AND (folder <> '' OR note <> '');

-- The registrant's address has to be confirmed, unless it is the confirmed one of the account; an
-- empty one is the account's. A guest's is first asked by the claim mail.
-- name: ActivateDomain :execresult
UPDATE domains
SET status = sqlc.arg(status), paid_until = sqlc.arg(paid_until), handle = sqlc.arg(handle), code_sealed = sqlc.arg(code_sealed),
    registry_expires = sqlc.arg(registry_expires), sync_due = sqlc.arg(sync_due), holder_id = sqlc.arg(holder_id), registrant = sqlc.arg(registrant),
    registrant_since = sqlc.arg(updated_at), premium = sqlc.arg(premium), updated_at = sqlc.arg(updated_at),
    contact_check = COALESCE((
        SELECT CASE WHEN customers.guest = 1 THEN 'guest' ELSE '' END FROM customers
        WHERE customers.id = domains.customer_id AND (customers.confirmed_at <> 0 OR customers.guest = 1)
            AND (customers.email_key = sqlc.arg(email_key) OR customers.guest = 1 AND lower(customers.email) = sqlc.arg(email_key)
                OR sqlc.arg(email_key) = '')), 'new')
WHERE domains.id = sqlc.arg(id) AND domains.status = 'pending';

-- A renewal or restore starts a new term: its expiry notices are sent again, and a choice
-- to let the former one expire is over.
-- name: RenewDomain :execresult
UPDATE domains
SET paid_until = sqlc.arg(paid_until), status = CASE WHEN status IN ('expired', 'redemption') THEN 'active' ELSE status END, expiry_notice = 0,
    at_term_end = CASE WHEN at_term_end = 'expire' THEN '' ELSE at_term_end END,
    premium = sqlc.arg(premium), registry_expires = sqlc.arg(registry_expires), sync_due = sqlc.arg(sync_due), updated_at = sqlc.arg(updated_at)
WHERE id = sqlc.arg(id) AND paid_until = sqlc.arg(was_paid_until);

-- name: DeletePendingDomain :exec
DELETE FROM domains WHERE id = $1 AND status = 'pending';

-- Also of a domain that was added without an order, which is not compared regularly. A pending one
-- is compared if no item registers or transfers it.
-- name: MakeDomainSyncDue :exec
UPDATE domains SET sync_due = sqlc.arg(now)
WHERE domains.name = sqlc.arg(name) AND domains.status <> 'transferred_out'
    AND (domains.status <> 'pending' OR NOT EXISTS (SELECT 1 FROM provision_items WHERE provision_items.name = domains.name AND provision_items.domain_id = domains.id));

-- name: ListDomainsDueForSync :many
SELECT * FROM domains
WHERE sync_due > 0 AND sync_due <= $1
ORDER BY sync_due
LIMIT $2;

-- name: ListDomains :many
SELECT * FROM domains
WHERE id > $1
ORDER BY id
LIMIT $2;

-- name: ListHeldDomains :many
SELECT id, name FROM domains
WHERE customer_id = sqlc.arg(customer_id) AND status <> 'transferred_out'
    AND name IN (sqlc.arg(name1), sqlc.arg(name2), sqlc.arg(name3), sqlc.arg(name4), sqlc.arg(name5), sqlc.arg(name6), sqlc.arg(name7), sqlc.arg(name8));

-- name: ListDomainsByName :many
SELECT * FROM domains WHERE name = $1 ORDER BY id;

-- name: UpdateDomainFromRegistry :execresult
UPDATE domains
SET status = sqlc.arg(status), at_term_end = CASE WHEN sqlc.arg(status) = 'transferred_out' THEN '' ELSE at_term_end END, registry_status = sqlc.arg(registry_status), registry_expires = sqlc.arg(registry_expires),
    synced_at = sqlc.arg(synced_at), sync_due = sqlc.arg(sync_due), updated_at = sqlc.arg(updated_at)
WHERE id = sqlc.arg(id) AND status = sqlc.arg(was_status) AND sync_due = sqlc.arg(was_due);

-- name: GetCurrentDomainByName :one
SELECT * FROM domains WHERE name = $1 AND status <> 'transferred_out';

-- What is under way about some of a customer's domains: the confirmation of their holder's address, and
-- a change. Domains without either are left out.
-- name: ListDomainsUnderWay :many
SELECT domains.id, CAST(coalesce(contact_checks.due_at, 0) AS BIGINT) AS confirm_by, CAST(coalesce(domain_changes.kind, '') AS TEXT) AS change_kind,
    CAST(coalesce(domain_changes.wait_until, 0) AS BIGINT) AS change_at
FROM domains
LEFT JOIN contact_checks ON contact_checks.id = domains.contact_check AND contact_checks.ended_at = 0
LEFT JOIN domain_changes ON domain_changes.domain_id = domains.id AND domain_changes.due_at > 0
WHERE domains.customer_id = sqlc.arg(customer_id) AND (contact_checks.id <> '' OR domain_changes.id <> '')
    AND domains.id IN (SELECT value FROM json_array_elements_text(CAST(sqlc.arg(domain_ids) AS TEXT)::json));
