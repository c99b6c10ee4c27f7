// Package provision runs the provisioning service against the simulated registry
// through the real EPP connector.
package provision

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/sandbox/registry"
	"github.com/dotkontor/dotkontor/internal/store"
	"github.com/dotkontor/dotkontor/internal/upstream/epp"
	"github.com/dotkontor/dotkontor/test/testkit/dbtest"
)

const (
	waitTimeout = time.Minute
	customerID  = "cus_ada"
)

var operator = registrar.Actor{Kind: registrar.ActorOperator, Through: "test"}

// env is a registry and a running service.
type env struct {
	account *epp.Provisioner
	world   *registry.Registry
	db      *store.DB
	service *provision.Service
	// suspended makes all domains look suspended because of their registrant's address.
	suspended atomic.Bool
}

// suspendedDomains are the domains of an environment.
type suspendedDomains struct {
	provision.Domains
	env *env
}

func (d suspendedDomains) DomainByName(ctx context.Context, name string) (provision.Domain, bool, error) {
	domain, found, err := d.Domains.DomainByName(ctx, name)
	domain.Suspended = d.env.suspended.Load()
	return domain, found, err
}

func newEnv(t *testing.T, held ...registry.SeedDomain) *env {
	t.Helper()
	return startEnv(t, registry.Options{Seeds: held}, nil)
}

