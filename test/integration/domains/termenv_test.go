package domains

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/lifecycle"
	"github.com/dotkontor/dotkontor/internal/registrar/mailer"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/test/testkit"
)

const day = 24 * time.Hour

var termOperator = registrar.Actor{Kind: registrar.ActorOperator, Through: "ops"}

// switchedRegistry is the registry's account, which can be unreachable.
type switchedRegistry struct {
	lifecycle.Registry
	mu   sync.Mutex
	down bool
}

func (r *switchedRegistry) setDown(down bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.down = down
}

func (r *switchedRegistry) fault() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.down {
		return registrar.Fault(registrar.FaultRefused, "epp.example", errors.New("down"))
	}
	return nil
}

func (r *switchedRegistry) RegistryState(ctx context.Context, name string) (lifecycle.RegistryState, error) {
	if err := r.fault(); err != nil {
		return "", err
	}
	return r.Registry.RegistryState(ctx, name)
}

func (r *switchedRegistry) Hold(ctx context.Context, name, transaction string) (lifecycle.RegistryState, error) {
	if err := r.fault(); err != nil {
		return "", err
	}
	return r.Registry.Hold(ctx, name, transaction)
}

func (r *switchedRegistry) Delete(ctx context.Context, name, transaction string) (lifecycle.RegistryState, registrar.Money, error) {
	if err := r.fault(); err != nil {
		return "", registrar.Money{}, err
	}
	return r.Registry.Delete(ctx, name, transaction)
}

// fakeMailServer accepts mails, or gives them up.
type fakeMailServer struct {
	mu     sync.Mutex
	refuse bool
	mails  []mailer.Message
}

func (m *fakeMailServer) Send(_ context.Context, message mailer.Message) (mailer.Delivery, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.refuse {
		return mailer.Delivery{}, &registrar.Error{Kind: registrar.KindInvalid, Code: mailer.Undeliverable}
	}
	m.mails = append(m.mails, message)
	return mailer.Delivery{Subject: string(message.Kind), Text: message.Data["domain"], Response: "2.0.0 queued"}, nil
}

// kinds returns the mails about a domain, in order.
func (m *fakeMailServer) kinds(domain string) (kinds []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, mail := range m.mails {
		if mail.Data["domain"] == domain {
			kinds = append(kinds, string(mail.Kind))
		}
	}
	return kinds
}

// termEnv follows terms at the simulated registry by its clock.
type termEnv struct {
	*env
	terms    *lifecycle.Service
	nodes    []*lifecycle.Service
	brake    *lifecycle.Brake
	registry *switchedRegistry
	mail     *fakeMailServer
	mails    func() // makes the mailer look for mails
	also     func() // wakes other jobs; nil: none
}

// newTermEnv starts so many nodes.
func newTermEnv(t *testing.T, nodes int, names ...string) *termEnv {
	t.Helper()
	s := &termEnv{env: newEnv(t, names...), mail: &fakeMailServer{}}
	s.registry = &switchedRegistry{Registry: s.provisioner}
	mails, err := mailer.New(mailer.Config{Store: s.db, Sender: s.mail, BaseURL: "https://domains.example"})
	must(t, err)
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	t.Cleanup(func() { stop(); running.Wait() })
	s.mails = mails.Wake
	running.Go(func() { mails.Run(ctx) })
	for i := range nodes {
		s.brake, err = lifecycle.NewBrake(lifecycle.BrakeConfig{Store: s.db, Now: s.world.Now})
		must(t, err)
		s.terms, err = lifecycle.New(lifecycle.Config{
			Store: s.db, Brake: s.brake, Node: "node" + string(rune('a'+i)), Now: s.world.Now, MailQueued: mails.Wake,
			Registries:   []lifecycle.NamedRegistry{{Name: "sandbox", Serves: func(string) bool { return true }, Registry: s.registry}},
			RestorePrice: func(context.Context, lifecycle.Term, time.Time) (registrar.Cents, bool) { return 9900, true },
		})
		must(t, err)
		s.nodes = append(s.nodes, s.terms)
		node := s.terms
		running.Go(func() { node.Run(ctx) })
	}
	s.settle()
	return s
}

// addEnding adds a domain whose term ends in so many days, here and at the registry.
func (s *termEnv) addEnding(label, tld string, days int) string {
	s.t.Helper()
	added, err := portfolio.New(s.db, time.Now).Add(s.t.Context(), termOperator, portfolio.AddParams{
		Customer: ada, Name: registrar.NewName(label, tld), Status: registrar.DomainActive, PaidUntil: s.world.Now().Add(time.Duration(days) * day),
	})
	must(s.t, err)
	return added.ID
}

