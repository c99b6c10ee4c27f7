package store

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/lifecycle"
	"github.com/dotkontor/dotkontor/internal/registrar/mailer"
	"github.com/dotkontor/dotkontor/internal/store/query"
	"github.com/dotkontor/dotkontor/internal/store/sqldb"
)

// insertEvidence stores a notice as it was sent or abandoned, for each domain or order that it
// is about.
func insertEvidence(ctx context.Context, q *query.Queries, evidence *mailer.Evidence) error {
	mail := evidence.Mail
	subjects := registrar.NoticeSubjects(mail.Data)
	for _, subject := range subjects {
		id := mail.ID
		if len(subjects) > 1 {
			id += "." + subject.ID
		}
		if err := q.InsertSentNotice(ctx, query.InsertSentNoticeParams{
			ID: id, CustomerID: mail.Customer, DomainID: subject.ID, Name: subject.Name, TermEnd: micros(subject.TermEnd),
			Kind: string(mail.Kind), Recipient: mail.To, Subject: evidence.Subject, Body: evidence.Text, QueuedAt: micros(mail.CreatedAt),
			SentAt: micros(evidence.At), Accepted: boolToInt(evidence.Accepted), Response: evidence.Response,
		}); err != nil {
			return err
		}
	}
	return nil
}

func sentNoticeOf(row query.SentNotice) lifecycle.SentNotice {
	return lifecycle.SentNotice{
		ID: row.ID, Customer: row.CustomerID, Domain: row.DomainID, Name: row.Name, TermEnd: fromMicros(row.TermEnd), Kind: registrar.MailKind(row.Kind),
		Recipient: row.Recipient, Subject: row.Subject, Text: row.Body, QueuedAt: fromMicros(row.QueuedAt), SentAt: fromMicros(row.SentAt),
		Accepted: row.Accepted != 0, Response: row.Response,
	}
}

// ListSentNoticesOfDomain returns the notices about a domain, by term.
func (db *DB) ListSentNoticesOfDomain(ctx context.Context, domain string, limit int) ([]lifecycle.SentNotice, error) {
	return rowsAs(sentNoticeOf)(db.read().ListSentNoticesOfDomain(ctx, domain, int32(limit)))
}

// ListSentNoticesOfOrder returns the mails about an order and about the domains that it paid
// for, the oldest first. A mail about several of them, which is stored for each, is returned once.
func (db *DB) ListSentNoticesOfOrder(ctx context.Context, orderID string, limit int) ([]lifecycle.SentNotice, error) {
	notices, err := rowsAs(sentNoticeOf)(db.read().ListSentNoticesOfOrder(ctx, query.ListSentNoticesOfOrderParams{
		Payment: orderPayment + orderID, OrderID: orderID, MaxRows: int32(limit),
	}))
	return slices.CompactFunc(notices, func(a, b lifecycle.SentNotice) bool { return mailID(a) == mailID(b) }), err
}

// mailID is the id of the mail that a notice was part of; see insertEvidence.
func mailID(notice lifecycle.SentNotice) string {
	id, _, _ := strings.Cut(notice.ID, ".")
	return id
}

// lastMail is greater than the id of every mail.
const lastMail = "mail_zzzzzzzzzzzzzzzzzzzzzzzzzzz"

// ListSentNotices returns a page of a customer's notices before an id, the newest first. An
// empty id means from the newest.
func (db *DB) ListSentNotices(ctx context.Context, customer, before string, limit int) ([]lifecycle.SentNotice, error) {
	if sqldb.IsUnstorable(before) {
		return nil, nil
	}
	if before == "" {
		before = lastMail
	}
	return rowsAs(sentNoticeOf)(db.read().ListSentNotices(ctx, query.ListSentNoticesParams{CustomerID: customer, ID: before, Limit: int32(limit)}))
}

// ListUndatedReminders returns accounts without a date for their data reminder.
func (db *DB) ListUndatedReminders(ctx context.Context, limit int) ([]lifecycle.Reminder, error) {
	return rowsAs(func(row query.ListUndatedRemindersRow) lifecycle.Reminder {
		return lifecycle.Reminder{Customer: row.ID, CreatedAt: fromMicros(row.CreatedAt)}
	})(db.read().ListUndatedReminders(ctx, int32(limit)))
}

// ListDueReminders returns accounts whose data reminder is due.
func (db *DB) ListDueReminders(ctx context.Context, before time.Time, limit int) ([]lifecycle.Reminder, error) {
	return rowsAs(func(row query.ListDueDataRemindersRow) lifecycle.Reminder {
		return lifecycle.Reminder{Customer: row.ID, Last: fromMicros(row.DataReminderAt)}
	})(db.read().ListDueDataReminders(ctx, micros(before), int32(limit)))
}

// StoreReminder stores the date of a data reminder and queues its mail, if the account
// holds domains.
func (db *DB) StoreReminder(ctx context.Context, was lifecycle.Reminder, at time.Time, mail *registrar.Mail, clock time.Time) (bool, error) {
	return db.swap(ctx, func(q *query.Queries) error {
		if err := swapped(q.SetDataReminder(ctx, query.SetDataReminderParams{Now: micros(at), ID: was.Customer, Was: micros(was.Last)})); err != nil || mail == nil {
			return err
		}
		domains, err := q.CountRemindableDomains(ctx, was.Customer)
		if err != nil || domains == 0 {
			return err
		}
		return enqueueMail(ctx, q, *mail, clock)
	})
}
