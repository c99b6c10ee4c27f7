-- What RDAP may publish about the domain that is held under a name. Of the registrant only the
-- state and the country leave the store.
-- name: FindPublicDomain :one
SELECT domains.id, domains.name, domains.tld, domains.status, domains.paid_until, domains.registry_status, domains.registry_expires,
    domains.synced_at, domains.updated_at, coalesce(registry_records.data, '') AS data, coalesce(registry_records.read_at, 0) AS read_at,
    domains.registrant, coalesce(registrants.state, '') AS state, coalesce(registrants.country, '') AS country
FROM domains
LEFT JOIN registry_records ON registry_records.domain_id = domains.id
LEFT JOIN registrants ON registrants.customer_id = domains.customer_id
WHERE domains.name = $1 AND domains.status <> 'transferred_out';

-- The same by id.
-- name: GetPublicDomain :one
SELECT domains.id, domains.name, domains.tld, domains.status, domains.paid_until, domains.registry_status, domains.registry_expires,
    domains.synced_at, domains.updated_at, coalesce(registry_records.data, '') AS data, coalesce(registry_records.read_at, 0) AS read_at,
    domains.registrant, coalesce(registrants.state, '') AS state, coalesce(registrants.country, '') AS country
FROM domains
LEFT JOIN registry_records ON registry_records.domain_id = domains.id
LEFT JOIN registrants ON registrants.customer_id = domains.customer_id
WHERE domains.id = $1;
