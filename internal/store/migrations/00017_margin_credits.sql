-- +goose Up
INSERT INTO schema_compatibility (version, compatible_from) VALUES (17, 1);

-- What credit notes take back from the revenue in margin_months: one row per refund and order
-- item whose revenue was counted. Rows never change.
CREATE TABLE margin_credits (
    id         TEXT   NOT NULL PRIMARY KEY, -- the refund's and the order item's
    tld        TEXT   NOT NULL,
    net        BIGINT NOT NULL, -- cents, above zero
    eur_known  BIGINT NOT NULL, -- that of the item's charge
    month      TEXT   NOT NULL, -- in which the credit note was issued, in Germany, 2026-11
    created_at BIGINT NOT NULL  -- when it was issued
);

-- +goose Down
DROP TABLE margin_credits;
DELETE FROM schema_compatibility WHERE version = 17;
