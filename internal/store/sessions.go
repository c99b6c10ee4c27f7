package store

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/store/query"
	"github.com/dotkontor/dotkontor/internal/store/sqldb"
)

func sessionOf(row query.Session) account.Session {
	return account.Session{
		ID: row.ID, CustomerID: row.CustomerID, Address: row.Address, UserAgent: row.UserAgent, Country: row.Country,
		CreatedAt: fromMicros(row.CreatedAt), AuthenticatedAt: fromMicros(row.AuthenticatedAt),
		SeenAt: fromMicros(row.SeenAt), ExpiresAt: fromMicros(row.ExpiresAt), AuthMethod: row.AuthMethod,
	}
}

func (a accounts) SessionByHash(ctx context.Context, hash registrar.SecretHash) (account.StoredSession, account.Account, bool, error) {
	row, err := a.q.GetSession(ctx, string(hash))
	ok, err := found(err)
	return account.StoredSession{
		Session: sessionOf(row.Session), Hash: registrar.SecretHash(row.Session.Hash),
		State: account.SessionState(row.Session.State), Device: registrar.SecretHash(row.Session.Device),
	}, accountOf(row.Customer), ok, err
}

func (a accounts) OpenSession(ctx context.Context, customerID, id string, now time.Time) (account.Session, bool, error) {
	return rowAs(sessionOf)(a.q.GetOpenSession(ctx, query.GetOpenSessionParams{CustomerID: customerID, ID: id, ExpiresAt: micros(now)}))
}

func (a accounts) OpenSessions(ctx context.Context, id string, now time.Time) ([]account.Session, error) {
	return rowsAs(sessionOf)(a.q.ListOpenSessions(ctx, id, micros(now)))
}

func (a accounts) InsertSession(ctx context.Context, s account.StoredSession, keep int) error {
	if err := a.q.InsertSession(ctx, query.InsertSessionParams{
		Hash: string(s.Hash), ID: s.ID, CustomerID: s.CustomerID, State: string(s.State),
		Address: s.Address, UserAgent: s.UserAgent, Device: string(s.Device), CreatedAt: micros(s.CreatedAt),
		AuthenticatedAt: micros(s.AuthenticatedAt), SeenAt: micros(s.SeenAt), ExpiresAt: micros(s.ExpiresAt), AuthMethod: s.AuthMethod,
		Country: s.Country,
	}); err != nil {
		return err
	}
	return a.q.DeleteOldestSessions(ctx, query.DeleteOldestSessionsParams{
		CustomerID: s.CustomerID, State: string(s.State), Offset: int32(keep - 1),
	})
}

func (a accounts) TouchSession(ctx context.Context, hash registrar.SecretHash, seen, expires time.Time) error {
	return a.q.TouchSession(ctx, query.TouchSessionParams{SeenAt: micros(seen), ExpiresAt: micros(expires), Hash: string(hash)})
}

func (a accounts) UseCodeAttempt(ctx context.Context, hash registrar.SecretHash, maxAttempts int, now time.Time) (bool, error) {
	return changed(a.q.CountSecondFactorAttempt(ctx, query.CountSecondFactorAttemptParams{Hash: string(hash), Attempts: int64(maxAttempts), ExpiresAt: micros(now)}))
}

func (a accounts) DeleteSession(ctx context.Context, hash registrar.SecretHash) (bool, error) {
	return changed(a.q.DeleteSession(ctx, string(hash)))
}

func (a accounts) DeleteSessionByID(ctx context.Context, customerID, id string) (bool, error) {
	if sqldb.IsUnstorable(id) {
		return false, nil
	}
	return changed(a.q.DeleteSessionByID(ctx, customerID, id))
}

func (a accounts) DeleteSessionsExcept(ctx context.Context, customerID, except string) error {
	return a.q.DeleteOtherSessions(ctx, customerID, except)
}

func (a accounts) DeviceOwner(ctx context.Context, hash registrar.SecretHash, now time.Time) (string, bool, error) {
	return foundValue(a.q.GetDeviceCustomer(ctx, string(hash), micros(now)))
}

func (a accounts) InsertDevice(ctx context.Context, customerID string, hash registrar.SecretHash, now, expires time.Time, keep int) error {
	if err := a.q.InsertDevice(ctx, query.InsertDeviceParams{
		Hash: string(hash), CustomerID: customerID, CreatedAt: micros(now), ExpiresAt: micros(expires),
	}); err != nil {
		return err
	}
	return a.q.DeleteOldestDevices(ctx, customerID, int32(keep-1))
}

func (a accounts) DeleteDevices(ctx context.Context, customerID string) error {
	return a.q.DeleteDevicesOfCustomer(ctx, customerID)
}
