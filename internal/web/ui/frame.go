package ui

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
)

// Where the frame sends people.
const (
	HomePath        = "/portal"
	SignInPath      = "/portal/sign-in"
	SignInAgainPath = "/portal/sign-in-again"
	LanguagePath    = "/portal/language"
	SignOutPath     = "/portal/sign-out"
	StaticPath      = "/portal/static/"
	OrdersPath      = "/portal/orders"
	// Pages of the portal to which other transports lead.
	TokensPath     = "/portal/tokens"
	RegistrantPath = "/portal/profile/registrant"
	DomainsPath    = "/portal/domains"
	// OperatorPath is where operators work.
	OperatorPath = "/operator"
	// CheckoutPath is below which orders are paid; the rest of the address is a
	// secret.
	CheckoutPath = "/checkout/"
	// The pages for everybody. Each has a German and an English address.
	StartPath            = "/"
	PricesPath           = "/preise"
	EnglishPricesPath    = "/prices"
	AssistantPath        = "/assistent"
	EnglishAssistantPath = "/assistant"
	// The pages that the law asks for, which each page names at its foot.
	ImprintPath             = "/impressum"
	EnglishImprintPath      = "/imprint"
	TermsPath               = "/agb"
	EnglishTermsPath        = "/terms"
	PrivacyPath             = "/datenschutz"
	EnglishPrivacyPath      = "/privacy"
	WithdrawalPath          = "/widerruf"
	EnglishWithdrawalPath   = "/withdrawal"
	CancellationPath        = "/kuendigung"
	EnglishCancellationPath = "/cancellation"
)

// Sessions says who holds a session's secret.
type Sessions interface {
	// Visitor is a registrar.KindUnauthenticated error for every secret that
	// opens nothing.
	Visitor(ctx context.Context, secret string) (account.Visitor, error)
}

// Config is what the frame needs.
type Config struct {
	// BaseURL is where people reach the service. With https, cookies are bound to
	// it and browsers are told to stay on it.
	BaseURL  string
	Sessions Sessions
	// Address says where a request came from.
	Address func(*http.Request) netip.Addr
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Orders says that there are pages about orders, which the menu then names.
	Orders bool
	// Operators says that there are pages for operators, which their menu then names.
	Operators bool
	// Places says that there are pages for everybody, which the head then names.
	Places bool
	// Basket says that there is one, which the head then names.
	Basket bool
	// Legal says that there are the pages that the law asks for.
	Legal bool
	// MaxStreams is how many pages may be followed at one moment; 0 means 1000.
	MaxStreams int
	// Closing ends all streams when it is closed; nil means never.
	Closing <-chan struct{}
}

// Frame is shared by all pages. It is safe for concurrent use.
type Frame struct {
	sessions    Sessions
	address     func(*http.Request) netip.Addr
	now         func() time.Time
	base        string
	origin      string
	secure      bool
	crossOrigin *http.CrossOriginProtection
	static      map[string]asset
	menu        []menuEntry
	places      bool
	basket      bool
	legal       bool
	// operators says that there are pages for them.
	operators bool
	templates *Templates
	// streamLimiter are the streams that are open, and closing ends them.
	streamLimiter *streamLimiter
	closing       <-chan struct{}
}

// New prepares the frame.
func New(cfg Config) (*Frame, error) {
	base, err := url.Parse(cfg.BaseURL)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, fmt.Errorf("page: the base address %q is none", cfg.BaseURL)
	}
	if cfg.Sessions == nil || cfg.Address == nil {
		return nil, errors.New("page: sessions and an address are needed")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	f := &Frame{
		sessions: cfg.Sessions, address: cfg.Address, now: cfg.Now,
		base: strings.TrimSuffix(cfg.BaseURL, "/"), origin: base.Scheme + "://" + strings.ToLower(base.Host), secure: base.Scheme == "https",
		crossOrigin: http.NewCrossOriginProtection(), places: cfg.Places, basket: cfg.Basket, legal: cfg.Legal, operators: cfg.Operators,
		streamLimiter: newStreamLimiter(cfg.MaxStreams), closing: cfg.Closing,
	}
	for _, entry := range menu {
		if entry.Path != OrdersPath || cfg.Orders {
			f.menu = append(f.menu, entry)
		}
	}
	// Behind a proxy the Host header may be another one than people see.
	if err := f.crossOrigin.AddTrustedOrigin(f.origin); err != nil {
		return nil, fmt.Errorf("page: the base address: %w", err)
	}
	if f.static, err = loadAssets(); err != nil {
		return nil, err
	}
	if f.templates, err = f.LoadTemplates(templateFS, Texts{German: german, English: english}); err != nil {
		return nil, err
	}
	return f, nil
}

