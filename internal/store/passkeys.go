package store

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

func (a accounts) ListPasskeys(ctx context.Context, id string) ([]account.StoredPasskey, error) {
	return rowsAs(func(row query.Passkey) account.StoredPasskey {
		return account.StoredPasskey{
			Passkey: account.Passkey{
				ID: row.ID, Name: row.Name, CreatedAt: fromMicros(row.CreatedAt), LastUsedAt: fromMicros(row.LastUsedAt),
			},
			Customer: row.CustomerID, CredentialID: row.CredentialID, Credential: row.Credential,
		}
	})(a.q.ListPasskeys(ctx, id))
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

func challengeOf(row query.WebauthnChallenge) account.Challenge {
	return account.Challenge{
		Kind: account.ChallengeKind(row.Kind), Customer: row.CustomerID, Data: row.Data, ExpiresAt: fromMicros(row.ExpiresAt),
	}
}

func (a accounts) GetChallenge(ctx context.Context, hash string, kind account.ChallengeKind, now time.Time) (account.Challenge, bool, error) {
	return rowAs(challengeOf)(a.q.GetWebauthnChallenge(ctx, query.GetWebauthnChallengeParams{Hash: hash, Kind: string(kind), ExpiresAt: micros(now)}))
}

func (a accounts) ConsumeChallenge(ctx context.Context, hash string, kind account.ChallengeKind, now time.Time) (account.Challenge, bool, error) {
	return rowAs(challengeOf)(a.q.ConsumeWebauthnChallenge(ctx, query.ConsumeWebauthnChallengeParams{Hash: hash, Kind: string(kind), ExpiresAt: micros(now)}))
}

func (a accounts) PutChallenge(ctx context.Context, hash string, c account.Challenge) error {
	return a.q.PutWebauthnChallenge(ctx, query.PutWebauthnChallengeParams{
		Hash: hash, Kind: string(c.Kind), CustomerID: c.Customer, Data: c.Data, ExpiresAt: micros(c.ExpiresAt),
	})
}
