package store

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

func (a accounts) ListPasskeys(ctx context.Context, id string) ([]account.StoredPasskey, error) {
	rows, err := a.q.ListPasskeys(ctx, id)
	list := make([]account.StoredPasskey, 0, len(rows))
	for _, row := range rows {
		list = append(list, account.StoredPasskey{
			Passkey: account.Passkey{
				ID: row.ID, Name: row.Name, CreatedAt: fromMicros(row.CreatedAt), LastUsedAt: fromMicros(row.LastUsedAt),
			},
			Customer: row.CustomerID, CredentialID: row.CredentialID, Credential: row.Credential,
		})
	}
	return list, err
}

func (a accounts) InsertPasskey(ctx context.Context, p account.StoredPasskey) (bool, error) {
	return changed(a.q.InsertPasskey(ctx, query.InsertPasskeyParams{
		ID: p.ID, CustomerID: p.Customer, CredentialID: p.CredentialID, Credential: p.Credential,
		Name: p.Name, CreatedAt: micros(p.CreatedAt),
	}))
}

func (a accounts) UsePasskey(ctx context.Context, id, old, credential string, now time.Time) (bool, error) {
	return changed(a.q.UsePasskey(ctx, query.UsePasskeyParams{
		Credential: credential, LastUsedAt: micros(now), ID: id, Credential_2: old,
	}))
}

func (a accounts) DeletePasskey(ctx context.Context, customerID, id string) (bool, error) {
	return changed(a.q.DeletePasskey(ctx, customerID, id))
}