// URL is where people reach a path of the service.
func (f *Frame) URL(path string) string { return f.base + path }

// Request is one request for a page, read as far as every page needs it.
type Request struct {
	W http.ResponseWriter
	R *http.Request
	// Visitor is who is signed in; SignedIn says whether anybody is.
	Visitor  account.Visitor
	SignedIn bool
	// Language is de or en.
	Language string
	// Now is the time of the whole visit.
	Now time.Time

	frame *Frame
	// formPath is the page that a form of this visit stands on.
	formPath string
	// languageChosen says that the visitor has chosen the language.
	languageChosen bool
	// basket is the one that this visit has handed to the browser; nil if none.
	basket *[]string
	cancel context.CancelFunc
}

// Visitor says who is signed in. It is a registrar.KindUnauthenticated error if
// nobody is; every other error means that it can't be found out.
func (f *Frame) Visitor(r *http.Request) (account.Visitor, error) {
	secret := f.SessionSecret(r)
	if secret == "" {
		return account.Visitor{}, &registrar.Error{Kind: registrar.KindUnauthenticated, Code: "no_session"}
	}
	return f.sessions.Visitor(r.Context(), secret)
}

// Actor is who acts in this visit.
func (req *Request) Actor() registrar.Actor {
	address := req.frame.address(req.R)
	if req.SignedIn {
		return req.Visitor.Actor(address)
	}
	return registrar.Actor{Kind: registrar.ActorPerson, Address: address}
}

// SetFormPath says on which page a form of this visit stands, where the address has
// something in it: there one comes back to after a sign-in or a choice of language.
func (req *Request) SetFormPath(path string) { req.formPath = path }

// FormPath is the page that FormOn named.
func (req *Request) FormPath() string { return req.formPath }

// PreferLanguage is the language of an address, for those who have chosen none.
func (req *Request) PreferLanguage(language string) {
	if !req.languageChosen && validLanguage(language) {
		req.Language = language
	}
}

// RefreshAfter has the browser ask for this page again, while what it shows is under
// way and no stream tells. It needs no script.
func (req *Request) RefreshAfter(delay time.Duration) {
	req.W.Header().Set("Refresh", strconv.Itoa(int(delay/time.Second)))
}

// SignedInRecently says whether the visitor has signed in so recently that what matters
// may be done.
func (req *Request) SignedInRecently() bool { return req.Actor().RequireRecentSignIn(req.Now) == nil }

// Field is a field of the form or, on GET, nothing: what changes something is
// never taken from an address.
func (req *Request) Field(name string) string { return req.R.PostForm.Get(name) }

// Text is a field without white space around it; for everything but passwords.
func (req *Request) Text(name string) string { return strings.TrimSpace(req.Field(name)) }

// Query is a parameter of the address; nothing if it can't be a text.
func (req *Request) Query(name string) string {
	if value := req.R.URL.Query().Get(name); validText(value) {
		return value
	}
	return ""
}

// Origin is the site that the browser says it is on, to which a passkey would
// belong; whether it is one of ours is for others to decide.
func (req *Request) Origin() string {
	if origin := req.R.Header.Get("Origin"); origin != "" {
		return origin
	}
	return req.frame.origin
}

// BrowserName is what the list of sessions calls the browser.
func (req *Request) BrowserName() string {
	return browserName(strings.ToValidUTF8(req.R.UserAgent(), ""))
}

// SeeOther sends the browser to another page of ours.
func (req *Request) SeeOther(path string) error {
	// http.Redirect would write a body that quotes the address.
	req.W.Header().Set("Location", path)
	req.W.WriteHeader(http.StatusSeeOther)
	return nil
}

// RedirectToSignIn sends somebody to a page where one signs in, and afterwards back to
// where the visit was to lead: this page on GET, after a POST the page that the
// form stood on.
func (req *Request) RedirectToSignIn(path string) error {
	next := req.formPath
	if req.R.Method == http.MethodGet || req.R.Method == http.MethodHead {
		next = req.R.URL.RequestURI()
	}
	return req.SeeOther(path + "?next=" + url.QueryEscape(next))
}
