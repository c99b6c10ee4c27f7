// Package portal walks through the portal over HTTP, with the real services on a
// real SQLite database. What needs a real browser is tested in test/browser.
package portal

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/net/html"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/access"
	"github.com/dotkontor/dotkontor/internal/registrar/agent"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/registrar/customer"
	"github.com/dotkontor/dotkontor/internal/registrar/dossier"
	"github.com/dotkontor/dotkontor/internal/registrar/holding"
	"github.com/dotkontor/dotkontor/internal/registrar/letters"
	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
	"github.com/dotkontor/dotkontor/internal/registrar/quota"
	"github.com/dotkontor/dotkontor/internal/registrar/steward"
	"github.com/dotkontor/dotkontor/internal/store"
	"github.com/dotkontor/dotkontor/internal/web"
	"github.com/dotkontor/dotkontor/internal/web/discovery"
	"github.com/dotkontor/dotkontor/internal/web/mcp"
	"github.com/dotkontor/dotkontor/internal/web/page"
	"github.com/dotkontor/dotkontor/internal/web/portal"
	"github.com/dotkontor/dotkontor/test/fresh"
)

const password = "correct-horse-battery"

// stage is the portal with everything behind it.
type stage struct {
	t         *testing.T
	base      string
	customers *customer.Service
	access    *access.Service
	apps      *access.Applications
	agents    *agent.Service
	holdings  *holding.Service
	steward   *steward.Service
	// barred are the changes that a dispute forbids; set before anybody asks.
	barred   map[steward.Kind]registrar.Code
	registry *desk
	db       *store.DB
	handler  http.Handler
	prices   *catalog.Live
	clock    *clock
	log      *record
	mailbox  *mailbox
	// routes are those of the portal.
	routes []page.Route
}

// clock is the time, which a test may move.
type clock struct{ ahead atomic.Int64 }

func (c *clock) now() time.Time       { return time.Now().Add(time.Duration(c.ahead.Load())) }
func (c *clock) move(d time.Duration) { c.ahead.Add(int64(d)) }

// record is a log that may be written and read at the same time.
type record struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (r *record) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(b)
}

func (r *record) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

// mailbox gets the letters.
type mailbox struct{ messages chan letters.Message }

func (m *mailbox) Send(_ context.Context, message letters.Message) error {
	m.messages <- message
	return nil
}

type lookups struct{}

func (lookups) Check(context.Context, string) (lookup.Answer, error) { return lookup.Answer{}, nil }
func (lookups) Whois(context.Context, string) (lookup.WhoisAnswer, error) {
	return lookup.WhoisAnswer{}, nil
}

func (lookups) Search(context.Context, string) (lookup.Result, error) { return lookup.Result{}, nil }

type budget struct{}

func (budget) Spend(netip.Addr) (quota.Decision, []quota.Window) {
	return quota.Decision{Allowed: true}, nil
}

func (b budget) SpendFor(addr netip.Addr, _ string) (quota.Decision, []quota.Window) {
	return b.Spend(addr)
}

func (budget) Allow(quota.Key) quota.Decision { return quota.Decision{Allowed: true} }

type tokens struct{}

func (tokens) Verify(context.Context, string) (mcp.Caller, error) {
	return mcp.Caller{}, mcp.ErrBadToken
}

type limiter struct{ *quota.Limiter }

func (l limiter) Peek(key string) time.Duration {
	return l.Limiter.Peek(quota.TextKey(key)).RetryAfter
}

func (l limiter) Count(key string) time.Duration {
	return l.Allow(quota.TextKey(key)).RetryAfter
}

// open builds the stage. mailWorks says whether letters can be sent.
func open(t *testing.T, mailWorks bool) *stage {
	t.Helper()
	return openWith(t, func(pages *portal.Config) { pages.MailWorks = mailWorks })
}