// startEnv starts a registry with all extensions; policyOf nil means the built-in policies.
func startEnv(t *testing.T, options registry.Options, policyOf func(tld string) epp.Policy, nameservers ...string) *env {
	t.Helper()
	list, err := catalog.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	for _, ext := range list.All() {
		options.Zones = append(options.Zones, registry.Zone{TLD: ext.TLD, MinYears: ext.MinYears, MaxYears: ext.MaxYears})
	}
	s := &env{}
	if s.world, err = registry.Start(options); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.world.Close() })
	if s.db, err = store.Open(t.Context(), dbtest.SQLite(t)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.db.Close() })
	s.addCustomer(t)
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
	s.account = epp.NewProvisioner(client, policyOf)
	s.service, err = provision.New(provision.Config{
		Store: s.db, Domains: suspendedDomains{s.db, s}, Seal: seal, Node: "here", Now: s.world.Now, Nameservers: nameservers,
		Accounts: []provision.NamedAccount{{
			Name: "sandbox", Serves: func(string) bool { return true }, PollInterval: 100 * time.Millisecond, Account: s.account,
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { s.service.Run(ctx) })
	t.Cleanup(func() { stop(); running.Wait() })
	return s
}

// addCustomer adds a customer with registrant data.
func (s *env) addCustomer(t *testing.T) {
	t.Helper()
	err := s.db.UpdateCustomers(t.Context(), func(tx account.Tx) error {
		if _, err := tx.InsertAccount(t.Context(), account.Account{
			Customer: account.Customer{ID: customerID, Email: "ada@example.org", Language: "de", CreatedAt: time.Now(), ConfirmedAt: time.Now()},
			EmailKey: "ada@example.org", UserHandle: "ada",
		}); err != nil {
			return err
		}
		return tx.PutRegistrant(t.Context(), customerID, account.Registrant{
			Kind: account.Person, Name: "Ada Größe", Street: "Hauptstr. 1", PostalCode: "10115", City: "Berlin", Country: "DE",
			Phone: "+49.301234567", UpdatedAt: time.Now(),
		})
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (s *env) requestTransfer(t *testing.T, label, tld, code string) (provision.Item, error) {
	t.Helper()
	return s.service.CreateItem(t.Context(), operator, provision.PaidItem{
		Customer: customerID, Name: registrar.NewName(label, tld), Kind: provision.Transfer, Payment: "manual:1", Code: code,
	})
}

// waitForState waits until an item is in one of the states.
func (s *env) waitForState(t *testing.T, id string, states ...provision.State) provision.Item {
	t.Helper()
	for end := time.Now().Add(waitTimeout); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		item, err := s.service.GetItem(t.Context(), operator, id)
		if err != nil {
			t.Fatal(err)
		}
		if slices.Contains(states, item.State) {
			return item
		}
	}
	t.Fatalf("item did not become %v", states)
	return provision.Item{}
}

func TestTransfer_WaitsFiveDays(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	item, err := s.requestTransfer(t, "transfer-ruhig", ".com", "auth-transfer-ruhig")
	if err != nil {
		t.Fatal(err)
	}
	if item.Years != 1 {
		t.Errorf("item.Years = %d", item.Years)
	}
	before := s.expiryAtOtherRegistrar(t, item.Name)
	s.waitForState(t, item.ID, provision.StatePending)
	if domain, _, _ := s.db.DomainByName(t.Context(), item.Name); domain.Status != "pending" {
		t.Errorf("pending: status %q", domain.Status)
	}
	if err := s.world.Advance(6 * 24 * time.Hour); err != nil {
		t.Fatal(err)
	}
	item = s.waitForState(t, item.ID, provision.StateActive, provision.StateFailed)
	domain, _, err := s.db.DomainByName(t.Context(), item.Name)
	if err != nil || item.State != provision.StateActive || domain.Status != "active" || !domain.PaidUntil.Equal(before.AddDate(1, 0, 0)) {
		t.Errorf("item %+v, domain %+v, %v", item, domain, err)
	}
	if held := s.world.Sponsored(registry.ProductAccount); len(held.Domains) != 1 || held.Domains[0].Name != item.Name || len(held.Contacts) != 0 {
		t.Errorf("registry has %+v", held)
	}
}

// expiryAtOtherRegistrar returns the expiry of a name at another registrar, now or before.
func (s *env) expiryAtOtherRegistrar(t *testing.T, name string) time.Time {
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

func TestTransfer_RejectedByLosingRegistrarIsNoRefusalOfTheRegistry(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	item, err := s.requestTransfer(t, "transfer-nein", ".com", "auth-transfer-nein")
	if err != nil {
		t.Fatal(err)
	}
	s.waitForState(t, item.ID, provision.StatePending)
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
	if _, err := other.TransferDomain(t.Context(), epp.TransferDomain{Op: epp.TransferReject, Name: item.Name}); err != nil {
		t.Fatal(err)
	}
	if item = s.waitForState(t, item.ID, provision.StateActive, provision.StateFailed); item.Failure != registrar.TransferRejected || !item.RefundDue {
		t.Errorf("item = %+v", item)
	}
}

func TestTransfer_DEIsImmediate(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	before := s.expiryAtOtherRegistrar(t, "transfer-ruhig.de") // the transfer may end at once
	item, err := s.requestTransfer(t, "transfer-ruhig", ".de", "auth-transfer-ruhig")
	if err != nil {
		t.Fatal(err)
	}
	if item = s.waitForState(t, item.ID, provision.StateActive, provision.StateFailed, provision.StatePending); item.State != provision.StateActive {
		t.Errorf("item = %+v", item)
	}
	// DENIC has no terms; the year that was sold begins with the transfer.
	domain := s.storedDomain(t, item.Name)
	if left := time.Until(domain.PaidUntil); item.Years != 0 || domain.PaidUntil.Equal(before) || left < 364*24*time.Hour || left > 367*24*time.Hour {
		t.Errorf("%d years added: paid until %s, before %s", item.Years, domain.PaidUntil, before)
	}
}

func TestTransfer_ImpossibleOneIsRefusedUnstored(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	if _, err := s.requestTransfer(t, "transfer-ruhig", ".com", "wrong-code"); registrar.CodeOf(err) != provision.WrongCode {
		t.Errorf("wrong code: %v", err)
	}
	if _, err := s.requestTransfer(t, "niemand-hat-das", ".com", "auth-niemand-hat-das"); registrar.CodeOf(err) != provision.NotRegistered {
		t.Errorf("free name: %v", err)
	}
	if items, err := s.db.ListProvisionItemsAfter(t.Context(), "", 10); err != nil || len(items) != 0 {
		t.Errorf("%d items stored, %v", len(items), err)
	}
}

func TestTransferOut_DetectedByPollMessage(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	item, err := s.requestTransfer(t, "transfer-hin-und-her", ".de", "auth-transfer-hin-und-her")
	if err != nil {
		t.Fatal(err)
	}
	s.waitForState(t, item.ID, provision.StateActive)
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
		Op: epp.TransferRequest, Name: item.Name, AuthInfo: "auth-transfer-hin-und-her",
	}); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(waitTimeout); ; time.Sleep(20 * time.Millisecond) {
		domain, _, err := s.db.DomainByName(t.Context(), item.Name)
		if err != nil {
			t.Fatal(err)
		}
		if domain.Status == "transferred_out" {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("status is still %q", domain.Status)
		}
	}
}
