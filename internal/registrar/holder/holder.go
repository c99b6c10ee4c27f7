package holder

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
)

// Own is the id of an account's own data.
const Own = "own"

// MaxHolders limits the holders of an account.
const MaxHolders = 1000

// MaxDomains is how many domains a page of Domains has of each sort: as many as can follow a
// holder at once.
const MaxDomains = 200

// batch is how many domains are read at once.
const batch = 1000

// Reason is why a domain gets another registrant.
type Reason string

// The reasons. They are stored.
const (
	ReasonCorrection Reason = "correction" // the same holder with new data
	ReasonNewHolder  Reason = "new_holder" // the domain changes hands
	// ReasonTransfer is the first registrant after a transfer to us.
	ReasonTransfer Reason = "transfer"
)

// Error codes.
const (
	NoSuchHolder registrar.Code = "no_such_holder"   // KindNotFound; of an order's item KindConflict
	TooMany      registrar.Code = "too_many_holders" // KindConflict: see MaxHolders
	OwnMissing   registrar.Code = "holder_missing"   // KindConflict: the account has no registrant data
	// ContactUnknown: a contact is no other holder of the account. KindInvalid.
	ContactUnknown registrar.Code = "holder_contact_unknown"
)

// Audited actions.
const (
	ActionAdded   registrar.Action = "holder_added"
	ActionChanged registrar.Action = "holder_changed"
	ActionDeleted registrar.Action = "holder_deleted"
)

// Holder is a person or an organisation that holds domains.
type Holder struct {
	ID   string // Own for the account itself
	Kind account.RegistrantKind
	// Registrant has the data of Contacts unless it comes from a list.
	registrar.Registrant
	Contacts  Contacts
	UpdatedAt time.Time
}

// Contacts are the holders that a holder names as its contacts; empty ids mean none.
type Contacts struct{ Tech, Billing string }

// Label names the holder in lists.
func (h Holder) Label() string {
	if h.Organisation == "" {
		return h.Name
	}
	return h.Organisation + " (" + h.Name + ")"
}

// Domain is a domain of a holder.
type Domain struct {
	ID, Name, TLD string
	Status        registrar.DomainStatus
	Registrant    registrar.Registrant
}

// Store persists holders. Lookups return false if there is nothing.
type Store interface {
	// ListHolders returns an account's holders, without the account itself.
	ListHolders(ctx context.Context, customer string, limit int) ([]Holder, error)
	GetHolder(ctx context.Context, customer, id string) (Holder, bool, error)
	// AddHolder returns false if the account has limit holders. UpdateHolder and DeleteHolder
	// return false if it has no such holder.
	AddHolder(ctx context.Context, customer string, holder Holder, limit int, event registrar.AuditEvent) (bool, error)
	UpdateHolder(ctx context.Context, customer string, holder Holder, event registrar.AuditEvent) (bool, error)
	DeleteHolder(ctx context.Context, customer, id string, event registrar.AuditEvent) (bool, error)
	// GetOwnHolder returns the account's own data.
	GetOwnHolder(ctx context.Context, customer string) (Holder, bool, error)
	// ListDomainsOfHolder returns the domains after a name that are held for a holder, by name,
	// with the registrant that each has.
	ListDomainsOfHolder(ctx context.Context, customer, id, after string, limit int) ([]Domain, error)
}

// Service is safe for concurrent use.
type Service struct {
	store Store
	// now is the business time, clock the wall clock, for sign-ins.
	now, clock func() time.Time
}

// New returns a Service; nil clocks mean time.Now.
func New(store Store, now, clock func() time.Time) (*Service, error) {
	if store == nil {
		return nil, errors.New("holder: a store is required")
	}
	registrar.Default(&now, time.Now)
	registrar.Default(&clock, time.Now)
	return &Service{store: store, now: now, clock: clock}, nil
}

// List returns the actor's own data, if there are any, and the account's holders.
func (s *Service) List(ctx context.Context, actor registrar.Actor) ([]Holder, error) {
	if actor.Customer == "" {
		return nil, &registrar.Error{Kind: registrar.KindUnauthenticated, Code: registrar.SignInFirst}
	}
	own, known, err := s.store.GetOwnHolder(ctx, actor.Customer)
	if err != nil {
		return nil, err
	}
	all, err := s.store.ListHolders(ctx, actor.Customer, MaxHolders)
	if known {
		all = append([]Holder{own}, all...)
	}
	return all, err
}

// Get returns a holder of the actor's account.
func (s *Service) Get(ctx context.Context, actor registrar.Actor, id string) (Holder, error) {
	if err := actor.RequirePerson(); err != nil {
		return Holder{}, err
	}
	return s.get(ctx, actor.Customer, id)
}

func (s *Service) get(ctx context.Context, customer, id string) (Holder, error) {
	if id == "" || id == Own {
		own, known, err := s.store.GetOwnHolder(ctx, customer)
		if err == nil && !known {
			err = registrar.Conflict(OwnMissing)
		}
		return own, err
	}
	found, known, err := s.store.GetHolder(ctx, customer, id)
	if err == nil && !known {
		err = registrar.NotFound(NoSuchHolder)
	}
	if err != nil {
		return Holder{}, err
	}
	if found.Tech, err = s.contact(ctx, customer, found.Contacts.Tech); err != nil {
		return Holder{}, err
	}
	found.Billing, err = s.contact(ctx, customer, found.Contacts.Billing)
	return found, err
}

