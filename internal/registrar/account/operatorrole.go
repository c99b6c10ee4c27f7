package account

import (
	"cmp"
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// enrolmentLinkTTL is short: link and password enrol the factor that opens the operator pages.
const enrolmentLinkTTL = time.Hour

// OperatorGrant is the outcome of AddOperator.
type OperatorGrant struct {
	// EnrolmentLink is set if the account has no factor: its owner signs in with the
	// password and uses the link to enrol the first one.
	EnrolmentLink string
	// HasSecondFactor and Passkeys are the factors that now open the operator pages.
	// The granting operator verifies with the owner that they are the owner's.
	HasSecondFactor bool
	Passkeys        []Passkey
}

// requireCommandLine refuses operators in a browser: a hijacked one must not create operators.
func requireCommandLine(operator registrar.Actor) error {
	if operator.Address.IsValid() {
		return registrar.Forbidden(registrar.OperatorsOnly)
	}
	return nil
}

// AddOperator grants the operator role. It ends every session of the account, because even a
// strong one might have been opened with a passkey that an intruder added and removed. An account
// without a factor gets an enrolment link; calling AddOperator again issues a new one.
func (s *Service) AddOperator(ctx context.Context, operator registrar.Actor, id string) (grant OperatorGrant, err error) {
	if err := requireCommandLine(operator); err != nil {
		return OperatorGrant{}, err
	}
	err = s.changeConfirmed(ctx, operator, id, func(t *tx, account Account) error {
		if !account.DisabledAt.IsZero() {
			return registrar.Conflict(AccountDisabled)
		}
		granted, err := t.SetOperator(ctx, account.ID, true)
		if err != nil {
			return err
		}
		if err := t.DeleteSessionsExcept(ctx, account.ID, ""); err != nil {
			return err
		}
		if granted {
			if err := t.recordEvent(ctx, operator, ActionOperatorAdded, account.ID, ""); err != nil {
				return err
			}
		}
		// Reload after the update: a factor may have been enrolled meanwhile.
		if account, _, err = t.AccountByID(ctx, account.ID); err != nil {
			return err
		}
		if err := t.lockCredentials(ctx, account); err != nil {
			return err
		}
		grant.HasSecondFactor = account.HasSecondFactor
		grant.Passkeys, err = passkeysOf(t.ListPasskeys(ctx, account.ID))
		if err != nil || grant.HasSecondFactor || len(grant.Passkeys) > 0 {
			return err
		}
		if grant.EnrolmentLink, err = t.createLink(ctx, account, LinkEnrol, enrolmentLinkTTL); err != nil {
			return err
		}
		return t.recordEvent(ctx, operator, ActionEnrolmentLinkCreated, account.ID, "")
	})
	return grant, err
}

// RemoveOperator revokes the operator role and voids enrolment links. Repeating it changes nothing.
func (s *Service) RemoveOperator(ctx context.Context, operator registrar.Actor, id string) error {
	if err := requireCommandLine(operator); err != nil {
		return err
	}
	return s.changeConfirmed(ctx, operator, id, func(t *tx, account Account) error {
		removed, err := t.SetOperator(ctx, account.ID, false)
		if err != nil || !removed {
			return err
		}
		if err := t.DeleteUnusedLinks(ctx, account.ID, LinkEnrol); err != nil {
			return err
		}
		return t.recordEvent(ctx, operator, ActionOperatorRemoved, account.ID, "")
	})
}

// requireFactorChange refuses sessions that may not change the factors of an operator
// account; FactorsLocked has the rule. The session is read from the store, so an ended
// one is not accepted. To decide on an enrolment, call it after lockCredentials.
func (s *Service) requireFactorChange(ctx context.Context, r Reader, actor registrar.Actor, account Account) error {
	if !account.Operator {
		return nil
	}
	session, ok, err := r.OpenSession(ctx, account.ID, actor.Through, s.cfg.Now())
	if !ok {
		return cmp.Or(err, registrar.Unauthenticated(registrar.SignInFirst))
	}
	passkeys, err := r.ListPasskeys(ctx, account.ID)
	if err != nil {
		return err
	}
	if (Visitor{Customer: account.Customer, Session: session}).FactorsLocked(len(passkeys) > 0) {
		return registrar.Forbidden(StrongSignIn)
	}
	return nil
}

// requireStrongOperator refuses an operator's session that was opened with a password alone.
func (s *Service) requireStrongOperator(ctx context.Context, r Reader, actor registrar.Actor, account Account) error {
	if !account.Operator {
		return nil
	}
	session, ok, err := r.OpenSession(ctx, account.ID, actor.Through, s.cfg.Now())
	if !ok {
		return cmp.Or(err, registrar.Unauthenticated(registrar.SignInFirst))
	}
	if !session.Strong() {
		return registrar.Forbidden(StrongSignIn)
	}
	return nil
}

// CheckEnrolment reports whether the actor can use an enrolment link, without using it.
func (s *Service) CheckEnrolment(ctx context.Context, actor registrar.Actor, link string) error {
	account, err := s.signedInAccount(ctx, s.read(), actor)
	if err != nil {
		return err
	}
	return s.checkEnrolmentLink(ctx, s.read(), account, link)
}

// checkEnrolmentLink looks for the enrolment link of an account that has no factor yet.
// Links of other accounts count as not found.
func (s *Service) checkEnrolmentLink(ctx context.Context, r Reader, account Account, link string) error {
	_, owner, err := s.findLink(ctx, r, LinkEnrol, link)
	if err != nil {
		return err
	}
	passkeys, err := r.ListPasskeys(ctx, account.ID)
	if err != nil {
		return err
	}
	if owner.ID != account.ID || len(passkeys) > 0 {
		return registrar.NotFound(LinkInvalid)
	}
	return nil
}

// OpenEnrolment uses an enrolment link. It replaces the session behind secret, which needs a recent
// sign-in, by one that may enrol the first factor but does not open the operator pages.
func (s *Service) OpenEnrolment(ctx context.Context, actor registrar.Actor, secret, link string) (opened SignInResult, err error) {
	account, err := s.recentlySignedInAccount(ctx, s.read(), actor)
	if err != nil {
		return SignInResult{}, err
	}
	session, _, err := s.findSession(ctx, secret, StateOpen)
	if err != nil {
		return SignInResult{}, err
	}
	err = s.inTx(ctx, func(t *tx) error {
		if err := s.checkEnrolmentLink(ctx, t, account, link); err != nil {
			return err
		}
		_, account, err := s.useLink(ctx, t, LinkEnrol, link)
		if err != nil {
			return err
		}
		opened, err = s.startSession(ctx, t, sessionParams{
			actor: actor, account: account, userAgent: session.UserAgent, authMethod: methodEnrolment, action: ActionEnrolmentOpened,
			replaces: session.Hash, device: session.Device,
		})
		return err
	})
	return opened, err
}
