// Package portal tests the portal over HTTP, with the real services on a real SQLite
// database. test/browser covers what needs a real browser.
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
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/net/html"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/admin"
	"github.com/dotkontor/dotkontor/internal/registrar/agent"
	"github.com/dotkontor/dotkontor/internal/registrar/bulk"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/registrar/contactcheck"
	"github.com/dotkontor/dotkontor/internal/registrar/delegate"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/registrar/export"
	"github.com/dotkontor/dotkontor/internal/registrar/holder"
	"github.com/dotkontor/dotkontor/internal/registrar/lifecycle"
	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
	"github.com/dotkontor/dotkontor/internal/registrar/mailer"
	"github.com/dotkontor/dotkontor/internal/registrar/oauth"
	"github.com/dotkontor/dotkontor/internal/registrar/overview"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
	"github.com/dotkontor/dotkontor/internal/registrar/ratelimit"
	"github.com/dotkontor/dotkontor/internal/registrar/transferaway"
	"github.com/dotkontor/dotkontor/internal/store"
	"github.com/dotkontor/dotkontor/internal/web"
	"github.com/dotkontor/dotkontor/internal/web/discovery"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
	"github.com/dotkontor/dotkontor/internal/web/mcp"
	"github.com/dotkontor/dotkontor/internal/web/portal"
	"github.com/dotkontor/dotkontor/internal/web/ui"
	"github.com/dotkontor/dotkontor/test/testkit/dbtest"
)

const password = "correct-horse-battery"

// env is the portal with everything behind it.
type env struct {
	t         *testing.T
	base      string
	customers *account.Service
	access    *oauth.Service
	apps      *oauth.AuthorizationServer
	agents    *agent.Service
	portfolio *portfolio.Service
	holders   *holder.Service
	domains   *domainchange.Service
	contacts  *contactcheck.Service
	// forbidden are the changes restricted by a dispute; set before the first request.
	forbidden map[domainchange.ChangeKind]registrar.Code
	// requires are rules of extensions about their holders; set before the first request.
	requires  map[string]string
	registry  *fakeRegistry
	transfers *fakeTransferRegistry
	away      *transferaway.Service
	provider  *fakeMethodProvider
	dearer    atomic.Int64 // how much the renewal price has risen, in cents
	degraded  atomic.Bool  // the operators' pages see a full disk
	db        *store.DB
	handler   http.Handler
	prices    *catalog.Live
	clock     *clock
	log       *lockedBuffer
	mailbox   *mailbox
	// online are due for a suspension that their registry does not offer; set before the first request.
	online []lifecycle.PlannedAction
	// routes are those of the portal.
	routes []httpjson.Route
}

// clock is a clock that a test may advance.
type clock struct{ ahead atomic.Int64 }

func (c *clock) now() time.Time          { return time.Now().Add(time.Duration(c.ahead.Load())) }
func (c *clock) advance(d time.Duration) { c.ahead.Add(int64(d)) }

// lockedBuffer is a log that may be written and read concurrently.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (r *lockedBuffer) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(b)
}

func (r *lockedBuffer) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

// mailbox receives the mails.
type mailbox struct{ messages chan mailer.Message }

func (m *mailbox) Send(_ context.Context, message mailer.Message) (mailer.Delivery, error) {
	m.messages <- message
	return mailer.Delivery{}, nil
}

type lookups struct{}

func (lookups) Check(context.Context, string) (lookup.Answer, error) { return lookup.Answer{}, nil }
func (lookups) Whois(context.Context, string) (lookup.WhoisAnswer, error) {
	return lookup.WhoisAnswer{}, nil
}

func (lookups) Search(context.Context, string) (lookup.Result, error) { return lookup.Result{}, nil }

func (lookups) SearchEach(context.Context, string, func(lookup.Entry, int, int)) (lookup.Result, error) {
	return lookup.Result{}, nil
}

type budget struct{}

