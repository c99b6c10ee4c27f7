package account

import (
	"cmp"
	"context"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// RequestEmailChange queues a mail with a link to the new address, and a notification to the old
// one. An address that has another account is notified of that instead; the caller can't tell.
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
		// The address may be mistyped: its reader must not learn the customer's location.
		requester, mail := registrar.Actor{}, registrar.Mail{Kind: registrar.MailChangeEmail, Customer: account.ID, To: email}
		if taken && owner.ID != account.ID && !owner.ConfirmedAt.IsZero() {
			requester, mail = actor, registrar.Mail{Kind: registrar.MailAlreadyRegistered, Customer: owner.ID}
		}
		if err := t.queueMail(ctx, requester, mail); err != nil {
			return err
		}
		return t.recordAndMail(ctx, actor, ActionEmailChangeRequested, "", registrar.Mail{
			Kind: registrar.MailEmailChanging, Data: map[string]string{"email": email},
		})
	})
}

// CheckEmailChange returns the address that a mailed link would set, without using it.
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
		return Link{}, registrar.NotFound(LinkInvalid)
	}
	return found, nil
}

// ConfirmEmailChange uses the link that was sent to a new address, in a session of the
// account that requested the change. Links sent to the old address become void.
func (s *Service) ConfirmEmailChange(ctx context.Context, actor registrar.Actor, link string) error {
	return s.changeRecentlySignedIn(ctx, actor, func(t *tx, mine Account) error {
		// Locked, so that the operator role can't be granted between its check and the change.
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
		// An unconfirmed account gives way: only the owner of the mailbox could confirm it.
		if rival, taken, err := t.AccountByEmail(ctx, key); err != nil {
			return err
		} else if taken && rival.ID != account.ID {
			if _, err := t.DeleteUnconfirmedAccount(ctx, rival.ID); err != nil {
				return err
			}
		}
		if ok, err := t.SetEmail(ctx, account.ID, email, key); !ok {
			return cmp.Or(err, registrar.Conflict(EmailTaken))
		}
		for _, kind := range []LinkKind{LinkReset, LinkChangeEmail, LinkEnrol} {
			if err := t.DeleteUnusedLinks(ctx, account.ID, kind); err != nil {
				return err
			}
		}
		return t.recordEvent(ctx, actor, ActionEmailChanged, account.ID, "")
	})
}

const maxBasketBytes = 4000

// ReplaceBasket stores the basket of a signed-in customer, or returns BasketChanged if it is
// no longer the one that they saw.
func (s *Service) ReplaceBasket(ctx context.Context, actor registrar.Actor, seen, basket string) error {
	if len(basket) > maxBasketBytes {
		return registrar.Invalid(BasketInvalid)
	}
	return s.changeSignedIn(ctx, actor, func(t *tx, account Account) error {
		replaced, err := t.ReplaceBasket(ctx, account.ID, seen, basket)
		if err == nil && !replaced {
			err = registrar.Conflict(BasketChanged)
		}
		return err
	})
}

// SetLanguage sets the language of pages and mails.
func (s *Service) SetLanguage(ctx context.Context, actor registrar.Actor, language string) error {
	language, err := parseLanguage(language)
	if err != nil {
		return err
	}
	return s.changeSignedIn(ctx, actor, func(t *tx, account Account) error {
		if account.Language == language {
			return nil
		}
		if err := t.SetLanguage(ctx, account.ID, language); err != nil {
			return err
		}
		return t.recordEvent(ctx, actor, ActionLanguageChanged, account.ID, language)
	})
}

// CloseBlockers counts what keeps an account from being closed.
type CloseBlockers struct{ Domains, Orders, Refunds int }

// closedEmailSuffix follows the id of a closed account, for an undeliverable address (RFC 2606).
const closedEmailSuffix = "@closed.invalid"

// CloseBlockers returns what keeps the actor's account from being closed.
func (s *Service) CloseBlockers(ctx context.Context, actor registrar.Actor) (CloseBlockers, error) {
	account, err := s.signedInAccount(ctx, s.read(), actor)
	if err != nil {
		return CloseBlockers{}, err
	}
	return s.read().CountCloseBlockers(ctx, account.ID)
}

// Close closes the actor's account permanently. Credentials, registrant data, the
// verified identity and saved payment methods are deleted at once; orders, invoices and
// the audit log are retained as long as the law requires. A final mail goes to the
// account's address, which can then be registered again.
func (s *Service) Close(ctx context.Context, actor registrar.Actor) error {
	return s.changeRecentlySignedIn(ctx, actor, func(t *tx, account Account) error {
		if err := t.lockCredentials(ctx, account); err != nil {
			return err
		}
		// Closing removes the factors and the role, so a stolen password must not be enough.
		if err := s.requireStrongOperator(ctx, t, actor, account); err != nil {
			return err
		}
		ties, err := t.CountCloseBlockers(ctx, account.ID)
		switch {
		case err != nil:
			return err
		case ties.Domains > 0:
			return registrar.Conflict(HasDomains)
		case ties.Orders > 0 || ties.Refunds > 0:
			return registrar.Conflict(HasOrders)
		}
		if closed, err := t.CloseAccount(ctx, account.ID, account.ID+closedEmailSuffix, t.now); !closed {
			return cmp.Or(err, registrar.Conflict(AccountDisabled))
		}
		if err := t.DeleteSessionsExcept(ctx, account.ID, ""); err != nil {
			return err
		}
		if err := t.DeleteDevices(ctx, account.ID); err != nil {
			return err
		}
		return t.recordAndMail(ctx, actor, ActionClosed, "", registrar.Mail{
			Kind: registrar.MailAccountClosed, To: account.Email, Language: account.Language,
		})
	})
}
