// Package holding knows which domains customers hold, and in which state.
//
// A customer sees their own domains and never anybody else's: there is no
// method that takes another account's id from a customer. A name is held by at
// most one account at a time, also under a race: the database has an index that
// says so. A name that was transferred to another registrar stays in the list
// as what it is, and may come back, to the same account or another one.
//
// A state is ours, not a registry's: registries have more of them, and what a
// customer wants to know is what they can do about the name. How a name moves
// from state to state is decided where orders are carried out, not here.
package portfolio

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// What can go wrong. Transports have a sentence for each.
const (
	// BadStatus goes with KindInvalid.
	BadStatus registrar.Code = "bad_status"
	// PaidUntilMissing goes with KindInvalid: only what is pending may lack it.
	PaidUntilMissing registrar.Code = "paid_until_missing"
	// NoPaymentMethod goes with KindConflict: a domain is marked only if there is a means of
	// payment that we may keep.
	NoPaymentMethod registrar.Code = "no_method"
)

// What the audit tells.
const (
	DomainAdded  registrar.Action = "domain_added"
	AutoRenewOn  registrar.Action = "auto_renew_on"
	AutoRenewOff registrar.Action = "auto_renew_off"
)

// Domain is one domain of one customer.
type Domain struct {
	ID       string
	Customer string
	// Name is the whole name in lower case A-label form, TLD its extension with
	// the leading dot.
	Name string
	TLD  string

	Status registrar.DomainStatus
	// PaidUntil is the date until which the customer has paid; zero while
	// nothing is registered. A registry's own date may be later.
	PaidUntil time.Time
	// AutoRenew marks the domain for automatic renewal, which needs a means of payment
	// with us. It is a mark only: see Renews.
	AutoRenew bool

	CreatedAt, UpdatedAt time.Time
}

// Renews says whether the domain is really renewed at the end of its term. Nothing
// renews domains automatically, so a mark alone promises nothing.
func (Domain) Renews() bool { return false }

// Store keeps domains.
type Store interface {
	// ListCustomerDomains are the account's domains in any order.
	ListCustomerDomains(ctx context.Context, customer string) ([]Domain, error)
	// ListDomainsPage is a page of the account's domains by name and id: up to limit after
	// the one of the filter. CountOf says how many there are of each status.
	ListDomainsPage(ctx context.Context, customer string, filter Filter, limit int) ([]Domain, error)
	CountDomainsByStatus(ctx context.Context, customer string) (map[registrar.DomainStatus]int, error)
	// FindDomains is PageOf with an offset, and counts all that match.
	FindDomains(ctx context.Context, customer string, filter Filter, limit, offset int) ([]Domain, int, error)
	// AddDomain stores a domain with its deed. It returns NameHeld if somebody
	// holds the name and NoSuchCustomer if there is no such account.
	AddDomain(ctx context.Context, domain Domain, event registrar.AuditEvent) error
	// SetAutoRenew stores whether a domain is marked for automatic renewal. It
	// returns NoSuchDomain if the customer does not hold it, and NoMethod for on
	// without a kept means of payment.
	SetAutoRenew(ctx context.Context, customer, domain string, on bool, event registrar.AuditEvent) error
}

// Config is what a Service needs.
type Config struct {
	Store Store
	// Now is the clock. Default: time.Now.
	Now func() time.Time
}

// Service is safe for use by many goroutines.
type Service struct {
	store Store
	now   func() time.Time
}

// New returns a Service.
func New(cfg Config) (*Service, error) {
	if cfg.Store == nil {
		return nil, errors.New("holding needs a store")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Service{store: cfg.Store, now: cfg.Now}, nil
}

// List returns the domains of the actor's account, by name.
func (s *Service) List(ctx context.Context, actor registrar.Actor) ([]Domain, error) {
	if actor.Customer == "" {
		return nil, &registrar.Error{Kind: registrar.KindUnauthenticated}
	}
	domains, err := s.store.ListCustomerDomains(ctx, actor.Customer)
	if err != nil {
		return nil, err
	}
	// Here and not in the database, whose order of text depends on its language.
	slices.SortFunc(domains, func(a, b Domain) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.ID, b.ID))
	})
	return domains, nil
}

// SetAutoRenew lets a person mark a domain of theirs, by its id, for automatic
// renewal, or take the mark away.
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

// AddParams is a domain that comes to an account other than by an order.
type AddParams struct {
	Customer  string
	Name      registrar.Name
	Status    registrar.DomainStatus
	PaidUntil time.Time
	AutoRenew bool
}

// Add gives an account a domain. It is for operators and for the sandbox's
// beginning; it asks no registry.
func (s *Service) Add(ctx context.Context, operator registrar.Actor, params AddParams) (Domain, error) {
	if err := operator.RequireOperator(); err != nil {
		return Domain{}, err
	}
	if params.Name.Label() == "" {
		return Domain{}, &registrar.Error{Kind: registrar.KindInvalid, Code: registrar.NameEmpty}
	}
	if !params.Status.Valid() {
		return Domain{}, &registrar.Error{Kind: registrar.KindInvalid, Code: BadStatus}
	}
	if params.PaidUntil.IsZero() && params.Status != registrar.DomainPending {
		return Domain{}, &registrar.Error{Kind: registrar.KindInvalid, Code: PaidUntilMissing}
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
