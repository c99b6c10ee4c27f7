-- +goose Up
INSERT INTO schema_compatibility (version, compatible_from) VALUES (26, 1);

-- Jobs that failed for one reason, such as a lack of funds, among all that failed.
CREATE INDEX job_errors_code ON job_errors (code, job);

-- +goose Down
DROP INDEX job_errors_code;
DELETE FROM schema_compatibility WHERE version = 26;
