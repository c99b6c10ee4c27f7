package account

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/jobs"
	"github.com/dotkontor/dotkontor/internal/registrar"
)

// touchInterval is how often the last use of a session is written.
const touchInterval = 5 * time.Minute

// findSession finds a session by its secret if it is in the given state, has not ended
// and its account is not disabled.
func (s *Service) findSession(ctx context.Context, secret string, state SessionState) (StoredSession, Account, error) {
	refused := fail(registrar.KindUnauthenticated, registrar.SignInFirst)
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

// Visitor returns the customer and session of a session cookie.
func (s *Service) Visitor(ctx context.Context, secret string) (Visitor, error) {
	session, account, err := s.findSession(ctx, secret, StateOpen)
	if err != nil {
		return Visitor{}, err
	}
	if now := s.cfg.Now(); now.Sub(session.SeenAt) >= touchInterval {
		expires := s.expiry(session.CreatedAt, now)
		err := s.inTx(ctx, func(t *tx) error { return t.TouchSession(ctx, session.Hash, now, expires) })
		if err != nil {
			return Visitor{}, err
		}
		session.SeenAt, session.ExpiresAt = now, expires
	}
	return Visitor{Customer: account.Customer, Session: session.Session}, nil
}

// SignOut ends the session of a cookie; without one it does nothing.
func (s *Service) SignOut(ctx context.Context, actor registrar.Actor, secret string) error {
	hash, ok := registrar.HashSecret(registrar.SessionSecret, secret)
	if !ok {
		return nil
	}
	return s.inTx(ctx, func(t *tx) error {
		session, account, ok, err := t.SessionByHash(ctx, hash)
		if err != nil || !ok {
			return err
		}
		if _, err := t.DeleteSession(ctx, hash); err != nil || session.State != StateOpen {
			return err
		}
		actor.Customer, actor.Through = account.ID, session.ID
		return t.recordEvent(ctx, actor, ActionSignedOut, account.ID, session.ID)
	})
}

// SignOutEverywhere ends every session of the account, this one included.
func (s *Service) SignOutEverywhere(ctx context.Context, actor registrar.Actor) error {
	return s.inTx(ctx, func(t *tx) error {
		account, err := s.signedInAccount(ctx, t, actor)
		if err != nil {
			return err
		}
		if err := t.DeleteSessionsExcept(ctx, account.ID, ""); err != nil {
			return err
		}
		return t.recordEvent(ctx, actor, ActionSignedOutEverywhere, account.ID, "")
	})
}

// Sessions returns the account's open sessions, newest first.
func (s *Service) Sessions(ctx context.Context, actor registrar.Actor) ([]Session, error) {
	account, err := s.signedInAccount(ctx, s.read(), actor)
	if err != nil {
		return nil, err
	}
	return s.read().OpenSessions(ctx, account.ID, s.cfg.Now())
}

// EndSession ends one session of the account.
func (s *Service) EndSession(ctx context.Context, actor registrar.Actor, id string) error {
	return s.inTx(ctx, func(t *tx) error {
		account, err := s.signedInAccount(ctx, t, actor)
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
		return t.recordEvent(ctx, actor, ActionSessionEnded, account.ID, id)
	})
}

const (
	sweepInterval = time.Minute
	sweepBatch    = 500
	// unconfirmedTTL is how long an unconfirmed account is retained.
	unconfirmedTTL = 7 * day
)

// Sweep writes queued failed sign-ins and deletes expired rows, in small transactions
// to keep lock times short.
func (s *Service) Sweep(ctx context.Context) error {
	for {
		select {
		case event := <-s.failedSignIns:
			if err := s.writeFailedSignIn(ctx, event); err != nil {
				return err
			}
			continue
		default:
		}
		break
	}
	for {
		deleted := 0
		err := s.inTx(ctx, func(t *tx) error {
			expired, err := t.DeleteExpired(ctx, t.now, sweepBatch)
			if err != nil {
				return err
			}
			unconfirmed, err := t.DeleteUnconfirmed(ctx, t.now.Add(-unconfirmedTTL), sweepBatch)
			deleted = expired + unconfirmed
			return err
		})
		if err != nil || deleted == 0 {
			return err
		}
	}
}

func (s *Service) writeFailedSignIn(ctx context.Context, event registrar.AuditEvent) error {
	return s.inTx(ctx, func(t *tx) error { return t.RecordAuditEvent(ctx, event) })
}

// Run sweeps every minute and writes failed sign-ins as they arrive, until ctx ends.
func (s *Service) Run(ctx context.Context) {
	ticker := time.NewTicker(sweepInterval)
	defer ticker.Stop()
	failed := jobs.ErrorLogger(s.cfg.Logger, "accounts")
	for {
		var err error
		select {
		case <-ctx.Done():
			return
		case event := <-s.failedSignIns:
			err = s.writeFailedSignIn(ctx, event)
		case <-ticker.C:
			err = s.Sweep(ctx)
		}
		if err != nil && ctx.Err() == nil {
			failed(ctx, err)
		}
	}
}
