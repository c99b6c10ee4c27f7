package sandbox

import (
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/app"
	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/sandbox/registry"
	sandboxstripe "github.com/dotkontor/dotkontor/internal/sandbox/stripe"
)

var (
	testOperator = registrar.Actor{Kind: registrar.ActorOperator, Through: "test"}
	visitor      = registrar.Actor{Kind: registrar.ActorPerson, Address: netip.MustParseAddr("127.0.0.1")}
)

// openServicesIn opens the services of a data folder.
func openServicesIn(t *testing.T, folder string) *app.Services {
	t.Helper()
	cfg := config.Default()
	cfg.Data, cfg.BaseURL = folder, "http://127.0.0.1:8080"
	services, err := app.OpenServices(t.Context(), cfg, slog.New(slog.DiscardHandler), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := services.Close(); err != nil {
			t.Error(err)
		}
	})
	return services
}

// seedDemo returns the demo customer after a start of the sandbox.
func seedDemo(t *testing.T, folder string, services *app.Services) demo {
	t.Helper()
	d, err := loadDemo(folder, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if err := d.seed(t.Context(), services, folder, fakeProvider{}); err != nil {
		t.Fatal(err)
	}
	return d
}

// fakeProvider is a provider that knows one card.
type fakeProvider struct{}

func (fakeProvider) SavedMethod(string, string) (sandboxstripe.SavedCard, error) {
	return sandboxstripe.SavedCard{Customer: "cus_1", ID: "pm_1", Last4: "4242"}, nil
}

func (fakeProvider) HasMethod(id string) bool { return id == "pm_1" || id == "pm_chosen" }

// credentialsWork reports whether password and token are accepted.
func credentialsWork(t *testing.T, services *app.Services, d demo) (password, token bool) {
	t.Helper()
	_, err := services.Customers.SignIn(t.Context(), visitor, account.Credentials{Email: d.Email, Password: d.Password})
	_, tokenErr := services.Tokens.Verify(t.Context(), d.Token)
	return err == nil, tokenErr == nil
}

func TestDemo_SurvivesRestart(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	services := openServicesIn(t, folder)
	first := seedDemo(t, folder, services)
	if password, token := credentialsWork(t, services, first); !password || !token {
		t.Fatalf("password works: %t, token works: %t", password, token)
	}
	info, err := os.Stat(filepath.Join(folder, demoFile))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file with the secrets: %v %v", info, err)
	}
	if second := seedDemo(t, folder, services); second != first {
		t.Errorf("after a restart it is %+v, was %+v", second, first)
	}
	account, err := services.Customers.FindByEmail(t.Context(), testOperator, demoEmail)
	if err != nil || account.ConfirmedAt.IsZero() || account.Language != "de" {
		t.Fatalf("%+v %v", account, err)
	}
	owner := registrar.Actor{Kind: registrar.ActorPerson, Customer: account.ID}
	if _, found, err := services.Customers.Registrant(t.Context(), owner); err != nil || !found {
		t.Errorf("registrant data: %t %v", found, err)
	}
	assertAgentWorks(t, services, first, account.ID)
	if tokens, err := services.Tokens.List(t.Context(), owner); err != nil || len(tokens) != 1 {
		t.Errorf("%d tokens, %v", len(tokens), err)
	}
	if domains, err := services.Portfolio.List(t.Context(), owner); err != nil || len(domains) != len(demoDomains()) {
		t.Errorf("%d domains, %v", len(domains), err)
	}
	// What pages say about domains whose term is over is read from their registry.
	if due, err := services.DB.ListDueDomains(t.Context(), time.Now(), 10); err != nil || len(due) != 2 {
		t.Errorf("%d domains to compare with the registry, %v", len(due), err)
	}
}

// assertAgentWorks fails unless the agent's key and secret work and it is linked.
func assertAgentWorks(t *testing.T, services *app.Services, d demo, customer string) {
	t.Helper()
	if known, err := d.agentCredentialsValid(t.Context(), services); err != nil || !known {
		t.Errorf("key and secret of the agent do not work: %v", err)
	}
	if linked, err := services.DB.IsAgentLinked(t.Context(), customer, d.Agent.ID); err != nil || !linked {
		t.Errorf("the agent is not linked: %v", err)
	}
}

