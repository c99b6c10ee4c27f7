package store

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/customer"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

func foundCeremony(row query.Ceremony, err error) (customer.PendingCeremony, bool, error) {
	ok, err := found(err)
	return customer.PendingCeremony{
		Kind: customer.CeremonyKind(row.Kind), Customer: row.CustomerID, Data: row.Data, ExpiresAt: fromMicros(row.ExpiresAt),
	}, ok, err
}

func (a accounts) Ceremony(ctx context.Context, hash string, kind customer.CeremonyKind, now time.Time) (customer.PendingCeremony, bool, error) {
	return foundCeremony(a.q.CeremonyByHash(ctx, query.CeremonyByHashParams{Hash: hash, Kind: string(kind), ExpiresAt: micros(now)}))
}

func (a accounts) TakeCeremony(ctx context.Context, hash string, kind customer.CeremonyKind, now time.Time) (customer.PendingCeremony, bool, error) {
	return foundCeremony(a.q.TakeCeremony(ctx, query.TakeCeremonyParams{Hash: hash, Kind: string(kind), ExpiresAt: micros(now)}))
}

func (a accounts) PutCeremony(ctx context.Context, hash string, c customer.PendingCeremony) error {
	return a.q.PutCeremony(ctx, query.PutCeremonyParams{
		Hash: hash, Kind: string(c.Kind), CustomerID: c.Customer, Data: c.Data, ExpiresAt: micros(c.ExpiresAt),
	})
}
