package store

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/cost"
	"github.com/dotkontor/dotkontor/internal/registrar/invoice"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

// A credit note reduces the revenue of an item once it is issued, the item has a charge and the
// refund is assigned to the item. Each of the three happens under the lock of the order's row and
// credits what the other two have made possible; the id of a credit excludes a second one.

// credits are those of one transaction.
type credits []query.MarginCredit

// add stores the credits of a refund that have not been stored.
func (c *credits) add(ctx context.Context, q *query.Queries, refund string, parts []order.RefundPart, issuedAt time.Time) error {
	for _, part := range parts {
		if part.Item == "" || part.Gross == part.VAT {
			continue
		}
		credit, err := q.InsertMarginCredit(ctx, query.InsertMarginCreditParams{
			ID: refund + "-" + part.Item, Net: int64(part.Gross - part.VAT), ItemID: part.Item,
			Month: issuedAt.In(registrar.Germany()).Format(cost.MonthFormat), CreatedAt: micros(issuedAt),
		})
		if inserted, err := found(err); err != nil {
			return err
		} else if inserted {
			*c = append(*c, credit)
		}
	}
	return nil
}

// sum adds the credits to the sums of their months, in one order, so that nodes can't deadlock.
func (c credits) sum(ctx context.Context, q *query.Queries) error {
	slices.SortFunc(c, func(a, b query.MarginCredit) int {
		return cmp.Or(cmp.Compare(a.Month, b.Month), cmp.Compare(a.Tld, b.Tld), cmp.Compare(marginShard(a.ID), marginShard(b.ID)))
	})
	for _, row := range c {
		margin := creditOf(row).Margin()
		if err := q.AddCreditToMargin(ctx, query.AddCreditToMarginParams{
			Month: row.Month, Tld: row.Tld, Shard: marginShard(row.ID), Revenue: int64(margin.Revenue), UnknownRevenue: int64(margin.UnknownRevenue),
		}); err != nil {
			return err
		}
	}
	return nil
}

// creditRevenue stores the credits of credit notes that are being issued.
func creditRevenue(ctx context.Context, q *query.Queries, drafts []invoice.Draft) error {
	var all credits
	var notes []invoice.Document
	for _, draft := range drafts {
		if note := draft.Numbered(0); note.Refund != "" {
			notes = append(notes, note)
		}
	}
	slices.SortFunc(notes, func(a, b invoice.Document) int { return cmp.Compare(a.Order, b.Order) }) // of their locks
	for _, note := range notes {
		if err := q.LockOrder(ctx, note.Order); err != nil {
			return err
		}
		refunds, err := q.ListOrderRefunds(ctx, note.Order)
		if err != nil {
			return err
		}
		for _, row := range refunds {
			if row.ID != note.Refund {
				continue
			}
			if err := all.add(ctx, q, row.ID, refundOf(row).Parts, note.IssuedAt); err != nil {
				return err
			}
		}
	}
	return all.sum(ctx, q)
}

// creditItem stores the credits of an item that was refunded before it was completed.
func creditItem(ctx context.Context, q *query.Queries, provisionItem string) error {
	notes, err := q.ListCreditNotesOfItem(ctx, provisionItem)
	if err != nil {
		return err
	}
	var all credits
	for _, note := range notes {
		if err := all.add(ctx, q, note.ID, refundOf(query.Refund{Parts: note.Parts}).Parts, fromMicros(note.IssuedAt)); err != nil {
			return err
		}
	}
	return all.sum(ctx, q)
}

// creditAssigned stores the credits of refunds whose credit note was issued before an operator
// assigned them to items.
func creditAssigned(ctx context.Context, q *query.Queries, transition order.Transition) error {
	var all credits
	for _, refund := range transition.RefundsAssigned() {
		issuedAt, issued, err := foundValue(q.GetCreditNoteTime(ctx, transition.To.ID, refund.ID))
		if err != nil {
			return err
		}
		if !issued { // otherwise when it is
			continue
		}
		if err := all.add(ctx, q, refund.ID, refund.Parts, fromMicros(issuedAt)); err != nil {
			return err
		}
	}
	return all.sum(ctx, q)
}

func creditOf(row query.MarginCredit) cost.Credit {
	return cost.Credit{ID: row.ID, TLD: row.Tld, Net: registrar.Cents(row.Net), Known: row.EurKnown != 0, At: fromMicros(row.CreatedAt)}
}

// ListMarginCredits returns a page of all credits, by id.
func (db *DB) ListMarginCredits(ctx context.Context, after string, limit int) ([]cost.Credit, error) {
	return rowsAs(creditOf)(db.read().ListMarginCredits(ctx, after, int32(limit)))
}

// ReconciliationCredits returns all credits.
func (db *DB) ReconciliationCredits(ctx context.Context) iter.Seq2[cost.Credit, error] {
	return pages(ctx, db.ListMarginCredits, func(c cost.Credit) string { return c.ID })
}
