-- name: GetVATCheck :one
SELECT * FROM vat_checks WHERE vat_id = $1;

-- name: PutVATCheck :exec
INSERT INTO vat_checks (vat_id, valid, checked_at)
VALUES ($1, $2, $3)
ON CONFLICT (vat_id) DO UPDATE SET valid = excluded.valid, checked_at = excluded.checked_at
WHERE vat_checks.checked_at <= excluded.checked_at;
