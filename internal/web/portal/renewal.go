package portal

import (
	"cmp"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/billing"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/registrar/lifecycle"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// renewalOption is a term for which a domain can be renewed.
type renewalOption struct {
	Years int
	Until time.Time       // the end of the paid term afterwards
	Gross registrar.Cents // the list price; not shown for a premium domain
}

// restoreOffer is what it takes to restore a deleted domain.
type restoreOffer struct {
	Gross           registrar.Cents // as above
	RateBasisPoints int             // of the VAT in Gross
	Until           time.Time       // the end of the paid term afterwards
	Last            time.Time       // the probable last day; zero if unknown
	Days            int             // after its deletion in which it can be restored
}

// addPrices adds what a renewal or restore costs the customer, with their VAT.
func (h *Handler) addPrices(req *ui.Request, view *domainView) error {
	restorable := h.Orders != nil && view.Domain.Status == registrar.DomainRedemption && !view.End.Locked
	if h.Orders == nil || !view.End.Renewable && !restorable {
		return nil
	}
	tax, err := h.Orders.VATRate(req.R.Context(), req.Actor())
	if err != nil {
		return err
	}
	if view.End.Renewable {
		view.Renewals, view.RenewFrom = h.renewalOptions(h.Now(), tax.RateBasisPoints, view.View)
	}
	if restorable {
		view.Restore = h.restoreOffer(h.Now(), tax.RateBasisPoints, view.View, view.Listed)
	}
	return nil
}

// restoreOffer returns nil if the domain can't be restored here. listed is the domain with what its
// registry said last.
func (h *Handler) restoreOffer(now time.Time, rate int, view domainchange.View, listed portfolio.Domain) *restoreOffer {
	extension, sold := h.Extension(view.Domain.TLD)
	deleted := listed.Term.DeletedAt
	redemption := lifecycle.DaysToRestore(view.Domain.TLD, extension.Restore, extension.Renew)
	if !sold || redemption == 0 || view.Missing != "" || lifecycle.RestoreOver(view.Domain.TLD, deleted, listed.RegistryStatus, now) {
		return nil
	}
	years := provision.YearsAhead(view.Domain.PaidUntil, now, extension.Term())
	return &restoreOffer{
		Gross: billing.Gross(order.NetPrice(extension, order.Restore, years), rate), RateBasisPoints: rate, Until: view.Domain.PaidUntil.AddDate(years, 0, 0),
		Last: registrar.LastFullDay(lifecycle.RestorableUntil(view.Domain.TLD, deleted)), Days: redemption,
	}
}

// restoreText says until when a deleted domain can be restored, and for how much; false if it
// can't be, or that is unknown.
func (h *Handler) restoreText(req *ui.Request, id string) (string, bool) {
	domain, err := h.Portfolio.Get(req.R.Context(), req.Actor(), id)
	if err != nil || h.Orders == nil || domain.Premium || domain.Term.Locked || domain.Status != registrar.DomainRedemption {
		return "", false
	}
	tax, err := h.Orders.VATRate(req.R.Context(), req.Actor())
	if err != nil {
		return "", false
	}
	view := domainchange.View{Domain: domainchange.Domain{TLD: domain.TLD, PaidUntil: domain.PaidUntil}}
	offer, until := h.restoreOffer(h.Now(), tax.RateBasisPoints, view, domain), termEnd{}.actUntil(domain)
	if offer == nil || until.IsZero() {
		return "", false
	}
	return h.templates.Text(req.Language, "bulk.restorable", ui.FormatDate(req.Language, until), ui.FormatPrice(req.Language, offer.Gross, offer.RateBasisPoints)), true
}

// The codes of a renewal and a restore that the registry does not offer now, and of a restore that it
// does not offer any more.
const (
	renewalRefused registrar.Code = "renewal_refused"
	renewalLeaving registrar.Code = "renewal_leaving" // another registrar has requested the domain
	renewalBarred  registrar.Code = "renewal_barred"  // a status at the registry prohibits it
	restoreRefused registrar.Code = "restore_refused"
	restoreOver    registrar.Code = "restore_over"
)

// refusalOf is the code that explains why a renewal or restore was refused.
func refusalOf(kind order.Kind, items []order.RefusedItem) registrar.Code {
	is := func(code registrar.Code) func(order.RefusedItem) bool {
		return func(item order.RefusedItem) bool { return registrar.CodeOf(item.Reason) == code }
	}
	switch {
	case slices.ContainsFunc(items, is(domainchange.DomainRestricted)):
		return domainchange.DomainRestricted
	case kind == order.Restore && slices.ContainsFunc(items, is(provision.NotRestorable)):
		return restoreOver
	case kind == order.Restore:
		return restoreRefused
	default:
		return renewalRefused
	}
}

// renewalRefusal is the code that explains why the registry does not renew a domain now.
func renewalRefusal(domain portfolio.Domain) registrar.Code {
	prohibited := func(status string) bool { return strings.HasSuffix(status, "RenewProhibited") }
	switch {
	case domain.Restriction == portfolio.Leaving || slices.Contains(domain.RegistryStatus, "pendingTransfer"):
		return renewalLeaving
	case slices.ContainsFunc(domain.RegistryStatus, prohibited):
		return renewalBarred
	default:
		return renewalRefused
	}
}

// renewalOptions are the terms that the registry offers, with list prices. The order is
// priced again, by the registry's answer. If there are none because the domain is paid that far
// ahead, from is the first day with one.
func (h *Handler) renewalOptions(now time.Time, rate int, view domainchange.View) (options []renewalOption, from time.Time) {
	extension, listed := h.Extension(view.Domain.TLD)
	if !listed || extension.Renew <= 0 {
		return nil, time.Time{}
	}
	ends := view.Domain.PaidUntil
	if view.Record.Expires.After(ends) {
		ends = view.Record.Expires
	}
	shortest := max(extension.Term(), provision.YearsAhead(view.Domain.PaidUntil, now, extension.Term()))
	for years := shortest; years <= max(view.Capabilities.MaxYears, extension.Term()); years++ {
		if ends.AddDate(years, 0, 0).After(now.AddDate(provision.MaxYearsAhead, 0, 0)) {
			break
		}
		options = append(options, renewalOption{
			Years: years, Until: view.Domain.PaidUntil.AddDate(years, 0, 0),
			Gross: billing.Gross(order.NetPrice(extension, order.Renew, years), rate),
		})
	}
	if len(options) == 0 {
		from = ends.AddDate(extension.Term()-provision.MaxYearsAhead, 0, 0)
	}
	return options, from
}

// orderDomain adds the renewal or restore of a domain to the customer's renewal basket, which
// is then reviewed and paid like any order. Without a choice of years a renewal is for the
// shortest term.
func (h *Handler) orderDomain(kind order.Kind) ui.PageFunc {
	return func(req *ui.Request) error {
		if h.Orders == nil {
			return noSuchDomain()
		}
		domain, err := h.Portfolio.Get(req.R.Context(), req.Actor(), req.R.PathValue("id"))
		if err != nil {
			return err
		}
		show := h.domainProblem
		if req.Field("page") == "list" {
			show = h.showDomains
		}
		years, err := strconv.Atoi(cmp.Or(req.Field("years"), "0"))
		if err != nil || years < 0 {
			return show(req, registrar.Conflict(renewalRefused))
		}
		wanted := order.RequestedItem{Name: registrar.NewName(strings.TrimSuffix(domain.Name, domain.TLD), domain.TLD), Kind: kind, Years: years}
		made, full, err := h.Orders.AddRenewals(req.R.Context(), req.Actor(), []order.RequestedItem{wanted})
		var refused *order.ItemsRefused
		switch {
		case errors.As(err, &refused):
			code := refusalOf(kind, refused.Items)
			if code == renewalRefused {
				code = renewalRefusal(domain)
			}
			return show(req, &registrar.Error{Kind: registrar.KindConflict, Code: code, Err: err})
		case err != nil:
			return show(req, err)
		case len(full) > 0:
			return show(req, full[0].Reason)
		}
		return h.redirectToPay(req, made)
	}
}

// redirectToPay redirects to the page where an order is reviewed and paid.
func (h *Handler) redirectToPay(req *ui.Request, made order.Order) error {
	path, err := h.payPath(made)
	if err != nil {
		return err
	}
	return req.SeeOther(path)
}

// payPath is the path of that page. Redirects use paths, so that a form stays on the browser's
// host.
func (h *Handler) payPath(made order.Order) (string, error) {
	address, err := h.Orders.PayURL(made)
	if err != nil {
		return "", err
	}
	to, err := url.Parse(address)
	if err != nil {
		return "", &registrar.Error{Kind: registrar.KindInternal, Code: "pay_url", Err: err}
	}
	return ui.LocalPath(to.EscapedPath(), ui.OrdersPath), nil
}
