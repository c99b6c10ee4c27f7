package bulk

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
	"github.com/dotkontor/dotkontor/internal/registrar/renewal"
)

// MaxDomains bounds the domains of one action.
const MaxDomains = 200

// storeTimeout bounds storing the action, which must not end with the request.
const storeTimeout = 5 * time.Second

// Kind is what is done to each domain.
type Kind string

// The kinds. They are stored.
const (
	Lock         Kind = "lock"
	Unlock       Kind = "unlock"
	Nameservers  Kind = "nameservers"
	Renew        Kind = "renew"
	AutoRenewOn  Kind = "auto_renew_on"
	AutoRenewOff Kind = "auto_renew_off"
	Folder       Kind = "folder"
	Holder       Kind = "holder"
)

// changeKinds are the kinds that are domain changes.
var changeKinds = map[Kind]domainchange.ChangeKind{
	Lock: domainchange.Lock, Unlock: domainchange.Unlock, Nameservers: domainchange.Nameservers, Holder: domainchange.UpdateRegistrant,
}

// NeedsRecentSignIn reports whether the customer must have signed in recently.
func (k Kind) NeedsRecentSignIn() bool { return k == Unlock || k == Nameservers || k == Holder }

// Error codes.
const (
	NoneSelected registrar.Code = "none_selected"   // KindInvalid
	TooMany      registrar.Code = "too_many_chosen" // KindInvalid: see MaxDomains
	NoSuchAction registrar.Code = "no_such_action"  // KindNotFound
	NotDone      registrar.Code = "not_done"        // nothing was done about this domain, for a reason without a code
	Unconfirmed  registrar.Code = "unconfirmed"     // the customer has not confirmed the action yet; see Keep
)

// Request is an action.
type Request struct {
	Kind        Kind
	Domains     []string // ids
	Nameservers string   // as entered
	Folder      string
	Holder      string                       // the id of the new holder
	Agreements  map[string]renewal.Agreement // of AutoRenewOn, by domain
}

// Action is an action that was carried out.
type Action struct {
	ID, Customer string
	Kind         Kind
	Order        string // of Renew; empty if nothing was ordered
	Results      []Result
	At           time.Time
}

// Result is what was decided at once about one domain.
type Result struct {
	Domain   string         `json:"domain"`
	Name     string         `json:"name,omitempty"`   // empty if the customer holds no such domain
	ChangeID string         `json:"change,omitempty"` // of its domain change; empty if there is none
	Code     registrar.Code `json:"code,omitempty"`   // why nothing is done about it; empty if something is
	// Locked means that the registry's statuses, as last read, had the lock already. The change makes
	// sure of it: they may be out of date.
	Locked bool `json:"locked,omitempty"`
}

// Outcome is a result with the domain change that followed; zero if there is none.
type Outcome struct {
	Result
	Change domainchange.Change
}

// Store persists actions.
type Store interface {
	// AddBulkAction deletes the customer's oldest ones.
	AddBulkAction(ctx context.Context, action Action) error
	GetBulkAction(ctx context.Context, customer, id string) (Action, bool, error)
	ListBulkChanges(ctx context.Context, customer, action string) ([]domainchange.Change, error)
}

// Changes is domainchange.Service.
type Changes interface {
	QueueChange(ctx context.Context, actor registrar.Actor, id string, request domainchange.ChangeRequest, bulk string) (domainchange.Change, error)
}

// Orders is order.Service.
type Orders interface {
	AddRenewals(ctx context.Context, actor registrar.Actor, items []order.RequestedItem) (order.Order, []order.RefusedItem, error)
}

// Consents is renewal.Consents.
type Consents interface {
	NewBatch() *renewal.Batch
}

// Service is safe for concurrent use.
type Service struct{ cfg Config }

// Config configures a Service. Store, Portfolio and Changes are required.
type Config struct {
	Store     Store
	Portfolio *portfolio.Service
	Changes   Changes
	// Orders and Consents are nil if nothing can be ordered.
	Orders   Orders
	Consents Consents
	// Now is the business time, Clock the wall clock, for sign-ins. nil means time.Now.
	Now, Clock func() time.Time
}

// New returns a Service.
func New(cfg Config) (*Service, error) {
	if cfg.Store == nil || cfg.Portfolio == nil || cfg.Changes == nil {
		return nil, errors.New("bulk: Config.Store, Portfolio and Changes are required")
	}
	registrar.Default(&cfg.Now, time.Now)
	registrar.Default(&cfg.Clock, time.Now)
	return &Service{cfg}, nil
}