func (budget) Spend(netip.Addr) (ratelimit.Decision, []ratelimit.Window) {
	return ratelimit.Decision{Allowed: true}, nil
}

func (b budget) SpendToken(addr netip.Addr, _ string) (ratelimit.Decision, []ratelimit.Window) {
	return b.Spend(addr)
}

func (budget) Allow(ratelimit.Key) ratelimit.Decision { return ratelimit.Decision{Allowed: true} }

type tokens struct{}

func (tokens) Verify(context.Context, string) (oauth.TokenInfo, error) {
	return oauth.TokenInfo{}, &registrar.Error{Kind: registrar.KindUnauthenticated}
}

// newEnv returns an env; mailWorks enables mail.
func newEnv(t *testing.T, mailWorks bool) *env {
	t.Helper()
	return newEnvWith(t, func(_ *env, pages *portal.Config) { pages.MailEnabled = mailWorks })
}

// newEnvWith returns an env with a changed portal configuration.
func newEnvWith(t *testing.T, change func(*env, *portal.Config)) *env {
	t.Helper()
	s := &env{t: t, clock: &clock{}, log: &lockedBuffer{}, mailbox: &mailbox{messages: make(chan mailer.Message, 100)}}
	db, err := store.Open(t.Context(), dbtest.SQLite(t))
	must(t, err)
	s.db = db
	t.Cleanup(func() { must(t, db.Close()) })
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }))
	s.base = "http://" + server.Listener.Addr().String()

	limits, err := account.NewLimits(account.DefaultWindows(), func(_ string, w ratelimit.Window) (*ratelimit.Limiter, error) {
		return ratelimit.New(ratelimit.Config{Windows: []ratelimit.Window{w}, Now: s.clock.now})
	})
	must(t, err)
	logger := slog.New(slog.NewJSONHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	runner, err := mailer.New(mailer.Config{Store: db, Sender: s.mailbox, BaseURL: s.base, Now: s.clock.now, Logger: logger})
	must(t, err)
	seal, err := registrar.NewSeal([32]byte{1})
	must(t, err)
	s.customers, err = account.New(account.Config{
		Store: db, Seal: seal, Origins: account.PasskeyOrigins(s.base), Limits: limits, Now: s.clock.now, Logger: logger,
		MailQueued: runner.Wake, Cost: account.Cost{Memory: 64, Passes: 1}, // hashing is not tested here
	})
	must(t, err)
	s.apps, err = oauth.NewAuthorizationServer(oauth.AuthorizationServerConfig{Store: db, Resource: s.base + mcp.Path, Now: s.clock.now, Log: logger})
	must(t, err)
	s.access, err = oauth.New(oauth.Config{Store: db, Now: s.clock.now, Log: logger})
	must(t, err)
	s.portfolio = portfolio.New(db, s.clock.now)
	s.agents, err = agent.New(agent.Config{Store: db, Seal: seal, MailQueued: runner.Wake, Now: s.clock.now, Log: logger})
	must(t, err)
	s.registry = &fakeRegistry{records: make(map[string]domainchange.Record)}
	s.holders, err = holder.New(db, s.clock.now, s.clock.now)
	must(t, err)
	s.domains, err = domainchange.New(domainchange.Config{
		Holder: s.holders.Registrant, Store: db, Seal: seal, Node: "here", Now: s.clock.now, Clock: s.clock.now, Logger: logger, MailQueued: runner.Wake,
		CheckRestrictions: func(_ context.Context, _ domainchange.Domain, kind domainchange.ChangeKind) (registrar.Code, error) {
			return s.forbidden[kind], nil
		},
		CheckEligibility: func(_ context.Context, _, tld string, registrant registrar.Registrant) error {
			return registrar.Extension{TLD: tld, Requires: s.requires[tld]}.CheckRegistrant(registrant, "")
		},
		Registries: []domainchange.NamedRegistry{{Name: "desk", Serves: func(tld string) bool { return slices.Contains([]string{".de", ".org", ".se", ".uk"}, tld) }, Registry: s.registry}},
	})
	must(t, err)
	s.transfers = &fakeTransferRegistry{pending: make(map[string]transferaway.RegistryTransfer)}
	s.away, err = transferaway.New(transferaway.Config{
		Store: db, Node: "here", Now: s.clock.now, Clock: s.clock.now, Logger: logger, MailQueued: runner.Wake,
		HoldsDomain: func(ctx context.Context, customer, domain string) (bool, error) {
			_, found, err := db.GetCustomerDomain(ctx, customer, domain)
			return found, err
		},
		Forbids:    func(context.Context, string) (bool, error) { return s.forbidden[domainchange.AuthCode] != "", nil },
		Registries: []transferaway.NamedRegistry{{Name: "desk", Serves: func(string) bool { return true }, Registry: s.transfers}},
	})
	must(t, err)
	dossiers, err := export.New(export.Config{Store: db, BaseURL: s.base, Now: s.clock.now})
	must(t, err)
	overviews, err := overview.New(db, func(string) int { return 5 }, s.clock.now, s.clock.now)
	must(t, err)
	delegates, err := delegate.New(delegate.Config{Store: db, Tokens: s.access, Applications: s.apps, Agents: s.agents, Now: s.clock.now})
	must(t, err)
	pages := portal.Config{
		Accounts: s.customers, AccessTokens: s.access, Portfolio: s.portfolio, Applications: s.apps, Agents: s.agents, MailEnabled: true, DomainChanges: s.domains, Holders: s.holders, TransfersAway: s.away,
		Exporter: dossiers, Overview: overviews, Delegates: delegates,
	}
	s.contacts, err = contactcheck.New(contactcheck.Config{Store: db, Changes: s.domains, Now: s.clock.now, Clock: s.clock.now, Logger: logger, MailQueued: runner.Wake})
	must(t, err)
	locks, err := admin.New(admin.Config{Store: db, Now: s.clock.now})
	must(t, err)
	pages.Contacts, pages.Locks = s.contacts, locks.LocksOf
	change(s, &pages)
	actions := bulk.Config{Store: db, Portfolio: s.portfolio, Changes: s.domains, Now: s.clock.now, Clock: s.clock.now}
	if pages.Orders != nil {
		actions.Orders = pages.Orders
		actions.Consents, _ = pages.Renewals.(bulk.Consents) // not every test has renewals
	}
	pages.Bulk, err = bulk.New(actions)
	must(t, err)
	s.handler, err = web.New(web.Config{
		Facts: discovery.Facts{BaseURL: s.base}, Lookups: lookups{}, Budget: budget{}, Portal: pages, Now: s.clock.now,
		MCP:   mcp.Config{Lookups: lookups{}, Catalog: catalog.NewLive(nil), WhoisBudget: budget{}, Tokens: tokens{}, TokenBudget: budget{}},
		Ready: func() bool { return true }, Logger: logger, Registry: prometheus.NewRegistry(), Operator: s.operatorPages(),
	})
	must(t, err)
	s.routes = portalRoutes(t, pages)

	ctx, cancel := context.WithCancel(context.Background())
	var background sync.WaitGroup
	background.Go(func() { runner.Run(ctx) })
	t.Cleanup(func() { cancel(); background.Wait() })
	server.Start()
	t.Cleanup(server.Close)
	return s
}

