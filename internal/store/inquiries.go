package store

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/inquiry"
	"github.com/dotkontor/dotkontor/internal/store/query"
	"github.com/dotkontor/dotkontor/internal/store/sqldb"
)

var _ inquiry.Store = (*DB)(nil)

// AddInquiry stores an inquiry with its mails, or returns the stored one with its digest.
func (db *DB) AddInquiry(ctx context.Context, one inquiry.Inquiry, mails []registrar.Mail, clock time.Time) (stored inquiry.Inquiry, added bool, err error) {
	err = db.write(ctx, func(q *query.Queries) error {
		rows, err := q.InsertInquiry(ctx, query.InsertInquiryParams{
			ID: one.ID, CustomerID: one.Customer, Name: one.Name, Email: one.Email, Topic: string(one.Topic), About: one.About,
			Message: one.Message, Language: one.Language, Digest: one.Digest, CreatedAt: micros(one.At),
		})
		if err != nil {
			return fmt.Errorf("store: add inquiry: %w", err)
		}
		if stored, added = one, rows > 0; added {
			return queueMails(ctx, q, mails, clock)
		}
		row, err := q.GetInquiryByDigest(ctx, one.Digest)
		stored = inquiryOf(row)
		return err
	})
	return stored, added, err
}

func inquiryOf(row query.Inquiry) inquiry.Inquiry {
	return inquiry.Inquiry{
		ID: row.ID, Customer: row.CustomerID, Name: row.Name, Email: row.Email, Topic: inquiry.Topic(row.Topic), About: row.About,
		Message: row.Message, Language: row.Language, Digest: row.Digest, At: fromMicros(row.CreatedAt), DoneAt: fromMicros(row.DoneAt),
		DoneBy: row.DoneBy, DoneNote: row.DoneNote,
	}
}

// GetInquiry returns an inquiry.
func (db *DB) GetInquiry(ctx context.Context, id string) (inquiry.Inquiry, bool, error) {
	if sqldb.IsUnstorable(id) {
		return inquiry.Inquiry{}, false, nil
	}
	return rowAs(inquiryOf)(db.read().GetInquiry(ctx, id))
}

// ListOpenInquiries returns a page of open inquiries after an id, the oldest first.
func (db *DB) ListOpenInquiries(ctx context.Context, after string, limit int) ([]inquiry.Inquiry, error) {
	if sqldb.IsUnstorable(after) {
		return nil, nil
	}
	return rowsAs(inquiryOf)(db.read().ListOpenInquiries(ctx, after, int32(limit)))
}

// lastInquiry sorts after every id of an inquiry.
const lastInquiry = "inq_zzzzzzzzzzzzzzzzzzzzzzzzzzz"

// ListHandledInquiries returns a page of handled inquiries, the newest first.
func (db *DB) ListHandledInquiries(ctx context.Context, before string, limit int) ([]inquiry.Inquiry, error) {
	if sqldb.IsUnstorable(before) {
		return nil, nil
	}
	return rowsAs(inquiryOf)(db.read().ListHandledInquiries(ctx, cmp.Or(before, lastInquiry), int32(limit)))
}

// CountOpenInquiries counts open inquiries, up to 1000.
func (db *DB) CountOpenInquiries(ctx context.Context) (int, error) {
	count, err := db.read().CountOpenInquiries(ctx)
	return int(count), err
}

// MarkInquiryDone closes an open inquiry, with its audit event.
func (db *DB) MarkInquiryDone(ctx context.Context, one inquiry.Inquiry, event registrar.AuditEvent) (bool, error) {
	return db.swap(ctx, func(q *query.Queries) error {
		if err := swapped(q.MarkInquiryDone(ctx, query.MarkInquiryDoneParams{
			ID: one.ID, DoneAt: micros(one.DoneAt), DoneBy: one.DoneBy, DoneNote: one.DoneNote,
		})); err != nil {
			return err
		}
		return insertAuditEvent(ctx, q, event)
	})
}

// DeleteHandledInquiries deletes a batch of inquiries that were handled before a time.
func (db *DB) DeleteHandledInquiries(ctx context.Context, before time.Time, limit int) (int, error) {
	deleted, err := db.single().DeleteHandledInquiries(ctx, micros(before), int32(limit))
	return int(deleted), err
}
