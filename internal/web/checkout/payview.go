package checkout

import (
	"slices"
	"strconv"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/billing"
	"github.com/dotkontor/dotkontor/internal/registrar/lifecycle"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/renewal"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// payData is the data of the templates. Fields that end in Key are text keys.
type payData struct {
	// Page is the path of this page; SignIn returns to it.
	Page, SignIn string
	View         order.View
	Order        order.Order
	// Problem is a message about the last action, and Invalid the fields that it is about.
	// Good means that it is no bad news, Correct is where the registrant can be corrected.
	Problem string
	Invalid []invalidField
	Good    bool
	Correct string
	Rows    []itemRow
	summary
	Steps    []step
	AskedKey string // who ordered, or the kind of client that prepared the order
	Holder   string // ends the keys of texts about the account's registrant; see holderOf
	// Registrant is the form for the first registrant data; nil if there is some. If it
	// does not meet a rule, Profile is where it can be changed.
	Registrant *registrantForm
	Profile    string
	// Orderable means that the page has the button that orders. It submits Registrant, too.
	Orderable   bool
	Verify      string          // the page for the identity verification; empty if not required
	Continue    string          // the open payment page; empty if there is none
	Renewal     *renewalConsent // automatic renewal, which the customer may agree to; nil if it is not offered
	Consent     *consent        // what a consumer must accept; nil if not required
	Codes       int             // transfers that have their auth code
	RefusedKey  string          // what to do about items that can't be ordered any more; empty if there are none
	Rules       []unmetRule     // requirements of extensions that the holder does not meet
	Changeable  bool            // the viewer can still pay, decline or complete it
	TextKey     string          // describes the state of the order
	Days        int             // how long a transfer in progress may take; 0: none is
	Owned       []ownedDomain   // the domains of the order, once it is completed
	OwnedNew    int             // how many of them are new to the viewer
	Delayed     bool            // it takes longer than usual
	Outcome     bool            // true once it is paid: the rows show their state
	Invoiced    bool            // there is an invoice or will be one shortly
	ReturnedKey string          // says that an unmatched payment is being or was refunded
}

// registrantForm has what every private person fills in, and what companies and some
// countries need.
type registrantForm struct {
	Holder       string // that of the order
	HeadingKey   string // empty means that of Holder
	Fields, More []ui.Field
	Open         bool // More has values or problems
}

// newRegistrantForm returns the form with what was entered, if anything.
func (h *Handler) newRegistrantForm(req *ui.Request, t formError) *registrantForm {
	registrant := account.Registrant{Country: "DE"}
	if t.registrant != nil {
		registrant = *t.registrant
	}
	fields := ui.RegistrantFields(req.Language, registrant)
	h.templates.MarkInvalid(fields, t.cause)
	shown := &registrantForm{}
	for _, field := range fields {
		switch field.Name {
		case account.FieldKind: // a company is one that names itself
		case account.FieldOrganisation, account.FieldState, account.FieldVATID:
			shown.More = append(shown.More, field)
			shown.Open = shown.Open || field.Value != "" || field.Problem != ""
		default:
			shown.Fields = append(shown.Fields, field)
		}
	}
	return shown
}

// step is one of the steps of a purchase. Current is the one that the page is at.
type step struct {
	Key           string
	Done, Current bool
}

// payStep is the step that an order without a charge does not have.
const payStep = "steps.pay"

// steps returns the steps of a purchase of which the first done are complete.
func steps(done int) []step {
	list := []step{{Key: "steps.choose"}, {Key: "steps.review"}, {Key: payStep}, {Key: "steps.done"}}
	for i := range list {
		list[i].Done, list[i].Current = i < done, i == done
	}
	return list
}

// stepsOf returns the steps of an order; nil if it ended without a payment.
func stepsOf(o order.Order) []step {
	list := orderSteps(o)
	if o.Totals.Gross == 0 && list != nil {
		return slices.DeleteFunc(list, func(s step) bool { return s.Key == payStep })
	}
	return list
}

func orderSteps(o order.Order) []step {
	switch {
	case o.State == order.Canceled || o.State == order.Expired:
		return nil
	case o.State.Open() && o.State != order.Paying:
		return steps(1)
	case o.State == order.Paying:
		return steps(2)
	case o.State == order.Provisioning:
		return steps(3)
	default:
		return steps(4)
	}
}

// renewalConsent is the checkbox of automatic renewal with everything that the customer
// agrees to. It is checked only if they have just checked it for the same prices.
type renewalConsent struct {
	Wording, Text string
	Prices        string // as shown, for the form
	Rows          []renewalRow
	Checked       bool
	Again         bool // it was checked for other prices
}

type renewalRow struct {
	Name  string
	Term  string
	Gross registrar.Cents
	// ChargeAt is the day of the first charge; zero if the end of the term is not known yet.
	// It is LeadDays before that end.
	ChargeAt time.Time
	LeadDays int
}

// consent is the checkbox of a consumer's express request. It is checked only if they have
// just checked it for the order as shown, and something else was wrong.
type consent struct {
	Wording, Text string
	Checked       bool
	ProblemKey    string // says that it was not checked
}

type itemRow struct {
	order.Item
	WhatKey string
	Term    string
	// StateKey is the state of a paid item, ReasonKey why it failed or is no longer
	// available.
	StateKey, ReasonKey string
	Own                 string // the domain's page if the visitor already holds it
	Page                string // the path of the order's page, for the auth code form
	// Code is the field for the auth code of a transfer; HasCode reports that one is
	// stored.
	Code     *ui.Field
	HasCode  bool
	Main     bool     // the code is the next thing to enter
	Warnings []string // texts
	Locks    bool     // the registry will lock the domain against transfers
	// Removable means that the viewer can remove the item from their order.
	Removable bool
	// Until is the end of the paid term of an item that can still be paid; zero if unknown.
	// Later is the price of the term after it, LaterTerm its length; zero if unknown.
	Until     time.Time
	Later     registrar.Cents
	LaterTerm string
}

// summary is shared by the list and the page of an order.
type summary struct {
	Rate   string
	VATKey string // explains the rate; empty if not needed
}

const vatNotConfirmed = "vat.not_confirmed"

// VATClass is the look of that explanation: whether a VAT ID was accepted stands out.
func (s summary) VATClass() string {
	switch s.VATKey {
	case "vat." + string(billing.RuleReverseCharge):
		return "note good"
	case vatNotConfirmed:
		return "note warning"
	default:
		return "hint"
	}
}

func (h *Handler) summaryOf(language string, totals order.Totals) summary {
	s := summary{Rate: formatRate(language, totals.RateBasisPoints)}
	if key := "vat." + totals.Rule; totals.Net > 0 && h.templates.Has(key) {
		s.VATKey = key
	}
	return s
}

// formatRate formats hundredths of a percent.
func formatRate(language string, basisPoints int) string {
	return ui.FormatRate(language, basisPoints) + ui.InLanguage(language, "\u00a0%", "%")
}

func (h *Handler) newPayData(req *ui.Request, view order.View, t formError) (payData, error) {
	o := view.Order
	s := payData{
		Page: currentPayPath(req), SignIn: ui.WithNext(ui.SignInPath, currentPayPath(req)), View: view, Order: o,
		Rows: h.newItemRows(req, currentPayPath(req), view, t), summary: h.summaryOf(req.Language, o.Totals), Steps: stepsOf(o), AskedKey: askedKey(o, view.IsOwner), Holder: holderOf(o),
		Delayed: o.IsDelayed(req.Now), Outcome: !o.PaidAt.IsZero(), ReturnedKey: returnedKey(o), TextKey: textKey(o),
		Changeable: view.IsOwner && o.State.Open() && o.State != order.Paying, RefusedKey: refusedKey(view),
	}
	for _, item := range o.Items {
		if item.Kind == order.Transfer && item.State == order.ItemProvisioning {
			_, days := h.TransferTerms(item.TLD)
			s.Days = max(s.Days, days, 1)
		}
	}
	needsRegistrant := s.Changeable && slices.Contains(view.Missing, order.MissingRegistrant)
	if needsRegistrant {
		s.Registrant = h.newRegistrantForm(req, t)
		if s.Registrant.Holder = s.Holder; s.Holder == "new" && len(o.Items) == 1 {
			s.Registrant.HeadingKey = "need.registrant.heading.one"
		}
	}
	s.Orderable = s.Changeable && (view.Payable || needsRegistrant && len(view.Missing) == 1 && len(view.Refused) == 0)
	if s.Orderable && view.Owner.Consumer(o.Totals) {
		wording := order.ConsentWording(req.Language)
		s.Consent = &consent{Wording: wording, Text: order.ConsentText(wording), Checked: t.consents(o) && t.confirmation.Consent == wording}
	}
	consentMissing := ui.ProblemKey(order.ConsentMissing)
	switch {
	case s.Consent != nil && t.problem == consentMissing:
		s.Consent.ProblemKey = t.problem
	case t.problem != "" && !s.hasCodeForm(t.item):
		s.Problem = h.templates.Text(req.Language, t.problem)
		h.explainTotal(req.Language, &s, t)
	}
	if s.Consent != nil && t.asksConsumer() && !s.Consent.Checked { // all problems at once
		s.Consent.ProblemKey = consentMissing
	}
	s.Invalid = s.invalidFields()
	if !view.IsOwner {
		return s, nil
	}
	s.Rules = h.unmetRules(view)
	if s.Registrant == nil && len(s.Rules) > 0 {
		s.Profile = ui.WithNext(ui.RegistrantPath, s.Page)
	}
	needsIdentity := o.State == order.AwaitingVerification || o.State == order.AwaitingPayment && slices.Contains(view.Missing, order.MissingIdentity)
	if needsIdentity && s.Registrant == nil { // the document must show the registrant's name
		address, err := h.Orders.VerifyURL(o)
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
	if next := slices.IndexFunc(s.Rows, func(r itemRow) bool { return r.Code != nil && !r.HasCode }); next >= 0 {
		s.Rows[next].Main = s.Registrant == nil && s.Profile == "" && s.Verify == ""
	}
	for _, row := range s.Rows {
		if row.HasCode {
			s.Codes++
		}
	}
	s.Invoiced, s.Owned = hasInvoice(o), h.ownedDomains(req, o)
	for _, domain := range s.Owned {
		if domain.New {
			s.OwnedNew++
		}
	}
	if s.Renewal = h.renewalConsent(req, view, s.Orderable); s.Renewal != nil && t.confirmation != nil {
		s.Renewal.Checked = t.confirms(o) && t.confirmation.RenewalWording == s.Renewal.Wording && t.confirmation.RenewalPrices == s.Renewal.Prices
		s.Renewal.Again = t.confirmation.AutoRenew && !s.Renewal.Checked
	}
	if o.Totals.ForConsumer() && view.Owner.VATID != "" && !o.Totals.Unchecked && o.State.Open() {
		s.VATKey = vatNotConfirmed
	}
	return s, nil
}

// ownedDomain is a domain of a completed order. Page and Until, the end of its term, are zero
// if it is no longer held; New is false if it was renewed or restored.
type ownedDomain struct {
	Name, Key, Page string
	Until           time.Time
	New             bool
}

// ownedDomains returns the domains of a completed order.
func (h *Handler) ownedDomains(req *ui.Request, o order.Order) (owned []ownedDomain) {
	if o.State != order.Completed {
		return nil
	}
	for _, item := range o.Items {
		domain := ownedDomain{Name: item.Name, Key: "done." + string(item.Kind), New: !item.Kind.ForHeldDomain()}
		if held, ok, err := h.FindDomain(req.R.Context(), req.Actor(), item.Name); err == nil && ok {
			domain.Page, domain.Until = ui.DomainsPath+"/"+held.ID, held.PaidUntil
		}
		if !domain.New && !domain.Until.IsZero() {
			domain.Key += "_until"
		}
		owned = append(owned, domain)
	}
	return owned
}

// renewalConsent returns nil if automatic renewal is not offered: no item can be renewed,
// every domain renews already, or nothing is paid and no payment method is saved.
func (h *Handler) renewalConsent(req *ui.Request, view order.View, orderable bool) *renewalConsent {
	o := view.Order
	if len(view.Renewals) == 0 || !orderable || o.Totals.Gross == 0 && view.Owner.MethodLabel == "" {
		return nil
	}
	wording := renewal.ConsentWording(req.Language)
	box := &renewalConsent{Wording: wording, Text: renewal.ConsentText(wording), Prices: order.FormatRenewalPrices(o, view.Renewals)}
	for _, item := range o.Items {
		price, renewed := view.Renewals[item.ID]
		if !renewed {
			continue
		}
		row := renewalRow{
			Name: item.Name, Term: h.term(req.Language, price.Years), Gross: price.Gross, LeadDays: lifecycle.PolicyOf(item.TLD).LeadDays,
		}
		ends, renews := h.termEnd(req, item)
		if renews {
			continue
		}
		if !ends.IsZero() {
			row.ChargeAt = renewal.FirstChargeOf(h.Now(), ends, item.TLD, price.Years).At
		}
		box.Rows = append(box.Rows, row)
	}
	if len(box.Rows) == 0 {
		return nil
	}
	return box
}

// termEnd is when the term that an item starts or extends ends, zero if only the registry
// knows, and whether the domain renews automatically already. On an error the page says less.
func (h *Handler) termEnd(req *ui.Request, item order.Item) (ends time.Time, renews bool) {
	if item.Kind == order.Register {
		return h.Now().AddDate(item.Years, 0, 0), false
	}
	if !item.Kind.ForHeldDomain() {
		return time.Time{}, false
	}
	domain, held, err := h.FindDomain(req.R.Context(), req.Actor(), item.Name)
	if err != nil || !held || domain.PaidUntil.IsZero() {
		return time.Time{}, false
	}
	return domain.PaidUntil.AddDate(item.Years, 0, 0), domain.Renews()
}

// hasCodeForm reports whether an item has an auth code form, which then shows the
// problem.
func (s *payData) hasCodeForm(item string) bool {
	return s.Changeable && slices.ContainsFunc(s.Rows, func(r itemRow) bool { return r.ID == item && r.Code != nil })
}

// displayState is the order's state as its texts name it: a free order awaits no
// payment.
func displayState(o order.Order) string {
	if o.State == order.AwaitingPayment && o.Totals.Gross == 0 {
		return "free"
	}
	return string(o.State)
}

// textKey returns the text key of what an order's state means. If the newest payment page was
// closed without a payment, the customer may not know whether they have paid.
func textKey(o order.Order) string {
	if last := len(o.Payments) - 1; o.State == order.AwaitingPayment && last >= 0 && o.Payments[last].Kind == order.ByPage && o.Payments[last].State == order.PaymentClosed {
		return "pay.text.not_paid"
	}
	return "pay.text." + displayState(o)
}

func askedKey(o order.Order, isOwner bool) string {
	switch o.By.Kind {
	case registrar.ActorToken:
		return "asked.token"
	case registrar.ActorApplication:
		return "asked.application"
	case registrar.ActorAgent:
		return "asked.agent"
	case registrar.ActorSystem:
		return "asked.system"
	default:
		if isOwner {
			return "asked.you"
		}
		return "asked.person"
	}
}

// holderOf says what the account's registrant is for an order: the holder of all its domains
// (new), of some of them (some), or only the customer who gets the invoice (same), because
// transfers, renewals and restores change no holder.
func holderOf(o order.Order) string {
	registrations := 0
	for _, item := range o.Items {
		if item.Kind == order.Register {
			registrations++
		}
	}
	switch registrations {
	case len(o.Items):
		return "new"
	case 0:
		return "same"
	default:
		return "some"
	}
}

// returnedKey is about unmatched payments.
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

// refusedKey says what to do about an order with refused items.
func refusedKey(view order.View) string {
	if len(view.Refused) == 0 {
		return ""
	}
	unpaid := slices.ContainsFunc(view.Order.Items, func(i order.Item) bool { return registrar.CodeOf(view.Refused[i.ID]) != order.TermPaid })
	switch {
	case !unpaid:
		return "pay.refused_paid"
	case view.Order.Editable() && (view.Order.IsRenewalBasket() || len(view.Order.Items) > 1):
		return "pay.refused_some"
	default:
		return "pay.refused"
	}
}

// ownDomain returns the text key and the domain's page if a name is refused because the visitor
// already holds it. Others only learn that it is taken. On an error only the reason is shown.
func (h *Handler) ownDomain(req *ui.Request, kind order.Kind, name string, why error) (key, page string) {
	if !req.SignedIn || registrar.CodeOf(why) != registrar.NameHeld {
		return "", ""
	}
	domain, held, err := h.FindDomain(req.R.Context(), req.Actor(), name)
	if err != nil {
		httpjson.RecordError(req.W, err)
	}
	if err != nil || !held {
		return "", ""
	}
	switch {
	case domain.Status != registrar.DomainPending:
		key = "reason.yours"
	case kind == order.Transfer:
		key = "reason.transferring"
	default:
		key = "reason.ordered"
	}
	return key, ui.DomainsPath + "/" + domain.ID
}

func (h *Handler) newItemRows(req *ui.Request, path string, view order.View, t formError) []itemRow {
	language := req.Language
	rows := make([]itemRow, 0, len(view.Order.Items))
	for _, item := range view.Order.Items {
		r := h.newItemRow(language, item)
		if reason, refused := view.Refused[item.ID]; refused {
			r.ReasonKey = h.reasonKey(item.Kind, registrar.CodeOf(reason))
			if key, page := h.ownDomain(req, item.Kind, item.Name, reason); page != "" {
				r.ReasonKey, r.Own = key, page
			}
		}
		for _, warning := range view.Warnings {
			if key := "warning." + string(warning.Kind); warning.Item == item.ID && h.templates.Has(key) {
				r.Warnings = append(r.Warnings, h.templates.Text(language, key, warning.Similar))
			}
		}
		r.Locks = !item.Kind.ForHeldDomain() && view.Order.State.Open() && h.LocksTransfers(item.TLD)
		if r.Removable = view.IsOwner && view.Order.Editable() && (view.Order.IsRenewalBasket() || len(view.Order.Items) > 1) && view.Order.State.Open() && view.Order.State != order.Paying; r.Removable {
			r.Page = path
		}
		if view.IsOwner && view.Order.State.Open() {
			if r.Until = item.TermEnd.AddDate(item.Years, 0, 0); item.TermEnd.IsZero() {
				r.Until, _ = h.termEnd(req, item)
			}
			if price, renewed := view.Renewals[item.ID]; renewed {
				r.Later, r.LaterTerm = price.Gross, h.term(language, price.Years)
			}
		}
		if item.Kind == order.Transfer {
			r.Page = path
			r.HasCode = item.SealedCode != "" && !slices.Contains(view.MissingByItem[item.ID], order.MissingCode)
			r.Code = &ui.Field{
				ID: "code-" + item.ID, Name: "code", Label: "code.label", Hint: "code.hint", Type: "text", Autocomplete: "off", MaxLength: 255,
			}
			if t.item == item.ID {
				r.Code.Problem, r.Code.Focus, r.HasCode = t.problem, true, false
			}
		}
		rows = append(rows, r)
	}
	return rows
}

func (h *Handler) itemRows(language string, o order.Order) (rows []itemRow) {
	for _, item := range o.Items {
		rows = append(rows, h.newItemRow(language, item))
	}
	return rows
}

func (h *Handler) newItemRow(language string, item order.Item) itemRow {
	r := itemRow{Item: item, WhatKey: "kind." + string(item.Kind), Term: h.term(language, item.Years)}
	if item.Kind == order.Transfer {
		r.Term = h.templates.Text(language, transferTermKey(item.TLD, item.Years), item.Years)
	}
	switch item.State {
	case order.ItemProvisioning, order.ItemActive:
		r.StateKey = "item." + string(item.State) + "." + string(item.Kind)
	case order.ItemFailed, order.ItemRefunded:
		r.StateKey = "item." + string(item.State)
		if item.Gross == 0 {
			r.StateKey = "item.failed.free"
		}
		r.ReasonKey = h.reasonKey(item.Kind, item.Failure)
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

// failureTexts are the texts of codes without one of their own.
var failureTexts = map[registrar.FailureReason]string{
	registrar.FailureTaken:  "reason.name_taken",
	registrar.FailureHeld:   "reason.transfer_held",
	registrar.FailureCode:   "reason.auth_code_wrong",
	registrar.FailureLocked: "reason.registry_locked",
	registrar.FailureGone:   "reason.registry_gone",
	registrar.FailureOurs:   "reason.registry_billing",
	registrar.FailureDenied: "reason.registry_denied",
	registrar.FailureOther:  "reason.other",
}

// reasonKey returns the text key of why an item can't be ordered or has failed, or a generic one.
func (h *Handler) reasonKey(kind order.Kind, code registrar.Code) string {
	reason := registrar.FailureReasonOf(code, kind == order.Transfer)
	if key := "reason." + string(code); reason != registrar.FailureHeld && h.templates.Has(key) {
		return key
	}
	return failureTexts[reason]
}
