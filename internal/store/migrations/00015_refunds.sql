-- +goose Up
INSERT INTO schema_compatibility (version, compatible_from) VALUES (15, 1);

-- Refunds by operators, and those made at the payment provider. Their item_id is their own id,
-- because a refund without an item is that of an unmatched payment, and an item has one by the
-- service itself.
ALTER TABLE refunds ADD COLUMN source TEXT NOT NULL DEFAULT ''; -- operator, provider; empty: the service
ALTER TABLE refunds ADD COLUMN reason TEXT NOT NULL DEFAULT ''; -- package order has the operators' reasons
ALTER TABLE refunds ADD COLUMN note TEXT NOT NULL DEFAULT '';
ALTER TABLE refunds ADD COLUMN decided_by TEXT NOT NULL DEFAULT ''; -- the operator's account, or the user at the command line
ALTER TABLE refunds ADD COLUMN notice_id TEXT NOT NULL DEFAULT ''; -- the withdrawal notice that it completes
ALTER TABLE refunds ADD COLUMN parts TEXT NOT NULL DEFAULT ''; -- JSON: the amounts by item; empty: the whole item, or an unmatched payment
ALTER TABLE refunds ADD COLUMN replaces TEXT NOT NULL DEFAULT ''; -- the returned refund that it pays again
ALTER TABLE refunds ADD COLUMN task TEXT NOT NULL DEFAULT ''; -- what an operator has to do: assign, returned, refused; empty: nothing
ALTER TABLE refunds ADD COLUMN failure TEXT NOT NULL DEFAULT ''; -- a code: the provider refused it or, if it has the provider's id, the bank returned the money
ALTER TABLE refunds ADD COLUMN failed_at BIGINT NOT NULL DEFAULT 0;
CREATE INDEX refunds_task ON refunds (id) WHERE task <> '';

ALTER TABLE orders ADD COLUMN refund_count BIGINT NOT NULL DEFAULT 0; -- 0: refunds are read only if an item failed or a payment was unmatched

ALTER TABLE term_ends ADD COLUMN cause TEXT NOT NULL DEFAULT ''; -- refund: the domain is deleted because its registration was refunded; empty: it was not paid

-- +goose Down
ALTER TABLE term_ends DROP COLUMN cause;
ALTER TABLE orders DROP COLUMN refund_count;
DROP INDEX refunds_task;
ALTER TABLE refunds DROP COLUMN failed_at;
ALTER TABLE refunds DROP COLUMN failure;
ALTER TABLE refunds DROP COLUMN task;
ALTER TABLE refunds DROP COLUMN replaces;
ALTER TABLE refunds DROP COLUMN parts;
ALTER TABLE refunds DROP COLUMN notice_id;
ALTER TABLE refunds DROP COLUMN decided_by;
ALTER TABLE refunds DROP COLUMN note;
ALTER TABLE refunds DROP COLUMN reason;
ALTER TABLE refunds DROP COLUMN source;
DELETE FROM schema_compatibility WHERE version = 15;
