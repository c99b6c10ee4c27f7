package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/mailer"
	"github.com/dotkontor/dotkontor/internal/store/query"
	"github.com/dotkontor/dotkontor/internal/store/sqldb"
)

var _ mailer.Store = (*DB)(nil)

// enqueueMail queues a mail in the transaction of its cause.
func enqueueMail(ctx context.Context, q *query.Queries, mail registrar.Mail, now time.Time) error {
	if merged := mail.Merged; merged != nil {
		replaced, err := q.ReplaceQueuedMail(ctx, query.ReplaceQueuedMailParams{
			ID: merged.ID, Kind: string(merged.Kind), Data: jsonText(merged.Data), Due: micros(now.Add(merged.Delay)),
		})
		if err != nil || replaced > 0 {
			return err
		}
	}
	if mail.Join != "" && mail.Join == mail.ID {
		return startOrJoinMail(ctx, q, mail, now)
	}
	if mail.Join != "" {
		if joined, err := joinQueuedMail(ctx, q, mail, now); err != nil || joined {
			return err
		}
	}
	return insertMail(ctx, q, mail, now)
}

// maxJoinAttempts limits the mails that follow a full or sent one.
const maxJoinAttempts = 10

// startOrJoinMail queues a mail under its ID, or makes it a line of the mail that another
// transaction has queued under it. If that one is full or being sent, the mail with the next
// number takes its place.
func startOrJoinMail(ctx context.Context, q *query.Queries, mail registrar.Mail, now time.Time) error {
	first := mail.ID
	for n := range maxJoinAttempts {
		if n > 0 {
			mail.Join = first + "-" + strconv.Itoa(n+1)
			mail.ID = mail.Join
		}
		for range 2 { // the second time, it joins what another transaction inserted meanwhile
			if joined, err := joinQueuedMail(ctx, q, mail, now); err != nil || joined {
				return err
			}
			if inserted, err := changed(rowsOf(insertCustomerMail(ctx, q, mail, now))); err != nil || inserted {
				return err
			}
		}
	}
	mail.ID = ""
	return insertMail(ctx, q, mail, now)
}

// insertCustomerMail inserts no row if there is a mail with this ID, or no such customer.
func insertCustomerMail(ctx context.Context, q *query.Queries, mail registrar.Mail, now time.Time) (sql.Result, error) {
	return q.InsertCustomerMail(ctx, query.InsertCustomerMailParams{
		ID: cmp.Or(mail.ID, registrar.NewID("mail_", now)), Kind: string(mail.Kind), CustomerID: mail.Customer, Recipient: mail.To, Language: mail.Language,
		Data: jsonText(mail.Data), Now: micros(now), Due: micros(now.Add(mail.Delay)),
	})
}

func insertMail(ctx context.Context, q *query.Queries, mail registrar.Mail, now time.Time) error {
	id, due := cmp.Or(mail.ID, registrar.NewID("mail_", now)), now.Add(mail.Delay)
	if mail.To == "" || mail.Language == "" {
		return rowOr(fmt.Errorf("store: queue mail: no customer %s", mail.Customer))(insertCustomerMail(ctx, q, mail, now))
	}
	return q.InsertMail(ctx, query.InsertMailParams{
		ID: id, Kind: string(mail.Kind), CustomerID: mail.Customer, Recipient: mail.To, Language: mail.Language,
		Data: jsonText(mail.Data), CreatedAt: micros(now), DueAt: micros(due),
	})
}

// joinQueuedMail makes a mail a line of a queued one. It returns false if there is none that
// it can join.
func joinQueuedMail(ctx context.Context, q *query.Queries, mail registrar.Mail, now time.Time) (bool, error) {
	row, err := q.LockQueuedMail(ctx, mail.Join, string(mail.Kind))
	if ok, err := found(err); !ok {
		return false, err
	}
	var queued map[string]string
	if err := json.Unmarshal([]byte(row), &queued); err != nil {
		return false, fmt.Errorf("store: decode data of mail %s: %w", mail.Join, err)
	}
	data, ok := registrar.JoinMails(queued, mail.Data)
	if !ok {
		return false, nil
	}
	return changed(q.ReplaceQueuedMail(ctx, query.ReplaceQueuedMailParams{
		ID: mail.Join, Kind: string(mail.Kind), Data: jsonText(data), Due: micros(now.Add(mail.Delay)),
	}))
}

func queueMails(ctx context.Context, q *query.Queries, mails []registrar.Mail, now time.Time) error {
	for _, mail := range mails {
		if err := enqueueMail(ctx, q, mail, now); err != nil {
			return err
		}
	}
	return nil
}

