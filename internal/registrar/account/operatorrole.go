package account

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// enrolmentLinkTTL is short: whoever holds it and the password enrols the factor that
// opens the operators' pages.
const enrolmentLinkTTL = time.Hour

// OperatorGrant is the outcome of AddOperator.
type OperatorGrant struct {
	// EnrolmentLink is set if the account has no factor: its owner signs in with the
	// password and uses the link to enrol the first one.
	EnrolmentLink string
	// HasSecondFactor and Passkeys are the factors that open the operators' pages
	// from now on. Whoever grants the role checks with the owner that they are theirs.
	HasSecondFactor bool
	Passkeys        []Passkey
}

// requireCommandLine refuses operators in a browser: a hijacked browser session must
// not be able to create further operators.
func requireCommandLine(operator registrar.Actor) error {
	if operator.Address.IsValid() {
		return fail(registrar.KindForbidden, registrar.OperatorsOnly)
	}
	return nil
}

// AddOperator grants the operator role. It ends every session of the account, so
// that none which was opened under the weaker rules for customers carries over; a
// strong one might have been opened with a passkey that an intruder added and
// removed again. An account without a factor gets an enrolment link; calling
// AddOperator again issues a new one.
func (s *Service) AddOperator(ctx context.Context, operator registrar.Actor, id string) (OperatorGrant, error) {
	if err := requireCommandLine(operator); err != nil {
		return OperatorGrant{}, err
	}
	var grant OperatorGrant
	err := s.changeConfirmed(ctx, operator, id, func(t *tx, account Account) error {
		if !account.DisabledAt.IsZero() {
			return fail(registrar.KindConflict, AccountDisabled)
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
		// Read again behind the update: a factor may have been enrolled meanwhile.
		if account, _, err = t.AccountByID(ctx, account.ID); err != nil {
			return err
		}
		if err := t.lockCredentials(ctx, account); err != nil {
			return err
		}
		passkeys, err := t.ListPasskeys(ctx, account.ID)
		if err != nil {
			return err
		}
		grant.HasSecondFactor = account.HasSecondFactor
		for _, passkey := range passkeys {
			grant.Passkeys = append(grant.Passkeys, passkey.Passkey)
		}
		if grant.HasSecondFactor || len(grant.Passkeys) > 0 {
			return nil
		}
		link, hash := registrar.NewSecret(registrar.LinkSecret)
		grant.EnrolmentLink = link
		if err := t.InsertLink(ctx, hash, LinkEnrol, Link{
			Customer: account.ID, Email: account.Email, ExpiresAt: t.now.Add(enrolmentLinkTTL),
		}); err != nil {
			return err
		}
		return t.recordEvent(ctx, operator, ActionEnrolmentLinkMade, account.ID, "")
	})
	if err != nil {
		return OperatorGrant{}, err
	}
	return grant, nil
}

// RemoveOperator takes the operator role and voids enrolment links. Removing it
// twice changes nothing.
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

// requireFactorChange refuses sessions that may not change the factors of an
// operator account; FactorsLocked has the rule. The session is read from the
// store, so that one which has ended meanwhile counts no more. To decide on an
// enrolment, call it behind hold.
func (s *Service) requireFactorChange(ctx context.Context, r Reader, actor registrar.Actor, account Account) error {
	if !account.Operator {
		return nil
	}
	session, err := s.actorSession(ctx, r, actor, account)
	if err != nil {
		return err
	}
	passkeys, err := r.ListPasskeys(ctx, account.ID)
	if err != nil {
		return err
	}
	if (Visitor{Customer: account.Customer, Session: session}).FactorsLocked(len(passkeys) > 0) {
		return fail(registrar.KindForbidden, StrongSignIn)
	}
	return nil
}

// requireStrongOperator refuses sessions of operator accounts that were opened
// with a password alone.
func (s *Service) requireStrongOperator(ctx context.Context, r Reader, actor registrar.Actor, account Account) error {
	if !account.Operator {
		return nil
	}
	session, err := s.actorSession(ctx, r, actor, account)
	if err != nil {
		return err
	}
	if !session.Strong() {
		return fail(registrar.KindForbidden, StrongSignIn)
	}
	return nil
}

func (s *Service) actorSession(ctx context.Context, r Reader, actor registrar.Actor, account Account) (Session, error) {
	session, ok, err := r.OpenSession(ctx, account.ID, actor.Through, s.cfg.Now())
	if err == nil && !ok {
		err = fail(registrar.KindUnauthenticated, registrar.SignInFirst)
	}
	return session, err
}

// CheckEnrolment reports whether the actor can use an enrolment link, without
// using it.
func (s *Service) CheckEnrolment(ctx context.Context, actor registrar.Actor, link string) error {
	account, err := s.signedInAccount(ctx, s.read(), actor)
	if err != nil {
		return err
	}
	_, err = s.checkEnrolmentLink(ctx, s.read(), account, link)
	return err
}

// checkEnrolmentLink finds the enrolment link of an account that has no factor yet. A link
// of another account does not exist for this one.
func (s *Service) checkEnrolmentLink(ctx context.Context, r Reader, account Account, link string) (Account, error) {
	_, owner, err := s.findLink(ctx, r, LinkEnrol, link)
	if err != nil {
		return Account{}, err
	}
	passkeys, err := r.ListPasskeys(ctx, account.ID)
	if err != nil {
		return Account{}, err
	}
	if owner.ID != account.ID || len(passkeys) > 0 {
		return Account{}, fail(registrar.KindNotFound, LinkInvalid)
	}
	return owner, nil
}

// OpenEnrolment uses an enrolment link. The session behind secret, which needs a
// recent sign-in, is replaced by one that may enrol the first factor; it does not
// open the operators' pages.
func (s *Service) OpenEnrolment(ctx context.Context, actor registrar.Actor, secret, link string) (SignInResult, error) {
	account, err := s.recentlySignedInAccount(ctx, s.read(), actor)
	if err != nil {
		return SignInResult{}, err
	}
	session, _, err := s.findSession(ctx, secret, StateOpen)
	if err != nil {
		return SignInResult{}, err
	}
	var opened SignInResult
	err = s.inTx(ctx, func(t *tx) error {
		account, err := s.checkEnrolmentLink(ctx, t, account, link)
		if err != nil {
			return err
		}
		if _, _, err := s.useLink(ctx, t, LinkEnrol, link); err != nil {
			return err
		}
		opened, err = s.startSession(ctx, t, sessionParams{
			actor: actor, account: account, userAgent: session.UserAgent, authMethod: methodEnrolment, action: ActionEnrolmentOpened,
			replaces: session.Hash, device: session.Device,
		})
		return err
	})
	if err != nil {
		return SignInResult{}, err
	}
	return opened, nil
}
