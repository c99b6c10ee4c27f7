package portal

import (
	"net/http"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

type domainRow struct {
	portfolio.Domain
	End      termEnd
	Unlocked bool // it could be locked against transfers and is not
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
		line := domainRow{Domain: d, End: h.termEndOf(req, d), Unlocked: h.isUnlocked(d)}
		actions = actions || line.End.Renewable
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

// isUnlocked reports whether a domain lacks the transfer lock that its registry offers,
// according to the statuses read last.
func (h *Handler) isUnlocked(domain portfolio.Domain) bool {
	return domain.Status == registrar.DomainActive && len(domain.RegistryStatus) > 0 &&
		!domainchange.Record{Statuses: domain.RegistryStatus}.Locked() && h.DomainChanges.HasTransferLock(domain.TLD)
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