// openWith builds the stage with another configuration of the portal.
func openWith(t *testing.T, change func(*portal.Config)) *stage {
	t.Helper()
	s := &stage{t: t, clock: &clock{}, log: &record{}, mailbox: &mailbox{messages: make(chan letters.Message, 100)}}
	db, err := store.Open(t.Context(), fresh.SQLite(t))
	check(t, err)
	s.db = db
	t.Cleanup(func() { check(t, db.Close()) })
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }))
	s.base = "http://" + server.Listener.Addr().String()

	limits, err := customer.NewLimits(customer.DefaultWindows(), func(w customer.Window) (customer.Limiter, error) {
		l, err := quota.New(quota.Config{Windows: []quota.Window{{Limit: w.Count, Per: w.Per}}, Now: s.clock.now})
		return limiter{l}, err
	})
	check(t, err)
	logger := slog.New(slog.NewJSONHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	runner, err := letters.New(letters.Config{Store: db, Sender: s.mailbox, BaseURL: s.base, Now: s.clock.now, Logger: logger})
	check(t, err)
	seal, err := registrar.NewSeal([32]byte{1})
	check(t, err)
	s.customers, err = customer.New(customer.Config{
		Store: db, Seal: seal, Origins: customer.PasskeyOrigins(s.base), Limits: limits, Now: s.clock.now, Logger: logger,
		LettersWaiting: runner.Wake, Cost: customer.Cost{Memory: 64, Passes: 1}, // the pages are tried here, not the hashes
	})
	check(t, err)
	s.apps, err = access.NewApplications(access.ApplicationsConfig{Store: db, Resource: s.base + mcp.Path, Now: s.clock.now, Log: logger})
	check(t, err)
	s.access, err = access.New(access.Config{Store: db, Now: s.clock.now, Log: logger})
	check(t, err)
	s.holdings, err = holding.New(holding.Config{Store: db, Now: s.clock.now})
	check(t, err)
	s.agents, err = agent.New(agent.Config{Store: db, Seal: seal, LettersWaiting: runner.Wake, Now: s.clock.now, Log: logger})
	check(t, err)
	s.registry = &desk{records: make(map[string]steward.Record)}
	s.steward, err = steward.New(steward.Config{
		Store: db, Seal: seal, Node: "here", Now: s.clock.now, Clock: s.clock.now, Logger: logger, LettersWaiting: runner.Wake,
		Barred: func(_ context.Context, _ steward.Domain, kind steward.Kind) (registrar.Code, error) {
			return s.barred[kind], nil
		},
		Registries: []steward.NamedRegistry{{Name: "desk", Serves: func(tld string) bool { return tld == ".de" }, Registry: s.registry}},
	})
	check(t, err)
	dossiers, err := dossier.New(dossier.Config{Store: db, Base: s.base, Now: s.clock.now})
	check(t, err)
	pages := portal.Config{
		Customers: s.customers, Access: s.access, Holdings: s.holdings, Applications: s.apps, Agents: s.agents, MailWorks: true, Steward: s.steward,
		Dossier: dossiers,
	}
	change(&pages)
	s.handler, err = web.New(web.Config{
		Facts: discovery.Facts{BaseURL: s.base}, Lookups: lookups{}, Budget: budget{}, Portal: pages, Now: s.clock.now,
		Agents: mcp.Config{Lookups: lookups{}, Catalogue: catalog.NewLive(nil), WhoisBudget: budget{}, Tokens: tokens{}, TokenBudget: budget{}},
		Ready:  func() bool { return true }, Logger: logger, Registry: prometheus.NewRegistry(), Operators: s.operatorPages(),
	})
	check(t, err)
	s.routes = routesOf(t, pages)

	ctx, cancel := context.WithCancel(context.Background())
	var background sync.WaitGroup
	background.Go(func() { runner.Run(ctx) })
	t.Cleanup(func() { cancel(); background.Wait() })
	server.Start()
	t.Cleanup(server.Close)
	return s
}

// routesOf is the list that tests go through.
func routesOf(t *testing.T, cfg portal.Config) []page.Route {
	t.Helper()
	frame, err := page.New(page.Config{
		BaseURL: "http://127.0.0.1", Sessions: cfg.Customers, Address: func(*http.Request) netip.Addr { return netip.Addr{} },
	})
	check(t, err)
	cfg.Frame = frame
	handler, err := portal.New(cfg)
	check(t, err)
	return handler.Routes()
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// letter waits for the next letter of a kind.
func (s *stage) letter(kind registrar.LetterKind) letters.Message {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 30*time.Second)
	defer cancel()
	for {
		select {
		case message := <-s.mailbox.messages:
			if message.Kind == kind {
				return message
			}
		case <-ctx.Done():
			s.t.Fatalf("no letter of the kind %s came", kind)
		}
	}
}

