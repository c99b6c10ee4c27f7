package account

import (
	"context"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// RequestPasswordReset stores a letter to the address: with a link for another password, or
// with the news that there is no account. The caller never learns which.
func (s *Service) RequestPasswordReset(ctx context.Context, actor registrar.Actor, email, language string) error {
	email, key, err := parseEmail(email)
	if err != nil {
		return err
	}
	if language, err = parseLanguage(language); err != nil {
		return err
	}
	if s.consumeMailBudget(actor, resetBudgetKey(key)) > 0 {
		return nil // the same answer, and no letter
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
			// There is no password to reset; confirming lets choose one.
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

// ResetPassword sets another password by a link and ends every session. A second factor
// stays on: a mailbox alone does not open the account.
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

// replacePassword sets a password and ends all that the old one may have opened:
// sessions except one, and links on their way. Known devices are forgotten where
// no session stays: they open nothing, and the owner's keep their budget.
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

// ChangePassword sets another password and ends all other sessions. An account
// without a password gets one; old is then ignored.
func (s *Service) ChangePassword(ctx context.Context, actor registrar.Actor, old, chosen string) error {
	account, err := s.recentlySignedInAccount(ctx, s.read(), actor)
	if err != nil {
		return err
	}
	if err := checkPassword(chosen, account.EmailKey); err != nil {
		return err
	}
	req := requesterOf(actor, account.ID) // the session ties the actor to it
	if account.HasPassword {
		// The session counts, whatever strangers try: whoever is being attacked
		// must be able to choose another password.
		budget := budgetSet{{s.cfg.Limits.Device, "session " + actor.Through}}
		result, err := s.hasher.verify(ctx, req, budget, account.PasswordHash, old)
		if err != nil {
			return err
		}
		if !result.ok {
			return fail(registrar.KindInvalid, BadCredentials)
		}
	}
	hash, err := s.hasher.hash(ctx, req, chosen)
	if err != nil {
		return err
	}
	return s.inTx(ctx, func(t *tx) error {
		// Two changes at once: the second one knew a password that is gone.
		ok, err := t.ReplacePasswordHash(ctx, account, hash)
		if err != nil {
			return err
		}
		if !ok {
			return fail(registrar.KindInvalid, BadCredentials)
		}
		return s.replacePassword(ctx, t, actor, account, hash, ActionPasswordChanged, actor.Through)
	})
}

// RequestEmailChange stores a letter with a link to the new address, and one without to
// the old address. An address that has another account gets the news of that
// instead, and the caller does not learn it.
func (s *Service) RequestEmailChange(ctx context.Context, actor registrar.Actor, email string) error {
	account, err := s.recentlySignedInAccount(ctx, s.read(), actor)
	if err != nil {
		return err
	}
	if err := s.requireStrongOperator(ctx, s.read(), actor, account); err != nil {
		return err
	}
	email, key, err := parseEmail(email)
	if err != nil {
		return err
	}
	if wait := s.consumeMailBudget(actor, key); wait > 0 {
		return tooMany(wait)
	}
	return s.inTx(ctx, func(t *tx) error {
		if err := t.lockCredentials(ctx, account); err != nil { // its role was checked above
			return err
		}
		owner, taken, err := t.AccountByEmail(ctx, key)
		if err != nil {
			return err
		}
		if err := t.DeleteUnusedLinks(ctx, account.ID, LinkChangeEmail); err != nil {
			return err
		}
		mail := registrar.Mail{Kind: registrar.MailChangeEmail, Customer: account.ID, To: email}
		if taken && owner.ID != account.ID && !owner.ConfirmedAt.IsZero() {
			mail = registrar.Mail{Kind: registrar.MailAlreadyRegistered, Customer: owner.ID}
		}
		requester := actor
		if mail.Kind == registrar.MailChangeEmail {
			// The address may be mistyped: its reader does not learn where the
			// customer is.
			requester = registrar.Actor{}
		}
		if err := t.queueMail(ctx, requester, mail); err != nil {
			return err
		}
		return t.recordAndMail(ctx, actor, ActionEmailChangeRequested, "", registrar.Mail{
			Kind: registrar.MailEmailChanging, Data: map[string]string{dataEmail: email},
		})
	})
}

// CheckEmailChange returns the address that a mailed link would give to the actor's
// account, without using it.
func (s *Service) CheckEmailChange(ctx context.Context, actor registrar.Actor, link string) (email string, err error) {
	account, err := s.recentlySignedInAccount(ctx, s.read(), actor)
	if err != nil {
		return "", err
	}
	found, err := s.findEmailChange(ctx, s.read(), actor, account, link)
	return found.Email, err
}

// findEmailChange finds a pending change of the address of the actor's own account. The link alone
// proves nothing: a mistyped address delivers it to a stranger, who must neither
// use it nor learn whose it is. For any other account it does not exist.
func (s *Service) findEmailChange(ctx context.Context, r Reader, actor registrar.Actor, account Account, link string) (Link, error) {
	if err := s.requireStrongOperator(ctx, r, actor, account); err != nil {
		return Link{}, err
	}
	found, owner, err := s.findLink(ctx, r, LinkChangeEmail, link)
	if err != nil {
		return Link{}, err
	}
	if owner.ID != account.ID {
		return Link{}, fail(registrar.KindNotFound, LinkInvalid)
	}
	return found, nil
}

// ConfirmEmailChange uses the link that was sent to a new address, in a session of the
// account that asked for the change. Links that were sent to the old address are
// void from then on.
func (s *Service) ConfirmEmailChange(ctx context.Context, actor registrar.Actor, link string) error {
	return s.inTx(ctx, func(t *tx) error {
		mine, err := s.recentlySignedInAccount(ctx, t, actor)
		if err != nil {
			return err
		}
		// The operator role can't be granted between its check and the change.
		if err := t.lockCredentials(ctx, mine); err != nil {
			return err
		}
		if _, err := s.findEmailChange(ctx, t, actor, mine, link); err != nil {
			return err
		}
		found, account, err := s.useLink(ctx, t, LinkChangeEmail, link)
		if err != nil {
			return err
		}
		email, key, err := parseEmail(found.Email)
		if err != nil {
			return err
		}
		// Whoever else has registered the address could not confirm it.
		if rival, taken, err := t.AccountByEmail(ctx, key); err != nil {
			return err
		} else if taken && rival.ID != account.ID {
			if _, err := t.DeleteUnconfirmedAccount(ctx, rival.ID); err != nil {
				return err
			}
		}
		ok, err := t.SetEmail(ctx, account.ID, email, key)
		if err != nil {
			return err
		}
		if !ok {
			return fail(registrar.KindConflict, EmailTaken)
		}
		for _, kind := range []LinkKind{LinkReset, LinkChangeEmail, LinkEnrol} {
			if err := t.DeleteUnusedLinks(ctx, account.ID, kind); err != nil {
				return err
			}
		}
		return t.recordEvent(ctx, actor, ActionEmailChanged, account.ID, "")
	})
}

// SetLanguage chooses the language of pages and letters.
func (s *Service) SetLanguage(ctx context.Context, actor registrar.Actor, language string) error {
	language, err := parseLanguage(language)
	if err != nil {
		return err
	}
	return s.inTx(ctx, func(t *tx) error {
		account, err := s.signedInAccount(ctx, t, actor)
		if err != nil || account.Language == language {
			return err
		}
		if err := t.SetLanguage(ctx, account.ID, language); err != nil {
			return err
		}
		return t.recordEvent(ctx, actor, ActionLanguageChanged, account.ID, language)
	})
}

// Registrant is whom domains are registered for; false if nothing was told yet.
func (s *Service) Registrant(ctx context.Context, actor registrar.Actor) (Registrant, bool, error) {
	account, err := s.signedInAccount(ctx, s.read(), actor)
	if err != nil {
		return Registrant{}, false, err
	}
	return s.read().GetRegistrant(ctx, account.ID)
}

// SetRegistrant checks and stores whom domains are registered for. What is wrong
// is told by *FieldError, all at once.
func (s *Service) SetRegistrant(ctx context.Context, actor registrar.Actor, registrant Registrant) error {
	return s.inTx(ctx, func(t *tx) error {
		account, err := s.recentlySignedInAccount(ctx, t, actor)
		if err != nil {
			return err
		}
		if err := s.storeRegistrant(ctx, t, actor, account.ID, registrant); err != nil {
			return err
		}
		return t.queueMail(ctx, actor, registrar.Mail{Kind: registrar.MailRegistrantChanged, Customer: account.ID})
	})
}

func (s *Service) storeRegistrant(ctx context.Context, t *tx, actor registrar.Actor, id string, registrant Registrant) error {
	checked, err := registrant.normalise()
	if err != nil {
		return err
	}
	if err := s.checkRegistrantChange(ctx, t, id, checked); err != nil {
		return err
	}
	checked.UpdatedAt = t.now
	if err := t.PutRegistrant(ctx, id, checked); err != nil {
		return err
	}
	return t.recordEvent(ctx, actor, ActionRegistrantChanged, id, "")
}

// checkRegistrantChange refuses a registrant while an order is being paid for the present one, and
// one that the extension of a domain or a paid item of the account does not admit. A
// rule is checked only if the data that it concerns changes: a registrant who already
// fails one can still correct a phone number.
func (s *Service) checkRegistrantChange(ctx context.Context, t *tx, id string, registrant Registrant) error {
	// An order was priced for this registrant, and for this name an identity was
	// shown: neither changes between the page to pay at and the payment.
	if err := t.LockCustomer(ctx, id); err != nil {
		return err
	}
	underWay, err := t.PaymentUnderWay(ctx, id)
	if err != nil {
		return err
	}
	if underWay {
		return fail(registrar.KindConflict, PaymentUnderWay)
	}
	tlds, err := t.ListRegistrantExtensions(ctx, id)
	if err != nil {
		return err
	}
	verified, err := t.VerifiedName(ctx, id)
	if err != nil {
		return err
	}
	current, _, err := t.GetRegistrant(ctx, id)
	if err != nil {
		return err
	}
	moved := registrant.Country != current.Country
	renamed := registrant.Name != current.Name || registrant.Kind != current.Kind || registrant.Organisation != current.Organisation
	return registrar.CheckExtensions(s.cfg.Extension, tlds, func(extension registrar.Extension) error {
		if moved {
			if err := extension.CheckCountry(registrant.Country); err != nil {
				return err
			}
		}
		if renamed {
			return extension.CheckIdentity(registrant.Name, verified)
		}
		return nil
	})
}

// maxPage bounds what one question can ask for.
const maxPage = 200

// ListAuditEvents are what was done to the account, the newest first; before is the id of
// the last one of the page before.
func (s *Service) ListAuditEvents(ctx context.Context, actor registrar.Actor, before string, limit int) ([]AuditEntry, error) {
	account, err := s.signedInAccount(ctx, s.read(), actor)
	if err != nil {
		return nil, err
	}
	return s.read().ListAuditEvents(ctx, account.ID, before, min(max(limit, 1), maxPage))
}
