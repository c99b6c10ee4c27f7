package operator

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/inquiry"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// inquiryRow is an inquiry with the operator who handled it.
type inquiryRow struct {
	inquiry.Inquiry
	By        string
	IsOverdue bool
	IsSoon    bool // it is due within a day
}

func (h *Handler) newInquiryRows(inquiries []inquiry.Inquiry, names map[string]string) []inquiryRow {
	rows := make([]inquiryRow, 0, len(inquiries))
	for _, one := range inquiries {
		row := inquiryRow{Inquiry: one, By: one.DoneBy, IsOverdue: one.Overdue(h.Now())}
		row.IsSoon = one.Open() && !row.IsOverdue && h.Now().AddDate(0, 0, 1).After(one.Deadline())
		if names[row.By] != "" {
			row.By = names[row.By]
		}
		rows = append(rows, row)
	}
	return rows
}

// NamesDomain reports whether the inquiry is about a domain rather than an order.
func (r inquiryRow) NamesDomain() bool {
	name, err := registrar.ParseHost(strings.ToLower(r.About))
	return err == nil && strings.Contains(name, ".")
}

func (h *Handler) inquiries(req *ui.Request, operator registrar.Actor) error {
	open, newer, err := h.Inquiries.ListOpen(req.R.Context(), operator, req.Query("after"))
	if err != nil {
		return err
	}
	var next, oldest string
	if newer != "" {
		next = inquiriesPath + "?" + url.Values{"after": {newer}}.Encode()
	}
	if req.Query("after") != "" {
		oldest = inquiriesPath
	}
	handled, last, err := h.Inquiries.ListHandled(req.R.Context(), operator, req.Query("before"))
	if err != nil {
		return err
	}
	names, err := h.operatorNames(req, operator)
	if err != nil {
		return err
	}
	return h.render(req, ui.View{Name: "inquiries", Section: inquiriesPath}, struct {
		Open, Handled []inquiryRow
		Next, Oldest  string // lead through the open ones
		pageLinks
	}{h.newInquiryRows(open, nil), h.newInquiryRows(handled, names), next, oldest, newPageLinks(req, inquiriesPath, nil, last)}, "")
}

func (h *Handler) inquiry(req *ui.Request, operator registrar.Actor) error {
	return h.showInquiry(req, operator, nil)
}

// showInquiry shows one inquiry. problem is why it could not be closed.
func (h *Handler) showInquiry(req *ui.Request, operator registrar.Actor, problem error) error {
	one, err := h.Inquiries.Get(req.R.Context(), operator, req.R.PathValue("id"))
	if err != nil {
		return err
	}
	names, err := h.operatorNames(req, operator)
	if err != nil {
		return err
	}
	status, message, fieldProblem := http.StatusOK, "", ""
	switch registrar.CodeOf(problem) {
	case inquiry.AlreadyHandled:
		status, message = http.StatusConflict, h.templates.Text(req.Language, "problem.inquiry_handled")
	case inquiry.BadNote:
		status, fieldProblem = http.StatusUnprocessableEntity, "problem.bad_note"
	}
	reply := url.URL{Scheme: "mailto", Opaque: url.PathEscape(one.Email), RawQuery: "subject=" + url.PathEscape(h.templates.Text(one.Language, "inquiry.subject", one.ID))}
	return h.render(req, ui.View{Name: "inquiry", Status: status, Title: "inquiry.page", TitleValue: one.ID, Section: inquiriesPath}, struct {
		inquiryRow
		Reply         string
		Note, Problem string
		MaxNote       int
	}{h.newInquiryRows([]inquiry.Inquiry{one}, names)[0], reply.String(), req.Text("note"), fieldProblem, inquiry.MaxNote}, message)
}

// closeInquiry marks an inquiry as handled.
func (h *Handler) closeInquiry(req *ui.Request, operator registrar.Actor) error {
	id := req.R.PathValue("id")
	err := h.Inquiries.Close(req.R.Context(), operator, id, req.Text("note"))
	switch registrar.CodeOf(err) {
	case inquiry.AlreadyHandled, inquiry.BadNote:
		req.SetFormPath(inquiriesPath + "/" + url.PathEscape(id))
		return h.showInquiry(req, operator, err)
	}
	if err != nil {
		return err
	}
	return req.RedirectWithFlash("notice_closed", inquiriesPath)
}
