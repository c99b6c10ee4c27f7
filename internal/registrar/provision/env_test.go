package provision_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/cost"
	"github.com/dotkontor/dotkontor/internal/registrar/inbox"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

// memStore is a store in memory.
type memStore struct {
	mu           sync.Mutex
	items        map[string]provision.Item
	domains      map[string]provision.Domain
	messages     []string
	pollers      map[string]pollerLease
	balances     map[string]inbox.Stored
	failPollers  atomic.Bool // leases can't be stored
	events       []registrar.AuditEvent
	charges      []cost.Charge
	noRegistrant bool
	verified     string
	// registrant is the account's registrant; zero means Ada in Germany.
	registrant registrar.Registrant
	// claimed is called with each GetRegistrant; unless it is nil, only customers it
	// accepts have registrant data.
	claimed func(customer string) bool
	// lostCommit is the state whose first transition is stored but reported as failed.
	lostCommit provision.State
	// states is every stored state, without repetitions.
	states []provision.State
	log    *eventLog
}

// eventLog records calls and writes in order.
type eventLog struct {
	mu      sync.Mutex
	entries []string
}

func (d *eventLog) add(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.entries = append(d.entries, fmt.Sprintf(format, args...))
}

func (d *eventLog) all() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.entries)
}

func newMemStore(log *eventLog) *memStore {
	return &memStore{items: map[string]provision.Item{}, domains: map[string]provision.Domain{}, pollers: map[string]pollerLease{}, balances: map[string]inbox.Stored{}, log: log}
}

func (s *memStore) GetRegistrant(_ context.Context, customer string) (registrar.Registrant, bool, error) {
	if s.claimed != nil {
		return registrar.Registrant{Name: "Ada", Country: "DE"}, s.claimed(customer), nil
	}
	if s.registrant != (registrar.Registrant{}) {
		return s.registrant, true, nil
	}
	return registrar.Registrant{Name: "Ada", Country: "DE"}, !s.noRegistrant, nil
}

// VerifiedName returns the configured name.
func (s *memStore) VerifiedName(context.Context, string) (string, error) { return s.verified, nil }

func (s *memStore) AddProvisionItem(_ context.Context, item provision.Item, event registrar.AuditEvent) (provision.Item, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.items[item.ID] = item
	s.events = append(s.events, event)
	return item, nil
}

func (s *memStore) ProvisionItemByID(_ context.Context, id string) (provision.Item, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	item, found := s.items[id]
	return item, found, nil
}

func (s *memStore) ProvisionItemByPayment(_ context.Context, payment, name string) (*provision.Item, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, item := range s.items {
		if item.Payment == payment && item.Name == name {
			return &item, nil
		}
	}
	return nil, nil //nolint:nilnil // no item is no error
}

func (s *memStore) ListDueProvisionItems(_ context.Context, automatic bool, now time.Time, limit int) ([]provision.Item, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var due []provision.Item
	for _, item := range s.items {
		if item.Automatic == automatic && !item.DueAt.IsZero() && !item.DueAt.After(now) && len(due) < limit {
			due = append(due, item)
		}
	}
	return due, nil
}

func (s *memStore) UpdateProvisionItem(_ context.Context, next provision.Transition) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	stored := s.items[next.To.ID]
	if stored.State != next.From.State || !stored.DueAt.Equal(next.From.DueAt) {
		return false, nil
	}
	switch {
	case next.AddDomain != nil:
		for _, other := range s.domains {
			if other.Name == next.AddDomain.Name {
				return false, &registrar.Error{Kind: registrar.KindConflict, Code: registrar.NameHeld}
			}
		}
		s.domains[next.AddDomain.ID] = *next.AddDomain
	case next.ActivateDomain != nil:
		domain := s.domains[next.ActivateDomain.ID]
		domain.Status, domain.PaidUntil = next.ActivateDomain.Status, next.ActivateDomain.PaidUntil
		s.domains[domain.ID] = domain
	case next.DropDomain:
		delete(s.domains, next.To.Domain)
	case next.Renewal != nil:
		domain := s.domains[next.Renewal.Domain]
		if !domain.PaidUntil.Equal(next.Renewal.From) {
			return false, errors.New("term changed concurrently")
		}
		domain.PaidUntil, domain.RegistryExpires = next.Renewal.Until, next.Renewal.RegistryExpires
		if domain.Status == "expired" {
			domain.Status = "active"
		}
		s.domains[domain.ID] = domain
	}
	if next.Charge != nil {
		s.charges = append(s.charges, *next.Charge)
	}
	if next.AuditEvent != nil {
		s.events = append(s.events, *next.AuditEvent)
	}
	if stored.State != next.To.State {
		s.states = append(s.states, next.To.State)
		s.log.add("stored %s", next.To.State)
	}
	s.items[next.To.ID] = next.To
	if s.lostCommit != "" && next.To.State == s.lostCommit {
		s.lostCommit = ""
		return false, errors.New("connection closed during commit")
	}
	return true, nil
}

