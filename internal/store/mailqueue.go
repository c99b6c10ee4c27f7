package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/mailer"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

var _ mailer.Store = (*DB)(nil)

// ListDueMails returns due mails, the longest overdue first. Other nodes see the same
// ones; ClaimMail decides which node sends each.
func (db *DB) ListDueMails(ctx context.Context, now time.Time, limit int) ([]mailer.QueuedMail, error) {
	rows, err := db.read().ListDueMails(ctx, micros(now), int32(limit))
	if err != nil {
		return nil, fmt.Errorf("store: list due mails: %w", err)
	}
	due := make([]mailer.QueuedMail, 0, len(rows))
	for _, row := range rows {
		mail := mailer.QueuedMail{
			ID: row.ID, Kind: registrar.MailKind(row.Kind), Customer: row.CustomerID, To: row.Recipient,
			Language: row.Language, CreatedAt: fromMicros(row.CreatedAt), DueAt: fromMicros(row.DueAt), Attempts: int(row.Attempts),
		}
		if err := json.Unmarshal([]byte(row.Data), &mail.Data); err != nil {
			return nil, fmt.Errorf("store: decode data of mail %s: %w", row.ID, err)
		}
		due = append(due, mail)
	}
	return due, nil
}

// ClaimMail leases a mail. It returns false if another node has claimed it.
func (db *DB) ClaimMail(ctx context.Context, id string, wasDue, lease time.Time) (bool, error) {
	var taken int64
	err := db.write(ctx, func(q *query.Queries) (err error) {
		taken, err = q.ClaimMail(ctx, query.ClaimMailParams{ID: id, WasDue: micros(wasDue), Lease: micros(lease), Node: db.node})
		return err
	})
	return taken == 1, err
}

// StoreLink stores the hash of a link that is about to be sent, and deletes the customer's
// unused links of its kind. It returns false if the mail is gone: invalidating links also
// deletes queued mails that would create one, and the update of the mail's row serialises
// the two.
func (db *DB) StoreLink(ctx context.Context, id string, lease time.Time, link mailer.Link) (bool, error) {
	var ours int64
	err := db.write(ctx, func(q *query.Queries) (err error) {
		ours, err = q.LockMail(ctx, micros(lease), id)
		if err != nil || ours == 0 {
			return err
		}
		err = q.DeleteUnusedLinks(ctx, link.Customer, string(link.Kind))
		if err != nil {
			return fmt.Errorf("store: delete former links: %w", err)
		}
		return q.InsertMailedLink(ctx, query.InsertMailedLinkParams{
			Hash: string(link.Hash), Kind: string(link.Kind), CustomerID: link.Customer,
			Email: link.Email, ExpiresAt: micros(link.ExpiresAt),
		})
	})
	return ours == 1, err
}

// PostponeMail reschedules a claimed mail. It does nothing if the lease has ended and
// another node has claimed the mail.
func (db *DB) PostponeMail(ctx context.Context, id string, lease, due time.Time) error {
	return db.write(ctx, func(q *query.Queries) error {
		return q.PostponeMail(ctx, query.PostponeMailParams{ID: id, Lease: micros(lease), Due: micros(due)})
	})
}

// DeleteMail deletes a mail that was sent or abandoned.
func (db *DB) DeleteMail(ctx context.Context, id string) error {
	return db.write(ctx, func(q *query.Queries) error { return q.DeleteMail(ctx, id) })
}