// portalRoutes lists the routes.
func portalRoutes(t *testing.T, cfg portal.Config) []httpjson.Route {
	t.Helper()
	frame, err := ui.New(ui.Config{
		BaseURL: "http://127.0.0.1", Sessions: cfg.Accounts, Address: func(*http.Request) netip.Addr { return netip.Addr{} },
	})
	must(t, err)
	cfg.Frame = frame
	handler, err := portal.New(cfg)
	must(t, err)
	return handler.Routes()
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// waitForMail waits for the next mail of a kind.
func (s *env) waitForMail(kind registrar.MailKind) mailer.Message {
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
			s.t.Fatalf("no mail of the kind %s arrived", kind)
		}
	}
}

// newMember adds a customer with the usual password, as an operator does.
func (s *env) newMember(email string) account.Customer {
	s.t.Helper()
	operator := registrar.Actor{Kind: registrar.ActorOperator, Through: "test"}
	added, _, err := s.customers.Add(s.t.Context(), operator, email, ui.German)
	must(s.t, err)
	must(s.t, s.customers.SetPassword(s.t.Context(), operator, added.ID, password))
	return added
}

// browser keeps cookies and follows no redirects.
type browser struct {
	*env
	client *http.Client
	// origin is the portal's URL as the browser sees it.
	origin string
	// crossSite simulates a page of another site.
	crossSite bool
	// language is the browser's; empty means that it sends none.
	language string
}

