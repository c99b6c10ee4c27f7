-- name: InsertSession :exec
INSERT INTO sessions (hash, id, customer_id, state, address, user_agent, device, created_at, authenticated_at, seen_at, expires_at, auth_method, country)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13);

-- name: GetSession :one
SELECT sqlc.embed(sessions), sqlc.embed(customers)
FROM sessions JOIN customers ON customers.id = sessions.customer_id
WHERE sessions.hash = $1;

-- name: ListOpenSessions :many
SELECT * FROM sessions WHERE customer_id = $1 AND state = 'open' AND expires_at > $2 ORDER BY id DESC;

-- name: GetOpenSession :one
SELECT * FROM sessions WHERE customer_id = $1 AND id = $2 AND state = 'open' AND expires_at > $3;

-- name: TouchSession :exec
UPDATE sessions SET seen_at = $1, expires_at = $2 WHERE hash = $3 AND seen_at < $1;

-- name: CountSecondFactorAttempt :execrows
UPDATE sessions SET attempts = attempts + 1
WHERE hash = $1 AND state = 'second_factor' AND attempts < $2 AND expires_at > $3;

-- name: DeleteSession :execrows
DELETE FROM sessions WHERE hash = $1;

-- name: DeleteSessionByID :execrows
DELETE FROM sessions WHERE customer_id = $1 AND id = $2;

-- name: DeleteOtherSessions :exec
DELETE FROM sessions WHERE customer_id = $1 AND id <> $2;

-- name: DeleteOldestSessions :exec
DELETE FROM sessions
WHERE sessions.customer_id = $1 AND sessions.state = $2
    AND sessions.id < (SELECT newest.id FROM sessions AS newest WHERE newest.customer_id = $1 AND newest.state = $2 ORDER BY newest.id DESC LIMIT 1 OFFSET $3);

-- name: DeleteExpiredSessions :execrows
DELETE FROM sessions
WHERE hash IN (SELECT old.hash FROM sessions AS old WHERE old.expires_at <= $1 ORDER BY old.expires_at LIMIT $2);
