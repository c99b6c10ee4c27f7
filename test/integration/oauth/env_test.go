// Package oauth tests the authorization server end to end: HTTP, domain and store, on
// SQLite and PostgreSQL. Only the sign-in is left out, because it has its own tests, and
// the clock, because lifetimes are exact.
package oauth

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/agent"
	"github.com/dotkontor/dotkontor/internal/registrar/bulk"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/registrar/delegate"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/registrar/export"
	"github.com/dotkontor/dotkontor/internal/registrar/holder"
	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
	oauthsvc "github.com/dotkontor/dotkontor/internal/registrar/oauth"
	"github.com/dotkontor/dotkontor/internal/registrar/overview"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
	"github.com/dotkontor/dotkontor/internal/registrar/ratelimit"
	"github.com/dotkontor/dotkontor/internal/registrar/transferaway"
	"github.com/dotkontor/dotkontor/internal/store"
	"github.com/dotkontor/dotkontor/internal/web"
	"github.com/dotkontor/dotkontor/internal/web/discovery"
	"github.com/dotkontor/dotkontor/internal/web/mcp"
	"github.com/dotkontor/dotkontor/internal/web/oauth"
	"github.com/dotkontor/dotkontor/internal/web/portal"
	"github.com/dotkontor/dotkontor/test/testkit/dbtest"
)

func TestMain(m *testing.M) { os.Exit(dbtest.Main(m)) }

// env is one running service.
type env struct {
	badTokens  *ratelimit.Gate // of the OAuth endpoints
	badBearers *ratelimit.Gate // of the MCP endpoint
	t          *testing.T
	base       string
	db         *store.DB
	// dbOptions locates the database, for tests that inspect it.
	dbOptions store.Options
	apps      *oauthsvc.AuthorizationServer
	access    *oauthsvc.Service
	accounts  *account.Service
	log       *lockedBuffer
	clock     *clock
}

// option changes how an env is built.
type option func(*oauthsvc.AuthorizationServerConfig)

func withLeeway(d time.Duration) option {
	return func(cfg *oauthsvc.AuthorizationServerConfig) { cfg.Leeway = d }
}

// eachEngine runs a test on both databases.
func eachEngine(t *testing.T, test func(t *testing.T, s *env), changes ...option) {
	t.Helper()
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		test(t, newEnv(t, dbtest.SQLite(t), changes...))
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		test(t, newEnv(t, dbtest.Postgres(t, 8), changes...))
	})
}

// newSQLiteEnv is for tests that do not depend on the database.
func newSQLiteEnv(t *testing.T, changes ...option) *env {
	t.Helper()
	t.Parallel()
	return newEnv(t, dbtest.SQLite(t), changes...)
}

