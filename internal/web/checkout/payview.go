package checkout

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// payData is what the templates read. Fields that end in Key are keys of texts.
type payData struct {
	// Page is the path of this page; SignIn leads to the sign-in and back.
	Page, SignIn string
	View         order.View
	Order        order.Order
	ProblemKey   string
	Rows         []itemRow
	summary
	// AskedKey says what kind of program or person asked for it.
	AskedKey string
	// Registrant leads to the form and back; empty where nothing is missing there.
	Registrant string
	// Verify is where the identity is shown; empty where nobody has to.
	Verify string
	// Continue is the payment page that is open; empty if none is.
	Continue string
	// CanSaveMethod says that a means of payment could be kept for renewals, and AutoRenew
	// that the human has chosen it.
	CanSaveMethod, AutoRenew bool
	// Consent is what a consumer must tick; nil where nobody has to.
	Consent *consent
	// RuleKeys are conditions of extensions that the holder does not meet.
	RuleKeys []string
	// Changeable says that the viewer can still pay, decline or complete it.
	Changeable bool
	// TextKey says how the order stands.
	TextKey string
	// DelayKey says that something takes days.
	DelayKey string
	// Outcome is true once it is paid for: the rows say how they stand.
	Outcome bool
	// Invoiced says that there is an invoice, or will be in a moment.
	Invoiced bool
	// ReturnedKey says that a payment which nobody waited for goes or went back.
	ReturnedKey string
}

// consent is the box of a consumer's express wish. It never comes back ticked: each
// press of the button is said anew.
type consent struct {
	Wording, Text string
	// ProblemKey says that it was not ticked.
	ProblemKey string
}

// itemRow is one item.
type itemRow struct {
	order.Item
	WhatKey string
	Term    string
	// StateKey and ReasonKey say how it stands once it is paid for, and why it
	// could not be carried out or can't be had any more.
	StateKey, ReasonKey string
	// Own is the page of the domain, if the visitor holds it already.
	Own string
	// Page is the path of the order's page, for the form of the auth code.
	Page string
	// Code asks for the auth code of a transfer; Told says that there is one.
	Code *ui.Field
	Told bool
	// Warnings are sentences.
	Warnings []string
}

// summary is what a list and a page say of an order alike.
type summary struct {
	Rate string
	// VATKey says why that rate; empty where nothing needs saying.
	VATKey string
}

func (h *Handler) summaryOf(language string, totals order.Totals) summary {
	s := summary{Rate: formatRate(language, totals.RateBasisPoints)}
	if key := "vat." + totals.Rule; totals.Net > 0 && h.templates.Has(key) {
		s.VATKey = key
	}
	return s
}

// formatRate writes hundredths of a percent.
func formatRate(language string, basisPoints int) string {
	text := strings.TrimSuffix(strings.TrimRight(registrar.Cents(basisPoints).String(), "0"), ".")
	if language == ui.English {
		return text + "%"
	}
	return strings.Replace(text, ".", ",", 1) + "\u00a0%"
}

func (h *Handler) newPayData(req *ui.Request, view order.View, t formError) (payData, error) {
	o := view.Order
	s := payData{
		Page: currentPayPath(req), SignIn: ui.SignInPath + "?next=" + url.QueryEscape(currentPayPath(req)), View: view, Order: o,
		Rows: h.newItemRows(req, currentPayPath(req), view, t), summary: h.summaryOf(req.Language, o.Totals), AskedKey: askedKey(o.By.Kind),
		Outcome: !o.PaidAt.IsZero(), ReturnedKey: returnedKey(o), TextKey: "pay.text." + displayState(o),
		Changeable: view.IsOwner && o.State.Open() && o.State != order.Paying, AutoRenew: o.AutoRenew,
	}
	if slices.ContainsFunc(o.Items, func(i order.Item) bool { return i.Kind == order.Transfer && i.State == order.ItemProvisioning }) {
		s.DelayKey = "pay.patience"
	}
	if t.confirmation != nil {
		s.AutoRenew = t.confirmation.AutoRenew
	}
	if s.Changeable && view.Payable && view.Owner.Consumer(o.Totals) {
		wording := order.ConsentWording(req.Language)
		s.Consent = &consent{Wording: wording, Text: order.ConsentText(wording)}
	}
	switch {
	case s.Consent != nil && t.problem == ui.ProblemKey(order.ConsentMissing):
		s.Consent.ProblemKey = t.problem
	case !s.hasCodeForm(t.item):
		s.ProblemKey = t.problem
	}
	if !view.IsOwner {
		return s, nil
	}
	for _, missing := range view.Missing {
		if key := "rule." + missing; h.templates.Has(key) {
			s.RuleKeys = append(s.RuleKeys, key)
		}
	}
	if slices.Contains(view.Missing, order.MissingRegistrant) || len(s.RuleKeys) > 0 {
		s.Registrant = "/portal/profile/registrant?next=" + url.QueryEscape(s.Page)
	}
	if o.State == order.AwaitingVerification || o.State == order.AwaitingPayment && slices.Contains(view.Missing, order.MissingIdentity) {
		address, err := h.orders.VerifyURL(o)
		if err != nil {
			return payData{}, err
		}
		if address != "" {
			s.Verify = h.localPath(address)
		}
	}
	for _, payment := range o.Payments {
		if o.State == order.Paying && payment.State == order.PaymentOpen {
			s.Continue = payment.URL
		}
	}
	s.Invoiced = h.hasInvoice(o)
	s.CanSaveMethod = o.Totals.Gross > 0 || view.Owner.MethodLabel != ""
	if o.Totals.ForConsumer() && view.Owner.VATID != "" && !o.Totals.Unchecked && o.State.Open() {
		s.VATKey = "vat.not_confirmed"
	}
	return s, nil
}

