-- name: GetNewestPriceList :one
SELECT edition, content FROM price_lists ORDER BY edition DESC LIMIT 1;

-- Nodes run this several times a second, so it doesn't read the content.
-- name: GetNewestPriceListEdition :one
SELECT edition FROM price_lists ORDER BY edition DESC LIMIT 1;

-- name: InsertPriceList :execresult
INSERT INTO price_lists (edition, content, created_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING;