func newEnv(t *testing.T, options store.Options, changes ...option) *env {
	t.Helper()
	s := &env{t: t, dbOptions: options, log: &lockedBuffer{}, clock: &clock{now: time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)}}
	var err error
	if s.db, err = store.Open(t.Context(), options); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.db.Close(); err != nil {
			t.Error(err)
		}
	})
	server := httptest.NewUnstartedServer(nil)
	s.base = "http://" + server.Listener.Addr().String()
	settings := oauthsvc.AuthorizationServerConfig{Store: s.db, Resource: s.base + mcp.Path, Leeway: 20 * time.Second, Now: s.clock.read}
	for _, change := range changes {
		change(&settings)
	}
	if s.apps, err = oauthsvc.NewAuthorizationServer(settings); err != nil {
		t.Fatal(err)
	}
	if s.access, err = oauthsvc.New(oauthsvc.Config{Store: s.db, Now: s.clock.read, AuthorizationServer: s.apps}); err != nil {
		t.Fatal(err)
	}
	holdings := portfolio.New(s.db, s.clock.read)
	dossiers, err := export.New(export.Config{Store: s.db, BaseURL: s.base, Now: s.clock.read})
	if err != nil {
		t.Fatal(err)
	}
	seal, err := registrar.NewSeal([32]byte{1})
	if err != nil {
		t.Fatal(err)
	}
	limits, err := account.NewLimits(account.DefaultWindows(), func(string, ratelimit.Window) (*ratelimit.Limiter, error) {
		return ratelimit.New(ratelimit.Config{Windows: []ratelimit.Window{{Limit: 10_000, Per: time.Hour}}}) // admits every sign-in
	})
	if err != nil {
		t.Fatal(err)
	}
	s.accounts, err = account.New(account.Config{Store: s.db, Seal: seal, Limits: limits, Now: s.clock.read})
	if err != nil {
		t.Fatal(err)
	}
	agents, err := agent.New(agent.Config{Store: s.db, Seal: seal, Now: s.clock.read})
	if err != nil {
		t.Fatal(err)
	}
	domainChanges, err := domainchange.New(domainchange.Config{Store: s.db, Seal: seal, Node: "here", Now: s.clock.read, Clock: s.clock.read})
	if err != nil {
		t.Fatal(err)
	}
	registrations, err := ratelimit.New(ratelimit.Config{Windows: []ratelimit.Window{{Limit: 60, Per: time.Minute}, {Limit: 1200, Per: time.Hour}}})
	if err != nil {
		t.Fatal(err)
	}
	if s.badTokens, err = ratelimit.NewGate(ratelimit.Config{Windows: []ratelimit.Window{{Limit: 600, Per: time.Minute}}, MaxKeys: 1000}, 1); err != nil {
		t.Fatal(err)
	}
	if s.badBearers, err = ratelimit.NewGate(ratelimit.Config{Windows: []ratelimit.Window{{Limit: 600, Per: time.Minute}}, MaxKeys: 1000}, 1); err != nil {
		t.Fatal(err)
	}
	prices, err := catalog.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	overviews, err := overview.New(s.db, func(string) int { return 5 }, s.clock.read, s.clock.read)
	if err != nil {
		t.Fatal(err)
	}
	delegates, err := delegate.New(delegate.Config{Store: s.db, Tokens: s.access, Applications: s.apps, Agents: agents, Now: s.clock.read})
	if err != nil {
		t.Fatal(err)
	}
	actions, err := bulk.New(bulk.Config{Store: s.db, Portfolio: holdings, Changes: domainChanges, Now: s.clock.read, Clock: s.clock.read})
	if err != nil {
		t.Fatal(err)
	}
	away, err := transferaway.New(transferaway.Config{
		Store: s.db, Node: "here", HoldsDomain: func(context.Context, string, string) (bool, error) { return false, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	holders, err := holder.New(s.db, s.clock.read, s.clock.read)
	if err != nil {
		t.Fatal(err)
	}
	server.Config.Handler, err = web.New(web.Config{
		Facts: discovery.Facts{BaseURL: s.base}, Lookups: lookups{}, Budget: budget{},
		MCP: mcp.Config{
			Lookups: lookups{}, Catalog: catalog.NewLive(prices), WhoisBudget: budget{}, Tokens: s.access,
			TokenBudget: budget{}, Domains: domains{}, BadTokens: s.badBearers,
		},
		Portal: portal.Config{
			Accounts: s.accounts, AccessTokens: s.access, Portfolio: holdings, Applications: s.apps, Agents: agents, DomainChanges: domainChanges, Holders: holders, TransfersAway: away, Exporter: dossiers,
			Overview: overviews, Delegates: delegates, Bulk: actions,
		},
		OAuth: oauth.Config{Applications: s.apps, Registrations: registrations, BadTokens: s.badTokens, Issued: s.badBearers.Trust},
		Now:   s.clock.read, Ready: func() bool { return true },
		Logger: slog.New(slog.NewJSONHandler(s.log, nil)), Registry: prometheus.NewRegistry(),
	})
	if err != nil {
		t.Fatal(err)
	}
	server.Start()
	t.Cleanup(server.Close)
	return s
}

// clock is advanced by tests.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) read() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(text []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(text)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// sessionLife is longer than any test's time.
const sessionLife = 10 * 365 * 24 * time.Hour

// newAccount creates an account and signs it in. It returns the session's secret and
// the account.
func (s *env) newAccount(email string) (session, id string) {
	s.t.Helper()
	now := s.clock.read()
	id = registrar.NewID("cus_", now)
	err := s.db.UpdateCustomers(s.t.Context(), func(tx account.Tx) error {
		ok, err := tx.InsertAccount(s.t.Context(), account.Account{
			Customer: account.Customer{ID: id, Email: email, Language: "en", CreatedAt: now, ConfirmedAt: now},
			EmailKey: email, UserHandle: rand.Text(),
		})
		if err == nil && !ok {
			err = errors.New("the address has an account")
		}
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return s.signIn(id), id
}

// signIn opens one more session of an account, without a password.
func (s *env) signIn(id string) string {
	s.t.Helper()
	secret, hash := registrar.NewSecret(registrar.SessionSecret)
	s.storeSession(account.StoredSession{Hash: hash, State: account.StateOpen, Session: account.Session{ID: "ses_" + rand.Text(), CustomerID: id}})
	return secret
}

// storeSession stores a session of someone who has just authenticated.
func (s *env) storeSession(session account.StoredSession) {
	s.t.Helper()
	now := s.clock.read()
	session.CreatedAt, session.AuthenticatedAt, session.SeenAt, session.ExpiresAt = now, now, now, now.Add(sessionLife)
	err := s.db.UpdateCustomers(s.t.Context(), func(tx account.Tx) error {
		if _, err := tx.DeleteSession(s.t.Context(), session.Hash); err != nil {
			return err
		}
		return tx.InsertSession(s.t.Context(), session, 100)
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

// renewSignIn makes the sign-in recent, as connecting an application requires.
func (s *env) renewSignIn(secret string) {
	s.t.Helper()
	hash, _ := registrar.HashSecret(registrar.SessionSecret, secret)
	session, _, _, err := s.db.ReadCustomers().SessionByHash(s.t.Context(), hash)
	if err != nil {
		s.t.Fatal(err)
	}
	s.storeSession(session)
}

func (s *env) actor(session string) registrar.Actor {
	visitor, err := s.accounts.Visitor(s.t.Context(), session)
	if err != nil {
		s.t.Fatal(err)
	}
	return visitor.Actor(netip.MustParseAddr("203.0.113.7"))
}

// verifier and challenge belong together (RFC 7636).
const verifier = "a-verifier-of-more-than-forty-three-characters-0123"

func challenge() string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

type lookups struct{}

func (lookups) Check(_ context.Context, domain string) (lookup.Answer, error) {
	return lookup.Answer{Domain: domain, TLD: ".de", Availability: lookup.Available}, nil
}

func (lookups) Search(context.Context, string) (lookup.Result, error) { return lookup.Result{}, nil }

func (lookups) SearchEach(context.Context, string, func(lookup.Entry, int, int)) (lookup.Result, error) {
	return lookup.Result{}, nil
}

func (lookups) Whois(context.Context, string) (lookup.WhoisAnswer, error) {
	return lookup.WhoisAnswer{}, nil
}

type budget struct{}

func (budget) Allow(ratelimit.Key) ratelimit.Decision { return ratelimit.Decision{Allowed: true} }

func (b budget) SpendToken(addr netip.Addr, _ string) (ratelimit.Decision, []ratelimit.Window) {
	return b.Spend(addr)
}

func (budget) Spend(netip.Addr) (ratelimit.Decision, []ratelimit.Window) {
	return ratelimit.Decision{Allowed: true, Remaining: 9}, []ratelimit.Window{{Limit: 30, Per: time.Minute}, {Limit: 300, Per: 6 * time.Hour}}
}

type domains struct{}

func (domains) Find(_ context.Context, who registrar.Actor, _ portfolio.Filter, _, _ int) ([]portfolio.Domain, int, error) {
	return []portfolio.Domain{{Name: who.Customer + ".de", TLD: ".de", Status: registrar.DomainActive}}, 1, nil
}

func (domains) FindByName(context.Context, registrar.Actor, string) (portfolio.Domain, bool, error) {
	return portfolio.Domain{}, false, nil
}

// noRedirects does not use the default transport, whose connections any test closes that
// closes its server.
var noRedirects = &http.Client{Transport: &http.Transport{}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
