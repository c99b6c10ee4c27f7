package cluster

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/test/testkit"
)

// eachEngine runs a test with SQLite and with PostgreSQL.
func eachEngine(t *testing.T, test func(t *testing.T, db testDB)) {
	t.Helper()
	t.Parallel()
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		test(t, newSQLite(t))
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		test(t, newPostgres(t))
	})
}

func (n *node) challenge() string {
	return `Bearer resource_metadata="` + n.base + `/.well-known/oauth-protected-resource/api/mcp"`
}

func (n *node) mustBe401(what string, got toolResponse) {
	n.t.Helper()
	if values := got.header.Values("WWW-Authenticate"); got.status != http.StatusUnauthorized || len(values) != 1 || values[0] != n.challenge() {
		n.t.Errorf("%s: got %d with %q", what, got.status, values)
	}
}

func (n *node) mustListDomain(bearer, name string) {
	n.t.Helper()
	got := n.listDomains(bearer)
	list, _ := got.content["domains"].([]any)
	if got.code() != "ok" || len(list) != 1 {
		n.t.Errorf("got %d %v", got.status, got.content)
		return
	}
	if entry, _ := list[0].(map[string]any); entry["domain"] != name {
		n.t.Errorf("got %v, want %s", list, name)
	}
}

func TestToken_ListsOnlyItsOwnersDomains(t *testing.T) {
	eachEngine(t, func(t *testing.T, db testDB) {
		registry := db.openFixture(t)
		_, anna := registry.newToken(registry.newCustomer("anna"))
		_, bert := registry.newToken(registry.newCustomer("bert"))
		server := db.startNode(t)
		server.mustListDomain(anna, "anna.de")
		server.mustListDomain(bert, "bert.de")
		unknown, _ := registrar.NewSecret(registrar.PersonalToken)
		session, _ := registrar.NewSecret(registrar.SessionSecret)
		for what, bearer := range map[string]string{
			"unknown": unknown, "of another kind": session, "cut": anna[:len(anna)-1], "malformed": "dotkontor_live_x", "with more behind it": anna + "x",
		} {
			server.mustBe401(what, server.listDomains(bearer))
			server.mustBe401(what+", a lookup", server.callTool(bearer, "tld_price", map[string]any{"tld": ".de"}))
		}
	})
}

func TestRevoke_NextCallAtEveryNodeIsRefused(t *testing.T) {
	eachEngine(t, func(t *testing.T, db testDB) {
		registry := db.openFixture(t)
		account := registry.newCustomer("anna")
		first, second := db.startNode(t), db.startNode(t)
		for i := range 4 {
			id, secret := registry.newToken(account)
			for _, server := range []*node{first, second, first, second} {
				server.mustListDomain(secret, "anna.de")
			}
			if i%2 == 0 {
				registry.revoke(id)
			} else {
				db.runCLI(t, "tokens", "revoke", id)
			}
			for _, server := range []*node{second, first} {
				server.mustBe401("after the revocation", server.listDomains(secret))
				server.mustBe401("a lookup after it", server.callTool(secret, "tld_price", map[string]any{"tld": ".de"}))
			}
		}
	})
}

// Calls run continuously; none that starts after the revocation succeeds.
func TestRevoke_UnderLoadNoLaterCallPasses(t *testing.T) {
	eachEngine(t, func(t *testing.T, db testDB) {
		registry := db.openFixture(t)
		id, secret := registry.newToken(registry.newCustomer("anna"))
		generous := []string{"DOTKONTOR_LIMITS_TOKEN_PER_MINUTE=100000", "DOTKONTOR_LIMITS_TOKEN_PER_HOUR=100000"}
		servers := []*node{db.startNode(t, generous...), db.startNode(t, generous...)}
		var revoked, over atomic.Bool
		var before, after, late atomic.Int64
		var all sync.WaitGroup
		for i := range 4 {
			all.Go(func() {
				for !over.Load() {
					begunAfter := revoked.Load()
					switch got := servers[i%2].listDomains(secret); {
					case got.status == http.StatusUnauthorized:
						after.Add(1)
					case begunAfter:
						late.Add(1)
					default:
						before.Add(1)
					}
				}
			})
		}
		testkit.Eventually(t, "calls before the revocation", func() bool { return before.Load() > 20 })
		registry.revoke(id)
		revoked.Store(true)
		testkit.Eventually(t, "calls after the revocation", func() bool { return after.Load() > 20 })
		over.Store(true)
		all.Wait()
		if late.Load() != 0 {
			t.Errorf("%d calls succeeded after the revocation", late.Load())
		}
	})
}

