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

// ListDueMails returns letters whose time has come, the longest overdue first.
// Other nodes see the same ones; ClaimLetter decides whose each is.
func (db *DB) ListDueMails(ctx context.Context, now time.Time, limit int) ([]mailer.QueuedMail, error) {
	rows, err := db.read().ListDueMails(ctx, query.ListDueMailsParams{DueAt: micros(now), Limit: int32(limit)})
	if err != nil {
		return nil, fmt.Errorf("due letters: %w", err)
	}
	due := make([]mailer.QueuedMail, 0, len(rows))
	for _, row := range rows {
		mail := mailer.QueuedMail{
			ID: row.ID, Kind: registrar.MailKind(row.Kind), Customer: row.CustomerID, To: row.Recipient,
			Language: row.Language, CreatedAt: fromMicros(row.CreatedAt), DueAt: fromMicros(row.DueAt), Attempts: int(row.Attempts),
		}
		if err := json.Unmarshal([]byte(row.Data), &mail.Data); err != nil {
			return nil, fmt.Errorf("the facts of letter %s: %w", row.ID, err)
		}
		due = append(due, mail)
	}
	return due, nil
}

// ClaimMail takes a letter until the lease ends. It is false if another node
// was faster.
func (db *DB) ClaimMail(ctx context.Context, id string, wasDue, lease time.Time) (bool, error) {
	var taken int64
	err := db.write(ctx, func(q *query.Queries) (err error) {
		taken, err = q.ClaimMail(ctx, query.ClaimMailParams{ID: id, WasDue: micros(wasDue), Lease: micros(lease), Node: db.node})
		return err
	})
	return taken == 1, err
}

// StoreLink stores the hash of a link that is about to be sent, and voids what
// the customer has of its kind. It is false if the letter is gone: whoever voids
// links drops the letters that would make another one, and the update keeps the
// two from passing each other.
func (db *DB) StoreLink(ctx context.Context, id string, lease time.Time, link mailer.Link) (bool, error) {
	var ours int64
	err := db.write(ctx, func(q *query.Queries) (err error) {
		ours, err = q.LockMail(ctx, query.LockMailParams{ID: id, Lease: micros(lease)})
		if err != nil || ours == 0 {
			return err
		}
		err = q.DeleteUnusedLinks(ctx, query.DeleteUnusedLinksParams{CustomerID: link.Customer, Kind: string(link.Kind)})
		if err != nil {
			return fmt.Errorf("former links: %w", err)
		}
		return q.InsertMailedLink(ctx, query.InsertMailedLinkParams{
			Hash: string(link.Hash), Kind: string(link.Kind), CustomerID: link.Customer,
			Email: link.Email, ExpiresAt: micros(link.ExpiresAt),
		})
	})
	return ours == 1, err
}

// PostponeMail gives a claimed letter another time. If the lease ran out and
// another node has the letter, nothing happens.
func (db *DB) PostponeMail(ctx context.Context, id string, lease, due time.Time) error {
	return db.write(ctx, func(q *query.Queries) error {
		return q.PostponeMail(ctx, query.PostponeMailParams{ID: id, Lease: micros(lease), Due: micros(due)})
	})
}

// DeleteMail forgets a letter that was sent or given up.
func (db *DB) DeleteMail(ctx context.Context, id string) error {
	return db.write(ctx, func(q *query.Queries) error { return q.DeleteMail(ctx, id) })
}
