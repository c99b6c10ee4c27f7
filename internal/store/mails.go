package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

// recordLetter stores a letter in the transaction of its cause.
func recordLetter(ctx context.Context, q *query.Queries, letter registrar.Letter, now time.Time) error {
	to, language := letter.To, letter.Language
	if to == "" || language == "" {
		account, err := q.MailAddressOfCustomer(ctx, letter.Customer)
		if err != nil {
			return fmt.Errorf("the recipient of a letter: %w", err)
		}
		if to == "" {
			to = account.Email
		}
		if language == "" {
			language = account.Language
		}
	}
	facts, err := json.Marshal(letter.Facts)
	if err != nil {
		return err
	}
	return q.InsertMail(ctx, query.InsertMailParams{
		ID:         registrar.NewID("mail_", now),
		Kind:       string(letter.Kind),
		CustomerID: letter.Customer,
		Recipient:  to,
		Language:   language,
		Data:       string(facts),
		CreatedAt:  micros(now),
		DueAt:      micros(now),
	})
}
