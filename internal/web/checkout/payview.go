package checkout

import (
	"slices"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/billing"
	"github.com/dotkontor/dotkontor/internal/registrar/lifecycle"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/renewal"
	"github.com/dotkontor/dotkontor/internal/registrar/withdrawal"
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
	Items   itemList // the same rows, as the page shows them
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
	TickAgain   bool            // consents that were given with a payment have ended with it
	Verify      string          // the page for the identity verification; empty if not required
	VerifyOver  registrar.Cents // the gross of 30 days above which it is required
	Continue    string          // the open payment page; empty if there is none
	Renewal     *renewalConsent // automatic renewal, which the customer may agree to; nil if it is not offered
	Consent     *consent        // what a consumer must accept; nil if not required
	Holders     *holderChoices  // for whom the items are ordered; nil if there is no choice
	Codes       int             // transfers that have their auth code
	ManyCodes   bool            // too many to list them
	RefusedKey  string          // what to do about items that can't be ordered any more; empty if there are none
	Rules       []unmetRule     // requirements of extensions that the customer does not meet as their holder
	Unmet       []unmetHolder   // chosen holders that don't
	OnlyHolders bool            // nothing else is missing
	Again       bool            // it ended without a payment, and its items can be put into the basket again
	Changeable  bool            // the viewer can still pay, decline or complete it
	TextKey     string          // describes the state of the order
	Days        int             // how long a transfer in progress may take; 0: none is
	Owned       []ownedDomain   // the domains of the order, once it is completed
	OwnedNew    int             // how many of them are new to the viewer
	Renewing    int             // how many of them renew automatically
	Delayed     bool            // it takes longer than usual
	Outcome     bool            // true once it is paid: the rows show their state
	Invoiced    bool            // there is an invoice or will be one shortly
	ReturnedKey string          // says that an unmatched payment is being or was refunded
	Refunds     []refundRow     // what the viewer gets back
	Kept        registrar.Cents // what is left of the payment after its refunds
}

// registrantForm has what private persons fill in, and what companies need.
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
		case account.FieldOrganisation, account.FieldVATID:
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
// agrees to. Without Rows there is no checkbox, and only Declared is shown. It is checked only if
// they have just checked it for the same prices.
type renewalConsent struct {
	Wording, Text string
	Prices        string       // as shown, for the form
	Rows, More    []renewalRow // More are in a closed part
	Excluded      []string     // premium names whose renewal price the registry does not state
	Declared      []declaredRow
	Checked       bool
	Again         bool // it was checked for other prices
}

// declaredRow is a domain that can't renew automatically because of an open notice.
type declaredRow struct {
	Name string
	Kind withdrawal.Kind
}

type renewalRow struct {
	Name  string
	Term  string
	Gross registrar.Cents
	// ChargeAt is the day of the first charge; zero if the end of the term, Ends, is not known yet.
	// It is LeadDays before that end.
	ChargeAt, Ends time.Time
	LeadDays       int
	// NextTerm means that this term ends too soon to announce a charge. It may if fewer than RestDays are
	// left of the term that a transfer keeps; 0 for any other item.
	NextTerm bool
	RestDays int
}

// consent is the checkbox of a consumer's express request. It is checked only if they have
// just checked it for the order as shown, and something else was wrong.
type consent struct {
	Wording, Text string
	Checked       bool
	ProblemKey    string // says that it was not checked
}

