package store

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/withdrawal"
	"github.com/dotkontor/dotkontor/internal/store/query"
	"github.com/dotkontor/dotkontor/internal/store/sqldb"
)

var _ withdrawal.Store = (*DB)(nil)

// AddWithdrawalNotice stores a notice with its mails.
func (db *DB) AddWithdrawalNotice(ctx context.Context, notice withdrawal.Notice, mails []registrar.Mail) error {
	return db.write(ctx, func(q *query.Queries) error {
		err := q.InsertWithdrawalNotice(ctx, query.InsertWithdrawalNoticeParams{
			ID: notice.ID, Kind: string(notice.Kind), Name: notice.Name, Email: notice.Email, Contract: notice.Contract,
			Ground: string(notice.Ground), Reason: notice.Reason, EndDay: notice.End, Language: notice.Language,
			CreatedAt: micros(notice.At),
		})
		if err != nil {
			return fmt.Errorf("store: add withdrawal notice: %w", err)
		}
		return queueMails(ctx, q, mails, notice.At)
	})
}

func noticeOf(row query.WithdrawalNotice) withdrawal.Notice {
	return withdrawal.Notice{
		ID: row.ID, Kind: withdrawal.Kind(row.Kind), Name: row.Name, Email: row.Email, Contract: row.Contract,
		Ground: withdrawal.Ground(row.Ground), Reason: row.Reason, End: row.EndDay, Language: row.Language,
		At: fromMicros(row.CreatedAt), DoneAt: fromMicros(row.DoneAt), DoneBy: row.DoneBy, DoneNote: row.DoneNote,
	}
}

// ListWithdrawalNotices returns a page of notices after an id, the oldest first.
func (db *DB) ListWithdrawalNotices(ctx context.Context, after string, limit int) ([]withdrawal.Notice, error) {
	if sqldb.IsUnstorable(after) {
		return nil, nil
	}
	return rowsAs(noticeOf)(db.read().ListWithdrawalNotices(ctx, after, int32(limit)))
}

// GetWithdrawalNotice returns a notice.
func (db *DB) GetWithdrawalNotice(ctx context.Context, id string) (withdrawal.Notice, bool, error) {
	if sqldb.IsUnstorable(id) {
		return withdrawal.Notice{}, false, nil
	}
	return rowAs(noticeOf)(db.read().GetWithdrawalNotice(ctx, id))
}

// ListOpenWithdrawalNotices returns open notices, the oldest first.
func (db *DB) ListOpenWithdrawalNotices(ctx context.Context, limit int) ([]withdrawal.Notice, error) {
	return rowsAs(noticeOf)(db.read().ListOpenWithdrawalNotices(ctx, int32(limit)))
}

// lastNotice sorts after every id of a notice.
const lastNotice = "dcl_zzzzzzzzzzzzzzzzzzzzzzzzzzz"

// ListHandledWithdrawalNotices returns a page of handled notices, the newest first.
func (db *DB) ListHandledWithdrawalNotices(ctx context.Context, before string, limit int) ([]withdrawal.Notice, error) {
	if sqldb.IsUnstorable(before) {
		return nil, nil
	}
	return rowsAs(noticeOf)(db.read().ListHandledWithdrawalNotices(ctx, cmp.Or(before, lastNotice), int32(limit)))
}

// CountOpenWithdrawalNotices counts open notices, up to 1000.
func (db *DB) CountOpenWithdrawalNotices(ctx context.Context) (int, error) {
	count, err := db.read().CountOpenWithdrawalNotices(ctx)
	return int(count), err
}

// ListRelatedOrders returns the order with a number, or the newest paid orders for a domain.
func (db *DB) ListRelatedOrders(ctx context.Context, mention string, limit int) ([]withdrawal.RelatedOrder, error) {
	if strings.HasPrefix(mention, orderPrefix) {
		o, ok, err := db.OrderByID(ctx, mention)
		if !ok {
			return nil, err
		}
		related := withdrawal.RelatedOrder{ID: o.ID, Customer: o.Customer, PaidAt: o.PaidAt, ConsentAt: o.Consent.At, ConsentVersion: o.Consent.Wording}
		if len(o.Items) > 0 {
			related.Name = o.Items[0].Name
		}
		return []withdrawal.RelatedOrder{related}, nil
	}
	return rowsAs(relatedOrderOf)(db.read().ListPaidOrdersByName(ctx, mention, int32(limit)))
}

func relatedOrderOf(row query.ListPaidOrdersByNameRow) withdrawal.RelatedOrder {
	return withdrawal.RelatedOrder{
		ID: row.ID, Customer: row.CustomerID, Name: row.Name, PaidAt: fromMicros(row.PaidAt), ConsentAt: fromMicros(row.ConsentAt), ConsentVersion: row.ConsentWording,
	}
}

// MarkWithdrawalNoticeDone closes an open notice, with its audit event.
func (db *DB) MarkWithdrawalNoticeDone(ctx context.Context, notice withdrawal.Notice, event registrar.AuditEvent) (bool, error) {
	return db.swap(ctx, func(q *query.Queries) error {
		if err := swapped(q.MarkWithdrawalNoticeDone(ctx, query.MarkWithdrawalNoticeDoneParams{
			ID: notice.ID, DoneAt: micros(notice.DoneAt), DoneBy: notice.DoneBy, DoneNote: notice.DoneNote,
		})); err != nil {
			return err
		}
		return insertAuditEvent(ctx, q, event)
	})
}
