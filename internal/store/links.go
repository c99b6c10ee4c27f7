package store

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/customer"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

func foundLink(row query.Link, err error) (customer.Link, bool, error) {
	ok, err := found(err)
	return customer.Link{Customer: row.CustomerID, Email: row.Email, ExpiresAt: fromMicros(row.ExpiresAt)}, ok, err
}

func (a accounts) Link(ctx context.Context, hash registrar.SecretHash, kind customer.LinkKind, now time.Time) (customer.Link, bool, error) {
	return foundLink(a.q.LinkByHash(ctx, query.LinkByHashParams{Hash: string(hash), Kind: string(kind), ExpiresAt: micros(now)}))
}

func (a accounts) UseLink(ctx context.Context, hash registrar.SecretHash, kind customer.LinkKind, now time.Time) (customer.Link, bool, error) {
	return foundLink(a.q.UseLink(ctx, query.UseLinkParams{UsedAt: micros(now), Hash: string(hash), Kind: string(kind)}))
}

func (a accounts) InsertLink(ctx context.Context, hash registrar.SecretHash, kind customer.LinkKind, link customer.Link) error {
	if err := a.VoidLinks(ctx, link.Customer, kind); err != nil {
		return err
	}
	return a.q.InsertLink(ctx, query.InsertLinkParams{
		Hash: string(hash), Kind: string(kind), CustomerID: link.Customer, Email: link.Email, ExpiresAt: micros(link.ExpiresAt),
	})
}

// VoidLinks also drops the letters that would make such a link when they are
// sent: a letter may wait for its mail server for hours.
func (a accounts) VoidLinks(ctx context.Context, customerID string, kind customer.LinkKind) error {
	if err := a.q.DeleteUnsentLetters(ctx, query.DeleteUnsentLettersParams{CustomerID: customerID, Kind: string(kind)}); err != nil {
		return err
	}
	return a.q.VoidLinks(ctx, query.VoidLinksParams{CustomerID: customerID, Kind: string(kind)})
}