// member adds a customer with the usual password, as an operator does.
func (s *stage) member(email string) customer.Customer {
	s.t.Helper()
	operator := registrar.Actor{Kind: registrar.ActorOperator, Through: "test"}
	added, _, err := s.customers.Add(s.t.Context(), operator, email, page.German)
	check(s.t, err)
	check(s.t, s.customers.SetPassword(s.t.Context(), operator, added.ID, password))
	return added
}

// browser keeps cookies and follows nothing by itself.
type browser struct {
	*stage
	client *http.Client
	// origin is the address under which it sees the portal.
	origin string
	// crossSite makes it behave like a browser on somebody else's page.
	crossSite bool
}

func (s *stage) browser() *browser {
	s.t.Helper()
	jar, err := cookiejar.New(nil)
	check(s.t, err)
	return &browser{stage: s, origin: s.base, client: &http.Client{
		Jar: jar, Timeout: time.Minute, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// signedIn is a browser in which a member has just signed in.
func (s *stage) signedIn(email string) *browser {
	s.t.Helper()
	b := s.browser()
	answer := b.post("/portal/sign-in", url.Values{"email": {email}, "password": {password}})
	if answer.status != http.StatusSeeOther {
		s.t.Fatalf("the sign-in of %s answered %d %s", email, answer.status, answer.body)
	}
	return b
}

// answer is what a browser got.
type answer struct {
	status int
	header http.Header
	body   string
}

func (a answer) location() string { return a.header.Get("Location") }

// tree is the answer's document.
func (a answer) tree(t *testing.T) *html.Node {
	t.Helper()
	root, err := html.Parse(strings.NewReader(a.body))
	check(t, err)
	return root
}

func (b *browser) do(method, path, contentType, body string) answer {
	b.t.Helper()
	target := path
	if !strings.HasPrefix(path, "http") {
		target = b.base + path
	}
	r, err := http.NewRequestWithContext(b.t.Context(), method, target, strings.NewReader(body))
	check(b.t, err)
	r.Header.Set("User-Agent", "Test/1.0")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	if method == http.MethodPost {
		r.Header.Set("Origin", b.origin)
		r.Header.Set("Content-Type", contentType)
	}
	if b.crossSite {
		r.Header.Set("Sec-Fetch-Site", "cross-site")
		r.Header.Set("Origin", "https://evil.example")
	}
	response, err := b.client.Do(r)
	check(b.t, err)
	content, err := io.ReadAll(response.Body)
	check(b.t, errors.Join(err, response.Body.Close()))
	return answer{response.StatusCode, response.Header, string(content)}
}

func (b *browser) get(path string) answer { b.t.Helper(); return b.do(http.MethodGet, path, "", "") }

func (b *browser) post(path string, fields url.Values) answer {
	b.t.Helper()
	return b.do(http.MethodPost, path, "application/x-www-form-urlencoded", fields.Encode())
}

func (b *browser) postJSON(path, body string) answer {
	b.t.Helper()
	return b.do(http.MethodPost, path, "application/json", body)
}

// cookie is the value of one of the browser's cookies.
func (b *browser) cookie(name string) string {
	base, err := url.Parse(b.base)
	check(b.t, err)
	for _, cookie := range b.client.Jar.Cookies(base) {
		if cookie.Name == name {
			return cookie.Value
		}
	}
	return ""
}

// elements are all elements of a name below a node.
func elements(root *html.Node, name string) []*html.Node {
	var found []*html.Node
	for node := range root.Descendants() {
		if node.Type == html.ElementNode && (name == "*" || node.Data == name) {
			found = append(found, node)
		}
	}
	return found
}

func attribute(node *html.Node, name string) string {
	for _, a := range node.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func has(node *html.Node, name string) bool {
	for _, a := range node.Attr {
		if a.Key == name {
			return true
		}
	}
	return false
}

func text(root *html.Node) string {
	var out strings.Builder
	for node := range root.Descendants() {
		if node.Type == html.TextNode {
			out.WriteString(node.Data)
		}
	}
	return strings.TrimSpace(out.String())
}
