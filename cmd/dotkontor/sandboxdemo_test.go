package main

import (
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/registrar/customer"
	"github.com/dotkontor/dotkontor/internal/registrar/holding"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/sandbox/registry"
)

var (
	atTheDesk = registrar.Actor{Kind: registrar.ActorOperator, Through: "test"}
	visitor   = registrar.Actor{Kind: registrar.ActorPerson, Address: netip.MustParseAddr("127.0.0.1")}
)

// peopleIn opens the accounts of a folder.
func peopleIn(t *testing.T, folder string) *accounts {
	t.Helper()
	cfg := config.Default()
	cfg.Data, cfg.BaseURL = folder, "http://127.0.0.1:8080"
	people, err := openAccounts(t.Context(), cfg, slog.New(slog.DiscardHandler), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := people.close(); err != nil {
			t.Error(err)
		}
	})
	return people
}

// seeded is the demo customer after a start of the sandbox.
func seeded(t *testing.T, folder string, people *accounts) demo {
	t.Helper()
	d, err := loadDemo(folder, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if err := d.seed(t.Context(), people, folder, oneCard{}); err != nil {
		t.Fatal(err)
	}
	return d
}

// oneCard is a provider that knows one card.
type oneCard struct{}

func (oneCard) KeptMethod(string, string) (holder, id, label string, err error) {
	return "cus_1", "pm_1", "Visa •••• 4242", nil
}

func (oneCard) HasMethod(id string) bool { return id == "pm_1" || id == "pm_chosen" }

// works says whether password and token do.
func works(t *testing.T, people *accounts, d demo) (password, token bool) {
	t.Helper()
	_, err := people.customers.SignIn(t.Context(), visitor, customer.Credentials{Email: d.Email, Password: d.Password})
	_, tokenErr := people.access.Verify(t.Context(), d.Token)
	return err == nil, tokenErr == nil
}

func TestTheDemoCustomerSurvivesARestart(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	people := peopleIn(t, folder)
	first := seeded(t, folder, people)
	if password, token := works(t, people, first); !password || !token {
		t.Fatalf("password works: %t, token works: %t", password, token)
	}
	info, err := os.Stat(filepath.Join(folder, demoFile))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file with the secrets: %v %v", info, err)
	}
	if second := seeded(t, folder, people); second != first {
		t.Errorf("after a restart it is %+v, was %+v", second, first)
	}
	account, err := people.customers.Find(t.Context(), atTheDesk, demoEmail)
	if err != nil || account.ConfirmedAt.IsZero() || account.Language != "de" {
		t.Fatalf("%+v %v", account, err)
	}
	owner := registrar.Actor{Kind: registrar.ActorPerson, Customer: account.ID}
	if _, told, err := people.customers.Registrant(t.Context(), owner); err != nil || !told {
		t.Errorf("registrant data: %t %v", told, err)
	}
	agentWorks(t, people, first, account.ID)
	if tokens, err := people.access.List(t.Context(), owner); err != nil || len(tokens) != 1 {
		t.Errorf("%d tokens, %v", len(tokens), err)
	}
	if domains, err := people.holdings.List(t.Context(), owner); err != nil || len(domains) != len(demoDomains()) {
		t.Errorf("%d domains, %v", len(domains), err)
	}
}

// agentWorks fails unless the agent is known by its key and its secret, and linked.
func agentWorks(t *testing.T, people *accounts, d demo, customer string) {
	t.Helper()
	if known, err := d.knownAgent(t.Context(), people); err != nil || !known {
		t.Errorf("key and secret of the agent do not work: %v", err)
	}
	if linked, err := people.db.HasLinked(t.Context(), customer, d.Agent.ID); err != nil || !linked {
		t.Errorf("the agent is not linked: %v", err)
	}
}

