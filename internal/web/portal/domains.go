package portal

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"

	"github.com/dotkontor/dotkontor/internal/web/ui"
)

type domainRow struct {
	portfolio.Domain
	Renewable, Switchable bool
}

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
	some, err := h.Portfolio.Page(req.R.Context(), req.Actor(), filter)
	if err != nil {
		return err
	}
	lines := make([]domainRow, 0, len(some.Domains))
	actions := false
	for _, d := range some.Domains {
		line := domainRow{Domain: d}
		line.Renewable, line.Switchable = h.renewal(d.Status, d.AutoRenew)
		actions = actions || line.Renewable
		lines = append(lines, line)
	}
	view := domainsView{
		Domains: lines, Actions: actions, Problem: message, Total: some.Total(), Part: filter.Part, Status: filter.Status,
	}
	for _, status := range registrar.DomainStatuses() {
		if count := some.Counts[status]; count > 0 {
			view.States = append(view.States, domainCount{status, count})
		}
	}
	if filter.AfterName != "" {
		view.First = domainsURL(filter, portfolio.Domain{})
	}
	if some.More {
		view.More = domainsURL(filter, some.Domains[len(some.Domains)-1])
	}
	return h.templates.Render(req, ui.View{Name: "domains", Status: status, Title: "domains.title", Section: domainsPath, Data: view})
}

// renewal reports whether a domain can be renewed, and whether automatic renewal can be
// switched: only active domains can be switched on, and any held domain can be switched
// off.
func (h *Handler) renewal(status registrar.DomainStatus, auto bool) (renewable, switchable bool) {
	if h.Orders == nil {
		return false, false
	}
	active := status == registrar.DomainActive
	return active || status == registrar.DomainExpired, active || auto && status != registrar.DomainTransferredOut
}

type domainsView struct {
	Domains []domainRow
	Actions bool // orders are possible
	Problem string
	Total   int
	Part    string // with Status the filter
	Status  registrar.DomainStatus
	States  []domainCount // the options of the filter
	// First and More are URLs of other pages of the list; empty if there are none.
	First, More string
}

type domainCount struct {
	Status registrar.DomainStatus
	Count  int
}

// domainsURL returns the page of the list after a domain; a zero one means the first.
func domainsURL(filter portfolio.Filter, last portfolio.Domain) string {
	return ui.WithQuery(domainsPath, map[string]string{"q": filter.Part, "state": string(filter.Status), "after": last.Name, "id": last.ID})
}

func noSuchDomain() error {
	return &registrar.Error{Kind: registrar.KindNotFound, Code: registrar.NoSuchDomain}
}

// renewDomain prepares an order, which is then reviewed and paid like any other.
func (h *Handler) renewDomain(req *ui.Request) error {
	domains, err := h.Portfolio.List(req.R.Context(), req.Actor())
	if err != nil {
		return err
	}
	at := slices.IndexFunc(domains, func(d portfolio.Domain) bool { return d.ID == req.R.PathValue("id") })
	if at < 0 || h.Orders == nil {
		return noSuchDomain()
	}
	domain := domains[at]
	wanted := order.RequestedItem{Name: registrar.NewName(strings.TrimSuffix(domain.Name, domain.TLD), domain.TLD), Kind: order.Renew}
	made, err := h.Orders.Create(req.R.Context(), req.Actor(), order.Request{Items: []order.RequestedItem{wanted}, Channel: order.ChannelPortal})
	var refused *order.ItemsRefused
	switch {
	case errors.As(err, &refused):
		return h.showDomains(req, &registrar.Error{Kind: registrar.KindConflict, Code: "renewal_refused", Err: err})
	case err != nil:
		return h.showDomains(req, err)
	}
	address, err := h.Orders.PayURL(made)
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
	if h.Orders == nil {
		return noSuchDomain()
	}
	on := req.Field("on") == "yes"
	if err := h.Portfolio.SetAutoRenew(req.R.Context(), req.Actor(), req.R.PathValue("id"), on); err != nil {
		return h.showDomains(req, err)
	}
	flash, page := "auto_renew_off", domainsPath
	if on {
		flash = "auto_renew_on"
	}
	if req.Field("page") == "own" {
		page = domainPath(req.R.PathValue("id"))
	}
	return req.RedirectWithFlash(flash, page)
}
