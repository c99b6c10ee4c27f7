package site

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
	"github.com/dotkontor/dotkontor/internal/registrar/ratelimit"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

//go:embed templates
var templateFS embed.FS

// Lookups answers questions about names.
type Lookups interface {
	Check(ctx context.Context, domain string) (lookup.Answer, error)
	Whois(ctx context.Context, domain string) (lookup.WhoisAnswer, error)
}

// Catalog is the price list in force. Another list is another pointer.
type Catalog interface {
	Catalog() *catalog.Catalog
}

// Budget counts requests by address.
type Budget interface {
	Spend(addr netip.Addr) (ratelimit.Decision, []ratelimit.Window)
}

// Config is what the pages need.
type Config struct {
	// Frame and Address are filled in by the front, and so are Lookups and Budget,
	// which the REST interface shares.
	Frame   *ui.Frame
	Address func(*http.Request) netip.Addr
	Lookups Lookups
	Budget  Budget
	// WhoisBudget is the one of whois_lookup.
	WhoisBudget Budget
	Catalog     Catalog
	// RateBasisPoints is the VAT that prices are shown with, in hundredths of a
	// percent.
	RateBasisPoints func(at time.Time) int
	// Basket says that names can be put into one.
	Basket bool
}

// Handler serves the pages. It is safe for concurrent use.
type Handler struct {
	Config
	templates       *ui.Templates
	cachedPriceList atomic.Pointer[priceList]
	// buildMu lets one do what many would wait for.
	buildMu sync.Mutex
}

// New parses every page.
func New(cfg Config) (*Handler, error) {
	if cfg.Frame == nil || cfg.Address == nil || cfg.Lookups == nil || cfg.Budget == nil || cfg.WhoisBudget == nil ||
		cfg.Catalog == nil || cfg.RateBasisPoints == nil {
		return nil, errors.New("the start page needs a frame, lookups, budgets, a catalogue and a rate of VAT")
	}
	views, err := cfg.Frame.LoadTemplates(templateFS, ui.Texts{German: german, English: english})
	if err != nil {
		return nil, err
	}
	return &Handler{Config: cfg, templates: views}, nil
}

// extension finds a row of the list in force.
func (h *Handler) extension(tld string) (registrar.Extension, bool) {
	return h.Catalog.Catalog().Extension(tld)
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
	csvPath        = ui.PricesPath + ".csv"
	englishCSVPath = ui.EnglishPricesPath + ".csv"
)

// Routes is everything that these pages answer to.
func (h *Handler) Routes() []httpjson.Route {
	const get, post = http.MethodGet, http.MethodPost
	public := h.Frame.Page
	inLanguage := func(language string, show ui.PageFunc) http.HandlerFunc {
		return public(func(req *ui.Request) error {
			req.PreferLanguage(language)
			return show(req)
		})
	}
	return []httpjson.Route{
		{Method: get, Path: "/{$}", Handler: public(h.home)},
		{Method: post, Path: "/{$}", Handler: public(h.search)},
		{Method: post, Path: searchPath, Handler: public(h.streamSearch)},
		{Method: post, Path: whoisPath, Handler: public(h.whois)},
		{Method: get, Path: ui.PricesPath, Handler: inLanguage(ui.German, h.showPrices)},
		{Method: get, Path: ui.EnglishPricesPath, Handler: inLanguage(ui.English, h.showPrices)},
		{Method: get, Path: csvPath, Handler: inLanguage(ui.German, h.pricesCSV)},
		{Method: get, Path: englishCSVPath, Handler: inLanguage(ui.English, h.pricesCSV)},
		{Method: get, Path: ui.AssistantPath, Handler: inLanguage(ui.German, h.assistant)},
		{Method: get, Path: ui.EnglishAssistantPath, Handler: inLanguage(ui.English, h.assistant)},
	}
}

// spend takes one request from a budget, or says how long to wait.
func (h *Handler) spend(req *ui.Request, budget Budget) error {
	decision, _ := budget.Spend(h.Address(req.R))
	if decision.Allowed {
		return nil
	}
	return &registrar.Error{Kind: registrar.KindRateLimited, Code: overBudget, RetryAfter: decision.RetryAfter}
}

const overBudget registrar.Code = "over_budget"
