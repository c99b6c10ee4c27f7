package account

import (
	"cmp"
	"context"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// RequestPasswordReset queues a mail to the address: with a link to choose a new
// password, or saying that there is no account. The caller can't tell which.
func (s *Service) RequestPasswordReset(ctx context.Context, actor registrar.Actor, email, language string) error {
	email, key, err := parseEmail(email)
	if err != nil {
		return err
	}
	if language, err = parseLanguage(language); err != nil {
		return err
	}
	if s.consumeMailBudget(actor, resetBudgetKey(key)) > 0 {
		return nil // same response, no mail
	}
	return s.inTx(ctx, func(t *tx) error {
		account, ok, err := t.AccountByEmail(ctx, key)
		if err != nil {
			return err
		}
		var mail registrar.Mail
		switch {
		case !ok:
			mail = registrar.Mail{Kind: registrar.MailNoAccount, To: email, Language: language}
		case account.ConfirmedAt.IsZero():
			// There is no password to reset; confirming lets the owner choose one.
			mail = registrar.Mail{Kind: registrar.MailConfirm, Customer: account.ID}
		default:
			mail = registrar.Mail{Kind: registrar.MailPasswordReset, Customer: account.ID}
		}
		if err := t.recordEvent(ctx, actor, ActionResetRequested, account.ID, ""); err != nil {
			return err
		}
		return t.queueMail(ctx, actor, mail)
	})
}

// ResetPassword sets a new password by a link and ends every session. A second factor
// stays on, so access to the mailbox alone does not open the account.
func (s *Service) ResetPassword(ctx context.Context, actor registrar.Actor, link, password string) error {
	_, account, err := s.findLink(ctx, s.read(), LinkReset, link)
	if err != nil {
		return err
	}
	hash, err := s.hashNewPassword(ctx, requesterOf(actor, account.ID), password, account.EmailKey)
	if err != nil {
		return err
	}
	return s.inTx(ctx, func(t *tx) error {
		_, account, err := s.useLink(ctx, t, LinkReset, link)
		if err != nil {
			return err
		}
		actor.Customer = account.ID
		return s.replacePassword(ctx, t, actor, account, hash, ActionPasswordReset, "")
	})
}

// replacePassword sets a password and ends everything that the old one may have opened:
// sessions except one, and unused links. If no session remains, known devices are
// deleted too; they grant nothing but a separate budget.
func (s *Service) replacePassword(
	ctx context.Context, t *tx, actor registrar.Actor, account Account, hash string, action registrar.Action, except string,
) error {
	if err := t.SetPasswordHash(ctx, account.ID, hash); err != nil {
		return err
	}
	if err := t.DeleteSessionsExcept(ctx, account.ID, except); err != nil {
		return err
	}
	if except == "" {
		if err := t.DeleteDevices(ctx, account.ID); err != nil {
			return err
		}
	}
	for _, kind := range []LinkKind{LinkReset, LinkChangeEmail} {
		if err := t.DeleteUnusedLinks(ctx, account.ID, kind); err != nil {
			return err
		}
	}
	if err := t.recordEvent(ctx, actor, action, account.ID, ""); err != nil {
		return err
	}
	return t.queueMail(ctx, actor, registrar.Mail{Kind: registrar.MailPasswordChanged, Customer: account.ID})
}

// ChangePassword sets a new password and ends all other sessions. For an account
// without a password, old is ignored.
func (s *Service) ChangePassword(ctx context.Context, actor registrar.Actor, old, chosen string) error {
	account, err := s.recentlySignedInAccount(ctx, s.read(), actor)
	if err != nil {
		return err
	}
	if err := checkPassword(chosen, account.EmailKey); err != nil {
		return err
	}
	req := requesterOf(actor, account.ID) // the session makes the actor known
	if account.HasPassword {
		// The budget is per session, so that the owner of an account under attack can
		// still change the password.
		budget := budgetSet{{s.cfg.Limits.Device, "session " + actor.Through}}
		result, err := s.hasher.verify(ctx, req, budget, account.PasswordHash, old)
		if err != nil {
			return err
		}
		if !result.ok {
			return registrar.Invalid(BadCredentials)
		}
	}
	hash, err := s.hasher.hash(ctx, req, chosen)
	if err != nil {
		return err
	}
	return s.inTx(ctx, func(t *tx) error {
		// Of two concurrent changes the second fails: its old password no longer holds.
		if ok, err := t.ReplacePasswordHash(ctx, account, hash); !ok {
			return cmp.Or(err, registrar.Invalid(BadCredentials))
		}
		return s.replacePassword(ctx, t, actor, account, hash, ActionPasswordChanged, actor.Through)
	})
}
