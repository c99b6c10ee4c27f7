package legal

import (
	"cmp"
	"errors"
	"net/http"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/withdrawal"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

type form struct {
	Kind                  withdrawal.Kind
	Action, Intro, Submit string
	Problem               string
	Fields                []ui.Field
}

// newForm has the fields that the law names, and no others.
func newForm(kind withdrawal.Kind) form {
	name := ui.Field{Name: withdrawal.FieldName, Label: "field.name", Type: "text", Autocomplete: "name", MaxLength: withdrawal.MaxText}
	email := ui.Field{
		Name: withdrawal.FieldEmail, Label: "field.email", Hint: "hint.email", Type: "email", Autocomplete: "email", MaxLength: 254,
	}
	contract := ui.Field{
		Name: withdrawal.FieldContract, Label: "field.contract", Hint: "hint.contract", Type: "text", Autocomplete: "off", MaxLength: withdrawal.MaxText,
	}
	if kind == withdrawal.Withdrawal {
		return form{Kind: kind, Intro: "withdrawal.intro", Submit: "withdrawal.submit", Fields: []ui.Field{name, contract, email}}
	}
	ground := ui.Field{Name: withdrawal.FieldGround, Label: "field.ground", Value: string(withdrawal.Ordinary), Choices: []ui.Choice{
		{Value: string(withdrawal.Ordinary), Label: "ground.ordinary"}, {Value: string(withdrawal.Extraordinary), Label: "ground.extraordinary"},
	}}
	reason := ui.Field{
		Name: withdrawal.FieldReason, Label: "field.reason", Hint: "hint.reason", Type: "text", Autocomplete: "off",
		MaxLength: withdrawal.MaxReason, ServerChecked: true,
	}
	end := ui.Field{Name: withdrawal.FieldEnd, Label: "field.end", Hint: "hint.end", Type: "date", Autocomplete: "off", Optional: true, Only: string(withdrawal.Ordinary)}
	return form{
		Kind: kind, Intro: "cancellation.intro", Submit: "cancellation.submit", Fields: []ui.Field{name, contract, email, ground, reason, end},
	}
}

// showNotice shows the form, with the name and address of a signed-in customer, or the receipt in the
// address.
func (h *Handler) showNotice(req *ui.Request, l legalPage, kind withdrawal.Kind) error {
	if link := req.Query(receiptParameter); link != "" {
		return h.showReceipt(req, l, kind, link)
	}
	f := newForm(kind)
	if req.SignedIn {
		known := map[string]string{withdrawal.FieldName: h.registrantName(req), withdrawal.FieldEmail: req.Visitor.Customer.Email}
		for i, field := range f.Fields {
			f.Fields[i].Value = cmp.Or(known[field.Name], field.Value)
		}
	}
	return h.showForm(req, l, f, http.StatusOK)
}

// registrantName returns the name of a signed-in customer; empty if it is unknown. On an error, the
// form works without it: withdrawing is a right.
func (h *Handler) registrantName(req *ui.Request) string {
	if h.Registrant == nil {
		return ""
	}
	registrant, _, err := h.Registrant(req.R.Context(), req.Actor())
	if err != nil {
		httpjson.RecordError(req.W, err)
	}
	return registrant.Name
}

func (h *Handler) showForm(req *ui.Request, l legalPage, f form, status int) error {
	s := h.pageData(req, l)
	f.Action = l.path(req.Language)
	s.Form = f
	return h.templates.Render(req, ui.View{
		Name: "noticeform", Status: status, Title: l.title, Section: l.path(req.Language), Public: "legal.description", Data: s,
	})
}

// receiptParameter has the sealed link to a received notice. Redirecting to it, so that a reload sends
// nothing again, must not put anything personal into addresses, which are in logs.
const receiptParameter = "received"

// showReceipt shows a received notice, which can be printed and saved.
func (h *Handler) showReceipt(req *ui.Request, l legalPage, kind withdrawal.Kind, link string) error {
	req.W.Header().Set("X-Robots-Tag", "noindex, nofollow")
	notice, err := h.Notices.OpenReceipt(req.R.Context(), link)
	if registrar.CodeOf(err) == withdrawal.NoSuchNotice {
		f := newForm(kind)
		f.Problem = h.templates.Text(req.Language, "problem.receipt_expired")
		return h.showForm(req, l, f, http.StatusGone)
	}
	if err != nil {
		return err
	}
	s := h.pageData(req, l)
	s.Notice = notice
	s.End, _ = time.Parse(time.DateOnly, notice.End) // already validated, may be empty
	return h.templates.Render(req, ui.View{Name: "noticereceived", Title: "notice.title." + string(notice.Kind), Section: l.path(req.Language), Data: s})
}

// submitNotice stores the notice and redirects to its receipt, or shows the problems at the fields.
func (h *Handler) submitNotice(req *ui.Request, l legalPage, kind withdrawal.Kind) error {
	notice, err := h.Notices.Submit(req.R.Context(), req.Actor(), withdrawal.Notice{
		Kind: kind, Name: req.Text(withdrawal.FieldName), Email: req.Text(withdrawal.FieldEmail), Contract: req.Text(withdrawal.FieldContract),
		Ground: withdrawal.Ground(req.Text(withdrawal.FieldGround)), Reason: req.Text(withdrawal.FieldReason), End: req.Text(withdrawal.FieldEnd),
		Language: req.Language,
	})
	if err == nil {
		return req.SeeOther(l.path(req.Language) + "?" + receiptParameter + "=" + h.Notices.ReceiptLink(notice))
	}
	f := newForm(kind)
	for i, field := range f.Fields {
		f.Fields[i] = field.With(req.Field(field.Name), "")
	}
	var wrong *withdrawal.FieldError
	switch {
	case errors.As(err, &wrong):
		httpjson.RecordError(req.W, &registrar.Error{Kind: registrar.KindInvalid, Code: "declaration_fields"})
		f.Problem = h.templates.Text(req.Language, "problem.fields")
		for i, field := range f.Fields {
			if code, bad := wrong.Fields[field.Name]; bad {
				f.Fields[i].Problem = h.problemKey(field.Name, code)
			}
		}
		return h.showForm(req, l, f, http.StatusUnprocessableEntity)
	case registrar.CodeOf(err) == withdrawal.TooManyNotices:
		httpjson.RecordError(req.W, err)
		wait, _ := req.SetRetryAfter(err)
		key := "problem.too_many_declarations"
		if h.Operator.Email == "" { // another way must be named: withdrawing is a right
			key += ".imprint"
		}
		f.Problem = h.templates.Text(req.Language, key, wait, h.Operator.Email)
		return h.showForm(req, l, f, http.StatusTooManyRequests)
	default:
		return err
	}
}

// problemKey returns the text key for a field's code, or one that fits every field.
func (h *Handler) problemKey(field string, code registrar.Code) string {
	if key := "problem." + field; code == withdrawal.Malformed && h.templates.Has(key) {
		return key
	}
	return ui.ProblemKey(code)
}
