-- +goose Up
INSERT INTO schema_compatibility (version, compatible_from) VALUES (23, 1);

-- Random secrets that all nodes share and no operator has to configure.
CREATE TABLE service_secrets (
  name TEXT PRIMARY KEY,
  sealed TEXT NOT NULL,
  created_at BIGINT NOT NULL
);

-- +goose Down
DROP TABLE service_secrets;
DELETE FROM schema_compatibility WHERE version = 23;