func (s *memStore) StoreRegistryMessage(_ context.Context, _ string, message inbox.Message, _, _ time.Time) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.messages = append(s.messages, message.ID)
	s.log.add("stored message %s", message.ID)
	return true, nil
}

func (s *memStore) ClaimRegistryPoller(_ context.Context, account, node string, now, until time.Time) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failPollers.Load() {
		return false, errors.New("database unreachable")
	}
	if lease := s.pollers[account]; lease.node != node && lease.until.After(now) {
		return false, nil
	}
	s.pollers[account] = pollerLease{node, until}
	return true, nil
}

func (s *memStore) QueriedBalance(_ context.Context, account string) (inbox.Stored, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	stored, found := s.balances[account]
	return stored, found, nil
}

func (s *memStore) NewestBalance(ctx context.Context, account string) (inbox.Stored, bool, error) {
	return s.QueriedBalance(ctx, account)
}

func (s *memStore) StoreQueriedBalance(_ context.Context, account string, balance inbox.Balance, at, now time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.balances[account] = inbox.QueriedBalance(account, &balance, at, now)
	return nil
}

func (s *memStore) ReleaseRegistryPoller(_ context.Context, account, node string, _ time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pollers[account].node == node {
		delete(s.pollers, account)
	}
	return nil
}

// pollerLease is a node's lease on polling an account.
type pollerLease struct {
	node  string
	until time.Time
}

func (s *memStore) ListDueDomains(context.Context, time.Time, int) ([]provision.Domain, error) {
	return nil, nil
}

func (s *memStore) ListDomainsAfter(_ context.Context, id string, _ int) ([]provision.Domain, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []provision.Domain
	for _, domain := range s.domains {
		if domain.ID > id {
			all = append(all, domain)
		}
	}
	slices.SortFunc(all, func(a, b provision.Domain) int { return len(a.ID) - len(b.ID) })
	return all, nil
}

func (s *memStore) DomainByName(_ context.Context, name string) (provision.Domain, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var last provision.Domain
	for _, domain := range s.domains {
		if domain.Name != name {
			continue
		}
		if last = domain; domain.Status != "transferred_out" {
			break
		}
	}
	return last, last.ID != "", nil
}

func (s *memStore) UpdateDomainFromRegistry(_ context.Context, was, now provision.Domain, event *registrar.AuditEvent) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.domains[was.ID].Status != was.Status {
		return false, nil
	}
	s.domains[was.ID] = now
	if event != nil {
		s.events = append(s.events, *event)
	}
	return true, nil
}

// onlyItem returns the single stored item.
func (s *memStore) onlyItem(t *testing.T) provision.Item {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.items) != 1 {
		t.Fatalf("%d items", len(s.items))
	}
	for _, item := range s.items {
		return item
	}
	return provision.Item{}
}

var operator = registrar.Actor{Kind: registrar.ActorOperator, Through: "test"}

// testEnv is a service with a store and a registry.
type testEnv struct {
	*provision.Service
	store    *memStore
	registry *fakeRegistry
	log      *eventLog
	retries  []registrar.Code
	ended    []provision.State
	drift    []provision.Drift
}

func newEnv(t *testing.T, registry *fakeRegistry, change ...func(*provision.Config)) *testEnv {
	t.Helper()
	log := &eventLog{}
	registry.log = log
	env := &testEnv{store: newMemStore(log), registry: registry, log: log}
	env.Service = env.newNode(t, change...)
	return env
}

// newNode returns another node on the same store.
func (env *testEnv) newNode(t *testing.T, change ...func(*provision.Config)) *provision.Service {
	t.Helper()
	seal, err := registrar.NewSeal([32]byte{1})
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	cfg := provision.Config{
		Store: env.store, Domains: env.store, Seal: seal, Node: "here", Nameservers: []string{"ns1.example.net"},
		Accounts: []provision.NamedAccount{{Name: "registry", Serves: func(tld string) bool { return tld != ".xyz" }, Account: env.registry}},
		OnRetry: func(code registrar.Code) {
			mu.Lock()
			defer mu.Unlock()
			env.retries = append(env.retries, code)
		},
		OnItemEnded: func(_ provision.Kind, state provision.State) {
			mu.Lock()
			defer mu.Unlock()
			env.ended = append(env.ended, state)
		},
		OnDrift: func(what provision.Drift) {
			mu.Lock()
			defer mu.Unlock()
			env.drift = append(env.drift, what)
		},
	}
	for _, c := range change {
		c(&cfg)
	}
	service, err := provision.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return service
}

func (env *testEnv) createItem(t *testing.T, label, tld string) provision.Item {
	t.Helper()
	item, err := env.CreateItem(t.Context(), operator, provision.PaidItem{
		Customer: "cus_ada", Name: registrar.NewName(label, tld), Kind: provision.Register, Payment: "manual:1",
	})
	if err != nil {
		t.Fatal(err)
	}
	return item
}

// runFor runs the services for the given duration.
func runFor(t *testing.T, duration time.Duration, services ...*provision.Service) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), duration)
	defer cancel()
	var all sync.WaitGroup
	for _, service := range services {
		all.Go(func() { service.Run(ctx) })
	}
	all.Wait()
}
