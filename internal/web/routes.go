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

	"github.com/dotkontor/dotkontor/internal/tracing"
	"github.com/dotkontor/dotkontor/internal/web/acp"
	"github.com/dotkontor/dotkontor/internal/web/checkout"
	"github.com/dotkontor/dotkontor/internal/web/discovery"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
	"github.com/dotkontor/dotkontor/internal/web/legal"
	"github.com/dotkontor/dotkontor/internal/web/mcp"
	"github.com/dotkontor/dotkontor/internal/web/oauth"
	"github.com/dotkontor/dotkontor/internal/web/operator"
	"github.com/dotkontor/dotkontor/internal/web/portal"
	"github.com/dotkontor/dotkontor/internal/web/rdap"
	"github.com/dotkontor/dotkontor/internal/web/rest"
	"github.com/dotkontor/dotkontor/internal/web/site"
	"github.com/dotkontor/dotkontor/internal/web/stripehook"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// Config holds the dependencies of the server.
type Config struct {
	Facts discovery.Facts // for the discovery documents
	// Lookups and Budget serve the REST endpoints; MCP lookup tools spend the same
	// budget.
	Lookups rest.Lookups
	Budget  mcp.Budget
	// MCP configures the MCP endpoint. New sets its base URL, budget, address and
	// logger.
	MCP mcp.Config
	// Portal configures the customers' pages. New sets the frame; without accounts
	// there are no pages at all.
	Portal portal.Config
	// Site configures the public pages: search, prices, assistants. They need a catalog
	// and the portal.
	Site site.Config
	// Legal configures the legal pages. They need Notices and the portal.
	Legal legal.Config
	// Operator configures the operators' pages. They need Admin and the portal.
	Operator operator.Config
	// Checkout configures the order and payment pages. They need Orders and the portal.
	Checkout checkout.Config
	// ACP configures agentic checkout. Without agents or orders its operations answer
	// that they are not in service.
	ACP acp.Config
	// OAuth configures the authorization server. Without applications or the portal its
	// endpoints answer 503.
	OAuth oauth.Config
	// RDAP configures the registration data service. New sets its base URL, address and
	// paths. It needs Records; its links lead to the legal pages.
	RDAP           rdap.Config
	StripeEvents   stripehook.Events // handles the payment provider's webhooks; nil means no such endpoint
	Now            func() time.Time  // the clock of sessions, the same as the accounts'; nil means time.Now
	TrustedProxies []netip.Prefix    // the networks whose forwarding headers are trusted
	CountryHeader  string            // the header in which they report the client's country; empty means none
	Ready          func() bool       // reports whether the service accepts new requests
	Degraded       func() []Degraded // lists the parts that work only partially; nil means none
	// MaxStreams limits the open page streams; closing the channel Closing ends them
	// all.
	MaxStreams int
	Closing    <-chan struct{}
	Logger     *slog.Logger          // gets one record per request
	Registry   prometheus.Registerer // registers the metrics
	Tracer     *tracing.Tracer       // starts a span per request; nil means none
}

// routes lists every endpoint except the pages, in the contract's order.
func routes(cfg Config, frame *ui.Frame, address func(*http.Request) netip.Addr) ([]httpjson.Route, error) {
	lookups := rest.New(cfg.Lookups, cfg.Budget, address)
	cfg.MCP.BaseURL, cfg.MCP.Budget, cfg.MCP.Address, cfg.MCP.Logger = cfg.Facts.BaseURL, cfg.Budget, address, cfg.Logger
	cfg.MCP.Portal = frame != nil
	agents, err := mcp.New(cfg.MCP)
	if err != nil {
		return nil, err
	}
	cfg.ACP.BaseURL, cfg.ACP.OrdersPath, cfg.ACP.Address, cfg.ACP.Closing = cfg.Facts.BaseURL, ui.OrdersPath+"/", address, cfg.Closing
	cfg.ACP.Terms, cfg.ACP.Privacy, cfg.ACP.Returns = cfg.Facts.Terms, cfg.Facts.Privacy, cfg.Facts.Returns
	sessions, err := acp.New(cfg.ACP)
	if err != nil {
		return nil, err
	}
	applications := oauth.UnavailableRoutes()
	if frame != nil && cfg.OAuth.Applications != nil {
		cfg.OAuth.BaseURL, cfg.OAuth.Frame, cfg.OAuth.Address = cfg.Facts.BaseURL, frame, address
		handler, err := oauth.New(cfg.OAuth)
		if err != nil {
			return nil, err
		}
		applications = handler.Routes()
	}
	documents, err := discovery.Routes(cfg.Facts)
	if err != nil {
		return nil, err
	}
	var payments []httpjson.Route
	if cfg.StripeEvents != nil {
		payments = []httpjson.Route{{Method: "POST", Path: stripehook.Path, Handler: stripehook.New(cfg.StripeEvents)}}
	}
	var records []httpjson.Route
	if cfg.RDAP.Records != nil {
		cfg.RDAP.BaseURL, cfg.RDAP.Address, cfg.RDAP.Terms, cfg.RDAP.Contact = cfg.Facts.BaseURL, address, ui.EnglishTermsPath, ui.EnglishContactPath
		handler, err := rdap.New(cfg.RDAP)
		if err != nil {
			return nil, err
		}
		records = handler.Routes()
	}
	return slices.Concat([]httpjson.Route{
		{Method: "POST", Path: "/api/domain/check", Handler: lookups.Check, AnyOrigin: true},
		{Method: "POST", Path: "/api/domain/search", Handler: lookups.Search, AnyOrigin: true},
	}, sessions.Routes(), []httpjson.Route{
		{Method: "POST", Path: mcp.Path, Handler: agents.Serve, AnyOrigin: true},
		{Method: "POST", Path: mcp.LoginPath, Handler: agents.ServeLogin, AnyOrigin: true},
	}, payments, applications, documents, records, []httpjson.Route{
		{Method: "GET", Path: "/healthz", Handler: healthz},
		{Method: "GET", Path: "/readyz", Handler: readyz(cfg.Ready, cfg.Degraded)},
	}), nil
}

