package legal

import (
	"errors"
	"net/http"
	"net/url"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/inquiry"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

const (
	// maxContactBytes holds the longest message, percent-encoded.
	maxContactBytes = 64 << 10
	// trapField is not shown to people. Programs that fill in every field fill it in, too.
	trapField = "website"
	// premiumField asks for the form of an inquiry about a premium domain's price. It is posted,
	// because addresses, and with them logs, contain no name that was searched.
	premiumField = "premium"

	trapped registrar.Code = "trapped"
)

// contactForm is the contact form. Problem is a message about the whole, MessageProblem the
// text key of what is wrong with the message.
type contactForm struct {
	Action                           string
	Problem, Message, MessageProblem string
	Fields                           []ui.Field
	MaxMessage                       int
	Email                            string // the operator's; empty if unknown
}

// newContactForm returns the form with the values of get.
func (h *Handler) newContactForm(req *ui.Request, get func(field string) string) contactForm {
	topics := []ui.Choice{{Label: "topic.choose"}}
	for _, topic := range inquiry.Topics() {
		topics = append(topics, ui.Choice{Value: string(topic), Label: "topic." + string(topic)})
	}
	form := contactForm{
		Action: contactPage.path(req.Language), Message: get(inquiry.FieldMessage), MaxMessage: inquiry.MaxMessage, Email: h.Operator.Email,
		Fields: []ui.Field{
			{Name: inquiry.FieldTopic, Label: "field.topic", Choices: topics},
			{Name: inquiry.FieldName, Label: "field.name", Type: "text", Autocomplete: "name", MaxLength: inquiry.MaxText},
			{Name: inquiry.FieldEmail, Label: "field.email", Hint: "hint.reply", Type: "email", Autocomplete: "email", MaxLength: inquiry.MaxEmail},
			{Name: inquiry.FieldAbout, Label: "field.contract", Hint: "hint.about", Type: "text", Autocomplete: "off", MaxLength: inquiry.MaxText, Optional: true},
		},
	}
	for i, field := range form.Fields {
		form.Fields[i].Value = get(field.Name)
	}
	return form
}

func (h *Handler) showContact(req *ui.Request, _ legalPage) error {
	entered := url.Values{}
	h.addSender(req, entered)
	return h.renderContact(req, h.newContactForm(req, entered.Get), http.StatusOK)
}

// premiumInquiry returns what the form about a premium domain's price starts with.
func (h *Handler) premiumInquiry(req *ui.Request, domain string) url.Values {
	domain = ui.UnicodeName(domain)
	entered := url.Values{
		inquiry.FieldTopic: {"domain"}, inquiry.FieldAbout: {domain},
		inquiry.FieldMessage: {h.templates.Text(req.Language, "contact.premium", domain)},
	}
	h.addSender(req, entered)
	return entered
}

// addSender fills in the name and address of a signed-in customer.
func (h *Handler) addSender(req *ui.Request, entered url.Values) {
	if !req.SignedIn {
		return
	}
	entered.Set(inquiry.FieldEmail, req.Visitor.Customer.Email)
	entered.Set(inquiry.FieldName, h.registrantName(req))
}

func (h *Handler) renderContact(req *ui.Request, form contactForm, status int) error {
	return h.templates.Render(req, ui.View{
		Name: "contact", Status: status, Title: contactPage.title, Section: contactPage.path(req.Language), Public: "contact.description", Data: form,
	})
}

// sendInquiry stores the message or shows the problems at the fields. The response has no URL,
// because it is personal.
func (h *Handler) sendInquiry(req *ui.Request, l legalPage) error {
	if err := req.ReadForm(); err != nil {
		return err
	}
	if domain := req.Text(premiumField); domain != "" {
		return h.renderContact(req, h.newContactForm(req, h.premiumInquiry(req, domain).Get), http.StatusOK)
	}
	form := h.newContactForm(req, req.Text)
	var sent inquiry.Inquiry
	err := error(&registrar.Error{Kind: registrar.KindInvalid, Code: trapped})
	if req.Text(trapField) == "" {
		sent, err = h.Inquiries.Submit(req.R.Context(), req.Actor(), inquiry.Inquiry{
			Name: req.Text(inquiry.FieldName), Email: req.Text(inquiry.FieldEmail), Topic: inquiry.Topic(req.Text(inquiry.FieldTopic)),
			About: req.Text(inquiry.FieldAbout), Message: req.Text(inquiry.FieldMessage), Language: req.Language,
		})
	}
	var wrong *inquiry.FieldError
	switch code := registrar.CodeOf(err); {
	case err == nil:
		return h.templates.Render(req, ui.View{Name: "contactsent", Title: "contact.sent", Section: l.path(req.Language), Data: sent})
	case errors.As(err, &wrong):
		httpjson.RecordError(req.W, &registrar.Error{Kind: registrar.KindInvalid, Code: "inquiry_fields"})
		form.Problem = h.templates.Text(req.Language, "problem.fields")
		for i, field := range form.Fields {
			if code, bad := wrong.Fields[field.Name]; bad {
				form.Fields[i].Problem = h.problemKey(field.Name, code)
			}
		}
		if code, bad := wrong.Fields[inquiry.FieldMessage]; bad {
			form.MessageProblem = ui.ProblemKey(code)
		}
		return h.renderContact(req, form, http.StatusUnprocessableEntity)
	case code == trapped:
		httpjson.RecordError(req.W, err)
		form.Problem = h.templates.Text(req.Language, "problem.trapped")
		return h.renderContact(req, form, http.StatusUnprocessableEntity)
	case code == inquiry.TooMany:
		httpjson.RecordError(req.W, err)
		wait, _ := req.SetRetryAfter(err)
		form.Problem = h.templates.Text(req.Language, "problem.too_many_inquiries", wait)
		return h.renderContact(req, form, http.StatusTooManyRequests)
	default:
		return err
	}
}