// contact returns the data of a holder that another one names; zero if there is none, or if it was
// deleted meanwhile.
func (s *Service) contact(ctx context.Context, customer, id string) (registrar.Contact, error) {
	if id == "" {
		return registrar.Contact{}, nil
	}
	get := s.store.GetHolder
	if id == Own {
		get = func(ctx context.Context, customer, _ string) (Holder, bool, error) {
			return s.store.GetOwnHolder(ctx, customer)
		}
	}
	found, _, err := get(ctx, customer, id)
	return found.Contact(), err
}

// checkContacts refuses contacts that are not other holders of the account.
func (s *Service) checkContacts(ctx context.Context, customer string, holder Holder) error {
	for _, id := range []string{holder.Contacts.Tech, holder.Contacts.Billing} {
		contact, err := s.contact(ctx, customer, id)
		if err != nil {
			return err
		}
		if id != "" && (id == holder.ID || contact == registrar.Contact{}) {
			return registrar.Invalid(ContactUnknown)
		}
	}
	return nil
}

// Registrant returns the data of a holder of an account; an empty id means the account itself.
func (s *Service) Registrant(ctx context.Context, customer, id string) (registrar.Registrant, error) {
	found, err := s.get(ctx, customer, id)
	return found.Registrant, err
}

// Add adds a holder and returns its id, or reports all invalid fields as an
// *account.FieldError.
func (s *Service) Add(ctx context.Context, actor registrar.Actor, data account.Registrant, email string, contacts Contacts) (string, error) {
	if err := actor.RequirePerson(); err != nil {
		return "", err
	}
	added, err := s.normalise(data, email)
	if err != nil {
		return "", err
	}
	added.ID, added.Contacts = registrar.NewID("hld_", added.UpdatedAt), contacts
	if err := s.checkContacts(ctx, actor.Customer, added); err != nil {
		return "", err
	}
	ok, err := s.store.AddHolder(ctx, actor.Customer, added, MaxHolders, s.event(actor, ActionAdded, added.ID))
	if err == nil && !ok {
		err = registrar.Conflict(TooMany)
	}
	return added.ID, err
}

// Update changes the data of a holder, but of none of its domains.
func (s *Service) Update(ctx context.Context, actor registrar.Actor, id string, data account.Registrant, email string, contacts Contacts) error {
	if err := s.requirePresence(actor); err != nil {
		return err
	}
	changed, err := s.normalise(data, email)
	if err != nil {
		return err
	}
	changed.ID, changed.Contacts = id, contacts
	if err := s.checkContacts(ctx, actor.Customer, changed); err != nil {
		return err
	}
	ok, err := s.store.UpdateHolder(ctx, actor.Customer, changed, s.event(actor, ActionChanged, id))
	return known(ok, err)
}

// Delete deletes a holder. Its domains keep their registrant, and domains of those that name it as
// a contact keep that.
func (s *Service) Delete(ctx context.Context, actor registrar.Actor, id string) error {
	if err := s.requirePresence(actor); err != nil {
		return err
	}
	ok, err := s.store.DeleteHolder(ctx, actor.Customer, id, s.event(actor, ActionDeleted, id))
	return known(ok, err)
}

// DomainsPage has domains of a holder, by name.
type DomainsPage struct {
	// Outdated are those that have other data than the holder. Next is the id after which further
	// ones begin; empty if there are none.
	Outdated []Domain
	Next     string
	// Current are the first ones with the holder's data; Further counts the others.
	Current []Domain
	Further int
}

// Domains returns the domains of a holder. after is empty, or Next of the page before.
func (s *Service) Domains(ctx context.Context, actor registrar.Actor, id, after string) (DomainsPage, error) {
	holder, err := s.Get(ctx, actor, id)
	if err != nil {
		return DomainsPage{}, err
	}
	var page DomainsPage
	begun := after == ""
	for name := ""; ; {
		domains, err := s.store.ListDomainsOfHolder(ctx, actor.Customer, id, name, batch)
		if err != nil {
			return DomainsPage{}, err
		}
		for _, domain := range domains {
			switch outdated := domain.Registrant != holder.Registrant; {
			case !outdated && len(page.Current) < MaxDomains:
				page.Current = append(page.Current, domain)
			case !outdated:
				page.Further++
			case begun && len(page.Outdated) < MaxDomains:
				page.Outdated = append(page.Outdated, domain)
			case begun:
				page.Next = page.Outdated[MaxDomains-1].ID
			}
			begun = begun || domain.ID == after
		}
		if len(domains) < batch {
			break
		}
		name = domains[len(domains)-1].Name
	}
	if !begun { // the domain has left
		return s.Domains(ctx, actor, id, "")
	}
	return page, nil
}

func (s *Service) requirePresence(actor registrar.Actor) error {
	return cmp.Or(actor.RequirePerson(), actor.RequireRecentSignIn(s.clock()))
}

func (s *Service) normalise(data account.Registrant, email string) (Holder, error) {
	data.VATID = "" // only the recipient of invoices has one
	fitted, address, err := account.NormaliseRegistrant(data, email)
	if err != nil {
		return Holder{}, err
	}
	return Holder{Kind: fitted.Kind, UpdatedAt: s.now().Truncate(time.Microsecond), Registrant: registrar.Registrant{
		Name: fitted.Name, Organisation: fitted.Organisation, Street: fitted.Street, PostalCode: fitted.PostalCode,
		City: fitted.City, State: fitted.State, Country: fitted.Country, Phone: fitted.Phone, Email: address,
	}}, nil
}

func (s *Service) event(actor registrar.Actor, action registrar.Action, id string) registrar.AuditEvent {
	return registrar.AuditEvent{Actor: actor, Action: action, Customer: actor.Customer, Object: id, At: s.now()}
}

func known(ok bool, err error) error {
	if err == nil && !ok {
		err = registrar.NotFound(NoSuchHolder)
	}
	return err
}
