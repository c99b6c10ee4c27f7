-- name: InsertConsent :exec
INSERT INTO consents (hash, session_id, customer_id, request, expires_at)
VALUES ($1, $2, $3, $4, $5);

-- name: DeleteOldConsentsOfSession :exec
DELETE FROM consents
WHERE hash IN (
    SELECT c.hash FROM consents c
    WHERE c.session_id = $1
    ORDER BY c.expires_at DESC
    LIMIT 1000 OFFSET $2
);

-- name: GetOpenConsent :one
SELECT request
FROM consents
WHERE hash = $1 AND session_id = $2 AND customer_id = $3 AND used_at = 0 AND expires_at > $4;

-- name: UseConsent :execrows
UPDATE consents SET used_at = $4
WHERE hash = $1 AND session_id = $2 AND customer_id = $3 AND used_at = 0 AND expires_at > $4;

-- name: DeleteExpiredConsents :execrows
DELETE FROM consents
WHERE hash IN (SELECT c.hash FROM consents c WHERE c.expires_at < $1 ORDER BY c.expires_at LIMIT $2);

-- name: InsertAuthorizationCode :exec
INSERT INTO authorization_codes (hash, client_id, client_name, customer_id, redirect_uri, challenge, scope, resource, expires_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9);

-- name: GetAuthorizationCode :one
SELECT o.client_id, o.client_name, o.customer_id, o.redirect_uri, o.challenge, o.scope, o.resource, o.expires_at, o.used_at, o.grant_id,
       c.disabled_at
FROM authorization_codes o
JOIN customers c ON c.id = o.customer_id
WHERE o.hash = $1;

-- name: UseAuthorizationCode :execrows
UPDATE authorization_codes SET used_at = $2, grant_id = $3
WHERE hash = $1 AND used_at = 0 AND expires_at > $2;

-- name: GetGrantIDByAuthorizationCode :one
SELECT grant_id
FROM authorization_codes
WHERE hash = $1;

-- name: RevokeAuthorizationCodesOfClient :exec
UPDATE authorization_codes SET used_at = $3
WHERE customer_id = $1 AND client_id = $2 AND used_at = 0;

-- name: DeleteExpiredAuthorizationCodes :execrows
DELETE FROM authorization_codes
WHERE hash IN (SELECT o.hash FROM authorization_codes o WHERE o.expires_at < $1 ORDER BY o.expires_at LIMIT $2);
