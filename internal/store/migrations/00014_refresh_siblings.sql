-- Refresh tokens issued side by side within the leeway. Written in the one dialect
-- that 00001 describes.

-- +goose Up

-- A refresh token is good while its epoch is that of its grant. The first sibling
-- used after siblings_until begins the next epoch, which revokes the others.
ALTER TABLE grants ADD COLUMN epoch BIGINT NOT NULL DEFAULT 0;
ALTER TABLE grants ADD COLUMN siblings_until BIGINT NOT NULL DEFAULT 0; -- 0: no refresh token has siblings
ALTER TABLE refresh_tokens ADD COLUMN epoch BIGINT NOT NULL DEFAULT 0;
-- Siblings from before: the next one used is the last one good.
UPDATE grants SET siblings_until = 1
WHERE revoked_at = 0
    AND id IN (SELECT grant_id FROM refresh_tokens WHERE used_at = 0 GROUP BY grant_id HAVING count(*) > 1);

-- +goose Down
ALTER TABLE refresh_tokens DROP COLUMN epoch;
ALTER TABLE grants DROP COLUMN siblings_until;
ALTER TABLE grants DROP COLUMN epoch;
