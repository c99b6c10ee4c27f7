package oauth

import (
	"context"
	"embed"
	"errors"
	"net/http"
	"net/netip"
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/oauth"
	"github.com/dotkontor/dotkontor/internal/registrar/ratelimit"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

//go:embed templates
var templateFS embed.FS

// Applications is implemented by registrar/oauth, which makes all decisions.
type Applications interface {
	Register(ctx context.Context, registration oauth.Registration) (oauth.Client, string, error)
	Redeem(ctx context.Context, asked oauth.CodeRequest) (oauth.TokenResponse, error)
	Refresh(ctx context.Context, asked oauth.RefreshRequest) (oauth.TokenResponse, error)
	RevokeToken(ctx context.Context, given oauth.ClientCredentials, token string, address netip.Addr) (ended bool, err error)
	Consents
}

// Consents is the part of the consent page.
type Consents interface {
	ParseRequest(ctx context.Context, request oauth.AuthorizationRequest) (oauth.ParsedRequest, error)
	CreateConsent(ctx context.Context, actor registrar.Actor, authRequest oauth.ParsedRequest) (secret string, err error)
	Approve(ctx context.Context, actor registrar.Actor, secret string) (oauth.AuthorizationResponse, error)
	Deny(ctx context.Context, actor registrar.Actor, secret string) (oauth.AuthorizationResponse, error)
}

// Limiter counts registrations by address; it is a ratelimit.Limiter.
type Limiter interface {
	Allow(key ratelimit.Key) ratelimit.Decision
}

// Config holds the dependencies of the endpoints.
type Config struct {
	// BaseURL is the issuer.
	BaseURL      string
	Applications Applications
	// Registrations limits the registrations of an address.
	Registrations Limiter
	// BadTokens limits the wrong credentials of an address; nil means no limit. It is
	// not shared with the endpoints that take access tokens: a flood there must not
	// keep applications from refreshing.
	BadTokens *ratelimit.Gate
	// Issued is called with each new access token; it may be nil.
	Issued func(accessToken string)
	// Frame is set by package web.
	Frame *ui.Frame
	// Address finds the client address of a request.
	Address func(*http.Request) netip.Addr
}

// Handler serves the endpoints. It is safe for concurrent use.
type Handler struct {
	issuer        string
	applications  Applications
	registrations Limiter
	badTokens     *ratelimit.Gate
	issued        func(accessToken string)
	frame         *ui.Frame
	templates     *ui.Templates
	address       func(*http.Request) netip.Addr
}

// New parses the pages.
func New(cfg Config) (*Handler, error) {
	if cfg.Applications == nil || cfg.Registrations == nil || cfg.Frame == nil || cfg.Address == nil {
		return nil, errors.New("oauth: Config.Applications, Registrations, Frame and Address are required")
	}
	views, err := cfg.Frame.LoadTemplates(templateFS, ui.Texts{German: german, English: english})
	if err != nil {
		return nil, err
	}
	return &Handler{
		issuer: strings.TrimSuffix(cfg.BaseURL, "/"), applications: cfg.Applications, registrations: cfg.Registrations,
		badTokens: cfg.BadTokens, issued: cfg.Issued,
		frame: cfg.Frame, templates: views, address: cfg.Address,
	}, nil
}

// Prefix is the prefix of all endpoints.
const Prefix = "/oauth/"

// authorizePath is the target of the consent form.
const authorizePath = "/oauth/authorize/"

// Routes lists the endpoints.
func (h *Handler) Routes() []httpjson.Route {
	return withSlash([]httpjson.Route{
		{Method: http.MethodPost, Path: "/oauth/register", Handler: h.serveRegister, AnyOrigin: true},
		{Method: http.MethodGet, Path: "/oauth/authorize", Handler: h.frame.Page(h.authorize)},
		{Method: http.MethodPost, Path: "/oauth/authorize", Handler: h.frame.SignedInPage(ui.HomePath, h.decide)},
		{Method: http.MethodPost, Path: "/oauth/token", Handler: h.serveToken, AnyOrigin: true},
		{Method: http.MethodPost, Path: "/oauth/revoke", Handler: h.serveRevoke, AnyOrigin: true},
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
