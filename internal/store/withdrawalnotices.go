package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/withdrawal"
	"github.com/dotkontor/dotkontor/internal/store/query"
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
		for _, mail := range mails {
			if err := enqueueMail(ctx, q, mail, notice.At); err != nil {
				return err
			}
		}
		return nil
	})
}

// ListWithdrawalNotices returns a page of notices after an id, the oldest first.
func (db *DB) ListWithdrawalNotices(ctx context.Context, after string, limit int) ([]withdrawal.Notice, error) {
	if isUnstorableText(after) {
		return nil, nil
	}
	rows, err := db.read().ListWithdrawalNotices(ctx, after, int32(limit))
	list := make([]withdrawal.Notice, 0, len(rows))
	for _, row := range rows {
		list = append(list, withdrawal.Notice{
			ID: row.ID, Kind: withdrawal.Kind(row.Kind), Name: row.Name, Email: row.Email, Contract: row.Contract,
			Ground: withdrawal.Ground(row.Ground), Reason: row.Reason, End: row.EndDay, Language: row.Language,
			At: fromMicros(row.CreatedAt), DoneAt: fromMicros(row.DoneAt),
		})
	}
	return list, err
}

// ListRelatedOrders returns the order with a number, or the newest paid orders for a domain.
func (db *DB) ListRelatedOrders(ctx context.Context, mention string, limit int) ([]withdrawal.RelatedOrder, error) {
	if isUnstorableText(mention) {
		return nil, nil
	}
	if strings.HasPrefix(mention, orderPrefix) {
		row, err := db.read().GetOrder(ctx, mention)
		if ok, err := found(err); !ok {
			return nil, err
		}
		return []withdrawal.RelatedOrder{{
			ID: row.ID, PaidAt: fromMicros(row.PaidAt), ConsentAt: fromMicros(row.ConsentAt), ConsentVersion: row.ConsentWording,
		}}, nil
	}
	rows, err := db.read().ListPaidOrdersByName(ctx, mention, int32(limit))
	orders := make([]withdrawal.RelatedOrder, 0, len(rows))
	for _, row := range rows {
		orders = append(orders, withdrawal.RelatedOrder{
			ID: row.ID, PaidAt: fromMicros(row.PaidAt), ConsentAt: fromMicros(row.ConsentAt), ConsentVersion: row.ConsentWording,
		})
	}
	return orders, err
}

// MarkWithdrawalNoticeDone marks a notice as handled.
func (db *DB) MarkWithdrawalNoticeDone(ctx context.Context, id string, at time.Time) (bool, error) {
	if isUnstorableText(id) {
		return false, nil
	}
	var done int64
	err := db.write(ctx, func(q *query.Queries) (err error) {
		done, err = q.MarkWithdrawalNoticeDone(ctx, micros(at), id)
		return err
	})
	return done == 1, err
}
