package renewal

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

// A customer has up to MaxMethods payment methods. One of them is the default: renewals charge
// it and no other. A customer chooses it, by adding a method as the default, by setting a saved
// one, or by paying an order with automatic renewal with another method.
//
// A method is added at the provider's page, without buying anything. The setup has an id that is
// stored before the page exists; the page carries it. The browser's return and the webhook only
// name the page, which is then fetched. The method is saved once, by a compare-and-swap on the
// setup's id, so late and repeated messages can't save a removed method again. A card that is
// entered twice is saved once: the newer of the provider's ids replaces the older one.
//
// A method that is no longer saved is detached at the provider. The transaction that ends it
// stores that; see NewDetacher.

// Provider is where customers enter payment methods. Every call may be repeated.
type Provider interface {
	// OpenSetupPage returns the address of the page. The same id yields the same page.
	OpenSetupPage(ctx context.Context, page SetupPage) (url string, err error)
	FetchSetupPage(ctx context.Context, session string) (Setup, error)
	Forgetter
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

// MaxMethods is how many payment methods a customer can save.
const MaxMethods = 10

// SavedMethod is one of a customer's payment methods.
type SavedMethod struct {
	order.PaymentMethod
	Default bool
}

// Expired reports whether a card's last month is over.
func (m SavedMethod) Expired(now time.Time) bool {
	return m.Expires != "" && m.Expires < now.UTC().Format(order.ExpiresLayout)
}

// Methods is a customer's payment methods.
type Methods struct {
	Saved    []SavedMethod // the default first, then by age
	Renewing []string      // names that renew with the default
	More     bool          // there are more names
}

// Default returns the method that renewals charge; zero if there is none.
func (m Methods) Default() SavedMethod { return defaultOf(m.Saved) }

func defaultOf(saved []SavedMethod) SavedMethod {
	for _, one := range saved {
		if one.Default {
			return one
		}
	}
	return SavedMethod{}
}

// MethodsState is what a change of payment methods is decided on, locked until it is stored.
type MethodsState struct {
	Saved []SavedMethod
	// SetupOpen means that the setup in question is the newest and not finished, SetupDefault
	// that its method becomes the default.
	SetupOpen, SetupDefault bool
	// Charging means that a charge of the default is in flight.
	Charging bool
}

// MethodUpdate is a change of payment methods with what is stored in the same transaction. The
// zero update changes nothing.
type MethodUpdate struct {
	Save    *order.PaymentMethod // added, or saved again with other details
	Default *order.PaymentMethod // the new default
	Remove  []string             // the ids of methods that are no longer saved
	Detach  []Detachment
	// EndSetup finishes the open setup. EndConsents removes the default and ends every
	// automatic renewal.
	EndSetup, EndConsents bool
	AuditEvent            *registrar.AuditEvent
	Mail                  *registrar.Mail
	// Now is the business time, At the wall clock.
	Now, At time.Time
}

// The codes of errors about payment methods.
const (
	// NoMethodPage (KindUnsupported): no payment provider is configured.
	NoMethodPage registrar.Code = "no_method_page"
	// NoSuchMethod (KindNotFound): the customer has no such payment method.
	NoSuchMethod registrar.Code = "no_such_method"
	// MethodsChanged (KindConflict): the default is no longer the one that was shown.
	MethodsChanged registrar.Code = "methods_changed"
	// TooManyMethods (KindConflict): the customer has MaxMethods.
	TooManyMethods registrar.Code = "too_many_methods"
	// SetupReplaced (KindConflict): a newer setup was begun, or this one's method was removed.
	SetupReplaced registrar.Code = "setup_replaced"
	// ChooseDefault (KindConflict): the default is removed only together with the choice of the
	// next one.
	ChooseDefault registrar.Code = "choose_default"
)

// maxRenewingShown bounds the names that a page lists.
const maxRenewingShown = 100

// replacedFor is how long a replaced method stays attached at the provider: a charge that began
// with it may be in flight.
const replacedFor = 15 * time.Minute

// PlaceMethod decides how a method joins the saved ones. The first one is the default. The same
// card is replaced and stays the default if it was. makeRoom is for a method that must be saved
// because an order was paid with it: if there are MaxMethods, it replaces the default. Without
// makeRoom it is not saved then, and detached.
func PlaceMethod(saved []SavedMethod, added order.PaymentMethod, asDefault, makeRoom bool, now time.Time) (update MethodUpdate, placed bool) {
	update.Now = now
	remove := func(id string) {
		update.Remove = append(update.Remove, id)
		update.Detach = append(update.Detach, Detachment{Method: id, DueAt: now.Add(replacedFor)})
	}
	former := defaultOf(saved)
	asDefault = asDefault || former.ID == ""
	others := 0
	for _, one := range saved {
		same := one.ID == added.ID || added.Fingerprint != "" && one.Fingerprint == added.Fingerprint
		switch {
		case !same:
			others++
			continue
		case one.ID != added.ID:
			remove(one.ID)
		}
		asDefault = asDefault || one.Default
	}
	switch {
	case others < MaxMethods:
	case !makeRoom:
		return MethodUpdate{Now: now, Detach: []Detachment{{Method: added.ID, DueAt: now}}}, false
	default:
		remove(cmp.Or(former.ID, saved[0].ID))
	}
	update.Save = &added
	if asDefault {
		update.Default = &added
	}
	return update, true
}

// Methods returns the saved payment methods and what depends on the default.
func (s *Consents) Methods(ctx context.Context, actor registrar.Actor) (Methods, error) {
	if err := actor.RequirePerson(); err != nil {
		return Methods{}, err
	}
	return s.cfg.Store.GetMethods(ctx, actor.Customer, maxRenewingShown)
}

// BeginMethodSetup returns the provider's page where the customer enters a payment method.
// donePath and backPath are pages of ours; donePath gets the query parameter session.
func (s *Consents) BeginMethodSetup(ctx context.Context, actor registrar.Actor, asDefault bool, donePath, backPath string) (url string, err error) {
	if err := actor.RequirePerson(); err != nil {
		return "", err
	}
	if s.cfg.Provider == nil {
		return "", fail(registrar.KindUnsupported, NoMethodPage)
	}
	methods, err := s.cfg.Store.GetMethods(ctx, actor.Customer, 0)
	switch {
	case err != nil:
		return "", err
	case len(methods.Saved) >= MaxMethods:
		return "", fail(registrar.KindConflict, TooManyMethods)
	}
	id := registrar.NewID("set_", s.cfg.Clock())
	customer, err := s.cfg.Store.BeginMethodSetup(ctx, actor.Customer, id, asDefault, s.now())
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
// the webhook may be faster than the browser. Pages that are not finished, and those of other
// purposes, change nothing. The method of a page that a newer one has replaced is detached, and
// so is one for which there is no room; a person gets SetupReplaced or TooManyMethods. An actor
// who is not the page's customer gets NoSuchCustomer; the zero actor is the webhook.
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
	var problem registrar.Code
	err = s.updateMethods(ctx, setup.Customer, setup.ID, func(state MethodsState) (MethodUpdate, error) {
		now := s.now()
		saved, problem = slices.ContainsFunc(state.Saved, func(one SavedMethod) bool { return one.ID == setup.Method.ID }), ""
		switch {
		case saved:
			return MethodUpdate{}, nil
		case !state.SetupOpen:
			problem = SetupReplaced
			return MethodUpdate{Now: now, Detach: []Detachment{{Method: setup.Method.ID, DueAt: now}}}, nil
		}
		update, placed := PlaceMethod(state.Saved, *setup.Method, state.SetupDefault, false, now)
		update.EndSetup = true
		if saved = placed; !saved {
			problem = TooManyMethods
			return update, nil
		}
		s.addEffects(&update, actor, setup.Customer, *setup.Method, ActionMethodSet, "saved")
		if update.Default != nil {
			update.Mail.Data["default"] = setup.Method.Label
		}
		return update, nil
	})
	if err == nil && problem != "" && actor.Kind == registrar.ActorPerson {
		err = fail(registrar.KindConflict, problem)
	}
	return saved && err == nil, err
}

// SetDefaultMethod makes renewals charge another saved method, also those that are announced.
// shown is the default that the customer saw.
func (s *Consents) SetDefaultMethod(ctx context.Context, actor registrar.Actor, id, shown string) error {
	if err := actor.RequirePerson(); err != nil {
		return err
	}
	return s.updateMethods(ctx, actor.Customer, "", func(state MethodsState) (update MethodUpdate, err error) {
		method, err := findMethod(state, id, shown)
		if err != nil || method.Default {
			return update, err
		}
		update.Default = &method.PaymentMethod
		s.addEffects(&update, actor, actor.Customer, method.PaymentMethod, ActionMethodDefault, "default")
		return update, nil
	})
}

// RemoveMethod removes a saved payment method. shown is the default that the customer saw. next
// is the new default if the default is removed. Without another method every automatic renewal
// ends.
func (s *Consents) RemoveMethod(ctx context.Context, actor registrar.Actor, id, shown, next string) error {
	if err := actor.RequirePerson(); err != nil {
		return err
	}
	return s.updateMethods(ctx, actor.Customer, "", func(state MethodsState) (update MethodUpdate, err error) {
		method, err := findMethod(state, id, shown)
		if err != nil {
			return update, err
		}
		now := s.now()
		update.Remove, update.Detach = []string{id}, []Detachment{{Method: id, DueAt: now}}
		s.addEffects(&update, actor, actor.Customer, method.PaymentMethod, ActionMethodGone, "removed")
		switch {
		case !method.Default:
			update.Mail.Data["default"] = defaultOf(state.Saved).Label
			return update, nil
		case len(state.Saved) == 1:
			update.EndConsents, update.EndSetup = true, true
			return update, nil
		case next == "":
			return MethodUpdate{}, fail(registrar.KindConflict, ChooseDefault)
		}
		successor, err := findMethod(state, next, shown)
		if err == nil && successor.ID == id {
			err = fail(registrar.KindConflict, ChooseDefault)
		}
		if err != nil {
			return MethodUpdate{}, err
		}
		update.Default = &successor.PaymentMethod
		update.Mail.Data["default"], update.Mail.Data["moved"] = successor.Label, "true"
		return update, nil
	})
}

// findMethod returns a method that the customer may change now.
func findMethod(state MethodsState, id, shown string) (SavedMethod, error) {
	at := slices.IndexFunc(state.Saved, func(one SavedMethod) bool { return one.ID == id })
	switch {
	case id == "" || at < 0:
		return SavedMethod{}, fail(registrar.KindNotFound, NoSuchMethod)
	case defaultOf(state.Saved).ID != shown:
		return SavedMethod{}, fail(registrar.KindConflict, MethodsChanged)
	case state.Charging:
		return SavedMethod{}, fail(registrar.KindConflict, InProgress)
	}
	return state.Saved[at], nil
}

func (s *Consents) updateMethods(ctx context.Context, customer, setup string, decide func(MethodsState) (MethodUpdate, error)) error {
	if err := s.cfg.Store.UpdateMethods(ctx, customer, setup, decide); err != nil {
		return err
	}
	s.cfg.MailQueued()
	s.cfg.MethodDetached()
	return nil
}

// addEffects adds the audit event and the mail of a change.
func (s *Consents) addEffects(update *MethodUpdate, actor registrar.Actor, customer string, method order.PaymentMethod, action registrar.Action, word string) {
	update.Now, update.At = s.now(), s.cfg.Clock()
	update.AuditEvent = &registrar.AuditEvent{Actor: actor, Action: action, Customer: customer, Object: method.Label, At: update.Now}
	update.Mail = &registrar.Mail{Kind: registrar.MailPaymentMethod, Customer: customer, Data: map[string]string{"change": word, "name": method.Label}}
	update.Mail.SetAddress(actor)
}
