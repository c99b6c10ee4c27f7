package customer

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/duty"
	"github.com/dotkontor/dotkontor/internal/registrar"
)

// seenEvery is how often a session that is in use is written to.
const seenEvery = 5 * time.Minute

// session finds a session by its secret, if it is in the given state and neither
// over nor that of a disabled account.
func (s *Service) session(ctx context.Context, secret string, state SessionState) (StoredSession, Account, error) {
	refused := fail(registrar.KindUnauthenticated, SignInFirst)
	hash, ok := registrar.HashSecret(registrar.SessionSecret, secret)
	if !ok {
		return StoredSession{}, Account{}, refused
	}
	session, account, ok, err := s.read().SessionByHash(ctx, hash)
	if err != nil {
		return StoredSession{}, Account{}, err
	}
	if !ok || session.State != state || !s.cfg.Now().Before(session.ExpiresAt) || !account.DisabledAt.IsZero() {
		return StoredSession{}, Account{}, refused
	}
	return session, account, nil
}

// Visitor is who a session cookie belongs to.
func (s *Service) Visitor(ctx context.Context, secret string) (Visitor, error) {
	session, account, err := s.session(ctx, secret, StateOpen)
	if err != nil {
		return Visitor{}, err
	}
	if now := s.cfg.Now(); now.Sub(session.SeenAt) >= seenEvery {
		expires := s.expiry(session.CreatedAt, now)
		err := s.change(ctx, func(t *tx) error { return t.TouchSession(ctx, session.Hash, now, expires) })
		if err != nil {
			return Visitor{}, err
		}
		session.SeenAt, session.ExpiresAt = now, expires
	}
	return Visitor{Customer: account.Customer, Session: session.Session}, nil
}

// SignOut ends the session of a cookie. Without one there is nothing to do.
func (s *Service) SignOut(ctx context.Context, actor registrar.Actor, secret string) error {
	hash, ok := registrar.HashSecret(registrar.SessionSecret, secret)
	if !ok {
		return nil
	}
	return s.change(ctx, func(t *tx) error {
		session, account, ok, err := t.SessionByHash(ctx, hash)
		if err != nil || !ok {
			return err
		}
		if _, err := t.DeleteSession(ctx, hash); err != nil || session.State != StateOpen {
			return err
		}
		actor.Customer, actor.Through = account.ID, session.ID
		return t.record(ctx, actor, ActionSignedOut, account.ID, session.ID)
	})
}

// SignOutEverywhere ends every session of the account, this one included.
func (s *Service) SignOutEverywhere(ctx context.Context, actor registrar.Actor) error {
	return s.change(ctx, func(t *tx) error {
		account, err := s.signedIn(ctx, t, actor)
		if err != nil {
			return err
		}
		if err := t.DeleteSessionsExcept(ctx, account.ID, ""); err != nil {
			return err
		}
		return t.record(ctx, actor, ActionSignedOutEverywhere, account.ID, "")
	})
}

// Sessions are where the account is signed in, the newest first.
func (s *Service) Sessions(ctx context.Context, actor registrar.Actor) ([]Session, error) {
	account, err := s.signedIn(ctx, s.read(), actor)
	if err != nil {
		return nil, err
	}
	return s.read().OpenSessions(ctx, account.ID, s.cfg.Now())
}

// EndSession ends one session of the account.
func (s *Service) EndSession(ctx context.Context, actor registrar.Actor, id string) error {
	return s.change(ctx, func(t *tx) error {
		account, err := s.signedIn(ctx, t, actor)
		if err != nil {
			return err
		}
		ok, err := t.DeleteSessionByID(ctx, account.ID, id)
		if err != nil {
			return err
		}
		if !ok {
			return fail(registrar.KindNotFound, NoSuchObject)
		}
		return t.record(ctx, actor, ActionSessionEnded, account.ID, id)
	})
}

const (
	sweepEvery = time.Minute
	sweepBatch = 500
	// unconfirmedLife is how long an address that nobody has confirmed is kept.
	unconfirmedLife = 7 * day
)

// Sweep writes the failed sign-ins that are waiting, and deletes what is over in
// small transactions, so that nobody waits for it.
func (s *Service) Sweep(ctx context.Context) error {
	for {
		select {
		case deed := <-s.failures:
			if err := s.writeFailure(ctx, deed); err != nil {
				return err
			}
			continue
		default:
		}
		break
	}
	for {
		deleted := 0
		err := s.change(ctx, func(t *tx) error {
			expired, err := t.DeleteExpired(ctx, t.now, sweepBatch)
			if err != nil {
				return err
			}
			unconfirmed, err := t.DeleteUnconfirmed(ctx, t.now.Add(-unconfirmedLife), sweepBatch)
			deleted = expired + unconfirmed
			return err
		})
		if err != nil || deleted == 0 {
			return err
		}
	}
}

func (s *Service) writeFailure(ctx context.Context, deed registrar.Deed) error {
	return s.change(ctx, func(t *tx) error { return t.RecordDeed(ctx, deed) })
}

// Run sweeps every minute and writes failed sign-ins as they come, until ctx
// ends.
func (s *Service) Run(ctx context.Context) {
	ticker := time.NewTicker(sweepEvery)
	defer ticker.Stop()
	failed := duty.Report(s.cfg.Logger, "accounts")
	for {
		var err error
		select {
		case <-ctx.Done():
			return
		case deed := <-s.failures:
			err = s.writeFailure(ctx, deed)
		case <-ticker.C:
			err = s.Sweep(ctx)
		}
		if err != nil && ctx.Err() == nil {
			failed(ctx, err)
		}
	}
}
