package portal

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/holding"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/web/page"
)

// domainLine is one domain with what can be done about it.
type domainLine struct {
	holding.Domain
	Renewable, Switchable bool
}

// domains is what the customer holds.
func (h *Handler) domains(v *page.Visit) error { return h.showDomains(v, nil) }

// showDomains shows the list, after something that did not work with a sentence
// about it. Errors that have no sentence pass.
func (h *Handler) showDomains(v *page.Visit, problem error) error {
	status, sentence := http.StatusOK, ""
	if problem != nil {
		var known bool
		if sentence, known = h.problem(v, problem); !known {
			return problem
		}
		status = http.StatusConflict
	}
	filter := holding.Filter{
		Part: v.Query("q"), Status: holding.Status(v.Query("state")), AfterName: v.Query("after"), AfterID: v.Query("id"),
	}
	some, err := h.holdings.Page(v.R.Context(), v.Actor(), filter)
	if err != nil {
		return err
	}
	lines := make([]domainLine, 0, len(some.Domains))
	actions := false
	for _, d := range some.Domains {
		held := d.Status == holding.StatusActive || d.Status == holding.StatusExpired
		line := domainLine{Domain: d}
		if h.orders != nil {
			line.Renewable, line.Switchable = held, switchable(d.Status, d.AutoRenew)
		}
		actions = actions || line.Renewable
		lines = append(lines, line)
	}
	view := domainsView{
		Domains: lines, Actions: actions, Managed: h.steward != nil, Problem: sentence, Total: some.Total(), Part: filter.Part, Status: filter.Status,
	}
	for _, status := range holding.Statuses() {
		if count := some.Counts[status]; count > 0 {
			view.States = append(view.States, domainCount{status, count})
		}
	}
	if filter.AfterName != "" {
		view.First = h.domainsAddress(filter, holding.Domain{})
	}
	if some.More {
		view.More = h.domainsAddress(filter, some.Domains[len(some.Domains)-1])
	}
	return h.views.Render(v, page.View{Name: "domains", Status: status, Title: "domains.title", Section: domainsPath, Data: view})
}

// switchable says whether there is a switch for the automatic renewal: only what runs
// can be switched on, and what is on can be switched off as long as it is held here.
func switchable(status holding.Status, on bool) bool {
	return status == holding.StatusActive || on && status != holding.StatusTransferredOut
}

// domainsView is the list.
type domainsView struct {
	Domains []domainLine
	// Actions says that something can be ordered, Managed that domains have pages.
	Actions, Managed bool
	Problem          string
	Total            int
	// Part and Status are the filter, States what it can be set to.
	Part   string
	Status holding.Status
	States []domainCount
	// First and More are addresses of other pages of the list; empty: there is none.
	First, More string
}

// domainCount is how many domains are in a state.
type domainCount struct {
	Status holding.Status
	Count  int
}

// domainsAddress is the page of the list that comes after a domain; a zero one
// means the first.
func (h *Handler) domainsAddress(filter holding.Filter, last holding.Domain) string {
	query := make(url.Values)
	for name, value := range map[string]string{"q": filter.Part, "state": string(filter.Status), "after": last.Name, "id": last.ID} {
		if value != "" {
			query.Set(name, value)
		}
	}
	if len(query) == 0 {
		return domainsPath
	}
	return domainsPath + "?" + query.Encode()
}

func noSuchDomain() error {
	return &registrar.Error{Kind: registrar.KindNotFound, Code: "no_such_domain"}
}

// ownDomain is the domain of the address; another customer's is not found.
func (h *Handler) ownDomain(v *page.Visit) (holding.Domain, error) {
	domains, err := h.holdings.List(v.R.Context(), v.Actor())
	if err != nil {
		return holding.Domain{}, err
	}
	for _, d := range domains {
		if d.ID == v.R.PathValue("id") {
			return d, nil
		}
	}
	return holding.Domain{}, noSuchDomain()
}

// renewDomain prepares an order, which is read and paid as every other one is.
func (h *Handler) renewDomain(v *page.Visit) error {
	domain, err := h.ownDomain(v)
	if err != nil {
		return err
	}
	if h.orders == nil {
		return noSuchDomain()
	}
	wanted := order.Wanted{Name: registrar.NewName(strings.TrimSuffix(domain.Name, domain.TLD), domain.TLD), Kind: order.Renew}
	made, err := h.orders.Start(v.R.Context(), v.Actor(), order.Request{Items: []order.Wanted{wanted}, Channel: order.ThroughPortal})
	var refused *order.ItemsRefused
	switch {
	case errors.As(err, &refused):
		return h.showDomains(v, &registrar.Error{Kind: registrar.KindConflict, Code: "renewal_refused", Err: err})
	case err != nil:
		return h.showDomains(v, err)
	}
	address, err := h.orders.PayURL(made)
	if err != nil {
		return err
	}
	to, err := url.Parse(address)
	if err != nil {
		return &registrar.Error{Kind: registrar.KindInternal, Code: "pay_url", Err: err}
	}
	// By its path alone: a form stays on the host that the browser is on.
	return v.SeeOther(page.LocalPath(to.EscapedPath(), page.OrdersPath))
}

func (h *Handler) setAutoRenew(v *page.Visit) error {
	if h.orders == nil {
		return noSuchDomain()
	}
	on := v.Field("on") == "yes"
	if err := h.holdings.SetAutoRenew(v.R.Context(), v.Actor(), v.R.PathValue("id"), on); err != nil {
		return h.showDomains(v, err)
	}
	if on {
		v.Note("auto_renew_on")
	} else {
		v.Note("auto_renew_off")
	}
	return v.SeeOther(h.backTo(v))
}

// backTo is the page that a form about a domain stands on: the list or its own.
func (h *Handler) backTo(v *page.Visit) string {
	if v.Field("page") == "own" && h.steward != nil {
		return domainPath(v.R.PathValue("id"))
	}
	return domainsPath
}
