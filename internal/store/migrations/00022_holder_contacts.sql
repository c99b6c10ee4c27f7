-- +goose Up
INSERT INTO schema_compatibility (version, compatible_from) VALUES (22, 1);

-- Another holder of the account, or own, as technical and as billing contact. Registrants have
-- copies of their data.
ALTER TABLE holders ADD COLUMN tech_id TEXT NOT NULL DEFAULT ''; -- empty: none
ALTER TABLE holders ADD COLUMN billing_id TEXT NOT NULL DEFAULT ''; -- empty: none

-- +goose Down
ALTER TABLE holders DROP COLUMN billing_id;
ALTER TABLE holders DROP COLUMN tech_id;
DELETE FROM schema_compatibility WHERE version = 22;
