package provision_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

// shelf is a store in memory.
type shelf struct {
	mu       sync.Mutex
	lines    map[string]provision.Line
	domains  map[string]provision.Domain
	messages []string
	deeds    []registrar.Deed
	noHolder bool
	verified string
	// holder is the account's registrant; zero means Ada in Germany.
	holder provision.Holder
	// claimed is called with each question for a holder; unless it is nil, only
	// those that it knows hold something.
	claimed func(customer string) bool
	// states is every state that a line was stored in, without repetitions.
	states []provision.State
	log    *diary
}

// diary is what happened, in order.
type diary struct {
	mu      sync.Mutex
	entries []string
}

func (d *diary) write(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.entries = append(d.entries, fmt.Sprintf(format, args...))
}

func (d *diary) all() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.entries)
}

func newShelf(log *diary) *shelf {
	return &shelf{lines: map[string]provision.Line{}, domains: map[string]provision.Domain{}, log: log}
}

func (s *shelf) HolderOf(_ context.Context, customer string) (provision.Holder, bool, error) {
	if s.claimed != nil {
		return provision.Holder{Name: "Ada", Country: "DE"}, s.claimed(customer), nil
	}
	if s.holder != (provision.Holder{}) {
		return s.holder, true, nil
	}
	return provision.Holder{Name: "Ada", Country: "DE"}, !s.noHolder, nil
}

// VerifiedName has no identities.
func (s *shelf) VerifiedName(context.Context, string) (string, error) { return s.verified, nil }

func (s *shelf) AddLine(_ context.Context, line provision.Line, deed registrar.Deed) (provision.Line, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines[line.ID] = line
	s.deeds = append(s.deeds, deed)
	return line, nil
}

func (s *shelf) LineByID(_ context.Context, id string) (provision.Line, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	line, found := s.lines[id]
	return line, found, nil
}

func (s *shelf) LineByPayment(_ context.Context, payment, name string) (*provision.Line, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, line := range s.lines {
		if line.Payment == payment && line.Name == name {
			return &line, nil
		}
	}
	return nil, nil //nolint:nilnil // no line is no error
}

func (s *shelf) DueLines(_ context.Context, now time.Time, limit int) ([]provision.Line, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var due []provision.Line
	for _, line := range s.lines {
		if !line.DueAt.IsZero() && !line.DueAt.After(now) && len(due) < limit {
			due = append(due, line)
		}
	}
	return due, nil
}

func (s *shelf) MoveLine(_ context.Context, move provision.Move) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	stored := s.lines[move.Line.ID]
	if stored.State != move.Was.State || !stored.DueAt.Equal(move.Was.DueAt) {
		return false, nil
	}
	switch {
	case move.Add != nil:
		for _, other := range s.domains {
			if other.Name == move.Add.Name {
				return false, &registrar.Error{Kind: registrar.KindConflict, Code: provision.NameHeld}
			}
		}
		s.domains[move.Add.ID] = *move.Add
	case move.Activate != nil:
		domain := s.domains[move.Activate.ID]
		domain.Status, domain.PaidUntil = move.Activate.Status, move.Activate.PaidUntil
		s.domains[domain.ID] = domain
	case move.Drop:
		delete(s.domains, move.Line.Domain)
	case move.Renew != nil:
		domain := s.domains[move.Renew.Domain]
		if !domain.PaidUntil.Equal(move.Renew.From) {
			return false, errors.New("the term has changed meanwhile")
		}
		domain.PaidUntil, domain.RegistryExpires = move.Renew.Until, move.Renew.RegistryExpires
		if domain.Status == "expired" {
			domain.Status = "active"
		}
		s.domains[domain.ID] = domain
	}
	if move.Deed != nil {
		s.deeds = append(s.deeds, *move.Deed)
	}
	if stored.State != move.Line.State {
		s.states = append(s.states, move.Line.State)
		s.log.write("stored %s", move.Line.State)
	}
	s.lines[move.Line.ID] = move.Line
	return true, nil
}

func (s *shelf) StoreMessage(_ context.Context, _ string, message provision.Message, _ time.Time) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.messages = append(s.messages, message.ID)
	s.log.write("stored message %s", message.ID)
	return true, nil
}

func (s *shelf) DueDomains(context.Context, time.Time, int) ([]provision.Domain, error) {
	return nil, nil
}

func (s *shelf) DomainsAfter(_ context.Context, id string, _ int) ([]provision.Domain, error) {
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

func (s *shelf) DomainByName(_ context.Context, name string) (provision.Domain, bool, error) {
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

func (s *shelf) FollowDomain(_ context.Context, was, now provision.Domain, deed *registrar.Deed) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.domains[was.ID].Status != was.Status {
		return false, nil
	}
	s.domains[was.ID] = now
	if deed != nil {
		s.deeds = append(s.deeds, *deed)
	}
	return true, nil
}

// only is the one line of a shelf.
func (s *shelf) only(t *testing.T) provision.Line {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.lines) != 1 {
		t.Fatalf("%d lines", len(s.lines))
	}
	for _, line := range s.lines {
		return line
	}
	return provision.Line{}
}

var operator = registrar.Actor{Kind: registrar.ActorOperator, Through: "test"}

// house is a service with a shelf and an office.
type house struct {
	*provision.Service
	shelf  *shelf
	office *office
	log    *diary
	waited []registrar.Code
	ended  []provision.State
	drift  []provision.Drift
}

func newHouse(t *testing.T, office *office, change ...func(*provision.Config)) *house {
	t.Helper()
	log := &diary{}
	office.log = log
	h := &house{shelf: newShelf(log), office: office, log: log}
	h.Service = h.service(t, change...)
	return h
}

// service is another node on the same shelf.
func (h *house) service(t *testing.T, change ...func(*provision.Config)) *provision.Service {
	t.Helper()
	seal, err := registrar.NewSeal([32]byte{1})
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	cfg := provision.Config{
		Store: h.shelf, Domains: h.shelf, Seal: seal, Node: "here", Nameservers: []string{"ns1.example.net"},
		Accounts: []provision.NamedAccount{{Name: "office", Serves: func(tld string) bool { return tld != ".xyz" }, Account: h.office}},
		Waiting: func(code registrar.Code) {
			mu.Lock()
			defer mu.Unlock()
			h.waited = append(h.waited, code)
		},
		Ended: func(_ provision.Kind, state provision.State) {
			mu.Lock()
			defer mu.Unlock()
			h.ended = append(h.ended, state)
		},
		Drifted: func(what provision.Drift) {
			mu.Lock()
			defer mu.Unlock()
			h.drift = append(h.drift, what)
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

func (h *house) order(t *testing.T, label, tld string) provision.Line {
	t.Helper()
	line, err := h.Order(t.Context(), operator, provision.Order{
		Customer: "cus_ada", Name: registrar.NewName(label, tld), Kind: provision.Register, Payment: "manual:1",
	})
	if err != nil {
		t.Fatal(err)
	}
	return line
}

// runFor lets services work for a while.
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
