-- name: GetIdentity :one
SELECT * FROM identities WHERE customer_id = $1;

-- name: GetCustomerByVerification :one
SELECT customer_id FROM identities WHERE session = $1 AND session <> '';

-- name: InsertIdentity :execresult
INSERT INTO identities (customer_id, session, url, name, verified_at, failure, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (customer_id) DO NOTHING;

-- name: ReplaceIdentity :execresult
UPDATE identities
SET session = sqlc.arg(session), url = sqlc.arg(url), name = sqlc.arg(name), verified_at = sqlc.arg(verified_at),
    failure = sqlc.arg(failure), updated_at = sqlc.arg(updated_at)
WHERE customer_id = sqlc.arg(customer_id) AND session = sqlc.arg(was_session) AND url = sqlc.arg(was_url) AND name = sqlc.arg(was_name)
    AND verified_at = sqlc.arg(was_verified_at) AND failure = sqlc.arg(was_failure) AND updated_at = sqlc.arg(was_updated_at);

-- name: GetVerifiedName :one
SELECT name FROM identities WHERE customer_id = $1 AND verified_at <> 0;
