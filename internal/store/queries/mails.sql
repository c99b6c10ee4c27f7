-- name: MailAddressOfCustomer :one
SELECT email, language
FROM customers
WHERE id = $1;

-- name: InsertMail :exec
INSERT INTO mails (id, kind, customer_id, recipient, language, data, created_at, due_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8);
