package account

import (
	"cmp"
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// operatorLinkTTL is longer than that of a mailed link, because a person hands it over.
const operatorLinkTTL = 24 * time.Hour

// changeAsOperator runs fn on one account in a transaction.
func (s *Service) changeAsOperator(ctx context.Context, operator registrar.Actor, id string, fn func(*tx, Account) error) error {
	if err := operator.RequireOperator(); err != nil {
		return err
	}
	return s.inTx(ctx, func(t *tx) error {
		account, ok, err := t.AccountByID(ctx, id)
		if !ok {
			return cmp.Or(err, registrar.NotFound(registrar.NoSuchCustomer))
		}
		return fn(t, account)
	})
}

// Add creates an account for an address that the operator vouches for, and returns a
// link by which its owner chooses a password.
func (s *Service) Add(ctx context.Context, operator registrar.Actor, email, language string) (customer Customer, link string, err error) {
	if err := operator.RequireOperator(); err != nil {
		return Customer{}, "", err
	}
	email, key, err := parseEmail(email)
	if err != nil {
		return Customer{}, "", err
	}
	if language, err = parseLanguage(language); err != nil {
		return Customer{}, "", err
	}
	err = s.inTx(ctx, func(t *tx) error {
		account := newAccount(email, key, language, t.now)
		account.ConfirmedAt = t.now
		if inserted, err := t.InsertAccount(ctx, account); !inserted {
			return cmp.Or(err, registrar.Conflict(EmailTaken))
		}
		if err := t.recordEvent(ctx, operator, ActionAdded, account.ID, ""); err != nil {
			return err
		}
		customer = account.Customer
		link, err = t.createLink(ctx, account, LinkReset, operatorLinkTTL)
		return err
	})
	return customer, link, err
}

// createLink returns a link that an operator hands over.
func (t *tx) createLink(ctx context.Context, account Account, kind LinkKind, ttl time.Duration) (string, error) {
	link, hash := registrar.NewSecret(registrar.LinkSecret)
	return link, t.InsertLink(ctx, hash, kind, Link{Customer: account.ID, Email: account.Email, ExpiresAt: t.now.Add(ttl)})
}

// FindByEmail returns the account of an address.
func (s *Service) FindByEmail(ctx context.Context, operator registrar.Actor, email string) (Customer, error) {
	if err := operator.RequireOperator(); err != nil {
		return Customer{}, err
	}
	_, key, err := parseEmail(email)
	if err != nil {
		return Customer{}, err
	}
	account, ok, err := s.read().AccountByEmail(ctx, key)
	if !ok {
		return Customer{}, cmp.Or(err, registrar.NotFound(registrar.NoSuchCustomer))
	}
	return account.Customer, nil
}

// List returns accounts in order of creation; after is the last id of the previous page.
func (s *Service) List(ctx context.Context, operator registrar.Actor, after string, limit int) ([]Customer, error) {
	if err := operator.RequireOperator(); err != nil {
		return nil, err
	}
	return customersOf(s.read().ListAccounts(ctx, after, min(max(limit, 1), maxPage)))
}

// Disable disables an account: its sessions end and its tokens are refused.
func (s *Service) Disable(ctx context.Context, operator registrar.Actor, id string) error {
	return s.changeAsOperator(ctx, operator, id, func(t *tx, account Account) error {
		changed, err := t.Disable(ctx, account.ID, t.now)
		if err != nil || !changed {
			return err
		}
		if err := t.DeleteSessionsExcept(ctx, account.ID, ""); err != nil {
			return err
		}
		return t.recordEvent(ctx, operator, ActionDisabled, account.ID, "")
	})
}

// Enable reverses Disable.
func (s *Service) Enable(ctx context.Context, operator registrar.Actor, id string) error {
	return s.changeAsOperator(ctx, operator, id, func(t *tx, account Account) error {
		changed, err := t.Enable(ctx, account.ID)
		if err != nil || !changed {
			return err
		}
		return t.recordEvent(ctx, operator, ActionEnabled, account.ID, "")
	})
}

// CreateResetLink creates a link by which the owner chooses a new password. It also
// confirms the address of an unconfirmed account: the operator vouches for it.
func (s *Service) CreateResetLink(ctx context.Context, operator registrar.Actor, id string) (link string, err error) {
	err = s.changeAsOperator(ctx, operator, id, func(t *tx, account Account) error {
		if account.ConfirmedAt.IsZero() {
			if ok, err := t.ConfirmAccount(ctx, account.ID, "", t.now); !ok { // the link would not work
				return cmp.Or(err, registrar.Conflict(AccountDisabled))
			}
		}
		if err := t.recordEvent(ctx, operator, ActionResetLinkCreated, account.ID, ""); err != nil {
			return err
		}
		link, err = t.createLink(ctx, account, LinkReset, operatorLinkTTL)
		return err
	})
	return link, err
}

// changeConfirmed is changeAsOperator for confirmed accounts. Unconfirmed ones are
// deleted after a while, so nothing is stored in them.
func (s *Service) changeConfirmed(ctx context.Context, operator registrar.Actor, id string, fn func(*tx, Account) error) error {
	return s.changeAsOperator(ctx, operator, id, func(t *tx, account Account) error {
		if account.ConfirmedAt.IsZero() {
			return registrar.NotFound(registrar.NoSuchCustomer)
		}
		return fn(t, account)
	})
}

// SetPassword sets the password of a sandbox's demo account, without a mail.
func (s *Service) SetPassword(ctx context.Context, operator registrar.Actor, id, password string) error {
	if err := operator.RequireOperator(); err != nil {
		return err
	}
	account, ok, err := s.read().AccountByID(ctx, id)
	if !ok {
		return cmp.Or(err, registrar.NotFound(registrar.NoSuchCustomer))
	}
	hash, err := s.hashNewPassword(ctx, requesterOf(operator, ""), password, account.EmailKey)
	if err != nil {
		return err
	}
	return s.changeConfirmed(ctx, operator, id, func(t *tx, account Account) error {
		if err := t.SetPasswordHash(ctx, account.ID, hash); err != nil {
			return err
		}
		if err := t.DeleteSessionsExcept(ctx, account.ID, ""); err != nil {
			return err
		}
		if err := t.DeleteUnusedLinks(ctx, account.ID, LinkReset); err != nil {
			return err
		}
		return t.recordEvent(ctx, operator, ActionPasswordSet, account.ID, "")
	})
}

// SetRegistrantFor is SetRegistrant by an operator.
func (s *Service) SetRegistrantFor(ctx context.Context, operator registrar.Actor, id string, registrant Registrant) error {
	return s.changeConfirmed(ctx, operator, id, func(t *tx, account Account) error {
		return s.storeRegistrant(ctx, t, operator, account.ID, registrant)
	})
}

// ListOperators returns the accounts with the operator role.
func (s *Service) ListOperators(ctx context.Context, operator registrar.Actor) ([]Customer, error) {
	if err := operator.RequireOperator(); err != nil {
		return nil, err
	}
	return customersOf(s.read().ListOperators(ctx))
}

func customersOf(accounts []Account, err error) ([]Customer, error) {
	list := make([]Customer, 0, len(accounts))
	for _, account := range accounts {
		list = append(list, account.Customer)
	}
	return list, err
}