// Check returns why a selection of domains can't be acted on; nil if it can.
func Check(domains []string) error {
	switch {
	case len(domains) == 0:
		return registrar.Invalid(NoneSelected)
	case len(domains) > MaxDomains:
		return registrar.Invalid(TooMany)
	default:
		return nil
	}
}

// selected is a domain of a request, or why it can't be read.
type selected struct {
	id     string
	domain portfolio.Domain
	err    error
}

// Run carries out an action and returns it with its results. An error means that nothing was
// done, or that the database failed. A line that is no nameserver is such an error, and so are
// nameservers that are wrong for every domain.
func (s *Service) Run(ctx context.Context, actor registrar.Actor, request Request) (Action, error) {
	if err := actor.RequirePerson(); err != nil {
		return Action{}, err
	}
	request.Domains = slices.Compact(slices.Sorted(slices.Values(request.Domains)))
	if err := Check(request.Domains); err != nil {
		return Action{}, err
	}
	if request.Kind.NeedsRecentSignIn() {
		if err := actor.RequireRecentSignIn(s.cfg.Clock()); err != nil {
			return Action{}, err
		}
	}
	if request.Kind == Nameservers {
		if err := domainchange.CheckNameserverLines(request.Nameservers); err != nil {
			return Action{}, err
		}
	}
	act, err := s.actionFor(request)
	if err != nil {
		return Action{}, err
	}
	now := s.cfg.Now()
	action := Action{ID: registrar.NewID("blk_", now), Customer: actor.Customer, Kind: request.Kind, At: now}
	chosen := make([]selected, len(request.Domains))
	for i, id := range request.Domains {
		chosen[i].domain, chosen[i].err = s.cfg.Portfolio.Get(ctx, actor, id)
		chosen[i].id = id
	}
	slices.SortStableFunc(chosen, func(a, b selected) int { return strings.Compare(a.domain.Name, b.domain.Name) })
	var held []portfolio.Domain
	var invalid error // the first one about the nameservers
	for _, one := range chosen {
		result, err := Result{Domain: one.id, Name: one.domain.Name}, one.err
		if err == nil {
			result.ChangeID, err = act(ctx, actor, one.domain, action.ID)
		}
		if err != nil {
			result.Code = cmp.Or(registrar.CodeOf(err), NotDone)
			if invalid == nil && registrar.KindOf(err) == registrar.KindInvalid {
				invalid = err
			}
		} else {
			result.Locked = request.Kind == Lock && slices.Contains(one.domain.RegistryStatus, domainchange.TransferLock)
			held = append(held, one.domain)
		}
		action.Results = append(action.Results, result)
	}
	if len(held) == 0 && request.Kind == Nameservers && invalid != nil {
		return Action{}, invalid
	}
	if request.Kind == Renew {
		if err := s.renew(ctx, actor, held, &action); err != nil {
			return Action{}, err
		}
	}
	store, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
	defer cancel()
	return action, s.cfg.Store.AddBulkAction(store, action)
}

// Keep stores a selection of domains for an action that the customer has not confirmed, and
// returns its id: they add a payment method first, on another site.
func (s *Service) Keep(ctx context.Context, actor registrar.Actor, kind Kind, domains []string) (id string, err error) {
	if err := actor.RequirePerson(); err != nil {
		return "", err
	}
	domains = slices.Compact(slices.Sorted(slices.Values(domains)))
	if err := Check(domains); err != nil {
		return "", err
	}
	now := s.cfg.Now()
	action := Action{ID: registrar.NewID("blk_", now), Customer: actor.Customer, Kind: kind, At: now}
	for _, domain := range domains {
		action.Results = append(action.Results, Result{Domain: domain, Code: Unconfirmed})
	}
	return action.ID, s.cfg.Store.AddBulkAction(ctx, action)
}

// Kept returns the domains of an action that was kept for a confirmation; nil if it was carried
// out.
func (a Action) Kept() (domains []string) {
	for _, result := range a.Results {
		if result.Code != Unconfirmed {
			return nil
		}
		domains = append(domains, result.Domain)
	}
	return domains
}

// actFunc handles one domain and returns the id of its change, if there is one.
type actFunc func(ctx context.Context, actor registrar.Actor, domain portfolio.Domain, action string) (change string, err error)