// New returns the handler of the whole service.
func New(cfg Config) (http.Handler, error) {
	if cfg.Logger == nil || cfg.Registry == nil || cfg.Ready == nil {
		return nil, errors.New("web: Config.Logger, Registry and Ready are required")
	}
	if cfg.Portal.Accounts != nil && cfg.Legal.Notices != nil {
		cfg.Facts.Terms, cfg.Facts.Privacy = ui.TermsPath, ui.PrivacyPath
		cfg.Facts.Returns, cfg.Facts.Imprint = ui.WithdrawalPath, ui.ImprintPath
	}
	resolver := addrResolver{trusted: cfg.TrustedProxies}
	address := resolver.clientAddr
	frame, pages, err := newPages(cfg, address, func(r *http.Request) string { return resolver.country(r, cfg.CountryHeader) })
	if err != nil {
		return nil, err
	}
	list, err := routes(cfg, frame, address)
	if err != nil {
		return nil, err
	}
	resources, err := newResources(append(list, pages...))
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	front, err := newObserver(mux, cfg.Logger, cfg.Registry)
	if err != nil {
		return nil, err
	}
	panicHandlers := make(map[string]func(http.ResponseWriter, *http.Request, error))
	for path, res := range resources {
		mux.Handle(path, res)
		if !strings.HasSuffix(path, "/") && !strings.Contains(path, "{") {
			front.exact[path] = res
		}
		switch {
		case path == mcp.Path || path == mcp.LoginPath:
			res.methodNotAllowed, panicHandlers[path] = mcp.MethodNotAllowed, mcp.ServeError
		case strings.HasPrefix(path, oauth.Prefix):
			res.methodNotAllowed, panicHandlers[path] = oauth.MethodNotAllowed, oauth.ServeError
		case strings.HasPrefix(path, acp.Prefix):
			res.methodNotAllowed, panicHandlers[path] = acp.MethodNotAllowed, acp.ServeError
		case rdap.IsPath(path):
			res.methodNotAllowed, panicHandlers[path] = rdap.MethodNotAllowed, rdap.ServeError
		case strings.HasPrefix(path, ui.OperatorPath):
			res.hidden, res.methodNotAllowed, panicHandlers[path] = true, frame.NotFound, frame.ServeError
		case slices.ContainsFunc(pages, func(page httpjson.Route) bool { return page.Path == path }):
			res.methodNotAllowed, panicHandlers[path] = frame.MethodNotAllowed, frame.ServeError
		}
	}
	if frame != nil {
		mux.HandleFunc(ui.HomePath+"/", frame.NotFound)
		mux.HandleFunc(ui.CheckoutPath, frame.NotFound)
		mux.HandleFunc(ui.OperatorPath+"/", frame.NotFound)
	}
	mux.HandleFunc("/", notFoundHandler(frame))
	front.panicHandlers, front.tracer = panicHandlers, cfg.Tracer
	tools, err := mcp.ToolNames()
	if err != nil {
		return nil, err
	}
	for _, tool := range tools { // alerts need the series to exist before the first event
		for _, outcome := range mcp.Outcomes {
			front.metrics.tools.WithLabelValues(tool, outcome)
		}
	}
	return front, nil
}
