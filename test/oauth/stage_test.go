// Package oauth attacks the authorization server as it runs: the whole front over
// HTTP, the real domain and the real store, on SQLite and on PostgreSQL. Only the
// sign-in is played, since it has tests of its own, and the clock, since lifetimes
// are promised exactly.
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
	"github.com/dotkontor/dotkontor/internal/registrar/access"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/registrar/customer"
	"github.com/dotkontor/dotkontor/internal/registrar/dossier"
	"github.com/dotkontor/dotkontor/internal/registrar/holding"
	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
	"github.com/dotkontor/dotkontor/internal/registrar/quota"
	"github.com/dotkontor/dotkontor/internal/store"
	"github.com/dotkontor/dotkontor/internal/web"
	"github.com/dotkontor/dotkontor/internal/web/discovery"
	"github.com/dotkontor/dotkontor/internal/web/mcp"
	"github.com/dotkontor/dotkontor/internal/web/oauth"
	"github.com/dotkontor/dotkontor/internal/web/portal"
	"github.com/dotkontor/dotkontor/test/fresh"
)

func TestMain(m *testing.M) { os.Exit(fresh.Main(m)) }

// stage is one running service.
type stage struct {
	badTokens  *quota.Gate // of the OAuth endpoints
	badBearers *quota.Gate // of the MCP endpoint
	t          *testing.T
	base       string
	db         *store.DB
	// place is where the database is, for a look at it from outside.
	place  store.Options
	apps   *access.Applications
	access *access.Service
	people *people
	log    *safeBuffer
	clock  *clock
}

// set changes what a stage is built with.
type set func(*access.ApplicationsConfig)

func leeway(d time.Duration) set { return func(cfg *access.ApplicationsConfig) { cfg.Leeway = d } }

// eachEngine runs a test on both databases.
func eachEngine(t *testing.T, test func(s *stage), changes ...set) {
	t.Helper()
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		test(newStage(t, fresh.SQLite(t), changes...))
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		test(newStage(t, fresh.Postgres(t, 8), changes...))
	})
}

// anyEngine is for tests of what the database has no part in.
func anyEngine(t *testing.T, changes ...set) *stage {
	t.Helper()
	t.Parallel()
	return newStage(t, fresh.SQLite(t), changes...)
}

func newStage(t *testing.T, place store.Options, changes ...set) *stage {
	t.Helper()
	s := &stage{t: t, place: place, log: &safeBuffer{}, clock: &clock{now: time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)}}
	var err error
	if s.db, err = store.Open(t.Context(), place); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.db.Close(); err != nil {
			t.Error(err)
		}
	})
	server := httptest.NewUnstartedServer(nil)
	s.base = "http://" + server.Listener.Addr().String()
	settings := access.ApplicationsConfig{Store: s.db, Resource: s.base + mcp.Path, Leeway: 20 * time.Second, Now: s.clock.read}
	for _, change := range changes {
		change(&settings)
	}
	if s.apps, err = access.NewApplications(settings); err != nil {
		t.Fatal(err)
	}
	if s.access, err = access.New(access.Config{Store: s.db, Now: s.clock.read, Applications: s.apps}); err != nil {
		t.Fatal(err)
	}
	holdings, err := holding.New(holding.Config{Store: s.db, Now: s.clock.read})
	if err != nil {
		t.Fatal(err)
	}
	dossiers, err := dossier.New(dossier.Config{Store: s.db, Base: s.base, Now: s.clock.read})
	if err != nil {
		t.Fatal(err)
	}
	s.people = &people{sessions: make(map[string]customer.Visitor)}
	registrations, err := quota.New(quota.Config{Windows: []quota.Window{{Limit: 60, Per: time.Minute}, {Limit: 1200, Per: time.Hour}}})
	if err != nil {
		t.Fatal(err)
	}
	if s.badTokens, err = quota.NewGate(quota.Config{Windows: []quota.Window{{Limit: 600, Per: time.Minute}}, MaxKeys: 1000}, 1); err != nil {
		t.Fatal(err)
	}
	if s.badBearers, err = quota.NewGate(quota.Config{Windows: []quota.Window{{Limit: 600, Per: time.Minute}}, MaxKeys: 1000}, 1); err != nil {
		t.Fatal(err)
	}
	server.Config.Handler, err = web.New(web.Config{
		Facts: discovery.Facts{BaseURL: s.base}, Lookups: lookups{}, Budget: budget{},
		Agents: mcp.Config{
			Lookups: lookups{}, Catalogue: catalog.NewLive(nil), WhoisBudget: budget{}, Tokens: tokens{s.access},
			TokenBudget: budget{}, Domains: domains{}, BadTokens: s.badBearers,
		},
		Portal: portal.Config{Customers: s.people, Access: s.access, Holdings: holdings, Applications: s.apps, Dossier: dossiers},
		OAuth:  oauth.Config{Applications: s.apps, Registrations: registrations, BadTokens: s.badTokens, Issued: s.badBearers.Prove},
		Now:    s.clock.read, Ready: func() bool { return true },
		Logger: slog.New(slog.NewJSONHandler(s.log, nil)), Registry: prometheus.NewRegistry(),
	})
	if err != nil {
		t.Fatal(err)
	}
	server.Start()
	t.Cleanup(server.Close)
	return s
}

