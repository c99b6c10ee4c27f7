package store

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

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
	return a.q.DeleteUnusedLinks(ctx, customerID, string(kind))
}
