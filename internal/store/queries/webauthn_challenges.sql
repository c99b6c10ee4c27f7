-- name: PutWebauthnChallenge :exec
INSERT INTO webauthn_challenges (hash, kind, customer_id, data, expires_at)
VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (hash) DO UPDATE SET data = excluded.data, expires_at = excluded.expires_at;

-- name: GetWebauthnChallenge :one
SELECT * FROM webauthn_challenges WHERE hash = $1 AND kind = $2 AND expires_at > $3;

-- name: ConsumeWebauthnChallenge :one
DELETE FROM webauthn_challenges WHERE hash = $1 AND kind = $2 AND expires_at > $3
RETURNING *;

-- name: DeleteExpiredWebauthnChallenges :execrows
DELETE FROM webauthn_challenges
WHERE hash IN (SELECT old.hash FROM webauthn_challenges AS old WHERE old.expires_at <= $1 ORDER BY old.expires_at LIMIT $2);
