package web

import (
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/dotkontor/dotkontor/internal/web/acp"
	"github.com/dotkontor/dotkontor/internal/web/checkout"
	"github.com/dotkontor/dotkontor/internal/web/discovery"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
	"github.com/dotkontor/dotkontor/internal/web/legal"
	"github.com/dotkontor/dotkontor/internal/web/mcp"
	"github.com/dotkontor/dotkontor/internal/web/oauth"
	"github.com/dotkontor/dotkontor/internal/web/operator"
	"github.com/dotkontor/dotkontor/internal/web/portal"
	"github.com/dotkontor/dotkontor/internal/web/rest"
	"github.com/dotkontor/dotkontor/internal/web/site"
	"github.com/dotkontor/dotkontor/internal/web/stripehook"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// Config is what the front needs.
type Config struct {
	// Facts are what the documents say.
	Facts discovery.Facts
	// Lookups and Budget serve the REST interface; the lookup tools spend the same.
	Lookups rest.Lookups
	Budget  mcp.Budget
	// MCP is the MCP endpoint. The front fills in what it shares with it:
	// base address, budget, address and logger.
	MCP mcp.Config
	// Portal is what people see in a browser. The front fills in its frame; without
	// customers there is no portal.
	Portal portal.Config
	// Site is what everybody sees: search, prices, assistants. The front fills in
	// what it shares; without a catalogue, or without a portal, there are no such
	// pages.
	Site site.Config
	// Legal are the pages that the law asks for. The front fills in their frame; without
	// somebody who takes declarations, or without a portal, there are none.
	Legal legal.Config
	// Operator are the pages of those who run the service. The front fills in their
	// frame; without an office, or without a portal, there are no such pages.
	Operator operator.Config
	// Checkout is where orders are paid and read. The front fills in its frame;
	// without orders, or without a portal, there are no such pages.
	Checkout checkout.Config
	// ACP is where agents check out. The front fills in what it shares;
	// without agents or orders its operations say that they are not in service.
	ACP acp.Config
	// OAuth is where applications are connected. The front fills in what it
	// shares; without applications, or without a portal to sign in at, its
	// endpoints say that they are not in service.
	OAuth oauth.Config
	// StripeEvents is who hears of the payment provider's messages; without one the
	// provider has nowhere to send them.
	StripeEvents stripehook.Events
	// Now is the clock of sessions, the same as the customers' one; nil means
	// time.Now.
	Now func() time.Time
	// TrustedProxies are the networks whose forwarding headers are believed.
	TrustedProxies []netip.Prefix
	// Ready says whether the service wants new requests.
	Ready func() bool
	// Degraded lists the parts of the service that are in trouble; nil means none.
	Degraded func() []Degraded
	// MaxStreams is how many pages may be followed at one moment, and Closing ends them
	// all when it is closed.
	MaxStreams int
	Closing    <-chan struct{}
	// Logger gets one record a request.
	Logger *slog.Logger
	// Registry gets the metrics.
	Registry prometheus.Registerer
}

// routes is everything that the service answers to, in the contract's order.
func routes(cfg Config, addresses addrResolver, frame *ui.Frame) ([]httpjson.Route, error) {
	lookups := rest.New(cfg.Lookups, cfg.Budget, addresses.clientAddr)
	documents, err := discovery.New(cfg.Facts)
	if err != nil {
		return nil, err
	}
	agents, err := mcp.New(cfg.mcpConfig(addresses))
	if err != nil {
		return nil, err
	}
	applications, err := newOAuth(cfg, addresses, frame)
	if err != nil {
		return nil, err
	}
	sessions, err := newACP(cfg, addresses)
	if err != nil {
		return nil, err
	}
	anyOrigin := func(method, path string, handler http.HandlerFunc) httpjson.Route {
		return httpjson.Route{Method: method, Path: path, Handler: handler, AnyOrigin: true}
	}
	return slices.Concat([]httpjson.Route{
		anyOrigin("POST", "/api/domain/check", lookups.Check),
		anyOrigin("POST", "/api/domain/search", lookups.Search),
	}, sessions, []httpjson.Route{
		anyOrigin("POST", mcp.Path, agents.Serve),
		anyOrigin("POST", mcp.LoginPath, agents.ServeLogin),
	}, newStripeHook(cfg.StripeEvents), applications, []httpjson.Route{
		anyOrigin("GET", "/.well-known/oauth-protected-resource/api/mcp", documents.ProtectedResource),
		anyOrigin("GET", "/.well-known/oauth-protected-resource/api/mcp/login", documents.ProtectedResource),
		anyOrigin("GET", "/.well-known/oauth-protected-resource", documents.ProtectedResource),
		anyOrigin("GET", "/.well-known/oauth-authorization-server", documents.AuthorizationServer),
		anyOrigin("GET", "/.well-known/mcp/server-card.json", documents.ServerCard),
		anyOrigin("GET", "/api/mcp/server-card", documents.ServerCardTyped),
		anyOrigin("GET", "/.well-known/api-catalog", documents.APICatalog),
		anyOrigin("GET", "/.well-known/acp.json", documents.ACP),
		anyOrigin("GET", "/.well-known/auth.md", documents.Auth),
		anyOrigin("GET", "/auth.md", documents.Auth),
		anyOrigin("GET", "/agents.md", documents.Agents),
		anyOrigin("GET", "/checkout.md", documents.Checkout),
		anyOrigin("GET", "/openapi.json", documents.OpenAPI),
		anyOrigin("GET", "/.well-known/ai-catalog.json", documents.AICatalog),
		anyOrigin("GET", "/llms.txt", documents.LLMs),
		anyOrigin("GET", "/robots.txt", documents.Robots),

		{Method: "GET", Path: "/{$}", Handler: documents.Welcome},
		{Method: "GET", Path: "/healthz", Handler: healthz},
		{Method: "GET", Path: "/readyz", Handler: readyz(cfg.Ready, cfg.Degraded)},
	}), nil
}

// New returns the handler of the whole service.
func New(cfg Config) (http.Handler, error) {
	if cfg.Logger == nil || cfg.Registry == nil || cfg.Ready == nil {
		return nil, errors.New("web needs a logger, a registry of metrics and a readiness")
	}
	if cfg.Portal.Accounts != nil && cfg.Legal.Notices != nil {
		cfg.Facts.Terms, cfg.Facts.Privacy = ui.TermsPath, ui.PrivacyPath
		cfg.Facts.Returns, cfg.Facts.Imprint = ui.WithdrawalPath, ui.ImprintPath
	}
	addresses := addrResolver{trusted: cfg.TrustedProxies}
	pages, err := newBrowserPages(cfg, addresses)
	if err != nil {
		return nil, err
	}
	list, err := routes(cfg, addresses, pages.frame)
	if err != nil {
		return nil, err
	}
	list = mergeRoot(append(list, pages.pages...))
	mux := http.NewServeMux()
	resources := make(map[string]*resource)
	for _, r := range list {
		res, ok := resources[r.Path]
		if !ok {
			res = &resource{methods: make(map[string]http.HandlerFunc), anyOrigin: r.AnyOrigin}
			resources[r.Path] = res
			mux.Handle(r.Path, res)
		}
		res.methods[r.Method] = r.Handler
		if r.Method == http.MethodGet {
			res.methods[http.MethodHead] = r.Handler
		}
	}
	panicHandlers := make(map[string]func(http.ResponseWriter, *http.Request, error))
	for path, res := range resources {
		res.allow = allowHeader(res.methods)
		res.methodNotAllowed = methodNotAllowed
		switch {
		case path == mcp.Path || path == mcp.LoginPath:
			res.methodNotAllowed, panicHandlers[path] = mcp.MethodNotAllowed, mcp.ServeError
		case strings.HasPrefix(path, oauth.Prefix):
			res.methodNotAllowed, panicHandlers[path] = oauth.MethodNotAllowed, oauth.ServeError
		case strings.HasPrefix(path, acp.Prefix):
			res.methodNotAllowed, panicHandlers[path] = acp.MethodNotAllowed, acp.ServeError
		case strings.HasPrefix(path, ui.OperatorPath):
			res.hidden, res.methodNotAllowed, panicHandlers[path] = true, pages.frame.NotFound, pages.frame.ServeError
		case pages.has(path):
			res.methodNotAllowed, panicHandlers[path] = pages.frame.MethodNotAllowed, pages.frame.ServeError
		}
	}
	if pages.frame != nil {
		mux.HandleFunc(ui.HomePath+"/", pages.frame.NotFound)
		mux.HandleFunc(ui.CheckoutPath, pages.frame.NotFound)
		mux.HandleFunc(ui.OperatorPath+"/", pages.frame.NotFound)
	}
	mux.HandleFunc("/", notFoundHandler(pages.frame))
	front, err := newObserver(mux, cfg.Logger, cfg.Registry)
	if err != nil {
		return nil, err
	}
	front.panicHandlers = panicHandlers
	tools, err := mcp.ToolNames()
	if err != nil {
		return nil, err
	}
	for _, tool := range tools { // an alert must see the first event
		for _, outcome := range mcp.Outcomes {
			front.metrics.tools.WithLabelValues(tool, outcome)
		}
	}
	return front, nil
}
