// Package provision lets the service carry out lines at the simulated registry,
// with the real connector between them: both ends of a border that neither may
// cross.
package provision

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/registrar/customer"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/sandbox/registry"
	"github.com/dotkontor/dotkontor/internal/store"
	"github.com/dotkontor/dotkontor/internal/upstream/epp"
	"github.com/dotkontor/dotkontor/test/fresh"
)

const (
	patience = time.Minute
	holder   = "cus_ada"
)

var operator = registrar.Actor{Kind: registrar.ActorOperator, Through: "test"}

// stage is a registry and a service that runs.
type stage struct {
	world *registry.Registry
	db    *store.DB
	lines *provision.Service
}

func newStage(t *testing.T, held ...registry.Held) *stage {
	t.Helper()
	list, err := catalog.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	var zones []registry.Zone
	for _, ext := range list.All() {
		zones = append(zones, registry.Zone{TLD: ext.TLD, MinYears: ext.MinYears, MaxYears: ext.MaxYears})
	}
	s := &stage{}
	if s.world, err = registry.Start(registry.Options{Zones: zones, Held: held}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.world.Close() })
	if s.db, err = store.Open(t.Context(), fresh.SQLite(t)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.db.Close() })
	s.seed(t)
	account, _ := s.world.Account(registry.ProductAccount)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(s.world.EPPCA())
	client, err := epp.New(epp.Account{
		Address: s.world.EPP(), ClientID: account.ID, Password: account.Password,
		TLS: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close(context.Background()) })
	seal, err := registrar.NewSeal([32]byte{1})
	if err != nil {
		t.Fatal(err)
	}
	s.lines, err = provision.New(provision.Config{
		Store: s.db, Domains: s.db, Seal: seal, Node: "here", Now: s.world.Now,
		Accounts: []provision.NamedAccount{{
			Name: "sandbox", Serves: func(string) bool { return true }, PollEvery: 100 * time.Millisecond, Account: epp.NewDesk(client, nil),
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { s.lines.Run(ctx) })
	t.Cleanup(func() { stop(); running.Wait() })
	return s
}

// seed makes a customer with registrant data.
func (s *stage) seed(t *testing.T) {
	t.Helper()
	err := s.db.ChangeCustomers(t.Context(), func(tx customer.Tx) error {
		if _, err := tx.InsertAccount(t.Context(), customer.Account{
			Customer: customer.Customer{ID: holder, Email: "ada@example.org", Language: "de", CreatedAt: time.Now(), ConfirmedAt: time.Now()},
			EmailKey: "ada@example.org", UserHandle: "ada",
		}); err != nil {
			return err
		}
		return tx.PutRegistrant(t.Context(), holder, customer.Registrant{
			Kind: customer.Person, Name: "Ada Größe", Street: "Hauptstr. 1", PostalCode: "10115", City: "Berlin", Country: "DE",
			Phone: "+49.301234567", UpdatedAt: time.Now(),
		})
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (s *stage) transfer(t *testing.T, label, tld, code string) (provision.Line, error) {
	t.Helper()
	return s.lines.Order(t.Context(), operator, provision.Order{
		Customer: holder, Name: registrar.NewName(label, tld), Kind: provision.Transfer, Payment: "manual:1", Code: code,
	})
}

// await waits until a line is in one of the states.
func (s *stage) await(t *testing.T, id string, states ...provision.State) provision.Line {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		line, err := s.lines.Line(t.Context(), operator, id)
		if err != nil {
			t.Fatal(err)
		}
		if slices.Contains(states, line.State) {
			return line
		}
	}
	t.Fatalf("the line did not become %v", states)
	return provision.Line{}
}

func TestATransferWaitsForTheRegistrysFiveDays(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	line, err := s.transfer(t, "transfer-ruhig", ".com", "auth-transfer-ruhig")
	if err != nil {
		t.Fatal(err)
	}
	if line.Years != 1 {
		t.Errorf("the line is for %d years", line.Years)
	}
	before := s.expiresElsewhere(t, line.Name)
	s.await(t, line.ID, provision.StatePending)
	if domain, _, _ := s.db.DomainByName(t.Context(), line.Name); domain.Status != "pending" {
		t.Errorf("meanwhile the customer sees %q", domain.Status)
	}
	if err := s.world.Advance(6 * 24 * time.Hour); err != nil {
		t.Fatal(err)
	}
	line = s.await(t, line.ID, provision.StateActive, provision.StateFailed)
	domain, _, err := s.db.DomainByName(t.Context(), line.Name)
	if err != nil || line.State != provision.StateActive || domain.Status != "active" || !domain.PaidUntil.Equal(before.AddDate(1, 0, 0)) {
		t.Errorf("the line is %+v, the domain %+v, %v", line, domain, err)
	}
	if held := s.world.Holdings(registry.ProductAccount); len(held.Domains) != 1 || held.Domains[0].Name != line.Name || len(held.Contacts) != 0 {
		t.Errorf("the registry has %+v", held)
	}
}

// expiresElsewhere is the expiry of a name that another registrar has, or has had.
func (s *stage) expiresElsewhere(t *testing.T, name string) time.Time {
	t.Helper()
	account, _ := s.world.Account("andere")
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(s.world.EPPCA())
	other, err := epp.New(epp.Account{
		Address: s.world.EPP(), ClientID: account.ID, Password: account.Password, TLS: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close(context.Background())
	label, _, _ := strings.Cut(name, ".")
	info, err := other.InfoDomain(t.Context(), epp.InfoDomain{Name: name, AuthInfo: "auth-" + label})
	if err != nil {
		t.Fatal(err)
	}
	return info.Expires
}

func TestATransferOfADEDomainHappensAtOnce(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	line, err := s.transfer(t, "transfer-ruhig", ".de", "auth-transfer-ruhig")
	if err != nil {
		t.Fatal(err)
	}
	before := s.expiresElsewhere(t, line.Name)
	if line = s.await(t, line.ID, provision.StateActive, provision.StateFailed, provision.StatePending); line.State != provision.StateActive {
		t.Errorf("the line is %+v", line)
	}
	// The registry adds nothing, so what is left of the term is what there is.
	if domain := s.domain(t, line.Name); line.Years != 0 || !domain.PaidUntil.Equal(before) {
		t.Errorf("%d years were added: paid until %s, and it was %s", line.Years, domain.PaidUntil, before)
	}
}

func TestATransferThatCantSucceedIsRefusedBeforeItIsWritten(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	if _, err := s.transfer(t, "transfer-ruhig", ".com", "wrong-code"); registrar.CodeOf(err) != provision.WrongCode {
		t.Errorf("a wrong code: %v", err)
	}
	if _, err := s.transfer(t, "niemand-hat-das", ".com", "auth-niemand-hat-das"); registrar.CodeOf(err) != provision.NotRegistered {
		t.Errorf("a free name: %v", err)
	}
	if lines, err := s.db.LinesAfter(t.Context(), "", 10); err != nil || len(lines) != 0 {
		t.Errorf("%d lines were written, %v", len(lines), err)
	}
}

func TestADomainThatLeavesIsNoticedByItsMessage(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	line, err := s.transfer(t, "transfer-hin-und-her", ".de", "auth-transfer-hin-und-her")
	if err != nil {
		t.Fatal(err)
	}
	s.await(t, line.ID, provision.StateActive)
	account, _ := s.world.Account("andere")
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(s.world.EPPCA())
	other, err := epp.New(epp.Account{
		Address: s.world.EPP(), ClientID: account.ID, Password: account.Password, TLS: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close(context.Background())
	if _, err := other.TransferDomain(t.Context(), epp.TransferDomain{
		Op: epp.TransferRequest, Name: line.Name, AuthInfo: "auth-transfer-hin-und-her",
	}); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		domain, _, err := s.db.DomainByName(t.Context(), line.Name)
		if err != nil {
			t.Fatal(err)
		}
		if domain.Status == "transferred_out" {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("the customer still sees %q", domain.Status)
		}
	}
}