// ClaimDueMails leases due mails, the longest overdue first. Mails that another node is
// claiming are skipped.
func (db *DB) ClaimDueMails(ctx context.Context, now, lease time.Time, limit int) (claimed []mailer.QueuedMail, err error) {
	err = db.sql.WriteOne(ctx, func(tx sqldb.DBTX) (err error) {
		claimed, err = decodeRows(queuedMailOf)(query.New(tx).ClaimDueMails(ctx, query.ClaimDueMailsParams{
			Now: micros(now), Lease: micros(lease), Node: db.node, MaxRows: int32(limit),
		}))
		return err
	})
	return claimed, err
}

func queuedMailOf(row query.ClaimDueMailsRow) (mailer.QueuedMail, error) {
	mail := mailer.QueuedMail{
		ID: row.ID, Kind: registrar.MailKind(row.Kind), Customer: row.CustomerID, To: row.Recipient,
		Language: row.Language, CreatedAt: fromMicros(row.CreatedAt), DueAt: fromMicros(row.DueAt), Attempts: int(row.Attempts),
		NoPassword: row.NoPassword,
	}
	if err := json.Unmarshal([]byte(row.Data), &mail.Data); err != nil {
		return mail, fmt.Errorf("store: decode data of mail %s: %w", row.ID, err)
	}
	return mail, nil
}

// StoreLink replaces the customer's unused links of a kind. It returns false if the mail is
// gone: invalidating links also deletes queued mails, and the mail's row serialises the two.
func (db *DB) StoreLink(ctx context.Context, id string, lease time.Time, link mailer.Link) (bool, error) {
	return db.swap(ctx, func(q *query.Queries) error {
		replaces, err := q.InsertMailedLink(ctx, query.InsertMailedLinkParams{
			Hash: string(link.Hash), Kind: string(link.Kind), CustomerID: link.Customer,
			Email: link.Email, ExpiresAt: micros(link.ExpiresAt), MailID: id, Lease: micros(lease),
		})
		if stored, err := found(err); !stored {
			return cmp.Or(err, errConflict)
		}
		if replaces == 0 || link.Kind == registrar.MailContactCheck { // each of its mails may be the one that is read
			return nil
		}
		return q.DeleteUnusedLinks(ctx, query.DeleteUnusedLinksParams{CustomerID: link.Customer, Kind: string(link.Kind), NewHash: string(link.Hash)})
	})
}

// PostponeMail reschedules a claimed mail, unless another node has claimed it since.
func (db *DB) PostponeMail(ctx context.Context, id string, lease, due time.Time) error {
	return db.single().PostponeMail(ctx, query.PostponeMailParams{ID: id, Lease: micros(lease), Due: micros(due)})
}

// DeleteMail deletes a mail that was sent or abandoned, and stores its evidence.
func (db *DB) DeleteMail(ctx context.Context, id string, evidence *mailer.Evidence) error {
	if evidence == nil {
		return db.single().DeleteMail(ctx, id)
	}
	return db.write(ctx, func(q *query.Queries) error {
		if err := q.DeleteMail(ctx, id); err != nil {
			return err
		}
		return insertEvidence(ctx, q, evidence)
	})
}

func linkOf(row query.Link) account.Link {
	return account.Link{Customer: row.CustomerID, Email: row.Email, ExpiresAt: fromMicros(row.ExpiresAt)}
}

func (a accounts) GetLink(ctx context.Context, hash registrar.SecretHash, kind account.LinkKind, now time.Time) (account.Link, bool, error) {
	return rowAs(linkOf)(a.q.GetLink(ctx, query.GetLinkParams{Hash: string(hash), Kind: string(kind), ExpiresAt: micros(now)}))
}

func (a accounts) UseLink(ctx context.Context, hash registrar.SecretHash, kind account.LinkKind, now time.Time) (account.Link, bool, error) {
	return rowAs(linkOf)(a.q.UseLink(ctx, query.UseLinkParams{UsedAt: micros(now), Hash: string(hash), Kind: string(kind)}))
}

func (a accounts) InsertLink(ctx context.Context, hash registrar.SecretHash, kind account.LinkKind, link account.Link) error {
	if err := a.DeleteUnusedLinks(ctx, link.Customer, kind); err != nil {
		return err
	}
	return a.q.InsertLink(ctx, query.InsertLinkParams{
		Hash: string(hash), Kind: string(kind), CustomerID: link.Customer, Email: link.Email, ExpiresAt: micros(link.ExpiresAt),
	})
}

// DeleteUnusedLinks also deletes queued mails that would create such a link when sent.
func (a accounts) DeleteUnusedLinks(ctx context.Context, customerID string, kind account.LinkKind) error {
	if err := a.q.DeleteUnsentMails(ctx, customerID, string(kind)); err != nil {
		return err
	}
	return a.q.DeleteUnusedLinks(ctx, query.DeleteUnusedLinksParams{CustomerID: customerID, Kind: string(kind)})
}