func TestDemo_ReplacesInvalidCredentials(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	services := openServicesIn(t, folder)
	first := seedDemo(t, folder, services)
	account, err := services.Customers.FindByEmail(t.Context(), testOperator, demoEmail)
	if err != nil {
		t.Fatal(err)
	}
	if err := services.Customers.SetPassword(t.Context(), testOperator, account.ID, "etwas-ganz-anderes-77"); err != nil {
		t.Fatal(err)
	}
	grant, err := services.Tokens.Verify(t.Context(), first.Token)
	if err != nil {
		t.Fatal(err)
	}
	if err := services.Tokens.RevokeFor(t.Context(), testOperator, grant.TokenID); err != nil {
		t.Fatal(err)
	}
	if err := services.Agents.Remove(t.Context(), testOperator, first.Agent.ID); err != nil {
		t.Fatal(err)
	}
	second := seedDemo(t, folder, services)
	if second.Password == first.Password || second.Token == first.Token || second.Agent.Key == first.Agent.Key || second.Agent.Secret == first.Agent.Secret {
		t.Error("credentials that do not work were kept")
	}
	assertAgentWorks(t, services, second, account.ID)
	if _, err := services.Agents.RotateSecret(t.Context(), testOperator, second.Agent.ID, "another-secret-of-it", true); err != nil {
		t.Fatal(err)
	}
	second = seedDemo(t, folder, services)
	assertAgentWorks(t, services, second, account.ID)
	if password, token := credentialsWork(t, services, second); !password || !token {
		t.Errorf("password works: %t, token works: %t", password, token)
	}

	// A disabled account stays disabled.
	if err := services.Customers.Disable(t.Context(), testOperator, account.ID); err != nil {
		t.Fatal(err)
	}
	if third := seedDemo(t, folder, services); third != second {
		t.Errorf("a disabled account was changed: %+v", third)
	}

	// The file may be lost, or the database.
	if err := os.WriteFile(filepath.Join(folder, demoFile), []byte("{broken"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := services.Customers.Enable(t.Context(), testOperator, account.ID); err != nil {
		t.Fatal(err)
	}
	fourth := seedDemo(t, folder, services)
	if password, token := credentialsWork(t, services, fourth); !password || !token {
		t.Errorf("without the file: password works: %t, token works: %t", password, token)
	}
}

func TestDemo_DomainsCoverEveryStatusAndMatchRegistry(t *testing.T) {
	t.Parallel()
	d := demo{Since: time.Date(2026, 11, 15, 0, 0, 0, 0, time.UTC)}
	states := map[registrar.DomainStatus]bool{}
	extensions := map[string]bool{}
	for i, domain := range demoDomains() {
		states[domain.status], extensions[domain.tld] = true, true
		held := d.registryDomains()[i]
		if out := domain.status == registrar.DomainTransferredOut; out && held.Registrar == registry.ProductName {
			t.Errorf("%s was transferred out and is still ours", held.Name)
		}
		if past := d.date(domain.paidUntil).Before(d.Since); domain.paidUntil != 0 &&
			past != slices.Contains([]registrar.DomainStatus{registrar.DomainExpired, registrar.DomainRedemption, registrar.DomainTransit}, domain.status) {
			t.Errorf("%s is %s, but paid until day %d", held.Name, domain.status, domain.paidUntil)
		}
		if held.Created.After(held.Changed) || held.Changed.After(d.Since) || held.Created.After(held.Expires) {
			t.Errorf("%s has dates out of order: %+v", held.Name, held)
		}
	}
	for _, status := range registrar.DomainStatuses() {
		if !states[status] {
			t.Errorf("no domain is %s", status)
		}
	}
	if !extensions[".de"] || !extensions[".com"] || !extensions[".io"] {
		t.Errorf("the extensions are %v", extensions)
	}
	list, err := catalog.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	world, err := registry.Start(registry.Options{Zones: zones(list), Seeds: d.registryDomains()})
	if err != nil {
		t.Fatal(err)
	}
	if err := world.Close(); err != nil {
		t.Error(err)
	}
}

func TestDemo_SavesCardUnlessCustomerChoseAnother(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	services := openServicesIn(t, folder)
	seedDemo(t, folder, services)
	account, err := services.Customers.FindByEmail(t.Context(), testOperator, demoEmail)
	if err != nil {
		t.Fatal(err)
	}
	method := func() string {
		t.Helper()
		kept, found, err := services.DB.GetPaymentMethod(t.Context(), account.ID)
		if err != nil || !found || kept.ProviderCustomer == "" || kept.Label == "" {
			t.Fatalf("%+v %t %v", kept, found, err)
		}
		return kept.ID
	}
	if got := method(); got != "pm_1" {
		t.Errorf("at first it is %s", got)
	}
	for _, test := range []struct{ before, after string }{
		{"pm_chosen", "pm_chosen"}, // chosen by the user
		{"pm_of_a_lost_folder", "pm_1"},
	} {
		if err := services.DB.PutPaymentMethod(t.Context(), account.ID, order.PaymentMethod{ProviderCustomer: "cus_1", ID: test.before, Label: "x"}, time.Now()); err != nil {
			t.Fatal(err)
		}
		seedDemo(t, folder, services)
		if got := method(); got != test.after {
			t.Errorf("%s became %s, want %s", test.before, got, test.after)
		}
	}
}

func TestDemo_PasswordIsLongAndRandom(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 100 {
		password := newDemoPassword()
		if len(password) < 15 || strings.Count(password, "-") != 4 || seen[password] {
			t.Errorf("%q", password)
		}
		seen[password] = true
	}
}

// Pages and mails in every language show the names as they are.
func TestCompany_NamesHaveNoTitleOfALanguage(t *testing.T) {
	t.Parallel()
	for _, name := range []string{company.Representative, company.Responsible} {
		if name != "Erika Beispiel" {
			t.Errorf("%q is more than a name", name)
		}
	}
}
