package account

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Registration is what a person enters or brings along when they register.
type Registration struct {
	Email, Language string
	// Basket is stored with the new account, because the mailed link may be opened in another
	// browser; an account with a confirmed address keeps its own.
	Basket string
	// Next is the path of the page that the mailed link leads to in the end. It contains no
	// secret, because a queued mail has none; the page behind the link checks it.
	Next string
}

// Register queues a mail to the address: with a link that confirms a new account, or saying that
// there is one already. The package comment explains why it takes no password.
func (s *Service) Register(ctx context.Context, actor registrar.Actor, email, language string) error {
	return s.RegisterVisitor(ctx, actor, Registration{Email: email, Language: language})
}

// RegisterVisitor is Register for a person with a basket or on the way to a page.
func (s *Service) RegisterVisitor(ctx context.Context, actor registrar.Actor, registration Registration) error {
	basket, next := registration.Basket, registration.Next
	if len(next) > maxNextBytes {
		next = ""
	}
	if len(basket) > maxBasketBytes {
		return registrar.Invalid(BasketInvalid)
	}
	email, key, err := parseEmail(registration.Email)
	if err != nil {
		return err
	}
	language, err := parseLanguage(registration.Language)
	if err != nil {
		return err
	}
	if s.consumeMailBudget(actor, key) > 0 {
		return nil // same response, no mail
	}
	return s.inTx(ctx, func(t *tx) error {
		inserted, err := t.InsertAccount(ctx, newAccount(email, key, language, t.now))
		if err != nil {
			return err
		}
		account, ok, err := t.AccountByEmail(ctx, key)
		if !ok {
			return cmp.Or(err, errors.New("account: register: account disappeared during registration"))
		}
		action, mail := ActionRegistrationAttempted, registrar.Mail{Kind: registrar.MailAlreadyRegistered, Customer: account.ID}
		if !account.ConfirmedAt.IsZero() {
			mail.Data = map[string]string{"basket": strconv.FormatBool(basket != "")}
		} else {
			named := cmp.Or(basket, account.Basket)
			if next != "" { // the link does not lead to the checkout
				named = ""
			}
			mail = confirmMail(account.ID, named)
			mail.Language = language
			if account.Language != language { // the pages behind the link have the language of the mail
				if err := t.SetLanguage(ctx, account.ID, language); err != nil {
					return err
				}
			}
			if basket != "" {
				if _, err := t.ReplaceBasket(ctx, account.ID, account.Basket, basket); err != nil {
					return err
				}
			}
		}
		if next != "" {
			mail.Data[registrar.MailNext] = next
		}
		if inserted {
			action = ActionRegistered
		}
		if err := t.recordEvent(ctx, actor, action, account.ID, ""); err != nil {
			return err
		}
		return t.queueMail(ctx, actor, mail)
	})
}

// confirmMail has the link that confirms an address, and names the domains of a basket:
// items, item1_name and so on. Anyone can send it to any address, so it names only what can be
// a domain.
func confirmMail(account, basket string) registrar.Mail {
	mail := registrar.Mail{Kind: registrar.MailConfirm, Customer: account, Data: make(map[string]string)}
	names := 0
	for item := range strings.SplitSeq(basket, "~") {
		_, text, _ := strings.Cut(item, ":")
		if name, err := registrar.ParseHost(text); err == nil && strings.Contains(name, ".") && names < maxMailedNames {
			names++
			mail.Data["item"+strconv.Itoa(names)+"_name"] = name
		}
	}
	if names > 0 {
		mail.Data["items"] = strconv.Itoa(names)
	}
	return mail
}

// maxNextBytes is longer than the path of any page that has no secret.
const maxNextBytes = 200

// maxMailedNames limits the names of a basket in a mail; the pages allow no larger one.
const maxMailedNames = 20

// consumeMailBudget counts a mail to recipient on behalf of actor, or returns the wait.
func (s *Service) consumeMailBudget(actor registrar.Actor, recipient string) time.Duration {
	return budgetSet{
		{s.cfg.Limits.sender, registrar.Network(actor.Address)},
		{s.cfg.Limits.recipient, recipient},
	}.consume()
}

// CheckLink returns the address of a link that needs no session, without using it: mail scanners
// open every link.
func (s *Service) CheckLink(ctx context.Context, kind LinkKind, link string) (email string, err error) {
	if kind != LinkConfirm && kind != LinkReset && kind != LinkSignIn {
		return "", registrar.NotFound(LinkInvalid)
	}
	found, _, err := s.findLink(ctx, s.read(), kind, link)
	return found.Email, err
}