// clock is moved by hand.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) read() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *safeBuffer) Write(text []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(text)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// people plays the sign-in: whoever has a session's secret is its visitor.
type people struct {
	portal.Customers
	mu       sync.Mutex
	sessions map[string]customer.Visitor
}

func (p *people) Visitor(_ context.Context, secret string) (customer.Visitor, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	visitor, ok := p.sessions[secret]
	if !ok {
		return customer.Visitor{}, &registrar.Error{Kind: registrar.KindUnauthenticated, Code: "no_session"}
	}
	return visitor, nil
}

// person makes an account and signs it in; it returns the session's secret and
// the account.
func (s *stage) person(email string) (session, id string) {
	s.t.Helper()
	now := s.clock.read()
	id = registrar.NewID("cus_", now)
	err := s.db.ChangeCustomers(s.t.Context(), func(tx customer.Tx) error {
		ok, err := tx.InsertAccount(s.t.Context(), customer.Account{
			Customer: customer.Customer{ID: id, Email: email, Language: "en", CreatedAt: now, ConfirmedAt: now},
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
	return s.signIn(id, email), id
}

// signIn opens one more session of an account.
func (s *stage) signIn(id, email string) string {
	session := "session-" + rand.Text()
	s.people.mu.Lock()
	defer s.people.mu.Unlock()
	s.people.sessions[session] = customer.Visitor{
		Customer: customer.Customer{ID: id, Email: email, Language: "en"},
		Session:  customer.Session{ID: "ses_" + rand.Text(), CustomerID: id, AuthenticatedAt: s.clock.read()},
	}
	return session
}

// prove has somebody sign in again, as connecting an application wants.
func (s *stage) prove(session string) {
	s.people.mu.Lock()
	defer s.people.mu.Unlock()
	visitor := s.people.sessions[session]
	visitor.Session.AuthenticatedAt = s.clock.read()
	s.people.sessions[session] = visitor
}

func (s *stage) visitor(session string) registrar.Actor {
	visitor, err := s.people.Visitor(s.t.Context(), session)
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

func (lookups) Whois(context.Context, string) (lookup.WhoisAnswer, error) {
	return lookup.WhoisAnswer{}, nil
}

type budget struct{}

func (budget) Allow(quota.Key) quota.Decision { return quota.Decision{Allowed: true} }

func (b budget) SpendFor(addr netip.Addr, _ string) (quota.Decision, []quota.Window) {
	return b.Spend(addr)
}

func (budget) Spend(netip.Addr) (quota.Decision, []quota.Window) {
	return quota.Decision{Allowed: true, Remaining: 9}, []quota.Window{{Limit: 30, Per: time.Minute}, {Limit: 300, Per: 6 * time.Hour}}
}

type tokens struct{ access *access.Service }

func (t tokens) Verify(ctx context.Context, bearer string) (mcp.Caller, error) {
	grant, err := t.access.Verify(ctx, bearer)
	if registrar.KindOf(err) == registrar.KindUnauthenticated && err != nil {
		return mcp.Caller{}, mcp.ErrBadToken
	}
	return mcp.Caller{Account: grant.Customer, TokenID: grant.TokenID, Kind: grant.Kind, MayWrite: grant.MayWrite}, err
}

type domains struct{}

func (domains) List(_ context.Context, who mcp.Caller, _ mcp.DomainFilter) ([]mcp.Domain, int, error) {
	return []mcp.Domain{{Domain: who.Account + ".de", TLD: ".de", Status: "active"}}, 1, nil
}

var noRedirects = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