// summary is shared by the list and the page of an order.
type summary struct {
	Rate   string
	VATKey string // explains the rate; empty if not needed
	// WithdrawalEnded means that the last day of the withdrawal period is over, Withdrawable that
	// there is something to withdraw from.
	WithdrawalEnded, Withdrawable bool
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

func (h *Handler) summaryOf(language string, o order.Order) summary {
	s := summary{Rate: formatRate(language, o.Totals.RateBasisPoints), WithdrawalEnded: !o.PaidAt.IsZero() && o.WithdrawalEnded(h.Now()), Withdrawable: o.Withdrawable(h.Now())}
	if key := "vat." + o.Totals.Rule; o.Totals.Net > 0 && h.templates.Has(key) {
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
	delayed := o.IsDelayed(h.Now())
	s := payData{
		Page: currentPayPath(req), SignIn: ui.WithNext(ui.SignInPath, currentPayPath(req)), View: view, Order: o,
		Rows: h.newItemRows(req, currentPayPath(req), view, t), summary: h.summaryOf(req.Language, o), Steps: stepsOf(o), AskedKey: askedKey(o, view.IsOwner), Holder: holderOf(o),
		Delayed: delayed, Outcome: !o.PaidAt.IsZero(), ReturnedKey: returnedKey(o), TextKey: textKey(o, view.IsOwner, delayed),
		Changeable: view.IsOwner && o.State.Open() && o.State != order.Paying, RefusedKey: refusedKey(view),
		Again: view.IsOwner && canOrderAgain(o),
	}
	if view.IsOwner {
		if _, err := h.addEnds(req, o, s.Rows); err != nil {
			return payData{}, err
		}
		s.Refunds, s.Kept = refundRows(o), keptOf(o)
	}
	h.warnOfNotices(req, view, s.Rows)
	s.Items = newItemList(s.Rows, s.Outcome)
	for _, item := range o.Items {
		if item.Kind == order.Transfer && item.State == order.ItemProvisioning {
			_, days := h.TransferTerms(item.TLD)
			s.Days = max(s.Days, days, 1)
		}
	}
	needsRegistrant := s.Changeable && slices.Contains(view.Missing, order.MissingRegistrant)
	if needsRegistrant && o.State == order.AwaitingVerification {
		s.TextKey = "pay.text.address_first" // whether it stays required depends on the VAT
	}
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
	s.Rules, s.Unmet = h.unmetRules(req.Language, view), h.unmetHolders(req.Language, s.Page, view)
	s.OnlyHolders = onlyHoldersMissing(view)
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
			s.Verify, s.VerifyOver = h.localPath(address), h.Orders.VerifyOver()
		}
	}
	if s.Changeable {
		var err error
		if s.Holders, err = h.holderChoices(req, o); err != nil {
			return payData{}, err
		}
		if s.Holders != nil {
			s.Holders.joinOrderForm(s.Orderable, s.Registrant != nil)
		}
	}
	for _, payment := range o.Payments {
		if o.State == order.Paying && payment.State == order.PaymentOpen {
			s.Continue = payment.URL
		}
	}
	if next := slices.IndexFunc(s.Rows, func(r itemRow) bool { return r.Code != nil && !r.HasCode }); next >= 0 {
		s.Rows[next].Main = s.Registrant == nil && s.Profile == "" && len(s.Unmet) == 0 && s.Verify == ""
	}
	for _, row := range s.Rows {
		if row.HasCode {
			s.Codes++
		}
	}
	s.ManyCodes = s.Codes > shownItems
	s.Invoiced, s.Owned = hasInvoice(o), ownedDomains(o, s.Rows)
	for _, domain := range s.Owned {
		if domain.New {
			s.OwnedNew++
		}
		if domain.Renews {
			s.Renewing++
		}
	}
	if s.Renewal = h.renewalConsent(req, view, s.Orderable); s.Renewal != nil && t.confirmation != nil {
		s.Renewal.Checked = t.confirms(o) && t.confirmation.RenewalWording == s.Renewal.Wording && t.confirmation.RenewalPrices == s.Renewal.Prices
		s.Renewal.Again = t.confirmation.AutoRenew && !s.Renewal.Checked
	}
	s.TickAgain = s.TextKey == notPaidKey && t.confirmation == nil && (s.Consent != nil || s.Renewal != nil && len(s.Renewal.Rows) > 0)
	if o.Totals.ForConsumer() && view.Owner.VATID != "" && !o.Totals.Unchecked && o.State.Open() {
		s.VATKey = vatNotConfirmed
	}
	if t.registrant != nil && o.Totals.Rule == string(billing.RuleUnknownCountry) {
		s.VATKey = "vat.incomplete"
	}
	return s, nil
}

// warnOfNotices warns of paying for domains whose contracts the customer has withdrawn from or
// terminated, while that is not handled.
func (h *Handler) warnOfNotices(req *ui.Request, view order.View, rows []itemRow) {
	for i := range rows {
		for _, kind := range view.OpenNotices[rows[i].ID] {
			rows[i].Warnings = append(rows[i].Warnings, h.templates.Text(req.Language, "declared_renewal."+string(kind), ui.UnicodeName(rows[i].Name)))
		}
	}
}

// ownedDomain is a domain of a completed order. Page and Until, the end of its term, are zero
// if it is no longer held; New is false if it was renewed or restored. Renews means automatically,
// which the order asked for or the domain did already. Later is the price of the
// next term of a new one, LaterTerm its length. NextTerm means that this term ended too soon after the
// payment to announce an automatic charge. Locked means that the registry locks it against transfers.
type ownedDomain struct {
	Name, Key, Page string
	Until           time.Time
	New, Renews     bool
	NextTerm        bool
	Later           registrar.Cents
	LaterTerm       string
	Untaxed, Locked bool
}