// actionFor returns what a request does to each domain.
func (s *Service) actionFor(request Request) (actFunc, error) {
	if kind, ok := changeKinds[request.Kind]; ok {
		return func(ctx context.Context, actor registrar.Actor, domain portfolio.Domain, action string) (string, error) {
			change, err := s.cfg.Changes.QueueChange(ctx, actor, domain.ID, domainchange.ChangeRequest{Kind: kind, Nameservers: request.Nameservers, Holder: request.Holder}, action)
			return change.ID, err
		}, nil
	}
	switch {
	case request.Kind == Renew && s.cfg.Orders != nil: // all that can be renewed share an order
		return func(_ context.Context, _ registrar.Actor, domain portfolio.Domain, _ string) (string, error) {
			if why := domainchange.StatusRefusal(domain.Status); why != "" {
				return "", registrar.Conflict(why)
			}
			return "", nil
		}, nil
	case request.Kind == AutoRenewOn && s.cfg.Consents != nil:
		batch := s.cfg.Consents.NewBatch()
		return func(ctx context.Context, actor registrar.Actor, domain portfolio.Domain, _ string) (string, error) {
			agreed, shown := request.Agreements[domain.ID]
			if !shown {
				return "", registrar.Conflict(renewal.OfferChanged)
			}
			return "", batch.Agree(ctx, actor, domain.ID, agreed)
		}, nil
	case request.Kind == AutoRenewOff && s.cfg.Consents != nil:
		batch := s.cfg.Consents.NewBatch()
		return func(ctx context.Context, actor registrar.Actor, domain portfolio.Domain, _ string) (string, error) {
			return "", batch.TurnOff(ctx, actor, domain.ID)
		}, nil
	case request.Kind == Folder:
		return func(ctx context.Context, actor registrar.Actor, domain portfolio.Domain, _ string) (string, error) {
			return "", s.cfg.Portfolio.SetFolder(ctx, actor, domain.ID, request.Folder)
		}, nil
	default:
		return nil, registrar.NotFound(NoSuchAction)
	}
}

// renew puts the domains into one order, as many as fit. Those that it refuses get their
// reason.
func (s *Service) renew(ctx context.Context, actor registrar.Actor, domains []portfolio.Domain, action *Action) error {
	items := make([]order.RequestedItem, len(domains))
	for i, domain := range domains {
		items[i] = order.RequestedItem{Name: registrar.NewName(strings.TrimSuffix(domain.Name, domain.TLD), domain.TLD), Kind: order.Renew}
	}
	if len(items) == 0 {
		return nil
	}
	ordered, refused, err := s.cfg.Orders.AddRenewals(ctx, actor, items)
	var none *order.ItemsRefused
	var unquoted *order.ItemsUnquoted
	switch {
	case errors.As(err, &none):
		refused = slices.Concat(refused, none.Items, none.Unquoted)
	case errors.As(err, &unquoted):
		refused = slices.Concat(refused, unquoted.Items)
	case err != nil:
		return err
	default:
		action.Order = ordered.ID
	}
	reasons := make(map[string]error)
	for _, item := range refused {
		reasons[item.Name] = item.Reason
	}
	for i, result := range action.Results {
		if reason := reasons[result.Name]; reason != nil && result.Code == "" {
			action.Results[i].Code = cmp.Or(registrar.CodeOf(reason), NotDone)
		}
	}
	return nil
}

// Get returns an action of the actor with the state of its domain changes.
func (s *Service) Get(ctx context.Context, actor registrar.Actor, id string) (Action, []Outcome, error) {
	if err := actor.RequirePerson(); err != nil {
		return Action{}, nil, err
	}
	action, found, err := s.cfg.Store.GetBulkAction(ctx, actor.Customer, id)
	if err == nil && !found {
		err = registrar.NotFound(NoSuchAction)
	}
	if err != nil {
		return Action{}, nil, err
	}
	changes, err := s.cfg.Store.ListBulkChanges(ctx, actor.Customer, id)
	byID := make(map[string]domainchange.Change, len(changes))
	for _, change := range changes {
		byID[change.ID] = change
	}
	outcomes := make([]Outcome, len(action.Results))
	for i, result := range action.Results {
		outcomes[i] = Outcome{Result: result, Change: byID[result.ChangeID]}
	}
	return action, outcomes, err
}
