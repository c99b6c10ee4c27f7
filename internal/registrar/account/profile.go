package account

import (
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
			return fail(registrar.KindInvalid, BadCredentials)
		}
	}
	hash, err := s.hasher.hash(ctx, req, chosen)
	if err != nil {
		return err
	}
	return s.inTx(ctx, func(t *tx) error {
		// Of two concurrent changes the second fails: its old password no longer holds.
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

// RequestEmailChange queues a mail with a link to the new address, and a notification
// to the old one. An address that has another account is notified of that instead; the
// caller can't tell.
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
			// The address may be mistyped: its reader must not learn the customer's
			// location.
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

// CheckEmailChange returns the address that a mailed link would set for the actor's
// account, without using it.
func (s *Service) CheckEmailChange(ctx context.Context, actor registrar.Actor, link string) (email string, err error) {
	account, err := s.recentlySignedInAccount(ctx, s.read(), actor)
	if err != nil {
		return "", err
	}
	found, err := s.findEmailChange(ctx, s.read(), actor, account, link)
	return found.Email, err
}

// findEmailChange finds a pending address change of the actor's own account. The link
// alone proves nothing: a mistyped address delivers it to an unrelated person, who must
// neither use it nor learn whose it is. For any other account it does not exist.
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
// account that requested the change. Links sent to the old address become void.
func (s *Service) ConfirmEmailChange(ctx context.Context, actor registrar.Actor, link string) error {
	return s.inTx(ctx, func(t *tx) error {
		mine, err := s.recentlySignedInAccount(ctx, t, actor)
		if err != nil {
			return err
		}
		// Locked, so that the operator role can't be granted between its check and the
		// change.
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
		// An unconfirmed account with this address gives way: only the owner of the
		// mailbox could confirm it.
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

// SetLanguage sets the language of pages and mails.
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

// Registrant returns the account's registrant; false if there is none yet.
func (s *Service) Registrant(ctx context.Context, actor registrar.Actor) (Registrant, bool, error) {
	account, err := s.signedInAccount(ctx, s.read(), actor)
	if err != nil {
		return Registrant{}, false, err
	}
	return s.read().GetRegistrant(ctx, account.ID)
}

// SetRegistrant validates and stores the registrant. All invalid fields are reported at
// once as a *FieldError.
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

// checkRegistrantChange refuses a change while an order is being paid for the current
// registrant, and a registrant that the extension of a domain or a paid item does not
// admit. A rule is checked only if the data it concerns changes: a registrant who
// already fails one can still correct a phone number.
func (s *Service) checkRegistrantChange(ctx context.Context, t *tx, id string, registrant Registrant) error {
	// An order is priced, and an identity verified, for this registrant: neither may
	// change between opening the payment page and the payment.
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

// maxPage is the maximum page size.
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
