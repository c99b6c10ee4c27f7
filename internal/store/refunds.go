package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/lifecycle"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/withdrawal"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

var _ order.RefundStore = (*DB)(nil)

// refundPartJSON is the stored form of a part of a refund.
type refundPartJSON struct {
	Item   string `json:"item,omitempty"`
	Gross  int64  `json:"gross"`
	VAT    int64  `json:"vat"`
	Domain string `json:"domain,omitempty"`
	Kept   string `json:"kept,omitempty"`
}

func refundOf(row query.Refund) order.Refund {
	refund := order.Refund{
		ID: row.ID, Payment: row.PaymentID, Item: row.ItemID, Amount: registrar.Cents(row.Amount), Provider: row.Provider,
		Source: order.RefundSource(row.Source), Reason: row.Reason, Note: row.Note, By: row.DecidedBy, Notice: row.NoticeID,
		Replaces: row.Replaces, Task: order.RefundTask(row.Task), Failure: registrar.Code(row.Failure),
		CreatedAt: fromMicros(row.CreatedAt), MadeAt: fromMicros(row.MadeAt), FailedAt: fromMicros(row.FailedAt),
		SettledAt: fromMicros(row.SettledAt), SettledBy: row.SettledBy, Settlement: row.Settlement,
	}
	if refund.Source != order.BySystem {
		refund.Item = ""
	}
	for _, part := range fromJSON[[]refundPartJSON](row.Parts) {
		refund.Parts = append(refund.Parts, order.RefundPart{
			Item: part.Item, Gross: registrar.Cents(part.Gross), VAT: registrar.Cents(part.VAT), Domain: part.Domain, Kept: part.Kept,
		})
	}
	return refund
}

func refundPartsJSON(parts []order.RefundPart) string {
	if len(parts) == 0 {
		return ""
	}
	stored := make([]refundPartJSON, len(parts))
	for i, part := range parts {
		stored[i] = refundPartJSON{part.Item, int64(part.Gross), int64(part.VAT), part.Domain, part.Kept}
	}
	return jsonText(stored)
}

func putRefund(ctx context.Context, q *query.Queries, id string, refund order.Refund, known bool) error {
	if known {
		return rowOr(fmt.Errorf("store: update refund %s: not part of order %s", refund.ID, id))(q.UpdateRefund(ctx, query.UpdateRefundParams{
			Provider: refund.Provider, MadeAt: micros(refund.MadeAt), Note: refund.Note, Parts: refundPartsJSON(refund.Parts), Task: string(refund.Task),
			Failure: string(refund.Failure), FailedAt: micros(refund.FailedAt),
			SettledAt: micros(refund.SettledAt), SettledBy: refund.SettledBy, Settlement: refund.Settlement, ID: refund.ID, OrderID: id,
		}))
	}
	item := refund.Item
	if refund.Source != order.BySystem {
		item = refund.ID
	}
	return q.InsertRefund(ctx, query.InsertRefundParams{
		ID: refund.ID, OrderID: id, PaymentID: refund.Payment, ItemID: item, Amount: int64(refund.Amount),
		Provider: refund.Provider, CreatedAt: micros(refund.CreatedAt), MadeAt: micros(refund.MadeAt),
		Source: string(refund.Source), Reason: refund.Reason, Note: refund.Note, DecidedBy: refund.By, NoticeID: refund.Notice,
		Parts: refundPartsJSON(refund.Parts), Replaces: refund.Replaces, Task: string(refund.Task), Failure: string(refund.Failure), FailedAt: micros(refund.FailedAt),
	})
}