func TestWhatNoLongerWorksOfTheDemoCustomerIsMadeAnew(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	people := peopleIn(t, folder)
	first := seeded(t, folder, people)
	account, err := people.customers.Find(t.Context(), atTheDesk, demoEmail)
	if err != nil {
		t.Fatal(err)
	}
	if err := people.customers.SetPassword(t.Context(), atTheDesk, account.ID, "etwas-ganz-anderes-77"); err != nil {
		t.Fatal(err)
	}
	grant, err := people.access.Verify(t.Context(), first.Token)
	if err != nil {
		t.Fatal(err)
	}
	if err := people.access.RevokeAny(t.Context(), atTheDesk, grant.TokenID); err != nil {
		t.Fatal(err)
	}
	if err := people.agents.Remove(t.Context(), atTheDesk, first.Agent.ID); err != nil {
		t.Fatal(err)
	}
	second := seeded(t, folder, people)
	if second.Password == first.Password || second.Token == first.Token || second.Agent.Key == first.Agent.Key || second.Agent.Secret == first.Agent.Secret {
		t.Error("what no longer works was kept")
	}
	agentWorks(t, people, second, account.ID)
	if _, err := people.agents.Rotate(t.Context(), atTheDesk, second.Agent.ID, "another-secret-of-it", true); err != nil {
		t.Fatal(err)
	}
	second = seeded(t, folder, people)
	agentWorks(t, people, second, account.ID)
	if password, token := works(t, people, second); !password || !token {
		t.Errorf("password works: %t, token works: %t", password, token)
	}

	// A closed account is somebody's wish.
	if err := people.customers.Disable(t.Context(), atTheDesk, account.ID); err != nil {
		t.Fatal(err)
	}
	if third := seeded(t, folder, people); third != second {
		t.Errorf("a closed account was changed: %+v", third)
	}

	// The file may be lost, or the database.
	if err := os.WriteFile(filepath.Join(folder, demoFile), []byte("{broken"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := people.customers.Enable(t.Context(), atTheDesk, account.ID); err != nil {
		t.Fatal(err)
	}
	fourth := seeded(t, folder, people)
	if password, token := works(t, people, fourth); !password || !token {
		t.Errorf("without the file: password works: %t, token works: %t", password, token)
	}
}

func TestTheDemoCustomersDomainsHaveEveryStateAndTheWorldHoldsThem(t *testing.T) {
	t.Parallel()
	d := demo{Since: time.Date(2026, 11, 15, 0, 0, 0, 0, time.UTC)}
	states := map[holding.Status]bool{}
	extensions := map[string]bool{}
	for i, domain := range demoDomains() {
		states[domain.status], extensions[domain.tld] = true, true
		held := d.held()[i]
		if out := domain.status == holding.StatusTransferredOut; out && held.Registrar == ourselves {
			t.Errorf("%s was transferred out and is still ours", held.Name)
		}
		if past := d.day(domain.paidUntil).Before(d.Since); domain.paidUntil != 0 &&
			past != slices.Contains([]holding.Status{holding.StatusExpired, holding.StatusRedemption, holding.StatusTransit}, domain.status) {
			t.Errorf("%s is %s, but paid until day %d", held.Name, domain.status, domain.paidUntil)
		}
		if held.Created.After(held.Changed) || held.Changed.After(d.Since) || held.Created.After(held.Expires) {
			t.Errorf("%s has dates out of order: %+v", held.Name, held)
		}
	}
	for _, status := range holding.Statuses() {
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
	world, err := registry.Start(registry.Options{Zones: zones(list), Held: d.held()})
	if err != nil {
		t.Fatal(err)
	}
	if err := world.Close(); err != nil {
		t.Error(err)
	}
}

func TestTheDemoCustomersCardIsKeptAndAnotherOneStays(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	people := peopleIn(t, folder)
	seeded(t, folder, people)
	account, err := people.customers.Find(t.Context(), atTheDesk, demoEmail)
	if err != nil {
		t.Fatal(err)
	}
	method := func() string {
		t.Helper()
		kept, found, err := people.db.MethodOf(t.Context(), account.ID)
		if err != nil || !found || kept.Holder == "" || kept.Label == "" {
			t.Fatalf("%+v %t %v", kept, found, err)
		}
		return kept.ID
	}
	if got := method(); got != "pm_1" {
		t.Errorf("at first it is %s", got)
	}
	for _, test := range []struct{ before, after string }{
		{"pm_chosen", "pm_chosen"}, // somebody's wish
		{"pm_of_a_lost_folder", "pm_1"},
	} {
		if err := people.db.KeepMethod(t.Context(), account.ID, order.Method{Holder: "cus_1", ID: test.before, Label: "x"}, time.Now()); err != nil {
			t.Fatal(err)
		}
		seeded(t, folder, people)
		if got := method(); got != test.after {
			t.Errorf("%s became %s, want %s", test.before, got, test.after)
		}
	}
}

func TestTheDemoPasswordIsLongAndAnotherOneEachTime(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 100 {
		password := memorable()
		if len(password) < 15 || strings.Count(password, "-") != 4 || seen[password] {
			t.Errorf("%q", password)
		}
		seen[password] = true
	}
}
