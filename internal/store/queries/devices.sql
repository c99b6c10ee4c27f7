-- name: InsertDevice :exec
INSERT INTO devices (hash, customer_id, created_at, expires_at) VALUES ($1, $2, $3, $4);

-- name: GetDeviceCustomer :one
SELECT customer_id FROM devices WHERE hash = $1 AND expires_at > $2;

-- name: DeleteDevicesOfCustomer :exec
DELETE FROM devices WHERE customer_id = $1;

-- name: DeleteOldestDevices :exec
DELETE FROM devices
WHERE devices.customer_id = $1
    AND devices.created_at < (SELECT newest.created_at FROM devices AS newest WHERE newest.customer_id = $1 ORDER BY newest.created_at DESC LIMIT 1 OFFSET $2);

-- name: DeleteExpiredDevices :execrows
DELETE FROM devices
WHERE hash IN (SELECT old.hash FROM devices AS old WHERE old.expires_at <= $1 ORDER BY old.expires_at LIMIT $2);
