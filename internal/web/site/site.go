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

// Lookups checks and searches names.
type Lookups interface {
	Check(ctx context.Context, domain string) (lookup.Answer, error)
	Whois(ctx context.Context, domain string) (lookup.WhoisAnswer, error)
}

// Budget counts requests by address.
type Budget interface {
	Spend(addr netip.Addr) (ratelimit.Decision, []ratelimit.Window)
}

// Config holds the dependencies of the pages.
type Config struct {
	// Frame, Address, Lookups and Budget are set by package web.
	Frame   *ui.Frame
	Address func(*http.Request) netip.Addr
	Lookups Lookups
	Budget  Budget
	// WhoisBudget is shared with whois_lookup.
	WhoisBudget Budget
	Catalog     *catalog.Live
	// RateBasisPoints is the displayed VAT rate in hundredths of a percent.
	RateBasisPoints func(at time.Time) int
	// Now is the business time, by which VAT rates are in force; nil means time.Now.
	Now func() time.Time
	// LongestTerm returns the most years for which a name of an extension can be registered;
	// nil means its term.
	LongestTerm func(ext registrar.Extension) int
	// Seal seals the searches in addresses.
	Seal Seal
	// HeldDomains returns the ids of those of the names, at most batchSize, that the actor's
	// account holds; nil means none.
	HeldDomains func(ctx context.Context, actor registrar.Actor, names []string) (ids map[string]string, err error)
	// Basket means that names can be put into a basket.
	Basket bool
}

// Handler serves the pages. It is safe for concurrent use.
type Handler struct {
	Config
	templates       *ui.Templates
	cachedPriceList atomic.Pointer[priceList]
	// buildMu lets one request build the list while the others wait.
	buildMu sync.Mutex
}

// New parses every page.
func New(cfg Config) (*Handler, error) {
	if cfg.Frame == nil || cfg.Address == nil || cfg.Lookups == nil || cfg.Budget == nil || cfg.WhoisBudget == nil ||
		cfg.Catalog == nil || cfg.RateBasisPoints == nil || cfg.Seal == nil {
		return nil, errors.New("site: Config.Frame, Lookups, Budget, WhoisBudget, Catalog, RateBasisPoints and Seal are required")
	}
	registrar.Default(&cfg.Now, time.Now)
	registrar.Default(&cfg.LongestTerm, registrar.Extension.Term)
	registrar.Default(&cfg.HeldDomains, func(context.Context, registrar.Actor, []string) (map[string]string, error) { return nil, nil })
	views, err := cfg.Frame.LoadTemplates(templateFS, texts)
	if err != nil {
		return nil, err
	}
	return &Handler{Config: cfg, templates: views}, nil
}

func (h *Handler) carries(tld string) bool {
	_, listed := h.Catalog.Extension(tld)
	return listed
}

// Form targets. The home page handles its own form.
const (
	searchPath     = "/search"
	whoisPath      = "/whois"
	csvPath        = ui.PricesPath + ".csv"
	englishCSVPath = ui.EnglishPricesPath + ".csv"
)

// Routes lists the pages.
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
		{Method: get, Path: ui.EnglishStartPath, Handler: inLanguage(ui.English, h.home)},
		{Method: post, Path: "/{$}", Handler: public(h.search)},
		{Method: post, Path: ui.EnglishStartPath, Handler: inLanguage(ui.English, h.search)},
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

// spend spends one request of a budget, or returns the delay.
func (h *Handler) spend(req *ui.Request, budget Budget) error {
	decision, _ := budget.Spend(h.Address(req.R))
	if decision.Allowed {
		return nil
	}
	return &registrar.Error{Kind: registrar.KindRateLimited, Code: httpjson.OverBudget, RetryAfter: decision.RetryAfter}
}
