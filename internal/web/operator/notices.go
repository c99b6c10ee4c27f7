package operator

import (
	"net/url"
	"slices"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/renewal"
	"github.com/dotkontor/dotkontor/internal/registrar/withdrawal"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// noticeRow is a notice with the urgency of its deadline, which is part of a text key;
// empty if it is days away.
type noticeRow struct {
	withdrawal.Notice
	Urgency string
	By      string // the operator who handled it
	Orders  []withdrawal.RelatedOrder
	Domains []namedDomainRow
}

// Law is the part of a text key that says where the deadline comes from, and whether a withdrawal may be void.
func (r noticeRow) Law() string {
	if slices.ContainsFunc(r.Orders, func(o withdrawal.RelatedOrder) bool { return r.Void(o) != "" }) {
		return "doubtful"
	}
	return string(r.Kind)
}

// Void is the part of a text key that says why its sender could not withdraw from an order: it is that of a
// business, or the period had ended when the notice arrived. It is empty if neither is known.
func (r noticeRow) Void(o withdrawal.RelatedOrder) string {
	switch {
	case r.Kind != withdrawal.Withdrawal:
		return ""
	case o.IsOfBusiness():
		return "business"
	case !r.PeriodEnded(o).IsZero():
		return "ended"
	}
	return ""
}

// PeriodEnded is order.PeriodEnded for an order that the notice may refer to.
func (r noticeRow) PeriodEnded(o withdrawal.RelatedOrder) time.Time {
	return order.PeriodEnded(o.PaidAt, o.ConsentAt, r.At)
}

// Effect is the part of a text key that says when a termination without a day takes effect; empty
// if it states a day.
func (r noticeRow) Effect() string {
	if r.Kind != withdrawal.Termination || !r.EndDay().IsZero() {
		return ""
	}
	return string(r.Ground)
}

// DeadlineBadge is the urgency that the deadline does not say by itself: "at once" is due today.
func (r noticeRow) DeadlineBadge() string {
	if r.AtOnce() && r.Urgency == "today" {
		return ""
	}
	return r.Urgency
}

// soonDays is how long before its deadline a notice is marked.
const soonDays = 3

func newNoticeRow(notice withdrawal.Notice, now time.Time) noticeRow {
	row := noticeRow{Notice: notice}
	switch {
	case !notice.Open():
	case notice.Overdue(now):
		row.Urgency = "overdue"
	case notice.AtOnce() || !now.Before(notice.Deadline()):
		row.Urgency = "today"
	case !now.Before(notice.Deadline().AddDate(0, 0, -soonDays)):
		row.Urgency = "soon"
	}
	return row
}

// openNotices returns the open notices, the most urgent first.
func (h *Handler) openNotices(req *ui.Request, operator registrar.Actor) ([]noticeRow, error) {
	open, err := h.Notices.ListOpen(req.R.Context(), operator)
	return newNoticeRows(open, h.Notices.Now(), nil), err
}

func newNoticeRows(notices []withdrawal.Notice, now time.Time, names map[string]string) []noticeRow {
	rows := make([]noticeRow, 0, len(notices))
	for _, notice := range notices {
		row := newNoticeRow(notice, now)
		if row.By = notice.DoneBy; names[row.By] != "" {
			row.By = names[row.By]
		}
		rows = append(rows, row)
	}
	return rows
}

// maxRelated bounds the rows of a list whose orders and domains are read; the page of a notice has them all.
const maxRelated = 25

// addRelated adds the orders and domains that the first notices may concern.
func (h *Handler) addRelated(req *ui.Request, rows []noticeRow) error {
	notices := make([]withdrawal.Notice, min(len(rows), maxRelated))
	for i := range notices {
		notices[i] = rows[i].Notice
	}
	orders, err := h.Notices.ListRelatedOrders(req.R.Context(), notices...)
	if err != nil {
		return err
	}
	domains, err := h.Notices.ListNamedDomains(req.R.Context(), notices...)
	if err != nil {
		return err
	}
	for i := range notices {
		rows[i].Orders, rows[i].Domains = orders[i], newNamedDomainRows(notices[i], domains[i])
	}
	return nil
}

// operatorNames returns the addresses of the operators by account.
func (h *Handler) operatorNames(req *ui.Request, operator registrar.Actor) (map[string]string, error) {
	all, err := h.Operators(req.R.Context(), operator)
	names := make(map[string]string, len(all))
	for _, one := range all {
		names[one.ID] = one.Email
	}
	return names, err
}

func (h *Handler) notices(req *ui.Request, operator registrar.Actor) error {
	open, err := h.openNotices(req, operator)
	if err != nil {
		return err
	}
	if err := h.addRelated(req, open); err != nil {
		return err
	}
	handled, last, err := h.Notices.ListHandled(req.R.Context(), operator, req.Query("before"))
	if err != nil {
		return err
	}
	names, err := h.operatorNames(req, operator)
	if err != nil {
		return err
	}
	return h.render(req, ui.View{Name: "notices", Section: noticesPath}, struct {
		Open, Handled []noticeRow
		pageLinks
	}{open, newNoticeRows(handled, h.Notices.Now(), names), newPageLinks(req, noticesPath, nil, last)}, "")
}

// endField is the day on which a contract ends, and those that are possible.
type endField struct {
	withdrawal.EndDays
	Value, Problem string // the problem is a text key
}

func (h *Handler) notice(req *ui.Request, operator registrar.Actor) error {
	return h.showNotice(req, operator, nil)
}

// showNotice shows one notice. problem is why an action was refused.
func (h *Handler) showNotice(req *ui.Request, operator registrar.Actor, problem error) error {
	notice, err := h.Notices.Get(req.R.Context(), operator, req.R.PathValue("id"))
	if err != nil {
		return err
	}
	names, err := h.operatorNames(req, operator)
	if err != nil {
		return err
	}
	rows := newNoticeRows([]withdrawal.Notice{notice}, h.Notices.Now(), names)
	if err := h.addRelated(req, rows); err != nil {
		return err
	}
	returned, err := h.returnedFor(req, operator, notice)
	if err != nil {
		return err
	}
	status, message, fieldProblem := h.noticeProblem(req, problem)
	view := struct {
		noticeRow
		Note, Problem       string
		EndNote, EndProblem string // of the form that ends contracts
		MaxNote             int
		End                 *endField // the day that closing a termination confirms
		Unmatched           bool      // a domain that it may be about is not the sender's
		Reply, ReplyProblem string
		MaxReply            int
		Returned            []refundRow // money for it that the customer does not have
	}{
		noticeRow: rows[0], Returned: returned, Note: req.Text("note"), EndNote: h.templates.Text(req.Language, "terminate.default."+string(notice.Ground)), MaxNote: withdrawal.MaxNote,
		Reply: req.Text("reply"), MaxReply: withdrawal.MaxReply,
	}
	if notice.Kind == withdrawal.Termination {
		view.End = &endField{EndDays: notice.EndDays(rows[0].named()), Value: req.Text("end")}
		view.Unmatched = isUnmatched(rows[0].Domains)
	}
	if _, sent := req.R.PostForm["end_note"]; sent {
		view.EndNote, view.EndProblem = req.Text("end_note"), fieldProblem
		for i, domain := range view.Domains {
			view.Domains[i].Chosen = slices.Contains(req.R.PostForm["domain"], domain.ID)
		}
	} else {
		switch registrar.CodeOf(problem) {
		case withdrawal.BadReply:
			view.ReplyProblem = fieldProblem
		case withdrawal.BadEnd, withdrawal.EndOutOfRange:
			if view.End != nil {
				view.End.Problem = fieldProblem
			}
		default:
			view.Problem = fieldProblem
		}
	}
	return h.render(req, ui.View{Name: "notice", Status: status, Title: "notice.page." + string(notice.Kind), TitleValue: notice.ID, Section: noticesPath}, view, message)
}

// closeNotice marks a notice as handled.
func (h *Handler) closeNotice(req *ui.Request, operator registrar.Actor) error {
	id := req.R.PathValue("id")
	err := h.Notices.Close(req.R.Context(), operator, id, withdrawal.Closing{Note: req.Text("note"), Reply: req.Text("reply"), End: req.Text("end")})
	switch registrar.CodeOf(err) {
	case withdrawal.AlreadyHandled, withdrawal.TerminationChanged, withdrawal.BadNote, withdrawal.BadReply, withdrawal.BadEnd, withdrawal.EndOutOfRange, renewal.InProgress:
		req.SetFormPath(noticesPath + "/" + url.PathEscape(id))
		return h.showNotice(req, operator, err)
	}
	if err != nil {
		return err
	}
	if req.Text("reply") != "" || req.Text("end") != "" {
		return req.RedirectWithFlash("notice_closed_mail", noticesPath)
	}
	return req.RedirectWithFlash("notice_closed", noticesPath)
}
