package customer

import (
	"context"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// AskReset stores a letter to the address: with a link for another password, or
// with the news that there is no account. The caller never learns which.
func (s *Service) AskReset(ctx context.Context, actor registrar.Actor, email, language string) error {
	email, key, err := parseEmail(email)
	if err != nil {
		return err
	}
	if language, err = parseLanguage(language); err != nil {
		return err
	}
	if s.letterBudget(actor, resetTo(key)) > 0 {
		return nil // the same answer, and no letter
	}
	return s.change(ctx, func(t *tx) error {
		account, ok, err := t.AccountByEmail(ctx, key)
		if err != nil {
			return err
		}
		var letter registrar.Letter
		switch {
		case !ok:
			letter = registrar.Letter{Kind: registrar.LetterNoAccount, To: email, Language: language}
		case account.ConfirmedAt.IsZero():
			// There is no password to reset; confirming lets choose one.
			letter = registrar.Letter{Kind: registrar.LetterConfirm, Customer: account.ID}
		default:
			letter = registrar.Letter{Kind: registrar.LetterReset, Customer: account.ID}
		}
		if err := t.record(ctx, actor, ActionResetAsked, account.ID, ""); err != nil {
			return err
		}
		return t.post(ctx, actor, letter)
	})
}

// Reset sets another password by a link and ends every session. A second factor
// stays on: a mailbox alone does not open the account.
func (s *Service) Reset(ctx context.Context, actor registrar.Actor, link, password string) error {
	_, account, err := s.linked(ctx, s.read(), LinkReset, link)
	if err != nil {
		return err
	}
	hash, err := s.newHash(ctx, requesterOf(actor, account.ID), password, account.EmailKey)
	if err != nil {
		return err
	}
	return s.change(ctx, func(t *tx) error {
		_, account, err := s.use(ctx, t, LinkReset, link)
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
		if err := t.VoidLinks(ctx, account.ID, kind); err != nil {
			return err
		}
	}
	if err := t.record(ctx, actor, action, account.ID, ""); err != nil {
		return err
	}
	return t.post(ctx, actor, registrar.Letter{Kind: registrar.LetterPasswordChanged, Customer: account.ID})
}

// ChangePassword sets another password and ends all other sessions. An account
// without a password gets one; old is then ignored.
func (s *Service) ChangePassword(ctx context.Context, actor registrar.Actor, old, chosen string) error {
	account, err := s.recent(ctx, s.read(), actor)
	if err != nil {
		return err
	}
	if err := checkPassword(chosen, account.EmailKey); err != nil {
		return err
	}
	who := requesterOf(actor, account.ID) // the session ties the actor to it
	if account.HasPassword {
		// The session counts, whatever strangers try: whoever is being attacked
		// must be able to choose another password.
		budget := guard{{s.cfg.Limits.Device, "session " + actor.Through}}
		result, err := s.hasher.verify(ctx, who, budget, account.PasswordHash, old)
		if err != nil {
			return err
		}
		if !result.ok {
			return fail(registrar.KindInvalid, BadCredentials)
		}
	}
	hash, err := s.hasher.hash(ctx, who, chosen)
	if err != nil {
		return err
	}
	return s.change(ctx, func(t *tx) error {
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

// ChangeEmail stores a letter with a link to the new address, and one without to
// the old address. An address that has another account gets the news of that
// instead, and the caller does not learn it.
func (s *Service) ChangeEmail(ctx context.Context, actor registrar.Actor, email string) error {
	account, err := s.recent(ctx, s.read(), actor)
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
	if wait := s.letterBudget(actor, key); wait > 0 {
		return tooMany(wait)
	}
	return s.change(ctx, func(t *tx) error {
		if err := t.hold(ctx, account); err != nil { // its role was checked above
			return err
		}
		holder, taken, err := t.AccountByEmail(ctx, key)
		if err != nil {
			return err
		}
		if err := t.VoidLinks(ctx, account.ID, LinkChangeEmail); err != nil {
			return err
		}
		letter := registrar.Letter{Kind: registrar.LetterChangeEmail, Customer: account.ID, To: email}
		if taken && holder.ID != account.ID && !holder.ConfirmedAt.IsZero() {
			letter = registrar.Letter{Kind: registrar.LetterAlreadyMember, Customer: holder.ID}
		}
		requester := actor
		if letter.Kind == registrar.LetterChangeEmail {
			// The address may be mistyped: its reader does not learn where the
			// customer is.
			requester = registrar.Actor{}
		}
		if err := t.post(ctx, requester, letter); err != nil {
			return err
		}
		return t.tell(ctx, actor, ActionEmailChangeAsked, "", registrar.Letter{
			Kind: registrar.LetterEmailChanging, Facts: map[string]string{factEmail: email},
		})
	})
}

// CheckEmailChange returns the address that a mailed link would give to the actor's
// account, without using it.
func (s *Service) CheckEmailChange(ctx context.Context, actor registrar.Actor, link string) (email string, err error) {
	account, err := s.recent(ctx, s.read(), actor)
	if err != nil {
		return "", err
	}
	found, err := s.emailChange(ctx, s.read(), actor, account, link)
	return found.Email, err
}

// emailChange finds a pending change of the address of the actor's own account. The link alone
// proves nothing: a mistyped address delivers it to a stranger, who must neither
// use it nor learn whose it is. For any other account it does not exist.
func (s *Service) emailChange(ctx context.Context, r Reader, actor registrar.Actor, account Account, link string) (Link, error) {
	if err := s.requireStrongOperator(ctx, r, actor, account); err != nil {
		return Link{}, err
	}
	found, owner, err := s.linked(ctx, r, LinkChangeEmail, link)
	if err != nil {
		return Link{}, err
	}
	if owner.ID != account.ID {
		return Link{}, fail(registrar.KindNotFound, LinkInvalid)
	}
	return found, nil
}

// ConfirmEmail uses the link that was sent to a new address, in a session of the
// account that asked for the change. Links that were sent to the old address are
// void from then on.
func (s *Service) ConfirmEmail(ctx context.Context, actor registrar.Actor, link string) error {
	return s.change(ctx, func(t *tx) error {
		mine, err := s.recent(ctx, t, actor)
		if err != nil {
			return err
		}
		// The operator role can't be granted between its check and the change.
		if err := t.hold(ctx, mine); err != nil {
			return err
		}
		if _, err := s.emailChange(ctx, t, actor, mine, link); err != nil {
			return err
		}
		found, account, err := s.use(ctx, t, LinkChangeEmail, link)
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
			if _, err := t.DropUnconfirmed(ctx, rival.ID); err != nil {
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
			if err := t.VoidLinks(ctx, account.ID, kind); err != nil {
				return err
			}
		}
		return t.record(ctx, actor, ActionEmailChanged, account.ID, "")
	})
}

// SetLanguage chooses the language of pages and letters.
func (s *Service) SetLanguage(ctx context.Context, actor registrar.Actor, language string) error {
	language, err := parseLanguage(language)
	if err != nil {
		return err
	}
	return s.change(ctx, func(t *tx) error {
		account, err := s.signedIn(ctx, t, actor)
		if err != nil || account.Language == language {
			return err
		}
		if err := t.SetLanguage(ctx, account.ID, language); err != nil {
			return err
		}
		return t.record(ctx, actor, ActionLanguageChanged, account.ID, language)
	})
}

// Registrant is whom domains are registered for; false if nothing was told yet.
func (s *Service) Registrant(ctx context.Context, actor registrar.Actor) (Registrant, bool, error) {
	account, err := s.signedIn(ctx, s.read(), actor)
	if err != nil {
		return Registrant{}, false, err
	}
	return s.read().RegistrantOf(ctx, account.ID)
}

// SetRegistrant checks and stores whom domains are registered for. What is wrong
// is told by *FieldError, all at once.
func (s *Service) SetRegistrant(ctx context.Context, actor registrar.Actor, registrant Registrant) error {
	return s.change(ctx, func(t *tx) error {
		account, err := s.recent(ctx, t, actor)
		if err != nil {
			return err
		}
		if err := s.putRegistrant(ctx, t, actor, account.ID, registrant); err != nil {
			return err
		}
		return t.post(ctx, actor, registrar.Letter{Kind: registrar.LetterRegistrant, Customer: account.ID})
	})
}

func (s *Service) putRegistrant(ctx context.Context, t *tx, actor registrar.Actor, id string, registrant Registrant) error {
	checked, err := registrant.checked()
	if err != nil {
		return err
	}
	if err := s.admit(ctx, t, id, checked); err != nil {
		return err
	}
	checked.UpdatedAt = t.now
	if err := t.PutRegistrant(ctx, id, checked); err != nil {
		return err
	}
	return t.record(ctx, actor, ActionRegistrantChanged, id, "")
}

// admit refuses a registrant while an order is being paid for the present one, and
// one that the extension of a domain or a paid item of the account does not admit. A
// rule is checked only if the data that it concerns changes: a registrant who already
// fails one can still correct a phone number.
func (s *Service) admit(ctx context.Context, t *tx, id string, registrant Registrant) error {
	// An order was priced for this registrant, and for this name an identity was
	// shown: neither changes between the page to pay at and the payment.
	if err := t.Lock(ctx, id); err != nil {
		return err
	}
	paying, err := t.PaymentUnderWay(ctx, id)
	if err != nil {
		return err
	}
	if paying {
		return fail(registrar.KindConflict, PaymentUnderWay)
	}
	tlds, err := t.ExtensionsOf(ctx, id)
	if err != nil {
		return err
	}
	verified, err := t.VerifiedName(ctx, id)
	if err != nil {
		return err
	}
	present, _, err := t.RegistrantOf(ctx, id)
	if err != nil {
		return err
	}
	moved := registrant.Country != present.Country
	renamed := registrant.Name != present.Name || registrant.Kind != present.Kind || registrant.Organisation != present.Organisation
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

// Deeds are what was done to the account, the newest first; before is the id of
// the last one of the page before.
func (s *Service) Deeds(ctx context.Context, actor registrar.Actor, before string, limit int) ([]Entry, error) {
	account, err := s.signedIn(ctx, s.read(), actor)
	if err != nil {
		return nil, err
	}
	return s.read().DeedsOf(ctx, account.ID, before, min(max(limit, 1), maxPage))
}
