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
	domains, err := h.holdings.List(v.R.Context(), v.Actor())
	if err != nil {
		return err
	}
	lines := make([]domainLine, 0, len(domains))
	actions := false
	for _, d := range domains {
		held := d.Status == holding.StatusActive || d.Status == holding.StatusExpired
		line := domainLine{Domain: d}
		if h.orders != nil {
			line.Renewable, line.Switchable = held, d.Status == holding.StatusActive
		}
		actions = actions || line.Renewable
		lines = append(lines, line)
	}
	return h.views.Render(v, page.View{Name: "domains", Status: status, Title: "domains.title", Section: domainsPath, Data: struct {
		Domains []domainLine
		Actions bool
		Problem string
	}{lines, actions, sentence}})
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
	return v.SeeOther(domainsPath)
}