func TestTokenLimit_SixtyFirstCallLimitedPerToken(t *testing.T) {
	t.Parallel()
	db := newSQLite(t)
	registry := db.openFixture(t)
	account := registry.newCustomer("anna")
	_, busy := registry.newToken(account)
	_, other := registry.newToken(account)
	server := db.startNode(t)
	for i := range 60 {
		if got := server.listDomains(busy); got.code() != "ok" {
			t.Fatalf("call %d: got %d %v", i+1, got.status, got.content)
		}
	}
	got := server.listDomains(busy)
	if wait, _ := got.content["retryAfter"].(float64); got.status != http.StatusOK || got.code() != "rate_limited" || wait < 1 || wait > 60 {
		t.Errorf("call 61: got %d %v", got.status, got.content)
	}
	server.mustListDomain(other, "anna.de")
	// The budget of the address is unused: all thirty lookups pass.
	for i := range 30 {
		if got := server.callTool(busy, "tld_price", map[string]any{"tld": ".de"}); got.code() != "ok" {
			t.Fatalf("lookup %d: got %d %v", i+1, got.status, got.content)
		}
	}
	if got := server.callTool(other, "tld_price", map[string]any{"tld": ".de"}); got.code() != "rate_limited" {
		t.Errorf("another token avoids the limit of the address: got %v", got.content)
	}
}

func TestTokenLimit_IsConfigurable(t *testing.T) {
	t.Parallel()
	db := newSQLite(t)
	registry := db.openFixture(t)
	_, secret := registry.newToken(registry.newCustomer("anna"))
	server := db.startNode(t, "DOTKONTOR_LIMITS_TOKEN_PER_HOUR=2")
	for i, want := range []string{"ok", "ok", "rate_limited"} {
		got := server.listDomains(secret)
		if wait, _ := got.content["retryAfter"].(float64); got.code() != want || want == "rate_limited" && wait < 3000 {
			t.Errorf("call %d: got %v, want %s", i+1, got.content, want)
		}
	}
}

func TestSharedEgress_LookupsWithTokenCountByToken(t *testing.T) {
	t.Parallel()
	db := newSQLite(t)
	registry := db.openFixture(t)
	account := registry.newCustomer("anna")
	_, one := registry.newToken(account)
	_, two := registry.newToken(account)
	text, err := os.ReadFile(suite.config)
	if err != nil {
		t.Fatal(err)
	}
	text = fmt.Appendf(text, "\n[[limits.shared_egress]]\nnetwork = %q\nlookup_per_minute = 3\nlookup_per_6_hours = 30\n", "127.0.0.0/8")
	file := filepath.Join(t.TempDir(), "shared.toml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	server := db.startNodeWithConfig(t, file)
	lookups := func(bearer string, want int) {
		t.Helper()
		for i := range want + 1 {
			got := server.callTool(bearer, "tld_price", map[string]any{"tld": ".de"}).code()
			if i < want && got != "ok" || i == want && got != "rate_limited" {
				t.Errorf("lookup %d: got %s", i+1, got)
			}
		}
	}
	lookups("", 3) // the budget of the address
	lookups(one, 30)
	lookups(two, 30)
	server.mustListDomain(one, "anna.de")
}

func TestOutage_LookupsContinueAndSignedInToolsRecover(t *testing.T) {
	t.Parallel()
	for name, state := range map[string]proxyState{"cut": cut, "silent": silent} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := newPostgres(t)
			registry := db.openFixture(t)
			_, secret := registry.newToken(registry.newCustomer("anna"))
			behind, proxy := db.behindProxy(t)
			server := behind.startNode(t)
			server.mustListDomain(secret, "anna.de")

			proxy.setState(state)
			for range 3 {
				got := server.listDomains(secret)
				if got.status != http.StatusOK || got.code() != "internal" || got.content["retryable"] != true || len(got.header.Values("WWW-Authenticate")) != 0 {
					t.Errorf("a signed-in tool: got %d %v", got.status, got.content)
				}
			}
			for _, bearer := range []string{"", secret} {
				if got := server.callTool(bearer, "domain_check", map[string]any{"domain": "google.de"}); got.code() != "ok" || got.content["available"] != false {
					t.Errorf("a lookup: got %d %v", got.status, got.content)
				}
			}
			if got := server.post("/api/mcp/login", secret, []byte(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)); got.status != http.StatusServiceUnavailable {
				t.Errorf("the login path: got %d", got.status)
			}
			// A page also fails within the time limit.
			person := newBrowser(t)
			session, _ := registrar.NewSecret(registrar.SessionSecret)
			person.setCookie(server, &http.Cookie{Name: "dotkontor", Value: session})
			person.get(server, "/portal/profile", map[proxyState]int{cut: http.StatusInternalServerError, silent: http.StatusServiceUnavailable}[state])
			// Malformed requests are rejected without the database.
			server.mustBe401("nonsense", server.listDomains("dotkontor_live_nonsense"))
			for _, path := range []string{"/healthz", "/readyz"} {
				if got, err := http.Get(server.base + path); err != nil || got.Body.Close() != nil || got.StatusCode != http.StatusOK {
					t.Errorf("%s: got %v (%v)", path, got, err)
				}
			}

			proxy.setState(connected)
			testkit.Eventually(t, "the way back", func() bool { return server.listDomains(secret).code() == "ok" })
			server.mustListDomain(secret, "anna.de")
		})
	}
}
