-- name: InsertServiceSecret :execrows
INSERT INTO service_secrets (name, sealed, created_at) VALUES ($1, $2, $3)
ON CONFLICT DO NOTHING;

-- name: GetServiceSecret :one
SELECT sealed FROM service_secrets WHERE name = $1;