func (s *env) newBrowser() *browser {
	s.t.Helper()
	jar, err := cookiejar.New(nil)
	must(s.t, err)
	// Any test that closes its server also closes connections of the default transport.
	transport := &http.Transport{}
	s.t.Cleanup(transport.CloseIdleConnections)
	return &browser{env: s, origin: s.base, client: &http.Client{
		Transport: transport, Jar: jar, Timeout: time.Minute, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// signedInBrowser is a browser in which a member has just signed in.
func (s *env) signedInBrowser(email string) *browser {
	s.t.Helper()
	b := s.newBrowser()
	answer := b.post("/portal/sign-in", url.Values{"email": {email}, "password": {password}})
	if answer.status != http.StatusSeeOther {
		s.t.Fatalf("the sign-in of %s returned %d %s", email, answer.status, answer.body)
	}
	return b
}

// pageResponse is a response.
type pageResponse struct {
	status int
	header http.Header
	body   string
}

func (a pageResponse) location() string { return a.header.Get("Location") }

// tree parses the document.
func (a pageResponse) tree(t *testing.T) *html.Node {
	t.Helper()
	root, err := html.Parse(strings.NewReader(a.body))
	must(t, err)
	return root
}

func (b *browser) do(method, path, contentType, body string) pageResponse {
	b.t.Helper()
	target := path
	if !strings.HasPrefix(path, "http") {
		target = b.base + path
	}
	r, err := http.NewRequestWithContext(b.t.Context(), method, target, strings.NewReader(body))
	must(b.t, err)
	r.Header.Set("User-Agent", "Test/1.0")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	if b.language != "" {
		r.Header.Set("Accept-Language", b.language)
	}
	if method == http.MethodPost {
		r.Header.Set("Origin", b.origin)
		r.Header.Set("Content-Type", contentType)
	}
	if b.crossSite {
		r.Header.Set("Sec-Fetch-Site", "cross-site")
		r.Header.Set("Origin", "https://evil.example")
	}
	response, err := b.client.Do(r)
	must(b.t, err)
	content, err := io.ReadAll(response.Body)
	must(b.t, errors.Join(err, response.Body.Close()))
	return pageResponse{response.StatusCode, response.Header, string(content)}
}

func (b *browser) get(path string) pageResponse {
	b.t.Helper()
	return b.do(http.MethodGet, path, "", "")
}

func (b *browser) post(path string, fields url.Values) pageResponse {
	b.t.Helper()
	return b.do(http.MethodPost, path, "application/x-www-form-urlencoded", fields.Encode())
}

func (b *browser) postJSON(path, body string) pageResponse {
	b.t.Helper()
	return b.do(http.MethodPost, path, "application/json", body)
}

// cookie returns the value of a cookie.
func (b *browser) cookie(name string) string {
	base, err := url.Parse(b.base)
	must(b.t, err)
	for _, cookie := range b.client.Jar.Cookies(base) {
		if cookie.Name == name {
			return cookie.Value
		}
	}
	return ""
}

// elements returns all elements of a name below a node.
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

func hasAttribute(node *html.Node, name string) bool {
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