// hasCodeForm says that there is a form of an item's auth code, where a problem with
// it is told.
func (s *payData) hasCodeForm(item string) bool {
	return s.Changeable && slices.ContainsFunc(s.Rows, func(r itemRow) bool { return r.ID == item && r.Code != nil })
}

// displayState is how an order stands, in the word that its texts go by: one that costs
// nothing waits for no payment.
func displayState(o order.Order) string {
	if o.State == order.AwaitingPayment && o.Totals.Gross == 0 {
		return "free"
	}
	return string(o.State)
}

func askedKey(kind registrar.ActorKind) string {
	switch kind {
	case registrar.ActorToken:
		return "asked.token"
	case registrar.ActorApplication:
		return "asked.application"
	case registrar.ActorAgent:
		return "asked.agent"
	default:
		return "asked.person"
	}
}

// returnedKey is about payments that the order did not want.
func returnedKey(o order.Order) string {
	key := ""
	for _, payment := range o.Payments {
		switch payment.State {
		case order.PaymentUnmatched:
			return "pay.unmatched"
		case order.PaymentRefunded:
			key = "pay.returned"
		default:
		}
	}
	return key
}

// ownPath is the page of the domain that a name is refused for, if the visitor holds it.
// Others only learn that it is taken. It is a kindness: without it the reason stands.
func (h *Handler) ownPath(req *ui.Request, name string, why error) string {
	if h.portfolio == nil || !req.SignedIn || registrar.CodeOf(why) != registrar.NameHeld {
		return ""
	}
	domain, held, err := h.portfolio.FindByName(req.R.Context(), req.Actor(), name)
	if err != nil {
		httpjson.RecordError(req.W, err)
	}
	if err != nil || !held {
		return ""
	}
	return "/portal/domains/" + domain.ID
}

func (h *Handler) newItemRows(req *ui.Request, path string, view order.View, t formError) []itemRow {
	language := req.Language
	rows := make([]itemRow, 0, len(view.Order.Items))
	for _, item := range view.Order.Items {
		r := h.newItemRow(language, item)
		if reason, refused := view.Refused[item.ID]; refused {
			r.ReasonKey, r.Own = h.reasonKey(registrar.CodeOf(reason)), h.ownPath(req, item.Name, reason)
		}
		for _, warning := range view.Warnings {
			if key := "warning." + string(warning.Kind); warning.Item == item.ID && h.templates.Has(key) {
				r.Warnings = append(r.Warnings, h.templates.Text(language, key, warning.Similar))
			}
		}
		if item.Kind == order.Transfer {
			r.Page = path
			r.Told = item.SealedCode != "" && !slices.Contains(view.MissingByItem[item.ID], order.MissingCode)
			r.Code = &ui.Field{
				ID: "code-" + item.ID, Name: "code", Label: "code.label", Hint: "code.hint", Type: "text", Autocomplete: "off", MaxLength: 255,
			}
			if t.item == item.ID {
				r.Code.Problem, r.Code.Focus, r.Told = t.problem, true, false
			}
		}
		rows = append(rows, r)
	}
	return rows
}

func (h *Handler) newItemRow(language string, item order.Item) itemRow {
	r := itemRow{Item: item, WhatKey: "kind." + string(item.Kind), Term: h.term(language, item.Years)}
	switch item.State {
	case order.ItemProvisioning, order.ItemActive:
		r.StateKey = "item." + string(item.State) + "." + string(item.Kind)
	case order.ItemFailed, order.ItemRefunded:
		r.StateKey = "item." + string(item.State)
		if item.Gross == 0 {
			r.StateKey = "item.failed.free"
		}
		r.ReasonKey = h.reasonKey(item.Failure)
	case order.ItemWaiting:
	}
	return r
}

func (h *Handler) term(language string, years int) string {
	switch years {
	case 0:
		return h.templates.Text(language, "term.none")
	case 1:
		return h.templates.Text(language, "term.one")
	default:
		return h.templates.Text(language, "term.many", strconv.Itoa(years))
	}
}

// eppReasons says what the codes of registries' answers mean to people. All
// others are a refusal whose details help nobody here.
var eppReasons = map[registrar.Code]string{
	"epp_exists":    "reason.name_taken",
	"epp_missing":   "reason.registry_gone",
	"epp_auth_info": "reason.auth_code_wrong",
	"epp_billing":   "reason.registry_billing",
}

// reasonKey is the sentence about why a name can't be had, or one that fits all.
func (h *Handler) reasonKey(code registrar.Code) string {
	if key := "reason." + string(code); h.templates.Has(key) {
		return key
	}
	if key, known := eppReasons[code]; known {
		return key
	}
	if strings.HasPrefix(string(code), "epp_") {
		return "reason.registry_denied"
	}
	return "reason.other"
}
