package account

import (
	"cmp"
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/jobs"
	"github.com/dotkontor/dotkontor/internal/registrar"
)

// touchInterval is how often the last use of a session is written.
const touchInterval = 5 * time.Minute

// findSession finds a session in the given state that has not ended, of an enabled account.
func (s *Service) findSession(ctx context.Context, secret string, state SessionState) (StoredSession, Account, error) {
	refused := registrar.Unauthenticated(registrar.SignInFirst)
	hash, ok := registrar.HashSecret(registrar.SessionSecret, secret)
	if !ok {
		return StoredSession{}, Account{}, refused
	}
	session, account, ok, err := s.read().SessionByHash(ctx, hash)
	if !ok || session.State != state || !s.cfg.Now().Before(session.ExpiresAt) || !account.DisabledAt.IsZero() {
		return StoredSession{}, Account{}, cmp.Or(err, refused)
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
		session.SeenAt, session.ExpiresAt = now, s.expiry(session.CreatedAt, now)
		err := s.inTx(ctx, func(t *tx) error { return t.TouchSession(ctx, session.Hash, session.SeenAt, session.ExpiresAt) })
		if err != nil {
			return Visitor{}, err
		}
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
	return s.changeSignedIn(ctx, actor, func(t *tx, account Account) error {
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
	return s.changeSignedIn(ctx, actor, func(t *tx, account Account) error {
		if ok, err := t.DeleteSessionByID(ctx, account.ID, id); !ok {
			return cmp.Or(err, registrar.NotFound(NoSuchObject))
		}
		return t.recordEvent(ctx, actor, ActionSessionEnded, account.ID, id)
	})
}

const maxPage = 200

// ListAuditEvents returns the account's audit log, newest first; before is the last id
// of the previous page.
func (s *Service) ListAuditEvents(ctx context.Context, actor registrar.Actor, before string, limit int) ([]AuditEntry, error) {
	account, err := s.signedInAccount(ctx, s.read(), actor)
	if err != nil {
		return nil, err
	}
	return s.read().ListAuditEvents(ctx, account.ID, before, min(max(limit, 1), maxPage))
}

const (
	sweepInterval  = time.Minute
	sweepBatch     = 500
	unconfirmedTTL = 7 * day // how long an unconfirmed account is retained
)

// Sweep writes queued failed sign-ins and deletes expired rows, in small transactions.
func (s *Service) Sweep(ctx context.Context) error {
	for len(s.failedSignIns) > 0 {
		if err := s.writeFailedSignIn(ctx, <-s.failedSignIns); err != nil {
			return err
		}
	}
	_, err := jobs.DeleteInBatches(ctx, func(ctx context.Context) (deleted int, err error) {
		err = s.inTx(ctx, func(t *tx) error {
			expired, err := t.DeleteExpired(ctx, t.now, s.cfg.BusinessNow(), sweepBatch)
			if err != nil {
				return err
			}
			unconfirmed, err := t.DeleteUnconfirmed(ctx, t.now.Add(-unconfirmedTTL), sweepBatch)
			deleted = expired + unconfirmed
			return err
		})
		return deleted, err
	})
	return err
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
