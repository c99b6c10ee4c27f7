package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

// enqueueMail queues a mail in the transaction of its cause.
func enqueueMail(ctx context.Context, q *query.Queries, mail registrar.Mail, now time.Time) error {
	to, language := mail.To, mail.Language
	if to == "" || language == "" {
		account, err := q.GetMailAddress(ctx, mail.Customer)
		if err != nil {
			return fmt.Errorf("store: read mail recipient: %w", err)
		}
		if to == "" {
			to = account.Email
		}
		if language == "" {
			language = account.Language
		}
	}
	facts, err := json.Marshal(mail.Data)
	if err != nil {
		return err
	}
	return q.InsertMail(ctx, query.InsertMailParams{
		ID:         registrar.NewID("mail_", now),
		Kind:       string(mail.Kind),
		CustomerID: mail.Customer,
		Recipient:  to,
		Language:   language,
		Data:       string(facts),
		CreatedAt:  micros(now),
		DueAt:      micros(now),
	})
}
