package operator

import (
	"embed"
	"errors"
	"net/http"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/web/page"
)

//go:embed templates
var templates embed.FS

// Config is what the pages need. All of it but Agents is required.
type Config struct {
	// Frame is what the pages stand in. The front fills it in.
	Frame  *page.Frame
	Office Office
	Files  Files
	Agents Agents
	Prices Prices
	// ConfirmFactor is by how much a price may change without an explicit confirmation.
	ConfirmFactor float64
	// Peers are all outside, in the order in which they are shown.
	Peers func() []Peer
}

// Handler serves the pages. It is safe for concurrent use.
type Handler struct {
	Config
	views *page.Views
}

// New parses every page.
func New(cfg Config) (*Handler, error) {
	if cfg.Frame == nil || cfg.Office == nil || cfg.Files == nil || cfg.Prices == nil || cfg.Peers == nil || cfg.Agents == nil {
		return nil, errors.New("the operators' pages need a frame, an office, files, agents, prices and peers")
	}
	views, err := cfg.Frame.Parse(templates, page.Words{German: german, English: english})
	if err != nil {
		return nil, err
	}
	return &Handler{Config: cfg, views: views}, nil
}

// Where pages are that others lead to.
const (
	homePath      = page.OperatorPath
	jobsPath      = homePath + "/jobs"
	healthPath    = homePath + "/health"
	pricesPath    = homePath + "/prices"
	agentsPath    = homePath + "/agents"
	customersPath = homePath + "/customers"
	ordersPath    = homePath + "/orders"
	locksPath     = homePath + "/locks"
)

// Routes is everything that operators find. None of it is there for others.
func (h *Handler) Routes() []page.Route {
	const get, post = http.MethodGet, http.MethodPost
	return []page.Route{
		{Method: get, Path: homePath, Handler: h.behind(homePath, h.home)},
		{Method: get, Path: homePath + "/{$}", Handler: h.behind(homePath, h.home)},
		{Method: get, Path: jobsPath, Handler: h.behind(jobsPath, h.jobs)},
		{Method: post, Path: jobsPath + "/{kind}/{id}/retry", Handler: h.behind(jobsPath, h.retry)},
		{Method: post, Path: jobsPath + "/{kind}/{id}/give-up", Handler: h.behind(jobsPath, h.giveUp)},
		{Method: get, Path: healthPath, Handler: h.behind(healthPath, h.health)},
		{Method: get, Path: pricesPath, Handler: h.behind(pricesPath, h.prices)},
		{Method: post, Path: pricesPath, Handler: h.upload(pricesPath, h.comparePrices)},
		{Method: get, Path: pricesPath + "/list.csv", Handler: h.behind(pricesPath, h.listFile)},
		{Method: post, Path: pricesPath + "/apply", Handler: h.upload(pricesPath, h.applyPrices)},
		{Method: get, Path: agentsPath, Handler: h.behind(agentsPath, h.agents)},
		{Method: post, Path: agentsPath, Handler: h.behind(agentsPath, h.addAgent)},
		{Method: post, Path: agentsPath + "/{id}/secret", Handler: h.behind(agentsPath, h.rotateAgent)},
		{Method: post, Path: agentsPath + "/{id}/key", Handler: h.behind(agentsPath, h.rekeyAgent)},
		{Method: post, Path: agentsPath + "/{id}/remove", Handler: h.behind(agentsPath, h.removeAgent)},
		{Method: get, Path: customersPath, Handler: h.behind(customersPath, h.customers)},
		{Method: post, Path: customersPath, Handler: h.behind(customersPath, h.findCustomer)},
		{Method: get, Path: customersPath + "/{id}", Handler: h.behind(customersPath, h.customer)},
		{Method: get, Path: ordersPath + "/{id}", Handler: h.behind(homePath, h.order)},
		{Method: get, Path: locksPath, Handler: h.behind(locksPath, h.locks)},
		{Method: post, Path: locksPath, Handler: h.behind(locksPath, h.setLock)},
		{Method: post, Path: locksPath + "/{id}/lift", Handler: h.behind(locksPath, h.liftLock)},
		{Method: post, Path: locksPath + "/{id}/secure", Handler: h.behind(locksPath, h.secure)},
	}
}

// Func is a page with the operator who opens it.
type Func func(v *page.Visit, operator registrar.Actor) error

// behind lets operators through. Others learn nothing.
func (h *Handler) behind(back string, show Func) http.HandlerFunc {
	return h.Frame.Open(h.guarded(back, show))
}

// upload is behind for a page that is sent a file, which nobody else's is read.
func (h *Handler) upload(back string, show Func) http.HandlerFunc {
	return h.Frame.Upload(largestList, h.guarded(back, func(v *page.Visit, operator registrar.Actor) error {
		if err := v.ReadForm(); err != nil {
			return err
		}
		return show(v, operator)
	}))
}

func (h *Handler) guarded(back string, show Func) page.Func {
	return func(v *page.Visit) error {
		v.FormOn(back)
		if !v.SignedIn || !v.Visitor.Customer.Operator {
			return &registrar.Error{Kind: registrar.KindNotFound, Code: "no_such_page"}
		}
		operator, strong := v.Visitor.Operator(v.Actor().Address)
		if !strong {
			return h.render(v, page.View{Name: "weak", Status: http.StatusForbidden, Title: "weak.title"}, nil)
		}
		return show(v, operator)
	}
}

// tab is one entry of the operators' own menu.
type tab struct {
	Path, Label string
	Current     bool
}

var tabs = []tab{
	{Path: homePath, Label: "tab.home"},
	{Path: jobsPath, Label: "tab.jobs"},
	{Path: healthPath, Label: "tab.health"},
	{Path: locksPath, Label: "tab.locks"},
	{Path: customersPath, Label: "tab.customers"},
	{Path: agentsPath, Label: "tab.agents"},
	{Path: pricesPath, Label: "tab.prices"},
}

// shown is what every template of this package reads.
type shown struct {
	Tabs []tab
	// Recent says that the sign-in is new enough for what matters; Again is where it
	// is renewed.
	Recent bool
	Again  string
	// Problem is a sentence about what did not work.
	Problem string
	Page    any
}

// render shows a page with the operators' menu, of which the view's section is the
// current entry.
func (h *Handler) render(v *page.Visit, view page.View, data any) error {
	return h.renderWith(v, view, data, "")
}

func (h *Handler) renderWith(v *page.Visit, view page.View, data any, problem string) error {
	s := shown{Recent: v.Recent(), Again: page.SignInAgainPath + "?next=" + view.Section, Problem: problem, Page: data}
	if view.Name != "weak" {
		for _, entry := range tabs {
			entry.Current = entry.Path == view.Section
			s.Tabs = append(s.Tabs, entry)
		}
	}
	view.Section, view.Data = homePath, s
	return h.views.Render(v, view)
}

// sentence is what is said about an error; false if there is nothing to be said that
// the frame does not say better.
func (h *Handler) sentence(v *page.Visit, err error) (string, bool) {
	key := page.ProblemKey(registrar.CodeOf(err))
	return h.views.Text(v.Language, key), h.views.Has(key)
}

// recent refuses whoever has not just signed in.
func recent(v *page.Visit) error { return v.Actor().RequireRecentSignIn(v.Now) }
