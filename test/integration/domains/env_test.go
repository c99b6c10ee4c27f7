// Package domains tests domain changes at the simulated registry through the
// real connector and a real database.
package domains

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
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/registrar/holder"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
	"github.com/dotkontor/dotkontor/internal/sandbox/registry"
	"github.com/dotkontor/dotkontor/internal/sandbox/registry/ledger"
	"github.com/dotkontor/dotkontor/internal/store"
	"github.com/dotkontor/dotkontor/internal/upstream/epp"
	"github.com/dotkontor/dotkontor/test/testkit/dbtest"
)

const (
	waitTimeout   = time.Minute
	ada, eve      = "cus_ada", "cus_eve"
	oldNameserver = "ns1.dotkontor.example"
)

// env is a registry and a service whose loop runs on request.
type env struct {
	t           *testing.T
	world       *registry.Registry
	db          *store.DB
	service     *domainchange.Service
	seal        *registrar.Seal
	provisioner *epp.Provisioner
	holders     *holder.Service
	config      domainchange.Config
}

// newEnv registers the names, each with an old pair of nameservers.
func newEnv(t *testing.T, names ...string) *env {
	t.Helper()
	list, err := catalog.Shipped()
	must(t, err)
	var zones []registry.Zone
	for _, ext := range list.All() {
		zones = append(zones, registry.Zone{TLD: ext.TLD, MinYears: ext.MinYears, MaxYears: ext.MaxYears})
	}
	now := time.Now().UTC().Truncate(time.Second)
	var there []registry.SeedDomain
	for _, name := range names {
		locked := []string{"clientTransferProhibited"}
		if strings.HasSuffix(name, ".de") { // has no transfer lock
			locked = nil
		}
		there = append(there, registry.SeedDomain{
			Name: name, Registrar: "dotkontor Sandbox", Statuses: locked,
			Created: now.AddDate(-1, 0, 0), Expires: now.AddDate(1, 0, 0), Nameservers: []string{oldNameserver, "ns2.dotkontor.example"},
		})
	}
	s := &env{t: t}
	s.world, err = registry.Start(registry.Options{Zones: zones, Seeds: there})
	must(t, err)
	t.Cleanup(func() { _ = s.world.Close() })
	s.db, err = store.Open(t.Context(), dbtest.SQLite(t))
	must(t, err)
	t.Cleanup(func() { _ = s.db.Close() })
	s.addCustomer(ada)
	s.addCustomer(eve)
	client := s.newEPPClient(registry.ProductAccount)
	s.seal, err = registrar.NewSeal([32]byte{1})
	must(t, err)
	s.provisioner = epp.NewProvisioner(client, nil)
	s.holders, err = holder.New(s.db, s.world.Now, nil)
	must(t, err)
	s.config = domainchange.Config{
		Holder: s.holders.Registrant, Store: s.db, Seal: s.seal, Node: "here", Now: s.world.Now, RequestTimeout: waitTimeout,
		Registries: []domainchange.NamedRegistry{{Name: "sandbox", Serves: func(string) bool { return true }, Registry: s.provisioner}},
	}
	s.service, err = domainchange.New(s.config)
	must(t, err)
	return s
}

// newEPPClient returns a registrar's client.
func (s *env) newEPPClient(id string) *epp.Client {
	s.t.Helper()
	account, known := s.world.Account(id)
	if !known {
		s.t.Fatalf("registry has no registrar %s", id)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(s.world.EPPCA())
	client, err := epp.New(epp.Account{
		Address: s.world.EPP(), ClientID: account.ID, Password: account.Password,
		TLS: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
	})
	must(s.t, err)
	s.t.Cleanup(func() { client.Close(context.Background()) })
	return client
}

// run runs the loop.
func (s *env) run() {
	ctx, stop := context.WithCancel(s.t.Context())
	var running sync.WaitGroup
	running.Go(func() { s.service.Run(ctx) })
	s.t.Cleanup(func() { stop(); running.Wait() })
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (s *env) addCustomer(id string) {
	s.t.Helper()
	must(s.t, s.db.UpdateCustomers(s.t.Context(), func(tx account.Tx) error {
		if _, err := tx.InsertAccount(s.t.Context(), account.Account{
			Customer: account.Customer{ID: id, Email: id + "@example.org", Language: "de", CreatedAt: time.Now(), ConfirmedAt: time.Now()},
			EmailKey: id + "@example.org", UserHandle: id,
		}); err != nil {
			return err
		}
		return tx.PutRegistrant(s.t.Context(), id, account.Registrant{
			Kind: account.Person, Name: "Ada Größe", Street: "Hauptstr. 1", PostalCode: "10115", City: "Berlin", Country: "DE",
			Phone: "+49.301234567", UpdatedAt: time.Now(),
		})
	}))
}

// addDomain adds a domain to a customer and returns its id.
func (s *env) addDomain(owner, label, tld string, status registrar.DomainStatus) string {
	s.t.Helper()
	holdings := portfolio.New(s.db, time.Now)
	added, err := holdings.Add(s.t.Context(), registrar.Actor{Kind: registrar.ActorOperator, Through: "test"}, portfolio.AddParams{
		Customer: owner, Name: registrar.NewName(label, tld), Status: status, PaidUntil: time.Now().AddDate(1, 0, 0),
	})
	must(s.t, err)
	return added.ID
}

// signedInActor is a customer who has just signed in.
func signedInActor(id string) registrar.Actor {
	return registrar.Actor{
		Kind: registrar.ActorPerson, Customer: id, Through: "ses_1", Address: netip.MustParseAddr("192.0.2.7"), SignedInAt: time.Now(),
	}
}

// requestChange changes a domain as ada, and fails the test unless it is done.
func (s *env) requestChange(id string, request domainchange.ChangeRequest) (domainchange.Change, string) {
	s.t.Helper()
	change, code, err := s.service.RequestChange(s.t.Context(), signedInActor(ada), id, request)
	must(s.t, err)
	if change.State != domainchange.StatusDone {
		s.t.Fatalf("%s is %s: %s", request.Kind, change.State, change.Failure)
	}
	return change, code
}

// registryDomain returns a domain's registry data.
func (s *env) registryDomain(name string) *ledger.Domain {
	s.t.Helper()
	for _, dom := range s.world.Sponsored(registry.ProductAccount).Domains {
		if dom.Name == name {
			return dom
		}
	}
	s.t.Fatalf("registry does not have %s for us", name)
	return nil
}

func (s *env) view(id string) domainchange.View {
	s.t.Helper()
	view, err := s.service.View(s.t.Context(), signedInActor(ada), id)
	must(s.t, err)
	return view
}
