package store

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

func foundWebauthnChallenge(row query.WebauthnChallenge, err error) (account.Challenge, bool, error) {
	ok, err := found(err)
	return account.Challenge{
		Kind: account.ChallengeKind(row.Kind), Customer: row.CustomerID, Data: row.Data, ExpiresAt: fromMicros(row.ExpiresAt),
	}, ok, err
}

func (a accounts) GetChallenge(ctx context.Context, hash string, kind account.ChallengeKind, now time.Time) (account.Challenge, bool, error) {
	return foundWebauthnChallenge(a.q.GetWebauthnChallenge(ctx, query.GetWebauthnChallengeParams{Hash: hash, Kind: string(kind), ExpiresAt: micros(now)}))
}

func (a accounts) ConsumeChallenge(ctx context.Context, hash string, kind account.ChallengeKind, now time.Time) (account.Challenge, bool, error) {
	return foundWebauthnChallenge(a.q.ConsumeWebauthnChallenge(ctx, query.ConsumeWebauthnChallengeParams{Hash: hash, Kind: string(kind), ExpiresAt: micros(now)}))
}

func (a accounts) PutChallenge(ctx context.Context, hash string, c account.Challenge) error {
	return a.q.PutWebauthnChallenge(ctx, query.PutWebauthnChallengeParams{
		Hash: hash, Kind: string(c.Kind), CustomerID: c.Customer, Data: c.Data, ExpiresAt: micros(c.ExpiresAt),
	})
}
