-- name: InsertInquiry :execrows
INSERT INTO inquiries (id, customer_id, name, email, topic, about, message, language, digest, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
ON CONFLICT (digest) DO NOTHING;

-- name: GetInquiry :one
SELECT * FROM inquiries WHERE id = $1;

-- name: GetInquiryByDigest :one
SELECT * FROM inquiries WHERE digest = $1;

-- name: ListOpenInquiries :many
SELECT * FROM inquiries
WHERE done_at = 0 AND id > $1
ORDER BY id
LIMIT $2;

-- The newest first.
-- name: ListHandledInquiries :many
SELECT * FROM inquiries
WHERE done_at <> 0 AND id < $1
ORDER BY id DESC
LIMIT $2;

-- Every operator page shows the number; above 1000 it adds no information.
-- name: CountOpenInquiries :one
SELECT count(*) FROM (SELECT id FROM inquiries WHERE done_at = 0 ORDER BY id LIMIT 1000) AS open_inquiries;

-- name: MarkInquiryDone :execresult
UPDATE inquiries
SET done_at = @done_at, done_by = @done_by, done_note = @done_note
WHERE id = @id AND done_at = 0;

-- name: DeleteHandledInquiries :execrows
DELETE FROM inquiries
WHERE id IN (SELECT old.id FROM inquiries AS old WHERE old.done_at <> 0 AND old.done_at <= $1 ORDER BY old.done_at LIMIT $2);

-- An open one stays until it is handled: the sender waits for a reply.
-- name: DeleteHandledInquiriesOfCustomer :exec
DELETE FROM inquiries WHERE customer_id = $1 AND done_at <> 0;
