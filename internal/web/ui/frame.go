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

// Redirect targets of the frame.
const (
	HomePath        = "/portal"
	SignInPath      = "/portal/sign-in"
	SignInAgainPath = "/portal/sign-in-again"
	LanguagePath    = "/portal/language"
	SignOutPath     = "/portal/sign-out"
	StaticPath      = "/portal/static/"
	OrdersPath      = "/portal/orders"
	TransfersPath   = "/portal/transfers" // exists only with orders
	// InvoicesPath and PaymentMethodsPath exist only with orders, too.
	InvoicesPath       = "/portal/invoices"
	PaymentMethodsPath = "/portal/payment-methods"
	// Pages of the portal that other transports link to.
	TokensPath     = "/portal/tokens"
	AgentsPath     = "/portal/agents"
	RegistrantPath = "/portal/profile/registrant"
	HoldersPath    = "/portal/holders"
	DomainsPath    = "/portal/domains"
	// OperatorPath is the prefix of the operators' pages.
	OperatorPath = "/operator"
	// CheckoutPath is the prefix of payment pages; the rest of the path is a secret.
	CheckoutPath = "/checkout/"
	// Public pages. Each has a German and an English path.
	StartPath            = "/" // in the browser's language
	EnglishStartPath     = "/en"
	PricesPath           = "/preise"
	EnglishPricesPath    = "/prices"
	AssistantPath        = "/assistent"
	EnglishAssistantPath = "/assistant"
	BasketPath           = "/warenkorb"
	EnglishBasketPath    = "/basket"
	TransferPath         = "/umzug" // exists only with orders, too
	EnglishTransferPath  = "/transfer"
	HelpPath             = "/hilfe" // help and contact belong to the legal pages
	EnglishHelpPath      = "/help"
	ContactPath          = "/kontakt"
	EnglishContactPath   = "/contact"
	// Legal pages, linked in every footer.
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

// Sessions verifies session secrets.
type Sessions interface {
	// Visitor returns a registrar.KindUnauthenticated error for every invalid secret.
	Visitor(ctx context.Context, secret string) (account.Visitor, error)
}

// Baskets is account.Service.
type Baskets interface {
	// ReplaceBasket stores the basket of a signed-in customer, unless it has changed.
	ReplaceBasket(ctx context.Context, actor registrar.Actor, seen, basket string) error
}

// Config holds the dependencies of the frame.
type Config struct {
	// BaseURL is the public URL of the service. With https, cookies are bound to it and
	// HSTS is set.
	BaseURL  string
	Sessions Sessions
	// Baskets stores the baskets of signed-in customers; nil keeps all of them in cookies.
	Baskets Baskets
	// Address finds the client address of a request.
	Address func(*http.Request) netip.Addr
	// Country finds the client's country as a code of ISO 3166-1, empty if it is unknown;
	// nil means that it always is.
	Country func(*http.Request) string
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Orders adds the order pages to the menu and the basket to the header.
	Orders bool
	// CountBasket returns how many items the page of the basket shows; nil counts all entries.
	CountBasket func(*Request) int
	// Operators adds the operators' pages to their menu.
	Operators bool
	// PublicLinks adds the links to the public pages to the header.
	PublicLinks bool
	// Legal adds the legal pages to the footer.
	Legal bool
	// MaxStreams limits the open streams; 0 means 1000.
	MaxStreams int
	// Closing ends all streams when it is closed; nil means never.
	Closing <-chan struct{}
}

// Frame is shared by all pages. It is safe for concurrent use.
type Frame struct {
	cfg         Config
	base        string
	origin      string
	secure      bool
	crossOrigin *http.CrossOriginProtection
	static      map[string]asset
	menu        []menuEntry
	templates   *Templates
	// streamLimiter limits open streams; Config.Closing ends them.
	streamLimiter *streamLimiter
}

// New returns a Frame.
func New(cfg Config) (*Frame, error) {
	base, err := url.Parse(cfg.BaseURL)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, fmt.Errorf("ui: invalid base URL %q", cfg.BaseURL)
	}
	if cfg.Sessions == nil || cfg.Address == nil {
		return nil, errors.New("ui: Config.Sessions and Address are required")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	f := &Frame{
		cfg: cfg, base: strings.TrimSuffix(cfg.BaseURL, "/"), origin: base.Scheme + "://" + strings.ToLower(base.Host), secure: base.Scheme == "https",
		crossOrigin: http.NewCrossOriginProtection(), streamLimiter: newStreamLimiter(cfg.MaxStreams),
	}
	for _, entry := range menu {
		if cfg.Orders || entry.Path != OrdersPath && entry.Path != InvoicesPath && entry.Path != PaymentMethodsPath {
			f.menu = append(f.menu, entry)
		}
	}
	// Behind a proxy the Host header may differ from the public name.
	if err := f.crossOrigin.AddTrustedOrigin(f.origin); err != nil {
		return nil, fmt.Errorf("ui: base URL: %w", err)
	}
	if f.static, err = loadAssets(); err != nil {
		return nil, err
	}
	if f.templates, err = f.LoadTemplates(templateFS); err != nil {
		return nil, err
	}
	return f, nil
}

// URL returns the public URL of a path.
func (f *Frame) URL(path string) string { return f.base + path }

// Request is a request for a page with what every page needs already parsed.
type Request struct {
	W http.ResponseWriter
	R *http.Request
	// Visitor is the signed-in customer, if SignedIn.
	Visitor  account.Visitor
	SignedIn bool
	Language string    // de or en
	Now      time.Time // the time of the whole request

	frame          *Frame
	formPath       string    // the page that contains the form of this request
	languageChosen bool      // the visitor or their account has chosen the language
	basket         *[]string // the basket set by this request; nil if unchanged
	basketShown    *int      // the items of the basket on this page; nil on others
	handling       bool      // the page's own code has begun
	cancel         context.CancelFunc
}

// Visitor returns the signed-in customer. It returns a registrar.KindUnauthenticated
// error if there is none; any other error means that the session could not be verified.
func (f *Frame) Visitor(r *http.Request) (account.Visitor, error) {
	secret := f.SessionSecret(r)
	if secret == "" {
		return account.Visitor{}, &registrar.Error{Kind: registrar.KindUnauthenticated, Code: noSession}
	}
	return f.cfg.Sessions.Visitor(r.Context(), secret)
}

// Actor returns the actor of this request.
func (req *Request) Actor() registrar.Actor {
	actor := registrar.Actor{Kind: registrar.ActorPerson, Address: req.frame.cfg.Address(req.R)}
	if req.SignedIn {
		actor = req.Visitor.Actor(actor.Address)
	}
	if req.frame.cfg.Country != nil {
		actor.Country = req.frame.cfg.Country(req.R)
	}
	return actor
}

// SetFormPath sets the page that contains the form of this request, if its path has
// parameters: a sign-in or a change of language returns there.
func (req *Request) SetFormPath(path string) { req.formPath = path }

// FormPath returns the page set by SetFormPath.
func (req *Request) FormPath() string { return req.formPath }

// PreferLanguage sets the language of a path for visitors who have chosen none.
func (req *Request) PreferLanguage(language string) {
	if !req.languageChosen && validLanguage(language) {
		req.Language = language
	}
}

// RefreshAfter makes the browser reload the page while its content is changing and
// there is no stream. It needs no script.
func (req *Request) RefreshAfter(delay time.Duration) {
	req.W.Header().Set("Refresh", strconv.Itoa(int(delay/time.Second)))
}

// SignedInRecently reports whether the visitor has signed in recently enough for
// sensitive changes.
func (req *Request) SignedInRecently() bool { return req.Actor().RequireRecentSignIn(req.Now) == nil }

// Field returns a form field. On GET it is empty: a URL never changes anything.
func (req *Request) Field(name string) string { return req.R.PostForm.Get(name) }

// Text returns a field without surrounding white space; for everything but passwords.
func (req *Request) Text(name string) string { return strings.TrimSpace(req.Field(name)) }

// Query returns a query parameter; empty if it is not valid text.
func (req *Request) Query(name string) string {
	if value := req.R.URL.Query().Get(name); validText(value) {
		return value
	}
	return ""
}

// Origin returns the origin reported by the browser, to which a passkey would belong.
// The caller decides whether it is allowed.
func (req *Request) Origin() string {
	if origin := req.R.Header.Get("Origin"); origin != "" {
		return origin
	}
	return req.frame.origin
}

// BrowserName returns the name shown in the list of sessions.
func (req *Request) BrowserName() string {
	return browserName(strings.ToValidUTF8(req.R.UserAgent(), ""))
}

// SeeOther redirects to another page of ours.
func (req *Request) SeeOther(path string) error {
	// http.Redirect would write a body that quotes the path.
	req.W.Header().Set("Location", path)
	req.W.WriteHeader(http.StatusSeeOther)
	return nil
}

// RedirectWithFlash redirects to another page of ours, which shows a message.
func (req *Request) RedirectWithFlash(key, path string) error {
	req.Flash(key)
	return req.SeeOther(path)
}

// RedirectToSignIn redirects to a sign-in page that returns afterwards: to this page on
// GET, to the page with the form after a POST.
func (req *Request) RedirectToSignIn(path string) error {
	next := req.formPath
	if req.R.Method == http.MethodGet || req.R.Method == http.MethodHead {
		next = req.R.URL.RequestURI()
	}
	return req.SeeOther(WithNext(path, next))
}

// HasContact reports whether there is a contact form.
func (f *Frame) HasContact() bool { return f.cfg.Legal }