// ownedDomains returns the domains of a completed order that were not refunded in full.
func ownedDomains(o order.Order, rows []itemRow) (owned []ownedDomain) {
	if o.State != order.Completed || o.IsRefunded() {
		return nil
	}
	for _, row := range rows {
		if row.Item.Gross > 0 && o.RefundedOf(row.ID) >= row.Item.Gross {
			continue
		}
		domain := ownedDomain{
			Name: row.Name, Key: "done." + string(row.Kind), New: !row.Kind.ForHeldDomain(), Renews: row.renews, Until: row.Until, Later: row.Later, LaterTerm: row.LaterTerm, Untaxed: row.Untaxed, Locked: row.locked,
		}
		if row.Kind == order.Register && row.Holder != "" {
			domain.Key = "done.register_for"
		}
		if row.domain != "" {
			domain.Page = ui.DomainsPath + "/" + row.domain
		}
		if !domain.New && !domain.Until.IsZero() {
			domain.Key += "_until"
		}
		domain.NextTerm = domain.Renews && !domain.Until.IsZero() && renewal.FirstChargeOf(o.PaidAt, domain.Until, row.TLD, 1).NextTerm
		owned = append(owned, domain)
	}
	return owned
}

// renewalConsent returns nil if automatic renewal is not offered: no item can be renewed,
// every domain renews already, or nothing is paid and no payment method is saved. Of domains with
// an open notice it says why it is not offered.
func (h *Handler) renewalConsent(req *ui.Request, view order.View, orderable bool) *renewalConsent {
	o := view.Order
	if len(view.Renewals) == 0 || !orderable || o.Totals.Gross == 0 && view.Owner.MethodLabel == "" {
		return nil
	}
	wording := renewal.ConsentWording(req.Language)
	box := &renewalConsent{Wording: wording, Text: renewal.ConsentText(wording), Prices: order.FormatRenewalPrices(o, view.RenewalOffers())}
	for _, item := range o.Items {
		price, renewed := view.Renewals[item.ID]
		if !renewed {
			if !item.PremiumFee.IsZero() {
				box.Excluded = append(box.Excluded, item.Name)
			}
			continue
		}
		row := renewalRow{
			Name: item.Name, Term: h.term(req.Language, price.Years), Gross: price.Gross, LeadDays: lifecycle.PolicyOf(item.TLD).LeadDays,
		}
		ends, renews := h.termEnd(req, item)
		if renews {
			continue
		}
		if kinds := view.OpenNotices[item.ID]; len(kinds) > 0 {
			box.Declared = append(box.Declared, declaredRow{item.Name, kinds[0]})
			continue
		}
		if !ends.IsZero() {
			first := renewal.FirstChargeOf(h.Now(), ends, item.TLD, price.Years)
			row.ChargeAt, row.Ends, row.NextTerm = first.At, ends, first.NextTerm
		} else if item.Kind == order.Transfer && transferTermKey(item.TLD, item.Years) == transferKeepsRest {
			row.RestDays = renewal.ShortestTermDays
		}
		box.Rows = append(box.Rows, row)
	}
	if len(box.Rows)+len(box.Declared) == 0 {
		return nil
	}
	if len(box.Rows) > shownItems {
		box.Rows, box.More = box.Rows[:shownItems], box.Rows[shownItems:]
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

// notPaidKey is the text of an order whose newest payment page was left.
const notPaidKey = "pay.text.not_paid"

// textKey returns the text key of what an order's state means; for its owner, also that all of it
// is refunded. If the newest payment page was closed without a payment, the customer may not know
// whether they have paid.
func textKey(o order.Order, isOwner, delayed bool) string {
	if isOwner && o.State != order.Failed && o.IsRefunded() {
		outstanding := func(r order.Refund) bool { return r.Due() || r.Task != order.TaskNone }
		switch {
		case keptOf(o) <= 0:
			return "pay.text.refunded"
		case slices.ContainsFunc(o.Refunds, outstanding):
			return "pay.text.refunding"
		}
	}
	if last := len(o.Payments) - 1; o.State == order.AwaitingPayment && last >= 0 && o.Payments[last].Kind == order.ByPage && o.Payments[last].State == order.PaymentClosed {
		return notPaidKey
	}
	if o.State == order.Provisioning && o.Totals.Gross > 0 && !delayed { // that has a note of its own
		return "pay.text.provisioning_paid"
	}
	if o.State == order.PartiallyCompleted && isFailedPartRefunded(o) {
		return "pay.text.partially_refunded"
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
	case registrar.ActorPerson, registrar.ActorOperator:
	}
	switch { // a person orders by paying
	case isOwner && o.PaidAt.IsZero():
		return "asked.you_open"
	case isOwner:
		return "asked.you"
	case o.PaidAt.IsZero():
		return "asked.person_open"
	default:
		return "asked.person"
	}
}

// holderOf says what the account's registrant is for an order: the holder of all its domains
// (new), of some of them (some), or only the customer who gets the invoice (same). Renewals and
// restores change no holder, and an item may name another one.
func holderOf(o order.Order) string {
	own := 0
	for _, item := range o.Items {
		if !item.Kind.ForHeldDomain() && item.Holder == "" {
			own++
		}
	}
	switch own {
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
