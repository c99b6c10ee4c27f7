package oauth

import (
	"embed"
	"errors"
	"net/http"
	"net/netip"
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar/oauth"
	"github.com/dotkontor/dotkontor/internal/registrar/ratelimit"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

//go:embed templates
var templateFS embed.FS

// Config holds the dependencies of the endpoints.
type Config struct {
	BaseURL       string // the issuer
	Applications  *oauth.AuthorizationServer
	Registrations *ratelimit.Limiter // limits the registrations of an address
	// BadTokens limits the wrong credentials of an address; nil means no limit. It is
	// not shared with the endpoints that take access tokens: a flood there must not
	// keep applications from refreshing.
	BadTokens *ratelimit.Gate
	Issued    func(accessToken string)       // called with each new access token; it may be nil
	Frame     *ui.Frame                      // set by package web
	Address   func(*http.Request) netip.Addr // finds the client address of a request
}

// Handler serves the endpoints. It is safe for concurrent use.
type Handler struct {
	cfg       Config
	issuer    string
	templates *ui.Templates
}

// New parses the pages.
func New(cfg Config) (*Handler, error) {
	if cfg.Applications == nil || cfg.Registrations == nil || cfg.Frame == nil || cfg.Address == nil {
		return nil, errors.New("oauth: Config.Applications, Registrations, Frame and Address are required")
	}
	views, err := cfg.Frame.LoadTemplates(templateFS, texts)
	if err != nil {
		return nil, err
	}
	return &Handler{cfg: cfg, issuer: strings.TrimSuffix(cfg.BaseURL, "/"), templates: views}, nil
}

// Prefix is the prefix of all endpoints.
const Prefix = "/oauth/"

// authorizePath is the target of the consent form.
const authorizePath = "/oauth/authorize/"

// Routes lists the endpoints.
func (h *Handler) Routes() []httpjson.Route {
	return withSlash([]httpjson.Route{
		{Method: http.MethodPost, Path: "/oauth/register", Handler: h.serveRegister, AnyOrigin: true},
		{Method: http.MethodGet, Path: "/oauth/authorize", Handler: h.cfg.Frame.Page(h.authorize)},
		{Method: http.MethodPost, Path: "/oauth/authorize", Handler: h.cfg.Frame.SignedInPage(ui.HomePath, h.decide)},
		{Method: http.MethodPost, Path: "/oauth/token", Handler: h.serveToken, AnyOrigin: true},
		{Method: http.MethodPost, Path: "/oauth/revoke", Handler: h.serveRevoke, AnyOrigin: true},
	})
}

// UnavailableRoutes lists the endpoints of a service without sign-in. The discovery documents name
// them all the same, so they answer 503: a client would take a 404 for a mistake of its own.
func UnavailableRoutes() []httpjson.Route {
	return withSlash([]httpjson.Route{
		{Method: http.MethodPost, Path: "/oauth/register", Handler: unavailable, AnyOrigin: true},
		{Method: http.MethodGet, Path: "/oauth/authorize", Handler: unavailable},
		{Method: http.MethodPost, Path: "/oauth/token", Handler: unavailable, AnyOrigin: true},
		{Method: http.MethodPost, Path: "/oauth/revoke", Handler: unavailable, AnyOrigin: true},
	})
}

func unavailable(w http.ResponseWriter, _ *http.Request) {
	header := w.Header()
	header.Set("Cache-Control", "no-store")
	header.Set("Retry-After", "3600")
	httpjson.WriteJSON(w, http.StatusServiceUnavailable, errorBody{
		Error:       "temporarily_unavailable",
		Description: "Signing in is not in service here yet. The lookup tools and the REST lookups need no token.",
	})
}

// withSlash lists each route with and without a trailing slash: clients that strip
// the slash do not follow the redirect of a POST.
func withSlash(routes []httpjson.Route) []httpjson.Route {
	var both []httpjson.Route
	for _, route := range routes {
		slashed := route
		slashed.Path += "/{$}"
		both = append(both, slashed, route)
	}
	return both
}
