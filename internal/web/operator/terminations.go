package operator

import (
	"net/http"
	"net/url"
	"slices"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/renewal"
	"github.com/dotkontor/dotkontor/internal/registrar/withdrawal"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// namedDomainRow is a domain that a notice names.
type namedDomainRow struct {
	withdrawal.NamedDomain
	Same   bool // the notice came from the account's address
	Early  bool // the term ends before the day that the notice states
	Later  bool // the term ends after that day
	Chosen bool
}

func newNamedDomainRows(notice withdrawal.Notice, domains []withdrawal.NamedDomain) []namedDomainRow {
	rows := make([]namedDomainRow, 0, len(domains))
	for _, domain := range domains {
		row := namedDomainRow{NamedDomain: domain, Same: domain.SentBy(notice), Early: domain.EndsTooEarly(notice), Later: domain.EndsLater(notice)}
		row.Chosen = row.Same && !row.Early && notice.Ground != withdrawal.Extraordinary
		rows = append(rows, row)
	}
	return rows
}

// isUnmatched reports whether not all domains belong to the account with the sender's address.
func isUnmatched(rows []namedDomainRow) bool {
	return slices.ContainsFunc(rows, func(row namedDomainRow) bool { return !row.Same })
}

// named returns the domains that the notice names.
func (r noticeRow) named() []withdrawal.NamedDomain {
	named := make([]withdrawal.NamedDomain, len(r.Domains))
	for i, row := range r.Domains {
		named[i] = row.NamedDomain
	}
	return named
}

// Endable are the domains whose contracts the operator can end.
func (r noticeRow) Endable() []namedDomainRow {
	if !r.Open() || r.Kind != withdrawal.Termination {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(r.Domains), func(row namedDomainRow) bool { return !row.Endable() })
}

// Unordered are the domains of which no order is listed.
func (r noticeRow) Unordered() []namedDomainRow {
	return slices.DeleteFunc(slices.Clone(r.Domains), func(row namedDomainRow) bool {
		return slices.ContainsFunc(r.Orders, func(o withdrawal.RelatedOrder) bool { return o.Name == row.Name && o.Customer == row.Customer })
	})
}

func terminationRequest(req *ui.Request) withdrawal.TerminationRequested {
	return withdrawal.TerminationRequested{
		Notice: req.R.PathValue("id"), Domains: req.R.PostForm["domain"], Note: req.Text("end_note"), Seen: req.Field("seen"),
	}
}

// previewTermination shows what would happen, and asks for a confirmation.
func (h *Handler) previewTermination(req *ui.Request, operator registrar.Actor) error {
	request := terminationRequest(req)
	preview, err := h.Notices.PreviewTermination(req.R.Context(), operator, request)
	if err != nil {
		return h.refusedTermination(req, operator, err)
	}
	req.SetFormPath(noticesPath + "/" + url.PathEscape(preview.Notice.ID))
	rows := newNamedDomainRows(preview.Notice, preview.Domains)
	return h.render(req, ui.View{Name: "termination", Title: "terminate.preview", TitleValue: preview.Notice.ID, Section: noticesPath}, struct {
		noticeRow
		Note, Seen string
		Unmatched  bool // not all domains belong to the sender's account
	}{
		noticeRow{Notice: preview.Notice, Urgency: newNoticeRow(preview.Notice, h.Notices.Now()).Urgency, Domains: rows},
		request.Note, preview.Seen,
		isUnmatched(rows),
	}, "")
}

// endContracts does what a preview showed.
func (h *Handler) endContracts(req *ui.Request, operator registrar.Actor) error {
	if err := h.Notices.Terminate(req.R.Context(), operator, terminationRequest(req)); err != nil {
		return h.refusedTermination(req, operator, err)
	}
	return req.RedirectWithFlash("contracts_ended", noticesPath)
}

// refusedTermination shows the notice again with the reason, or the error page.
func (h *Handler) refusedTermination(req *ui.Request, operator registrar.Actor, err error) error {
	switch registrar.CodeOf(err) {
	case withdrawal.AlreadyHandled, withdrawal.TerminationChanged, withdrawal.NothingChosen, withdrawal.BadNote, renewal.InProgress:
		req.SetFormPath(noticesPath + "/" + url.PathEscape(req.R.PathValue("id")))
		return h.showNotice(req, operator, err)
	}
	return err
}

// noticeProblem returns the status of a refused action, the message above the page, and the
// problem of a field.
func (h *Handler) noticeProblem(req *ui.Request, problem error) (status int, message, ofField string) {
	if problem == nil {
		return http.StatusOK, "", ""
	}
	switch code := registrar.CodeOf(problem); code {
	case withdrawal.BadNote, withdrawal.BadReply, withdrawal.BadEnd, withdrawal.EndOutOfRange:
		return http.StatusUnprocessableEntity, "", ui.ProblemKey(code)
	}
	status = http.StatusConflict
	if registrar.KindOf(problem) == registrar.KindInvalid {
		status = http.StatusUnprocessableEntity
	}
	message, _ = h.errorText(req, problem)
	return status, message, ""
}
