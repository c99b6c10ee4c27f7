package nodes

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// eachEngine runs a test with SQLite and with PostgreSQL.
func eachEngine(t *testing.T, test func(t *testing.T, where place)) {
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

func (n *node) mustBe401(what string, got said) {
	n.t.Helper()
	if values := got.header.Values("WWW-Authenticate"); got.status != http.StatusUnauthorized || len(values) != 1 || values[0] != n.challenge() {
		n.t.Errorf("%s: got %d with %q", what, got.status, values)
	}
}

func (n *node) mustHold(bearer, name string) {
	n.t.Helper()
	got := n.domains(bearer)
	list, _ := got.content["domains"].([]any)
	if got.code() != "ok" || len(list) != 1 {
		n.t.Errorf("got %d %v", got.status, got.content)
		return
	}
	if entry, _ := list[0].(map[string]any); entry["domain"] != name {
		n.t.Errorf("got %v, want %s", list, name)
	}
}

func TestATokenShowsItsOwnersDomainsAndNobodyElses(t *testing.T) {
	eachEngine(t, func(t *testing.T, where place) {
		registry := where.open(t)
		_, anna := registry.token(registry.customer("anna"))
		_, bert := registry.token(registry.customer("bert"))
		server := where.node(t)
		server.mustHold(anna, "anna.de")
		server.mustHold(bert, "bert.de")
		unknown, _ := registrar.NewSecret(registrar.PersonalToken)
		session, _ := registrar.NewSecret(registrar.SessionSecret)
		for what, bearer := range map[string]string{
			"unknown": unknown, "of another kind": session, "cut": anna[:len(anna)-1], "malformed": "dotkontor_live_x", "with more behind it": anna + "x",
		} {
			server.mustBe401(what, server.domains(bearer))
			server.mustBe401(what+", a lookup", server.call(bearer, "tld_price", map[string]any{"tld": ".de"}))
		}
	})
}

func TestRevokedAtOneNodeIsRefusedAtEveryOtherAtTheVeryNextCall(t *testing.T) {
	eachEngine(t, func(t *testing.T, where place) {
		registry := where.open(t)
		account := registry.customer("anna")
		first, second := where.node(t), where.node(t)
		for i := range 4 {
			id, secret := registry.token(account)
			for _, server := range []*node{first, second, first, second} {
				server.mustHold(secret, "anna.de")
			}
			if i%2 == 0 {
				registry.revoke(id)
			} else {
				where.operate(t, "tokens", "revoke", id)
			}
			for _, server := range []*node{second, first} {
				server.mustBe401("after the revocation", server.domains(secret))
				server.mustBe401("a lookup after it", server.call(secret, "tld_price", map[string]any{"tld": ".de"}))
			}
		}
	})
}

// Calls go on all the time; none that begins after the revocation may pass.
func TestARevocationUnderLoadLetsNoLaterCallThrough(t *testing.T) {
	eachEngine(t, func(t *testing.T, where place) {
		registry := where.open(t)
		id, secret := registry.token(registry.customer("anna"))
		generous := []string{"DOTKONTOR_LIMITS_TOKEN_PER_MINUTE=100000", "DOTKONTOR_LIMITS_TOKEN_PER_HOUR=100000"}
		servers := []*node{where.node(t, generous...), where.node(t, generous...)}
		var revoked, over atomic.Bool
		var before, after, late atomic.Int64
		var all sync.WaitGroup
		for i := range 4 {
			all.Go(func() {
				for !over.Load() {
					begunAfter := revoked.Load()
					switch got := servers[i%2].domains(secret); {
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
		waitFor(t, "calls before", func() bool { return before.Load() > 20 })
		registry.revoke(id)
		revoked.Store(true)
		waitFor(t, "calls after", func() bool { return after.Load() > 20 })
		over.Store(true)
		all.Wait()
		if late.Load() != 0 {
			t.Errorf("%d calls passed after the revocation", late.Load())
		}
	})
}

func waitFor(t *testing.T, what string, ready func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if ready() {
			return
		}
	}
	t.Errorf("%s did not happen within %s", what, patience)
}

func TestTheSixtyFirstCallOfATokenIsRateLimitedAndNobodyElsesIs(t *testing.T) {
	t.Parallel()
	where := newSQLite(t)
	registry := where.open(t)
	account := registry.customer("anna")
	_, busy := registry.token(account)
	_, other := registry.token(account)
	server := where.node(t)
	for i := range 60 {
		if got := server.domains(busy); got.code() != "ok" {
			t.Fatalf("call %d: got %d %v", i+1, got.status, got.content)
		}
	}
	got := server.domains(busy)
	if wait, _ := got.content["retryAfter"].(float64); got.status != http.StatusOK || got.code() != "rate_limited" || wait < 1 || wait > 60 {
		t.Errorf("call 61: got %d %v", got.status, got.content)
	}
	server.mustHold(other, "anna.de")
	// The address has spent nothing: its thirty lookups are all there.
	for i := range 30 {
		if got := server.call(busy, "tld_price", map[string]any{"tld": ".de"}); got.code() != "ok" {
			t.Fatalf("lookup %d: got %d %v", i+1, got.status, got.content)
		}
	}
	if got := server.call(other, "tld_price", map[string]any{"tld": ".de"}); got.code() != "rate_limited" {
		t.Errorf("another token is a way round the address's limit: got %v", got.content)
	}
}

func TestTheLimitOfATokenIsASetting(t *testing.T) {
	t.Parallel()
	where := newSQLite(t)
	registry := where.open(t)
	_, secret := registry.token(registry.customer("anna"))
	server := where.node(t, "DOTKONTOR_LIMITS_TOKEN_PER_HOUR=2")
	for i, want := range []string{"ok", "ok", "rate_limited"} {
		got := server.domains(secret)
		if wait, _ := got.content["retryAfter"].(float64); got.code() != want || want == "rate_limited" && wait < 3000 {
			t.Errorf("call %d: got %v, want %s", i+1, got.content, want)
		}
	}
}

func TestInASharedNetworkLookupsWithATokenCountByToken(t *testing.T) {
	t.Parallel()
	where := newSQLite(t)
	registry := where.open(t)
	account := registry.customer("anna")
	_, one := registry.token(account)
	_, two := registry.token(account)
	text, err := os.ReadFile(stage.config)
	if err != nil {
		t.Fatal(err)
	}
	text = fmt.Appendf(text, "\n[[limits.shared_egress]]\nnetwork = %q\nlookup_per_minute = 3\nlookup_per_6_hours = 30\n", "127.0.0.0/8")
	file := filepath.Join(t.TempDir(), "shared.toml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	server := where.nodeWith(t, file)
	lookups := func(bearer string, want int) {
		t.Helper()
		for i := range want + 1 {
			got := server.call(bearer, "tld_price", map[string]any{"tld": ".de"}).code()
			if i < want && got != "ok" || i == want && got != "rate_limited" {
				t.Errorf("lookup %d: got %s", i+1, got)
			}
		}
	}
	lookups("", 3) // the address's own
	lookups(one, 30)
	lookups(two, 30)
	server.mustHold(one, "anna.de")
}

func TestLookupsGoOnWithoutTheDatabaseAndSignedInToolsComeBackWithIt(t *testing.T) {
	t.Parallel()
	for name, state := range map[string]cableState{"cut": cut, "silent": silent} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			where := newPostgres(t)
			registry := where.open(t)
			_, secret := registry.token(registry.customer("anna"))
			behind, cable := where.through(t)
			server := behind.node(t)
			server.mustHold(secret, "anna.de")

			cable.become(state)
			for range 3 {
				got := server.domains(secret)
				if got.status != http.StatusOK || got.code() != "internal" || got.content["retryable"] != true || len(got.header.Values("WWW-Authenticate")) != 0 {
					t.Errorf("a signed-in tool: got %d %v", got.status, got.content)
				}
			}
			for _, bearer := range []string{"", secret} {
				if got := server.call(bearer, "domain_check", map[string]any{"domain": "google.de"}); got.code() != "ok" || got.content["available"] != false {
					t.Errorf("a lookup: got %d %v", got.status, got.content)
				}
			}
			if got := server.post("/api/mcp/login", secret, []byte(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)); got.status != http.StatusServiceUnavailable {
				t.Errorf("the login path: got %d", got.status)
			}
			// A page says so in time, too.
			person := newBrowser(t)
			session, _ := registrar.NewSecret(registrar.SessionSecret)
			person.holds(server, &http.Cookie{Name: "dotkontor", Value: session})
			person.visit(server, "/portal/profile", map[cableState]int{cut: http.StatusInternalServerError, silent: http.StatusServiceUnavailable}[state])
			// Nonsense needs no database to be refused.
			server.mustBe401("nonsense", server.domains("dotkontor_live_nonsense"))
			for _, path := range []string{"/healthz", "/readyz"} {
				if got, err := http.Get(server.base + path); err != nil || got.Body.Close() != nil || got.StatusCode != http.StatusOK {
					t.Errorf("%s: got %v (%v)", path, got, err)
				}
			}

			cable.become(whole)
			waitFor(t, "the way back", func() bool { return server.domains(secret).code() == "ok" })
			server.mustHold(secret, "anna.de")
		})
	}
}