// IsBuyerLink reports whether the account of a confirmation link has a basket.
func (s *Service) IsBuyerLink(ctx context.Context, link string) (bool, error) {
	_, account, err := s.findLink(ctx, s.read(), LinkConfirm, link)
	return account.Basket != "", err
}

// LinkLanguage returns the language of the account of a link, for the pages behind it; empty if
// the link is invalid or can't be read, which the page itself reports.
func (s *Service) LinkLanguage(ctx context.Context, kind LinkKind, link string) string {
	_, account, err := s.findLink(ctx, s.read(), kind, link)
	if err != nil {
		return ""
	}
	return account.Language
}

// findLink returns a link without using it. A change of the account's address voids it.
func (s *Service) findLink(ctx context.Context, r Reader, kind LinkKind, link string) (Link, Account, error) {
	refused := registrar.NotFound(LinkInvalid)
	hash, ok := registrar.HashSecret(registrar.LinkSecret, link)
	if !ok {
		return Link{}, Account{}, refused
	}
	found, ok, err := r.GetLink(ctx, hash, kind, s.cfg.Now())
	if !ok {
		return Link{}, Account{}, cmp.Or(err, refused)
	}
	account, ok, err := r.AccountByID(ctx, found.Customer)
	if !ok || !linkMatchesAccount(kind, found, account) {
		return Link{}, Account{}, cmp.Or(err, refused)
	}
	return found, account, nil
}

func linkMatchesAccount(kind LinkKind, link Link, account Account) bool {
	_, key, err := parseEmail(link.Email)
	if err != nil {
		return false
	}
	switch kind {
	case LinkConfirm:
		return account.ConfirmedAt.IsZero() && account.DisabledAt.IsZero() && key == account.EmailKey
	case LinkReset:
		return !account.ConfirmedAt.IsZero() && key == account.EmailKey
	case LinkSignIn: // a password, once chosen, is required
		return !account.ConfirmedAt.IsZero() && account.DisabledAt.IsZero() && !account.HasPassword && key == account.EmailKey
	case LinkEnrol:
		return account.Operator && !account.HasSecondFactor && account.DisabledAt.IsZero() && key == account.EmailKey
	case LinkChangeEmail:
		return !account.ConfirmedAt.IsZero() && account.DisabledAt.IsZero()
	default:
		return false
	}
}

// useLink marks a link as used and returns it.
func (s *Service) useLink(ctx context.Context, t *tx, kind LinkKind, link string) (Link, Account, error) {
	found, account, err := s.findLink(ctx, t, kind, link)
	if err != nil {
		return Link{}, Account{}, err
	}
	hash, _ := registrar.HashSecret(registrar.LinkSecret, link)
	if _, ok, err := t.UseLink(ctx, hash, kind, t.now); !ok {
		return Link{}, Account{}, cmp.Or(err, registrar.NotFound(LinkInvalid))
	}
	return found, account, nil
}

// Confirm uses a confirmation link, sets the password and signs in. An empty password sets
// none: the person then adds a passkey in the session that the link opens.
func (s *Service) Confirm(ctx context.Context, actor registrar.Actor, link, password, userAgent string) (opened SignInResult, err error) {
	_, account, err := s.findLink(ctx, s.read(), LinkConfirm, link)
	if err != nil {
		return SignInResult{}, err
	}
	hash := ""
	if password != "" {
		if hash, err = s.hashNewPassword(ctx, requesterOf(actor, ""), password, account.EmailKey); err != nil {
			return SignInResult{}, err
		}
	}
	err = s.inTx(ctx, func(t *tx) error {
		_, account, err := s.useLink(ctx, t, LinkConfirm, link)
		if err != nil {
			return err
		}
		if ok, err := t.ConfirmAccount(ctx, account.ID, hash, t.now); !ok {
			return cmp.Or(err, registrar.NotFound(LinkInvalid))
		}
		if err := t.DeleteUnusedLinks(ctx, account.ID, LinkConfirm); err != nil {
			return err
		}
		account.ConfirmedAt, account.PasswordHash, account.HasPassword = t.now, hash, hash != ""
		actor.Customer = account.ID
		if err := t.recordEvent(ctx, actor, ActionConfirmed, account.ID, ""); err != nil {
			return err
		}
		opened, err = s.startSession(ctx, t, sessionParams{actor: actor, account: account, userAgent: userAgent, authMethod: methodLink, newDevice: true})
		return err
	})
	return opened, err
}

// hashNewPassword validates and hashes a new password.
func (s *Service) hashNewPassword(ctx context.Context, r requester, password, key string) (string, error) {
	if err := checkPassword(password, key); err != nil {
		return "", err
	}
	return s.hasher.hash(ctx, r, password)
}
