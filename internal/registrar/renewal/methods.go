package renewal

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

// A customer adds or replaces a payment method at the provider's page, without buying
// anything. The setup has an id that is stored before the page exists; the page carries it.
// The browser's return and the webhook only name the page, which is then fetched. The
// method is saved once, by a compare-and-swap on the setup's id, so late and repeated
// messages can't replace a newer method or restore a removed one.

// Provider is where customers enter payment methods. Every call may be repeated.
type Provider interface {
	// OpenSetupPage returns the address of the page. The same id yields the same page.
	OpenSetupPage(ctx context.Context, page SetupPage) (url string, err error)
	FetchSetupPage(ctx context.Context, session string) (Setup, error)
	// ForgetMethod removes a method from the provider. One that is gone is no error.
	ForgetMethod(ctx context.Context, method string) error
}

// SetupPage describes the page.
type SetupPage struct {
	ID, Customer string
	SetupCustomer
	// DoneURL and BackURL are where the browser is sent; the provider puts the session's id
	// in place of SessionPlaceholder.
	DoneURL, BackURL string
}

// SetupCustomer is what the provider needs to know about a customer.
type SetupCustomer struct{ Email, Language, ProviderCustomer string }

// SessionPlaceholder stands for the session's id in SetupPage.DoneURL.
const SessionPlaceholder = "{CHECKOUT_SESSION_ID}"

// Setup is what the provider reports about a page.
type Setup struct {
	ID, Customer string // ours, from the provider's metadata
	Method       *order.PaymentMethod
}

// SavedMethod is the customer's payment method.
type SavedMethod struct {
	order.PaymentMethod          // zero if there is none
	Renewing            []string // names that renew with it
	More                bool     // there are more names
}

// MethodChange is a saved or removed method with what is stored in the same transaction.
type MethodChange struct {
	Customer   string
	Method     order.PaymentMethod
	AuditEvent registrar.AuditEvent
	Mail       registrar.Mail
	// Now is the business time, At the wall clock.
	Now, At time.Time
}

// NoMethodPage (KindUnsupported): no payment provider is configured.
const NoMethodPage registrar.Code = "no_method_page"

// maxRenewingShown bounds the names that a page lists.
const maxRenewingShown = 100

// Method returns the saved payment method and what depends on it.
func (s *Consents) Method(ctx context.Context, actor registrar.Actor) (SavedMethod, error) {
	if err := actor.RequirePerson(); err != nil {
		return SavedMethod{}, err
	}
	return s.cfg.Store.GetMethod(ctx, actor.Customer, maxRenewingShown)
}

// BeginMethodSetup returns the provider's page where the customer enters a payment method.
// donePath and backPath are pages of ours; donePath gets the query parameter session.
func (s *Consents) BeginMethodSetup(ctx context.Context, actor registrar.Actor, donePath, backPath string) (url string, err error) {
	if err := actor.RequirePerson(); err != nil {
		return "", err
	}
	if s.cfg.Provider == nil {
		return "", fail(registrar.KindUnsupported, NoMethodPage)
	}
	id := registrar.NewID("set_", s.cfg.Clock())
	customer, err := s.cfg.Store.BeginMethodSetup(ctx, actor.Customer, id, s.now())
	if err != nil {
		return "", err
	}
	return s.cfg.Provider.OpenSetupPage(ctx, SetupPage{
		ID: id, Customer: actor.Customer, SetupCustomer: customer,
		DoneURL: s.cfg.BaseURL + donePath, BackURL: s.cfg.BaseURL + backPath,
	})
}

// FinishMethodSetup fetches a page that the browser or a webhook named and saves its
// method. It reports whether that method is saved now, by this call or by an earlier one:
// the webhook may be faster than the browser. Pages that are not finished, and those of other purposes, change nothing. An
// actor who is not the page's customer gets NoSuchCustomer; the zero actor is the webhook.
func (s *Consents) FinishMethodSetup(ctx context.Context, actor registrar.Actor, session string) (saved bool, err error) {
	if s.cfg.Provider == nil || session == "" {
		return false, nil
	}
	setup, err := s.cfg.Provider.FetchSetupPage(ctx, session)
	switch {
	case err != nil:
		return false, err
	case setup.ID == "" || setup.Customer == "" || setup.Method == nil:
		return false, nil
	case actor.Kind == "":
		actor = registrar.Actor{Kind: registrar.ActorSystem}
	case actor.Customer != setup.Customer:
		return false, fail(registrar.KindNotFound, registrar.NoSuchCustomer)
	}
	saved, err = s.cfg.Store.FinishMethodSetup(ctx, s.methodChange(actor, setup.Customer, *setup.Method, ActionMethodSet, "saved"), setup.ID)
	switch {
	case err != nil:
		return false, err
	case saved:
		s.cfg.MailQueued()
		return true, nil
	}
	method, err := s.cfg.Store.GetMethod(ctx, setup.Customer, 0)
	return err == nil && method.ID == setup.Method.ID, err
}

// RemoveMethod removes the saved payment method, which ends every automatic renewal.
func (s *Consents) RemoveMethod(ctx context.Context, actor registrar.Actor) error {
	if err := actor.RequirePerson(); err != nil {
		return err
	}
	method, err := s.cfg.Store.GetMethod(ctx, actor.Customer, 0)
	if err != nil || method.ID == "" {
		return err
	}
	removed, err := s.cfg.Store.RemoveMethod(ctx, s.methodChange(actor, actor.Customer, method.PaymentMethod, ActionMethodGone, "removed"))
	if err != nil || !removed {
		return err
	}
	s.cfg.MailQueued()
	if s.cfg.Provider == nil {
		return nil
	}
	// Nothing charges it any more. If the provider can't be reached, it keeps a method that
	// is never used.
	if err := s.cfg.Provider.ForgetMethod(ctx, method.ID); err != nil {
		s.cfg.Logger.WarnContext(ctx, "payment method not removed at the provider", "customer", actor.Customer, "code", string(registrar.CodeOf(err)))
	}
	return nil
}

func (s *Consents) methodChange(actor registrar.Actor, customer string, method order.PaymentMethod, action registrar.Action, word string) MethodChange {
	now := s.now()
	change := MethodChange{
		Customer: customer, Method: method, Now: now, At: s.cfg.Clock(),
		AuditEvent: registrar.AuditEvent{Actor: actor, Action: action, Customer: customer, Object: method.Label, At: now},
		Mail: registrar.Mail{Kind: registrar.MailPaymentMethod, Customer: customer, Data: map[string]string{
			"change": word, "name": method.Label,
		}},
	}
	change.Mail.SetAddress(actor)
	return change
}
