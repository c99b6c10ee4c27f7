-- +goose Up
INSERT INTO schema_compatibility (version, compatible_from) VALUES (10, 1);

-- All payment methods of a customer. payment_methods has the default, which pays renewals; one
-- that an earlier program saved has no row here until the first change.
CREATE TABLE saved_methods (
    customer_id       TEXT   NOT NULL REFERENCES customers (id),
    method            TEXT   NOT NULL, -- the provider's id
    provider_customer TEXT   NOT NULL,
    label             TEXT   NOT NULL, -- Visa •••• 4242
    fingerprint       TEXT   NOT NULL, -- the same for the same card; empty: unknown
    expires           TEXT   NOT NULL, -- the last month of a card: 2027-04; empty: unknown
    added_at          BIGINT NOT NULL,
    PRIMARY KEY (customer_id, method)
);

-- Whether the method of the open setup becomes the default.
ALTER TABLE payment_methods ADD COLUMN setup_default BIGINT NOT NULL DEFAULT 0;

-- Methods that are no longer saved here and are yet to be detached at the provider.
CREATE TABLE method_detachments (
    method   TEXT   NOT NULL PRIMARY KEY,
    due_at   BIGINT NOT NULL, -- business time; while a node works on it, the end of its lease
    attempts BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX method_detachments_due ON method_detachments (due_at);

-- +goose Down
DROP TABLE method_detachments;
ALTER TABLE payment_methods DROP COLUMN setup_default;
DROP TABLE saved_methods;
DELETE FROM schema_compatibility WHERE version = 10;
