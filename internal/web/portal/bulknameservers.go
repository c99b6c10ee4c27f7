package portal

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/bulk"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// nameserverRow is a domain whose nameservers would change.
type nameserverRow struct {
	ID, Name string
	domainchange.NameserverPlan
}

// nameserversView is the page on which a customer confirms new nameservers for many domains.
type nameserversView struct {
	Nameservers string // as entered
	Rows        []nameserverRow
	Signed      string          // names the domains that change in two steps; empty if there are none
	Without     []string        // names that have these nameservers already
	Refused     []refusedDomain // whose nameservers can't change
}

// confirmNameservers shows what a change of nameservers would do to each domain. Input that is wrong
// for all of them is shown again in its form.
func (h *Handler) confirmNameservers(req *ui.Request, request bulk.Request) error {
	if err := domainchange.CheckNameserverLines(request.Nameservers); err != nil {
		return h.showBulk(req, request, err)
	}
	view := nameserversView{Nameservers: request.Nameservers}
	var signed []string
	var invalid error // the first one about the nameservers
	for _, id := range request.Domains {
		domain, err := h.Portfolio.Get(req.R.Context(), req.Actor(), id)
		if registrar.KindOf(err) == registrar.KindNotFound {
			continue
		}
		if err != nil {
			return err
		}
		plan, err := h.DomainChanges.PlanNameservers(req.R.Context(), req.Actor(), id, request.Nameservers)
		switch {
		case err != nil && registrar.CodeOf(err) == "":
			return err
		case err != nil:
			view.Refused = append(view.Refused, refusedDomain{domain.Name, h.codeText(req, bulk.Nameservers, registrar.CodeOf(err))})
			if invalid == nil && registrar.KindOf(err) == registrar.KindInvalid {
				invalid = err
			}
			continue
		case plan.Known && nameserverLines(plan.Now) == nameserverLines(plan.Then):
			view.Without = append(view.Without, domain.Name)
			continue
		case plan.Signed:
			signed = append(signed, domain.Name)
		}
		view.Rows = append(view.Rows, nameserverRow{domain.ID, domain.Name, plan})
	}
	switch {
	case len(view.Rows) == 0 && invalid != nil:
		return h.showBulk(req, request, invalid)
	case len(view.Rows)+len(view.Without)+len(view.Refused) == 0:
		return noSuchDomain()
	case len(signed) > 0:
		view.Signed = h.namesInSummary(req.Language, signed)
	}
	slices.SortFunc(view.Rows, func(a, b nameserverRow) int { return strings.Compare(a.Name, b.Name) })
	return h.templates.Render(req, ui.View{Name: "bulknameservers", Status: http.StatusOK, Title: "bulk.title." + string(bulk.Nameservers), Section: domainsPath, Data: view})
}

// sameServers reports whether two inputs have the same words: browsers change line breaks.
func sameServers(a, b string) bool { return slices.Equal(strings.Fields(a), strings.Fields(b)) }

// ChangeDay is when the nameservers of a signed domain would change; zero for others.
func (r nameserverRow) ChangeDay() (at time.Time) {
	if r.Signed {
		at = r.ChangeAt
	}
	return at
}
