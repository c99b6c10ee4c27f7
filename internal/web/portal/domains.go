package portal

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"

	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// domainRow is one domain with its possible actions.
type domainRow struct {
	portfolio.Domain
	Renewable, Switchable bool
}

// domains lists the customer's domains.
func (h *Handler) domains(req *ui.Request) error { return h.showDomains(req, nil) }

// showDomains renders the list with a message about problem. Errors without a message
// are returned.
func (h *Handler) showDomains(req *ui.Request, problem error) error {
	status, message := http.StatusOK, ""
	if problem != nil {
		var known bool
		if message, known = h.problem(req, problem); !known {
			return problem
		}
		status = http.StatusConflict
	}
	filter := portfolio.Filter{
		Part: req.Query("q"), Status: registrar.DomainStatus(req.Query("state")), AfterName: req.Query("after"), AfterID: req.Query("id"),
	}
	some, err := h.portfolio.Page(req.R.Context(), req.Actor(), filter)
	if err != nil {
		return err
	}
	lines := make([]domainRow, 0, len(some.Domains))
	actions := false
	for _, d := range some.Domains {
		held := d.Status == registrar.DomainActive || d.Status == registrar.DomainExpired
		line := domainRow{Domain: d}
		if h.orders != nil {
			line.Renewable, line.Switchable = held, canSwitchAutoRenew(d.Status, d.AutoRenew)
		}
		actions = actions || line.Renewable
		lines = append(lines, line)
	}
	view := domainsView{
		Domains: lines, Actions: actions, Managed: h.domainChanges != nil, Problem: message, Total: some.Total(), Part: filter.Part, Status: filter.Status,
	}
	for _, status := range registrar.DomainStatuses() {
		if count := some.Counts[status]; count > 0 {
			view.States = append(view.States, domainCount{status, count})
		}
	}
	if filter.AfterName != "" {
		view.First = h.domainsURL(filter, portfolio.Domain{})
	}
	if some.More {
		view.More = h.domainsURL(filter, some.Domains[len(some.Domains)-1])
	}
	return h.templates.Render(req, ui.View{Name: "domains", Status: status, Title: "domains.title", Section: domainsPath, Data: view})
}

// canSwitchAutoRenew reports whether automatic renewal can be switched: only active
// domains can be switched on, and any held domain can be switched off.
func canSwitchAutoRenew(status registrar.DomainStatus, on bool) bool {
	return status == registrar.DomainActive || on && status != registrar.DomainTransferredOut
}

// domainsView is the list.
type domainsView struct {
	Domains []domainRow
	// Actions means that orders are possible, Managed that domains have pages.
	Actions, Managed bool
	Problem          string
	Total            int
	// Part and Status are the filter, States its options.
	Part   string
	Status registrar.DomainStatus
	States []domainCount
	// First and More are URLs of other pages of the list; empty if there are none.
	First, More string
}

// domainCount is the number of domains in a state.
type domainCount struct {
	Status registrar.DomainStatus
	Count  int
}

// domainsURL returns the page of the list after a domain; a zero one means the first.
func (h *Handler) domainsURL(filter portfolio.Filter, last portfolio.Domain) string {
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
	return &registrar.Error{Kind: registrar.KindNotFound, Code: registrar.NoSuchDomain}
}

// ownDomain returns the domain in the path; another customer's is not found.
func (h *Handler) ownDomain(req *ui.Request) (portfolio.Domain, error) {
	domains, err := h.portfolio.List(req.R.Context(), req.Actor())
	if err != nil {
		return portfolio.Domain{}, err
	}
	for _, d := range domains {
		if d.ID == req.R.PathValue("id") {
			return d, nil
		}
	}
	return portfolio.Domain{}, noSuchDomain()
}

// renewDomain prepares an order, which is then reviewed and paid like any other.
func (h *Handler) renewDomain(req *ui.Request) error {
	domain, err := h.ownDomain(req)
	if err != nil {
		return err
	}
	if h.orders == nil {
		return noSuchDomain()
	}
	wanted := order.RequestedItem{Name: registrar.NewName(strings.TrimSuffix(domain.Name, domain.TLD), domain.TLD), Kind: order.Renew}
	made, err := h.orders.Create(req.R.Context(), req.Actor(), order.Request{Items: []order.RequestedItem{wanted}, Channel: order.ChannelPortal})
	var refused *order.ItemsRefused
	switch {
	case errors.As(err, &refused):
		return h.showDomains(req, &registrar.Error{Kind: registrar.KindConflict, Code: "renewal_refused", Err: err})
	case err != nil:
		return h.showDomains(req, err)
	}
	address, err := h.orders.PayURL(made)
	if err != nil {
		return err
	}
	to, err := url.Parse(address)
	if err != nil {
		return &registrar.Error{Kind: registrar.KindInternal, Code: "pay_url", Err: err}
	}
	// Only the path: a form stays on the browser's host.
	return req.SeeOther(ui.LocalPath(to.EscapedPath(), ui.OrdersPath))
}

func (h *Handler) setAutoRenew(req *ui.Request) error {
	if h.orders == nil {
		return noSuchDomain()
	}
	on := req.Field("on") == "yes"
	if err := h.portfolio.SetAutoRenew(req.R.Context(), req.Actor(), req.R.PathValue("id"), on); err != nil {
		return h.showDomains(req, err)
	}
	if on {
		req.Flash("auto_renew_on")
	} else {
		req.Flash("auto_renew_off")
	}
	return req.SeeOther(h.returnPath(req))
}

// returnPath returns the page with the form about a domain: the list or the domain's
// own.
func (h *Handler) returnPath(req *ui.Request) string {
	if req.Field("page") == "own" && h.domainChanges != nil {
		return domainPath(req.R.PathValue("id"))
	}
	return domainsPath
}