// recordRefundEffects requires that the notices of new refunds are open. With refunds whose money the
// customer has, it closes the notices of which nothing is left, and opens them again with those that the
// bank has returned; with those that were made, it stores the intent to delete domains.
func recordRefundEffects(ctx context.Context, q *query.Queries, transition order.Transition) error {
	for _, notice := range transition.NoticesReferred() {
		open, err := q.CountOpenNotice(ctx, notice)
		if err != nil {
			return err
		}
		if open == 0 {
			return registrar.Conflict(withdrawal.AlreadyHandled)
		}
	}
	for _, notice := range transition.NoticesRefunded() {
		if err := completeNotice(ctx, q, transition.To, notice); err != nil {
			return err
		}
	}
	for _, notice := range transition.NoticesReturned() {
		if err := reopenNotice(ctx, q, transition.To, notice); err != nil {
			return err
		}
	}
	for _, refund := range transition.RefundsMade() {
		for _, part := range refund.Parts {
			if part.Domain == "" {
				continue
			}
			begun, err := beginRefundedDeletion(ctx, q, part, transition)
			if err == nil && begun {
				err = insertAuditEvent(ctx, q, registrar.AuditEvent{
					Actor:  registrar.Actor{Kind: registrar.ActorSystem, Through: transition.To.ID},
					Action: lifecycle.ActionDeletionSet, Customer: transition.To.Customer, Object: transition.To.NameOf(part.Item), At: transition.To.UpdatedAt,
				})
			}
			if err != nil {
				return err
			}
		}
	}
	for _, part := range transition.DeletionsDecided() { // the transition has its event
		begun, err := beginRefundedDeletion(ctx, q, part, transition)
		if err == nil && !begun {
			err = registrar.Conflict(order.DeletionForbidden)
		}
		if err != nil {
			return err
		}
	}
	return creditAssigned(ctx, q, transition)
}

// reopenNotice opens a notice again whose refund came back, unless other refunds leave nothing of what
// it is about: the customer is still owed the money.
func reopenNotice(ctx context.Context, q *query.Queries, o order.Order, id string) error {
	complete, err := isCompleted(ctx, q, o, id)
	if err != nil || complete {
		return err
	}
	_, err = q.ReopenWithdrawalNotice(ctx, id)
	return err
}

// isCompleted reports whether the customer has all the money of what a notice is about.
func isCompleted(ctx context.Context, q *query.Queries, o order.Order, id string) (bool, error) {
	row, err := q.GetWithdrawalNotice(ctx, id)
	ok, err := found(err)
	return ok && o.Completes(noticeOf(row).Mentions()), err
}

// completeNotice closes a notice that was refunded, if nothing is left of what it is about, and with it
// the contracts: their domains no longer renew. One that an
// operator has closed meanwhile stays as it is.
func completeNotice(ctx context.Context, q *query.Queries, o order.Order, refunded order.NoticeRefunded) error {
	complete, err := isCompleted(ctx, q, o, refunded.ID)
	if err != nil || !complete {
		return err
	}
	closed, err := changed(rowsOf(q.MarkWithdrawalNoticeDone(ctx, query.MarkWithdrawalNoticeDoneParams{
		ID: refunded.ID, DoneAt: micros(o.UpdatedAt), DoneBy: refunded.By, DoneNote: refunded.Note,
	})))
	if err != nil || !closed {
		return err
	}
	return endRefundedRenewals(ctx, q, o, refunded.ID)
}

// beginRefundedDeletion stores the intent to delete a domain. It returns false if the domain was renewed,
// locked or transferred since the operator decided.
func beginRefundedDeletion(ctx context.Context, q *query.Queries, part order.RefundPart, transition order.Transition) (bool, error) {
	if _, err := found(ignoreRow(q.LockDomain(ctx, part.Domain))); err != nil {
		return false, err
	}
	deletable, err := q.ListRegisteredDomains(ctx, transition.To.ID)
	if err != nil || !slices.ContainsFunc(deletable, func(one query.ListRegisteredDomainsRow) bool { return one.DomainID == part.Domain }) {
		return false, err
	}
	now := micros(transition.To.UpdatedAt)
	_, err = q.InsertRefundedTermEnd(ctx, query.InsertRefundedTermEndParams{
		StepAt: now, DueAt: micros(transition.At), UpdatedAt: now, DomainID: part.Domain,
	})
	return err == nil, err
}

// ListRegisteredDomains returns the domains that an order registered and that can be deleted.
func (db *DB) ListRegisteredDomains(ctx context.Context, id string) ([]order.RegisteredDomain, error) {
	return rowsAs(func(row query.ListRegisteredDomainsRow) order.RegisteredDomain {
		return order.RegisteredDomain{Item: row.ItemID, Domain: row.DomainID, RegisteredAt: fromMicros(row.CreatedAt)}
	})(db.read().ListRegisteredDomains(ctx, id))
}
