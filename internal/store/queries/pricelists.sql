-- name: NewestPriceList :one
SELECT edition, content FROM price_lists ORDER BY edition DESC LIMIT 1;

-- Nodes ask this several times a second, so it reads no content.
-- name: NewestPriceListEdition :one
SELECT edition FROM price_lists ORDER BY edition DESC LIMIT 1;

-- name: InsertPriceList :execrows
INSERT INTO price_lists (edition, content, created_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING;
