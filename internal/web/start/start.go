package start

import (
	"context"
	"embed"
	"errors"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
	"github.com/dotkontor/dotkontor/internal/registrar/quota"
	"github.com/dotkontor/dotkontor/internal/web/page"
)

//go:embed templates
var templates embed.FS

// Lookups answers questions about names.
type Lookups interface {
	Check(ctx context.Context, domain string) (lookup.Answer, error)
	Whois(ctx context.Context, domain string) (lookup.WhoisAnswer, error)
}

// Catalogue is the price list in force. Another list is another pointer.
type Catalogue interface {
	Catalog() *catalog.Catalog
}

// Budget counts requests by address.
type Budget interface {
	Spend(addr netip.Addr) (quota.Decision, []quota.Window)
}

// Config is what the pages need.
type Config struct {
	// Frame and Address are filled in by the front, and so are Lookups and Budget,
	// which the REST interface shares.
	Frame   *page.Frame
	Address func(*http.Request) netip.Addr
	Lookups Lookups
	Budget  Budget
	// WhoisBudget is the one of whois_lookup.
	WhoisBudget Budget
	Catalogue   Catalogue
	// RateBasisPoints is the VAT that prices are shown with, in hundredths of a
	// percent.
	RateBasisPoints func(at time.Time) int
	// Basket is where a row's button puts its name, by POST with the fields domain
	// (in A-labels) and kind (register or transfer); empty where nothing is sold.
	Basket string
}

// Handler serves the pages. It is safe for concurrent use.
type Handler struct {
	Config
	views    *page.Views
	prepared atomic.Pointer[list]
	// preparing lets one do what many would wait for.
	preparing sync.Mutex
}

// New parses every page.
func New(cfg Config) (*Handler, error) {
	if cfg.Frame == nil || cfg.Address == nil || cfg.Lookups == nil || cfg.Budget == nil || cfg.WhoisBudget == nil ||
		cfg.Catalogue == nil || cfg.RateBasisPoints == nil {
		return nil, errors.New("the start page needs a frame, lookups, budgets, a catalogue and a rate of VAT")
	}
	views, err := cfg.Frame.Parse(templates, page.Words{German: german, English: english})
	if err != nil {
		return nil, err
	}
	return &Handler{Config: cfg, views: views}, nil
}

// extension finds a row of the list in force.
func (h *Handler) extension(tld string) (registrar.Extension, bool) {
	return h.Catalogue.Catalog().Extension(tld)
}

// carries says whether we have an extension.
func (h *Handler) carries(tld string) bool {
	_, listed := h.extension(tld)
	return listed
}

// Where forms lead. The start page answers its own form.
const (
	searchPath     = "/search"
	whoisPath      = "/whois"
	csvPath        = page.PricesPath + ".csv"
	englishCSVPath = page.EnglishPricesPath + ".csv"
)

// Routes is everything that these pages answer to.
func (h *Handler) Routes() []page.Route {
	const get, post = http.MethodGet, http.MethodPost
	open := h.Frame.Open
	in := func(language string, show page.Func) http.HandlerFunc {
		return open(func(v *page.Visit) error {
			v.Prefer(language)
			return show(v)
		})
	}
	return []page.Route{
		{Method: get, Path: "/{$}", Handler: open(h.start)},
		{Method: post, Path: "/{$}", Handler: open(h.search)},
		{Method: post, Path: searchPath, Handler: open(h.stream)},
		{Method: post, Path: whoisPath, Handler: open(h.whois)},
		{Method: get, Path: page.PricesPath, Handler: in(page.German, h.prices)},
		{Method: get, Path: page.EnglishPricesPath, Handler: in(page.English, h.prices)},
		{Method: get, Path: csvPath, Handler: in(page.German, h.pricesFile)},
		{Method: get, Path: englishCSVPath, Handler: in(page.English, h.pricesFile)},
		{Method: get, Path: page.AssistantPath, Handler: in(page.German, h.assistant)},
		{Method: get, Path: page.EnglishAssistantPath, Handler: in(page.English, h.assistant)},
	}
}

// spend takes one request from a budget, or says how long to wait.
func (h *Handler) spend(v *page.Visit, budget Budget) error {
	decision, _ := budget.Spend(h.Address(v.R))
	if decision.Allowed {
		return nil
	}
	return &registrar.Error{Kind: registrar.KindRateLimited, Code: overBudget, RetryAfter: decision.RetryAfter}
}

const overBudget registrar.Code = "over_budget"
