-- name: ListHolders :many
SELECT * FROM holders WHERE customer_id = $1 ORDER BY id LIMIT $2;

-- name: GetHolder :one
SELECT * FROM holders WHERE id = $1 AND customer_id = $2;

-- Inserts nothing if the customer has too many.
-- name: InsertHolder :execresult
INSERT INTO holders (id, customer_id, kind, name, organisation, street, postal_code, city, state, country, phone, email, tech_id, billing_id, created_at, updated_at)
SELECT sqlc.arg(id), sqlc.arg(customer_id), sqlc.arg(kind), sqlc.arg(name), sqlc.arg(organisation), sqlc.arg(street), sqlc.arg(postal_code),
    sqlc.arg(city), sqlc.arg(state), sqlc.arg(country), sqlc.arg(phone), sqlc.arg(email), sqlc.arg(tech_id), sqlc.arg(billing_id), sqlc.arg(now), sqlc.arg(now)
WHERE (SELECT count(*) FROM holders AS own WHERE own.customer_id = sqlc.arg(customer_id)) < CAST(sqlc.arg(max_holders) AS BIGINT);

-- name: UpdateHolder :execresult
UPDATE holders
SET kind = sqlc.arg(kind), name = sqlc.arg(name), organisation = sqlc.arg(organisation), street = sqlc.arg(street), postal_code = sqlc.arg(postal_code),
    city = sqlc.arg(city), state = sqlc.arg(state), country = sqlc.arg(country), phone = sqlc.arg(phone), email = sqlc.arg(email),
    tech_id = sqlc.arg(tech_id), billing_id = sqlc.arg(billing_id), updated_at = sqlc.arg(now)
WHERE id = sqlc.arg(id) AND customer_id = sqlc.arg(customer_id);

-- name: DeleteHolder :execresult
DELETE FROM holders WHERE id = $1 AND customer_id = $2;

-- A holder that is deleted is no contact of others any more.
-- name: ClearHolderContact :exec
UPDATE holders
SET tech_id = CASE WHEN tech_id = sqlc.arg(id) THEN '' ELSE tech_id END, billing_id = CASE WHEN billing_id = sqlc.arg(id) THEN '' ELSE billing_id END
WHERE customer_id = sqlc.arg(customer_id) AND (tech_id = sqlc.arg(id) OR billing_id = sqlc.arg(id));

-- name: DeleteHoldersOfCustomer :exec
DELETE FROM holders WHERE customer_id = $1;

-- The domains after a name that a customer holds for a holder; an empty id means the customer.
-- name: ListDomainsOfHolder :many
SELECT id, name, tld, status, registrant FROM domains
WHERE customer_id = sqlc.arg(customer_id) AND holder_id = sqlc.arg(holder_id) AND status <> 'transferred_out' AND name > sqlc.arg(after_name)
ORDER BY name
LIMIT sqlc.arg(max_rows);

-- Domains without a registrant of their own get a copy of the customer's data before these
-- change.
-- name: FreezeRegistrants :exec
UPDATE domains SET registrant = sqlc.arg(registrant)
WHERE customer_id = sqlc.arg(customer_id) AND registrant = '' AND holder_id = '';

-- A new address has to be confirmed, unless it is the confirmed one of the account.
-- name: SetDomainRegistrant :exec
UPDATE domains
SET handle = sqlc.arg(handle), holder_id = sqlc.arg(holder_id), registrant = sqlc.arg(registrant), registrant_since = sqlc.arg(now), updated_at = sqlc.arg(now),
    contact_check = CASE
        WHEN sqlc.arg(same_address) = 1 THEN contact_check
        WHEN EXISTS (
            SELECT 1 FROM customers
            WHERE customers.id = domains.customer_id AND customers.confirmed_at <> 0 AND customers.guest = 0 AND customers.email_key = sqlc.arg(email_key))
        THEN '' ELSE 'new' END
WHERE domains.id = sqlc.arg(id);

-- name: InsertPastRegistrant :exec
INSERT INTO past_registrants (id, domain_id, customer_id, holder_id, registrant, reason, since, until)
SELECT sqlc.arg(id), domains.id, domains.customer_id, domains.holder_id, CAST(sqlc.arg(registrant) AS TEXT), sqlc.arg(reason),
    CASE WHEN domains.registrant_since = 0 THEN domains.created_at ELSE domains.registrant_since END, sqlc.arg(now)
FROM domains
WHERE domains.id = sqlc.arg(domain_id);

-- name: ListPastRegistrants :many
SELECT * FROM past_registrants WHERE domain_id = $1 ORDER BY id DESC LIMIT $2;
