// Package steward lets holders change domains at the simulated registry, with the
// real connector and a real database between them.
package steward

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/registrar/customer"
	"github.com/dotkontor/dotkontor/internal/registrar/holding"
	"github.com/dotkontor/dotkontor/internal/registrar/steward"
	"github.com/dotkontor/dotkontor/internal/sandbox/registry"
	"github.com/dotkontor/dotkontor/internal/sandbox/registry/ledger"
	"github.com/dotkontor/dotkontor/internal/store"
	"github.com/dotkontor/dotkontor/internal/upstream/epp"
	"github.com/dotkontor/dotkontor/test/fresh"
)

const (
	patience = time.Minute
	ada, eve = "cus_ada", "cus_eve"
	held     = "ns1.dotkontor.example"
)

// stage is a registry, and a service whose loop runs if a test wants it.
type stage struct {
	t       *testing.T
	world   *registry.Registry
	db      *store.DB
	service *steward.Service
	seal    *registrar.Seal
	desk    *epp.Desk
	config  steward.Config
}

// newStage has the names at the registry, each with one old nameserver pair.
func newStage(t *testing.T, names ...string) *stage {
	t.Helper()
	list, err := catalog.Shipped()
	check(t, err)
	var zones []registry.Zone
	for _, ext := range list.All() {
		zones = append(zones, registry.Zone{TLD: ext.TLD, MinYears: ext.MinYears, MaxYears: ext.MaxYears})
	}
	now := time.Now().UTC().Truncate(time.Second)
	var there []registry.Held
	for _, name := range names {
		locked := []string{"clientTransferProhibited"}
		if strings.HasSuffix(name, ".de") { // which has no such lock
			locked = nil
		}
		there = append(there, registry.Held{
			Name: name, Registrar: "dotkontor Sandbox", Statuses: locked,
			Created: now.AddDate(-1, 0, 0), Expires: now.AddDate(1, 0, 0), Nameservers: []string{held, "ns2.dotkontor.example"},
		})
	}
	s := &stage{t: t}
	s.world, err = registry.Start(registry.Options{Zones: zones, Held: there})
	check(t, err)
	t.Cleanup(func() { _ = s.world.Close() })
	s.db, err = store.Open(t.Context(), fresh.SQLite(t))
	check(t, err)
	t.Cleanup(func() { _ = s.db.Close() })
	s.customer(ada)
	s.customer(eve)
	client := s.loggedIn(registry.ProductAccount)
	s.seal, err = registrar.NewSeal([32]byte{1})
	check(t, err)
	s.desk = epp.NewDesk(client, nil)
	s.config = steward.Config{
		Store: s.db, Seal: s.seal, Node: "here", Now: s.world.Now, Patience: patience,
		Registries: []steward.NamedRegistry{{Name: "sandbox", Serves: func(string) bool { return true }, Registry: s.desk}},
	}
	s.service, err = steward.New(s.config)
	check(t, err)
	return s
}

// loggedIn is a registrar at the registry.
func (s *stage) loggedIn(id string) *epp.Client {
	s.t.Helper()
	account, known := s.world.Account(id)
	if !known {
		s.t.Fatalf("the registry knows no %s", id)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(s.world.EPPCA())
	client, err := epp.New(epp.Account{
		Address: s.world.EPP(), ClientID: account.ID, Password: account.Password,
		TLS: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
	})
	check(s.t, err)
	s.t.Cleanup(func() { client.Close(context.Background()) })
	return client
}

// run lets the loop go on with what is open.
func (s *stage) run() {
	ctx, stop := context.WithCancel(s.t.Context())
	var running sync.WaitGroup
	running.Go(func() { s.service.Run(ctx) })
	s.t.Cleanup(func() { stop(); running.Wait() })
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (s *stage) customer(id string) {
	s.t.Helper()
	check(s.t, s.db.ChangeCustomers(s.t.Context(), func(tx customer.Tx) error {
		if _, err := tx.InsertAccount(s.t.Context(), customer.Account{
			Customer: customer.Customer{ID: id, Email: id + "@example.org", Language: "de", CreatedAt: time.Now(), ConfirmedAt: time.Now()},
			EmailKey: id + "@example.org", UserHandle: id,
		}); err != nil {
			return err
		}
		return tx.PutRegistrant(s.t.Context(), id, customer.Registrant{
			Kind: customer.Person, Name: "Ada Größe", Street: "Hauptstr. 1", PostalCode: "10115", City: "Berlin", Country: "DE",
			Phone: "+49.301234567", UpdatedAt: time.Now(),
		})
	}))
}

// has gives a customer a domain and returns its id.
func (s *stage) has(owner, label, tld string, status holding.Status) string {
	s.t.Helper()
	holdings, err := holding.New(holding.Config{Store: s.db})
	check(s.t, err)
	added, err := holdings.Add(s.t.Context(), registrar.Actor{Kind: registrar.ActorOperator, Through: "test"}, holding.Addition{
		Customer: owner, Name: registrar.NewName(label, tld), Status: status, PaidUntil: time.Now().AddDate(1, 0, 0),
	})
	check(s.t, err)
	return added.ID
}

// person is somebody who has just signed in.
func person(id string) registrar.Actor {
	return registrar.Actor{
		Kind: registrar.ActorPerson, Customer: id, Through: "ses_1", Address: netip.MustParseAddr("192.0.2.7"), SignedInAt: time.Now(),
	}
}

// ask has ada change a domain, and fails the test if it is not done.
func (s *stage) ask(id string, wish steward.Wish) (steward.Change, string) {
	s.t.Helper()
	change, code, err := s.service.Ask(s.t.Context(), person(ada), id, wish)
	check(s.t, err)
	if change.State != steward.StateDone {
		s.t.Fatalf("%s is %s: %s", wish.Kind, change.State, change.Failure)
	}
	return change, code
}

// at is a domain as the registry has it.
func (s *stage) at(name string) *ledger.Domain {
	s.t.Helper()
	for _, domain := range s.world.Holdings(registry.ProductAccount).Domains {
		if domain.Name == name {
			return domain
		}
	}
	s.t.Fatalf("the registry does not have %s for us", name)
	return nil
}

func (s *stage) view(id string) steward.View {
	s.t.Helper()
	view, err := s.service.View(s.t.Context(), person(ada), id)
	check(s.t, err)
	return view
}
