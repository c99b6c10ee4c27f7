// Package portfolio lists the domains that customers hold.
//
// Customers see only their own domains: no method accepts another account's id from a
// customer. At most one account holds a name at a time, which a unique index enforces.
// A domain transferred to another registrar stays in the list with that status, and may
// return to the same account or another one.
//
// State transitions are decided in package provision, not here.
package portfolio

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// The codes of this package's errors.
const (
	BadStatus        registrar.Code = "bad_status"         // KindInvalid
	PaidUntilMissing registrar.Code = "paid_until_missing" // KindInvalid: only a pending domain may lack it
	// NoPaymentMethod goes with KindConflict: automatic renewal requires a saved
	// payment method.
	NoPaymentMethod registrar.Code = "no_method"
)

// The audit actions of domains.
const (
	DomainAdded  registrar.Action = "domain_added"
	AutoRenewOn  registrar.Action = "auto_renew_on"
	AutoRenewOff registrar.Action = "auto_renew_off"
)

// Domain is a domain of a customer.
type Domain struct {
	ID       string
	Customer string
	// Name is the full name in lower-case A-labels, TLD its extension with the leading
	// dot.
	Name string
	TLD  string

	Status registrar.DomainStatus
	// PaidUntil is the end of the paid term; zero while nothing is registered. The
	// registry's date may be later.
	PaidUntil time.Time
	// AutoRenew marks the domain for automatic renewal, which requires a saved payment
	// method; see Renews.
	AutoRenew bool

	CreatedAt, UpdatedAt time.Time
}

// Renews reports whether the domain is renewed automatically at the end of its term.
// Automatic renewal is not implemented, so AutoRenew alone has no effect.
func (Domain) Renews() bool { return false }

// Store stores domains.
type Store interface {
	// ListCustomerDomains returns the account's domains in any order.
	ListCustomerDomains(ctx context.Context, customer string) ([]Domain, error)
	// ListDomainsPage returns up to limit of the account's domains by name and id,
	// after the position in the filter. CountDomainsByStatus counts all domains of the
	// account.
	ListDomainsPage(ctx context.Context, customer string, filter Filter, limit int) ([]Domain, error)
	CountDomainsByStatus(ctx context.Context, customer string) (map[registrar.DomainStatus]int, error)
	// FindDomains is ListDomainsPage with an offset, and counts all matches.
	FindDomains(ctx context.Context, customer string, filter Filter, limit, offset int) ([]Domain, int, error)
	// AddDomain stores a domain with its audit event. It returns NameHeld if an account
	// holds the name and NoSuchCustomer if there is no such account.
	AddDomain(ctx context.Context, domain Domain, event registrar.AuditEvent) error
	// SetAutoRenew stores the mark for automatic renewal. It returns NoSuchDomain if
	// the customer does not hold the domain, and NoPaymentMethod for on without a saved
	// payment method.
	SetAutoRenew(ctx context.Context, customer, domain string, on bool, event registrar.AuditEvent) error
}

// Service is safe for concurrent use.
type Service struct {
	store Store
	now   func() time.Time
}

// New returns a Service.
func New(store Store, now func() time.Time) *Service { return &Service{store: store, now: now} }

// List returns the domains of the actor's account, by name.
func (s *Service) List(ctx context.Context, actor registrar.Actor) ([]Domain, error) {
	if actor.Customer == "" {
		return nil, &registrar.Error{Kind: registrar.KindUnauthenticated}
	}
	domains, err := s.store.ListCustomerDomains(ctx, actor.Customer)
	if err != nil {
		return nil, err
	}
	// Sorted here, because a database's order of text depends on its collation.
	slices.SortFunc(domains, func(a, b Domain) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.ID, b.ID))
	})
	return domains, nil
}

// SetAutoRenew sets or clears the mark for automatic renewal of a domain.
func (s *Service) SetAutoRenew(ctx context.Context, actor registrar.Actor, domain string, on bool) error {
	if actor.Customer == "" {
		return &registrar.Error{Kind: registrar.KindUnauthenticated}
	}
	if err := actor.RequirePerson(); err != nil {
		return err
	}
	action := AutoRenewOff
	if on {
		action = AutoRenewOn
	}
	return s.store.SetAutoRenew(ctx, actor.Customer, domain, on, registrar.AuditEvent{
		Actor: actor, Action: action, Customer: actor.Customer, Object: domain, At: s.now(),
	})
}

// AddParams describes a domain that is added without an order.
type AddParams struct {
	Customer  string
	Name      registrar.Name
	Status    registrar.DomainStatus
	PaidUntil time.Time
	AutoRenew bool
}

// Add adds a domain to an account without contacting a registry. It is for operators
// and for seeding the sandbox.
func (s *Service) Add(ctx context.Context, operator registrar.Actor, params AddParams) (Domain, error) {
	if err := operator.RequireOperator(); err != nil {
		return Domain{}, err
	}
	if params.Name.Label() == "" {
		return Domain{}, registrar.Invalid(registrar.NameEmpty)
	}
	if !params.Status.Valid() {
		return Domain{}, registrar.Invalid(BadStatus)
	}
	if params.PaidUntil.IsZero() && params.Status != registrar.DomainPending {
		return Domain{}, registrar.Invalid(PaidUntilMissing)
	}
	now := s.now()
	domain := Domain{
		ID: registrar.NewID("dom_", now), Customer: params.Customer,
		Name: params.Name.ASCII(), TLD: params.Name.TLD(),
		Status: params.Status, PaidUntil: params.PaidUntil, AutoRenew: params.AutoRenew,
		CreatedAt: now, UpdatedAt: now,
	}
	event := registrar.AuditEvent{Actor: operator, Action: DomainAdded, Customer: params.Customer, Object: domain.Name, At: now}
	if err := s.store.AddDomain(ctx, domain, event); err != nil {
		return Domain{}, err
	}
	return domain, nil
}