// settle waits until nothing is due at the present time.
func (s *termEnv) settle() {
	s.t.Helper()
	for _, node := range s.nodes {
		node.Wake()
	}
	if s.also != nil {
		s.also()
	}
	testkit.Eventually(s.t, "no work due", func() bool {
		status, _, err := s.db.GetBrake(s.t.Context())
		must(s.t, err)
		if s.world.Now().Sub(status.LastRun).Abs() > 3*time.Minute {
			return false
		}
		due, err := s.db.CountDueWork(s.t.Context(), s.world.Now(), time.Now())
		must(s.t, err)
		return due == 0 || status.Engaged()
	})
}

// advance moves the clock in steps of half a day, as the sandbox does.
func (s *termEnv) advance(days int) {
	s.t.Helper()
	for range 2 * days {
		must(s.t, s.world.Advance(day/2))
		s.settle()
	}
}

// advanceTo moves the clock to a time, in the same steps.
func (s *termEnv) advanceTo(at time.Time) {
	s.t.Helper()
	for left := at.Sub(s.world.Now()); left > 0; left = at.Sub(s.world.Now()) {
		must(s.t, s.world.Advance(min(left, day/2)))
		s.settle()
	}
}

// advanceWithoutSettling moves the clock by so many half days while work may stay undone.
func (s *termEnv) advanceWithoutSettling(steps int) {
	s.t.Helper()
	for range steps {
		must(s.t, s.world.Advance(day/2))
		for _, node := range s.nodes {
			node.Wake()
		}
		testkit.Eventually(s.t, "a run", func() bool {
			status, _, err := s.brake.Status(s.t.Context())
			must(s.t, err)
			return s.world.Now().Sub(status.LastRun).Abs() < 3*time.Minute
		})
	}
}

func (s *termEnv) term(domain string) lifecycle.Term {
	s.t.Helper()
	terms, err := s.db.ListCustomerTerms(s.t.Context(), ada, 1000)
	must(s.t, err)
	at := slices.IndexFunc(terms, func(term lifecycle.Term) bool { return term.Domain == domain })
	if at < 0 {
		return lifecycle.Term{}
	}
	return terms[at]
}

func (s *termEnv) wantState(domain string, want lifecycle.State, waits registrar.Code) lifecycle.Term {
	s.t.Helper()
	// A step in progress has a lease, so settle does not count it as due.
	term := s.term(domain)
	for end := time.Now().Add(3 * time.Second); (term.State != want || term.WaitsFor != waits) && time.Now().Before(end); term = s.term(domain) {
		time.Sleep(10 * time.Millisecond)
	}
	if term.State != want || term.WaitsFor != waits {
		s.t.Errorf("%s at %s: %s, waits for %q; want %s, %q", term.Name, s.world.Now().Format(time.DateOnly), term.State, term.WaitsFor, want, waits)
	}
	return term
}

// renew provisions a paid renewal or restore.
func (s *termEnv) renew(name registrar.Name, kind provision.Kind) {
	s.t.Helper()
	lines, err := provision.New(provision.Config{
		Store: s.db, Domains: s.db, Seal: s.seal, Node: "lines", Now: s.world.Now,
		Accounts: []provision.NamedAccount{{Name: "sandbox", Serves: func(string) bool { return true }, Account: s.provisioner}},
	})
	must(s.t, err)
	ctx, stop := context.WithCancel(s.t.Context())
	var running sync.WaitGroup
	running.Go(func() { lines.Run(ctx) })
	defer func() { stop(); running.Wait() }()
	var item provision.Item
	testkit.Eventually(s.t, "renewal, which a deletion in progress refuses", func() bool {
		item, err = lines.CreateItem(ctx, termOperator, provision.PaidItem{Customer: ada, Name: name, Kind: kind, Payment: "manual:late", Extension: registrar.Extension{TLD: name.TLD()}})
		return registrar.CodeOf(err) != registrar.NameHeld
	})
	must(s.t, err)
	testkit.Eventually(s.t, "final item", func() bool {
		item, err = lines.GetItem(ctx, termOperator, item.ID)
		must(s.t, err)
		return item.State.Final()
	})
	if item.State != provision.StateActive {
		s.t.Fatalf("%s of %s: %s", kind, name.ASCII(), item.Failure)
	}
}
