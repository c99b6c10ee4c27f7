package law

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/declaration"
	"github.com/dotkontor/dotkontor/internal/web/page"
	"github.com/dotkontor/dotkontor/internal/web/wire"
)

// form is the one of a declaration.
type form struct {
	Kind                  declaration.Kind
	Action, Intro, Submit string
	Problem               string
	Fields                []page.Field
}

// newForm asks for what the law names, and nothing else.
func newForm(kind declaration.Kind) form {
	name := page.Field{Name: declaration.FieldName, Label: "field.name", Type: "text", Autocomplete: "name", MaxLength: declaration.Longest}
	email := page.Field{
		Name: declaration.FieldEmail, Label: "field.email", Hint: "hint.email", Type: "email", Autocomplete: "email", MaxLength: 254,
	}
	contract := page.Field{
		Name: declaration.FieldContract, Label: "field.contract", Hint: "hint.contract", Type: "text", Autocomplete: "off", MaxLength: declaration.Longest,
	}
	if kind == declaration.Withdrawal {
		return form{Kind: kind, Intro: "withdrawal.intro", Submit: "withdrawal.submit", Fields: []page.Field{name, contract, email}}
	}
	ground := page.Field{Name: declaration.FieldGround, Label: "field.ground", Value: string(declaration.Ordinary), Choices: []page.Choice{
		{Value: string(declaration.Ordinary), Label: "ground.ordinary"}, {Value: string(declaration.Extraordinary), Label: "ground.extraordinary"},
	}}
	reason := page.Field{
		Name: declaration.FieldReason, Label: "field.reason", Hint: "hint.reason", Type: "text", Autocomplete: "off",
		MaxLength: declaration.LongestReason, Sometimes: true,
	}
	end := page.Field{Name: declaration.FieldEnd, Label: "field.end", Hint: "hint.end", Type: "date", Autocomplete: "off", Optional: true}
	return form{
		Kind: kind, Intro: "cancellation.intro", Submit: "cancellation.submit", Fields: []page.Field{name, contract, email, ground, reason, end},
	}
}

// ask shows the form.
func (h *Handler) ask(v *page.Visit, l leaf, f form, status int) error {
	s := h.shownOf(v, l)
	f.Action = l.path[v.Language]
	s.Form = f
	return h.views.Render(v, page.View{
		Name: "declare", Status: status, Title: l.title, Section: l.path[v.Language], Public: "law.description", Data: s,
	})
}

// declare takes the declaration, or says at the fields what is wrong. What came in is
// shown at once and not behind another address: it is nobody else's business, and
// can be printed and kept.
func (h *Handler) declare(v *page.Visit, l leaf, kind declaration.Kind) error {
	declared, err := h.Declarations.Declare(v.R.Context(), v.Actor(), declaration.Declaration{
		Kind: kind, Name: v.Text(declaration.FieldName), Email: v.Text(declaration.FieldEmail), Contract: v.Text(declaration.FieldContract),
		Ground: declaration.Ground(v.Text(declaration.FieldGround)), Reason: v.Text(declaration.FieldReason), End: v.Text(declaration.FieldEnd),
		Language: v.Language,
	})
	if err == nil {
		s := h.shownOf(v, l)
		s.Declared = declared
		s.End, _ = time.Parse(time.DateOnly, declared.End) // it was checked, and may be empty
		return h.views.Render(v, page.View{Name: "declared", Title: "declared.title." + string(kind), Section: l.path[v.Language], Data: s})
	}
	f := newForm(kind)
	for i, field := range f.Fields {
		f.Fields[i] = field.With(v.Field(field.Name), "")
	}
	var wrong *declaration.FieldError
	switch {
	case errors.As(err, &wrong):
		wire.Annotate(v.W, &registrar.Error{Kind: registrar.KindInvalid, Code: "declaration_fields"})
		f.Problem = h.views.Text(v.Language, "problem.fields")
		for i, field := range f.Fields {
			if code, bad := wrong.Fields[field.Name]; bad {
				f.Fields[i].Problem = h.problemOf(field.Name, code)
			}
		}
		return h.ask(v, l, f, http.StatusUnprocessableEntity)
	case registrar.CodeOf(err) == declaration.TooMany:
		wire.Annotate(v.W, err)
		wait := page.RetryAfter(err)
		v.W.Header().Set("Retry-After", strconv.Itoa(int((wait+time.Second-1)/time.Second)))
		f.Problem = h.views.Text(v.Language, "problem.too_many_declarations", page.Wait(h.views, v.Language, wait), h.Operator.Email)
		return h.ask(v, l, f, http.StatusTooManyRequests)
	default:
		return err
	}
}

// problemOf is the sentence for a field's code, or one that fits every field.
func (h *Handler) problemOf(field string, code registrar.Code) string {
	if key := "problem." + field; code == declaration.Form && h.views.Has(key) {
		return key
	}
	return page.ProblemKey(code)
}
