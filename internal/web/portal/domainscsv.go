package portal

import (
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// domainsCSV serves the filtered list as a file, with the page's texts. A list that
// is too long says so in its last row.
func (h *Handler) domainsCSV(req *ui.Request) error {
	filter, match := h.filter(listQueryOf(req))
	filter.AfterName, filter.AfterID, filter.AfterState, filter.AfterEnd = "", "", "", time.Time{}
	domains, more, err := h.Portfolio.ListMatching(req.R.Context(), req.Actor(), filter, match)
	if err != nil {
		return err
	}
	text := func(key string) string { return h.templates.Text(req.Language, key) }
	yesNo := func(yes bool) string {
		if yes {
			return text("domains.yes")
		}
		return text("domains.no")
	}
	day := func(at time.Time) string {
		if at.IsZero() {
			return ""
		}
		return at.UTC().Format(time.DateOnly)
	}
	rows := [][]string{{
		text("domains.name"), text("domains.ascii"), text("domains.status"), text("domains.paid_until"), text("domains.csv_auto"),
		text("domains.csv_locked"), text("domains.folder"), text("domains.note"), text("domains.csv_ordered"),
	}}
	for _, d := range domains {
		paidUntil := d.PaidUntil
		if d.Status == registrar.DomainTransferredOut { // its term is another registrar's, as on the page
			paidUntil = time.Time{}
		}
		locked := ""
		if key := lockKey(d, h.DomainChanges.LacksTransferLock(d.TLD)); key != "" {
			locked = text(key)
		}
		rows = append(rows, []string{
			ui.UnicodeName(d.Name), d.Name, text("domain." + string(d.State())), day(paidUntil), yesNo(d.Renews()),
			locked, d.Folder, d.Note, day(d.CreatedAt),
		})
	}
	if more {
		last := make([]string, len(rows[0]))
		last[0] = h.templates.Text(req.Language, "domains.csv_more", len(domains))
		rows = append(rows, last)
	}
	return ui.ServeCSV(req, "domains-"+h.Now().UTC().Format(time.DateOnly)+".csv", rows)
}

// lockKey is the text key of whether a domain is locked against transfers: at the registry, by an
// operator or by a dispute. It is empty if the registry's statuses are not known yet.
func lockKey(d portfolio.Domain, lacksLock bool) string {
	switch {
	case d.TransferBarred || domainchange.Record{Statuses: d.RegistryStatus}.Locked():
		return "domains.yes"
	case lacksLock:
		return "domains.csv_no_lock"
	case len(d.RegistryStatus) == 0:
		return ""
	default:
		return "domains.no"
	}
}
