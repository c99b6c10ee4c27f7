package operator

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/admin"
	"github.com/dotkontor/dotkontor/internal/registrar/dispute"
	"github.com/dotkontor/dotkontor/internal/registrar/lifecycle"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/withdrawal"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// refundFilters are the filters of the list, which are part of text keys.
var refundFilters = []admin.RefundFilter{admin.UndecidedRefunds, admin.PendingRefunds}

func (h *Handler) refunds(req *ui.Request, operator registrar.Actor) error {
	state, filter := stateFilter(req, refundFilters)
	refunds, err := h.Admin.ListRefunds(req.R.Context(), operator, state, req.Query("before"))
	if err != nil {
		return err
	}
	return h.render(req, ui.View{Name: "refunds", Section: refundsPath}, struct {
		States  []admin.RefundFilter
		State   admin.RefundFilter
		Refunds []refundRow
		listedPage
	}{refundFilters, state, newRefundRows(refunds.Rows, h.Now()), listedPage{newPageLinks(req, refundsPath, filter, refunds.Older), refunds.Unaudited}}, "")
}

// refundView is the form of a refund, or the preview that confirms it.
type refundView struct {
	ID      string // the order
	Fields  []ui.Field
	Note    string
	NoteBad bool
	MaxNote int
	Notice  *noticeRow // that the refund is for
	// Named are the domains of the order that the notice is about. EachAlone means that they are some of
	// several, which have to be refunded one after the other.
	Named     []string
	EachAlone bool
	// Completes means that the refund closes the notice.
	Completes bool
	Closed    bool // nothing can be refunded; the page says why
	// TakenBack is what the bank has returned to the customer, Disputed that it may.
	TakenBack registrar.Cents
	Disputed  bool
	// Request is what the preview shows; Amount is as entered.
	Request order.RefundRequested
	Amount  string
	Preview *order.RefundPreview
}

// ItemName is the name of the domain that is refunded; empty means the whole order.
func (v refundView) ItemName() string {
	return v.Preview.Order.NameOf(v.Request.Item)
}

// Covered are the domains of which the preview refunds something.
func (v refundView) Covered() (names []string) {
	for _, line := range v.Preview.Lines {
		names = append(names, line.Item.Name)
	}
	return names
}

// parseAmount reads an amount as people write it: 12, 12.90 or 12,90. Empty means all that is
// left.
func parseAmount(text string) (registrar.Cents, bool) {
	text = strings.ReplaceAll(strings.TrimSpace(text), ",", ".")
	if text == "" {
		return 0, true
	}
	if !strings.Contains(text, ".") {
		text += ".00"
	}
	amount, err := registrar.ParseCents(text)
	return amount, err == nil && amount > 0
}

// wholeOrder is the choice of all items: a required field needs a value.
const wholeOrder = "all"

func refundRequest(req *ui.Request) (order.RefundRequested, bool) {
	amount, ok := parseAmount(req.Text("amount"))
	item := req.Text("item")
	if item == wholeOrder {
		item = ""
	}
	return order.RefundRequested{
		Order: req.R.PathValue("id"), Item: item, Amount: amount, Reason: req.Text("reason"), Note: req.Text("note"),
		Notice: req.Text("notice"), Delete: req.Field("delete") == "yes", Seen: req.Field("seen"),
	}, ok
}

func refundPath(id string) string { return ordersPath + "/" + url.PathEscape(id) + "/refund" }

// filledRefundPath is the form with what was entered, to which a new sign-in returns.
func filledRefundPath(request order.RefundRequested, amount string) string {
	return ui.WithQuery(refundPath(request.Order), map[string]string{
		"item": request.Item, "amount": amount, "reason": request.Reason, "note": request.Note, "notice": request.Notice,
	})
}

// refundForm shows the form. The query fills it in: with a notice, an item, or what was entered
// before the operator had to sign in again.
func (h *Handler) refundForm(req *ui.Request, operator registrar.Actor) error {
	request := order.RefundRequested{
		Order: req.R.PathValue("id"), Item: req.Query("item"), Notice: req.Query("notice"), Reason: req.Query("reason"), Note: req.Query("note"),
	}
	if request.Notice != "" && request.Reason == "" {
		request.Reason = order.ReasonWithdrawal
	}
	if about := req.Query("about"); about != "" { // a termination, which no refund closes
		notice, err := h.Notices.Get(req.R.Context(), operator, about)
		if err != nil {
			return err
		}
		record, err := h.Customers.Order(req.R.Context(), operator, request.Order)
		if err != nil {
			return err
		}
		request.Item = withdrawnItem(record.Order, notice.Contract)
	}
	return h.showRefundForm(req, operator, request, req.Query("amount"), nil)
}

// showRefundForm shows the form with what was entered. problem is why it was refused.
func (h *Handler) showRefundForm(req *ui.Request, operator registrar.Actor, request order.RefundRequested, amount string, problem error) error {
	record, err := h.Customers.Order(req.R.Context(), operator, request.Order)
	if err != nil {
		return err
	}
	req.SetFormPath(filledRefundPath(request, amount))
	view := refundView{ID: record.ID, Note: request.Note, MaxNote: order.MaxRefundNote, Request: request}
	if refusal := record.RefundRefusal(); refusal != "" {
		view.Closed, problem = true, registrar.Conflict(refusal)
		view.TakenBack, view.Disputed = record.TakenBack(), refusal == order.ChargeLost || refusal == order.ChargeDisputed
	}
	if view.Notice, err = h.refundNotice(req, operator, request.Notice); err != nil {
		return err
	}
	if view.Notice != nil {
		if problem == nil && request.Item == "" {
			request.Item = withdrawnItem(record.Order, view.Notice.Contract)
		}
		named := namedItems(record.Items, view.Notice.Contract)
		view.EachAlone = len(named) > 1 && len(named) < len(record.Items)
		for _, item := range named {
			view.Named = append(view.Named, item.Name)
		}
	}
	whole := h.templates.Text(req.Language, "refund.whole")
	if len(record.Items) > 1 {
		whole = h.templates.Text(req.Language, "refund.whole_of", len(record.Items))
	}
	what := ui.Field{Name: "item", Label: "refund.what", Choices: []ui.Choice{{Value: wholeOrder, Text: whole}}}
	for _, item := range record.Items {
		if left := record.RemainingOf(item.ID); left > 0 {
			what.Choices = append(what.Choices, ui.Choice{Value: item.ID, Text: item.Name + " · " + ui.FormatMoney(req.Language, left)})
		}
	}
	reason := ui.Field{Name: "reason", Label: "refund.reason"}
	for _, one := range order.OperatorReasons() {
		reason.Choices = append(reason.Choices, ui.Choice{Value: one, Label: "refund_reason." + one})
	}
	status, message, amountProblem := http.StatusOK, "", ""
	switch code := registrar.CodeOf(problem); {
	case problem == nil:
	case code == order.RefundTooLarge, code == badAmount:
		status, amountProblem = http.StatusUnprocessableEntity, ui.ProblemKey(code)
	case code == order.BadRefund:
		status, view.NoteBad = http.StatusUnprocessableEntity, true
	default:
		status = http.StatusConflict
		message, _ = h.errorText(req, problem)
		if view.TakenBack > 0 && code == order.ChargeLost {
			message = h.templates.Text(req.Language, "refund.taken_back", ui.FormatMoney(req.Language, view.TakenBack))
		}
	}
	view.Fields = []ui.Field{
		what.With(cmp.Or(request.Item, wholeOrder), ""),
		ui.Field{Name: "amount", Label: "refund.amount", Hint: "refund.amount_hint", Type: "text", InputMode: "decimal", MaxLength: 12, Autocomplete: "off", Optional: true}.With(amount, amountProblem),
		reason.With(request.Reason, ""),
	}
	preview := record.Order
	view.Preview = &order.RefundPreview{Order: preview, Remaining: record.Left()}
	return h.render(req, ui.View{Name: "refundform", Status: status, Title: "refund.title", TitleValue: record.ID, Section: ordersPath}, view, message)
}

// namedItems returns the items that a notice is about: those whose domains it names, or all if it names
// none of them.
func namedItems(items []order.Item, contract string) []order.Item {
	mentions := withdrawal.Notice{Contract: contract}.Mentions()
	named := slices.DeleteFunc(slices.Clone(items), func(item order.Item) bool { return !slices.Contains(mentions, item.Name) })
	if len(named) == 0 {
		return items
	}
	return named
}

// withdrawnItem returns the item with which the refund for a notice begins; empty for the whole order.
// Of several items that it names, but not all, that is the first of which something is left.
func withdrawnItem(o order.Order, contract string) (id string) {
	named := namedItems(o.Items, contract)
	if len(named) == len(o.Items) {
		return ""
	}
	for _, item := range named {
		if id == "" || o.RemainingOf(id) <= 0 {
			id = item.ID
		}
	}
	return id
}

// badAmount is the code of an amount that can't be read.
const badAmount registrar.Code = "bad_amount"

// refundNotice returns the notice that a refund is for; nil without one.
func (h *Handler) refundNotice(req *ui.Request, operator registrar.Actor, id string) (*noticeRow, error) {
	if id == "" {
		return nil, nil
	}
	notice, err := h.Notices.Get(req.R.Context(), operator, id)
	if err != nil {
		return nil, err
	}
	row := newNoticeRow(notice, h.Notices.Now())
	return &row, nil
}

// previewRefund shows what would happen, and asks for a confirmation.
func (h *Handler) previewRefund(req *ui.Request, operator registrar.Actor) error {
	request, ok := refundRequest(req)
	if !ok {
		return h.showRefundForm(req, operator, request, req.Text("amount"), registrar.Invalid(badAmount))
	}
	record, err := h.Customers.Order(req.R.Context(), operator, request.Order)
	if err != nil {
		return err
	}
	if refusal := record.RefundRefusal(); refusal != "" {
		return h.refusedRefund(req, operator, request, registrar.Conflict(refusal))
	}
	preview, err := h.Refunds.Preview(req.R.Context(), operator, request)
	if err == nil {
		err = request.Check()
	}
	if err != nil {
		return h.refusedRefund(req, operator, request, err)
	}
	view := refundView{ID: preview.Order.ID, Request: request, Amount: req.Text("amount"), Preview: &preview}
	view.Request.Seen = preview.Seen
	if view.Notice, err = h.refundNotice(req, operator, request.Notice); err != nil {
		return err
	}
	if view.Notice != nil {
		view.Completes = preview.Completes(view.Notice.Mentions())
	}
	req.SetFormPath(filledRefundPath(request, view.Amount))
	return h.render(req, ui.View{Name: "refundpreview", Title: "refund.preview", TitleValue: preview.Order.ID, Section: ordersPath}, view, "")
}

// refusedRefund shows the form again with the reason, or the error page.
func (h *Handler) refusedRefund(req *ui.Request, operator registrar.Actor, request order.RefundRequested, err error) error {
	if _, known := h.errorText(req, err); known && registrar.KindOf(err) != registrar.KindNotFound {
		return h.showRefundForm(req, operator, request, req.Text("amount"), err)
	}
	return err
}

// orderRefund stores a refund that was previewed.
func (h *Handler) orderRefund(req *ui.Request, operator registrar.Actor) error {
	request, ok := refundRequest(req)
	req.SetFormPath(filledRefundPath(request, req.Text("amount")))
	if err := req.Actor().RequireRecentSignIn(req.Now); err != nil {
		return err
	}
	if !ok {
		return h.showRefundForm(req, operator, request, req.Text("amount"), registrar.Invalid(badAmount))
	}
	if _, err := h.Refunds.Order(req.R.Context(), operator, request); err != nil {
		return h.refusedRefund(req, operator, request, err)
	}
	return req.RedirectWithFlash("refund_ordered", ordersPath+"/"+url.PathEscape(request.Order))
}

// decideRefund applies a decision about a refund and returns to the order.
func (h *Handler) decideRefund(note string, decide func(req *ui.Request, operator registrar.Actor, id, refund string) error) pageFunc {
	return func(req *ui.Request, operator registrar.Actor) error {
		id := req.R.PathValue("id")
		err := decide(req, operator, id, req.R.PathValue("refund"))
		if message, known := h.errorText(req, err); err != nil && known && registrar.KindOf(err) != registrar.KindNotFound {
			req.SetFormPath(ordersPath + "/" + url.PathEscape(id))
			status := http.StatusConflict
			if registrar.KindOf(err) == registrar.KindInvalid {
				status = http.StatusUnprocessableEntity
			}
			return h.showOrder(req, operator, status, message)
		}
		if err != nil {
			return err
		}
		return req.RedirectWithFlash(note, ordersPath+"/"+url.PathEscape(id))
	}
}

func (h *Handler) assignRefund(req *ui.Request, operator registrar.Actor, id, refund string) error {
	record, err := h.Customers.Order(req.R.Context(), operator, id)
	if err != nil {
		return err
	}
	amounts := make(map[string]registrar.Cents)
	for _, item := range record.Items {
		amount, ok := parseAmount(req.Text("amount_" + item.ID))
		if !ok {
			return registrar.Invalid(badAmount)
		}
		amounts[item.ID] = amount
	}
	return h.Refunds.Assign(req.R.Context(), operator, id, refund, amounts)
}

// settleRefund closes a refund that an operator had to decide about. If the customer will be told that
// we paid the money in another way, the page asks first.
func (h *Handler) settleRefund(req *ui.Request, operator registrar.Actor) error {
	settle := h.decideRefund("refund_settled", func(req *ui.Request, operator registrar.Actor, id, refund string) error {
		return h.Refunds.Settle(req.R.Context(), operator, id, refund, req.Text("note"))
	})
	id, note := req.R.PathValue("id"), req.Text("note")
	if req.Field("confirmed") == "yes" || strings.TrimSpace(note) == "" {
		return settle(req, operator)
	}
	record, err := h.Customers.Order(req.R.Context(), operator, id)
	if err != nil {
		return err
	}
	for _, refund := range record.Refunds {
		if refund.ID == req.R.PathValue("refund") && refund.Task != order.TaskNone && refund.PaysReturned() {
			return h.confirm(req, confirmView{
				Decision: "refund_settlement", Button: "refund.settle", Refund: refund.Amount, Back: ordersPath + "/" + url.PathEscape(id),
				Sent: []ui.Field{{Name: "note", Value: note}},
			})
		}
	}
	return settle(req, operator)
}

// repeatRefund pays money again, so the page asks first.
func (h *Handler) repeatRefund(req *ui.Request, operator registrar.Actor) error {
	repeat := h.decideRefund("refund_ordered", func(req *ui.Request, operator registrar.Actor, id, refund string) error {
		return h.Refunds.Repeat(req.R.Context(), operator, id, refund)
	})
	return h.confirmed("refund_repeat", "refund.repeat", ordersPath+"/"+url.PathEscape(req.R.PathValue("id")), repeat)(req, operator)
}

// deleteRefunded deletes a domain whose payment was refunded at the provider, so the page asks first.
func (h *Handler) deleteRefunded(req *ui.Request, operator registrar.Actor) error {
	remove := h.decideRefund("refund_domain_deleted", func(req *ui.Request, operator registrar.Actor, id, refund string) error {
		return h.Refunds.DeleteDomain(req.R.Context(), operator, id, refund, req.R.PathValue("item"))
	})
	return h.confirmed("refund_deletion", "refund.delete_one", ordersPath+"/"+url.PathEscape(req.R.PathValue("id")), remove)(req, operator)
}

func (h *Handler) keepRefunded(req *ui.Request, operator registrar.Actor, id, refund string) error {
	return h.Refunds.KeepDomain(req.R.Context(), operator, id, refund, req.R.PathValue("item"), req.Text("note"))
}

// Refundable reports whether an operator can refund something of the order.
func (r OrderRecord) Refundable() bool { return r.RefundRefusal() == "" }

// RefundRefusal is why nothing of the order can be refunded; empty if something can. The provider
// refunds no payment that the bank is taking back or has returned.
func (r OrderRecord) RefundRefusal() registrar.Code {
	has := func(refuses func(dispute.Dispute) bool) bool { return slices.ContainsFunc(r.Disputes, refuses) }
	switch {
	case r.CapturedPayment() == nil:
		return order.OrderNotPaid
	case !r.State.Final():
		return order.OrderInProgress
	case has(func(d dispute.Dispute) bool { return d.Status == dispute.Lost }):
		return order.ChargeLost
	case has(func(d dispute.Dispute) bool { return d.Status.Open() && !d.Refundable }):
		return order.ChargeDisputed
	case r.Remaining() <= 0:
		return order.NothingToRefund
	default:
		return ""
	}
}

// Templates can't call the methods of a pointer.

// TakenBack is what the bank has returned to the customer because of lost disputes.
func (r OrderRecord) TakenBack() (sum registrar.Cents) {
	for _, one := range r.Disputes {
		if one.Status == dispute.Lost {
			sum += one.Amount
		}
	}
	return sum
}

// Left is what of the payment is neither refunded nor taken back by the bank.
func (r OrderRecord) Left() registrar.Cents { return max(0, r.Remaining()-r.TakenBack()) }

// LeftOf is what can still be refunded of an item.
func (r OrderRecord) LeftOf(item order.Item) registrar.Cents { return r.RemainingOf(item.ID) }

// Unassigned is the part of an item's price to which no refund is assigned.
func (r OrderRecord) Unassigned(item order.Item) registrar.Cents {
	return item.Gross - r.RefundedOf(item.ID)
}

// Refunded is what was refunded of an item, without what the bank has returned.
func (r OrderRecord) Refunded(item order.Item) registrar.Cents { return r.GivenBackOf(item.ID) }

// settlement is how an operator has closed what was to be decided about a refund. At and By are empty if an
// earlier release stored it.
type settlement struct {
	Paid bool // the customer has the money, which the bank had returned
	At   time.Time
	By   string
	Note string
}

// SettlementOf returns how a refund was settled; nil if it was not.
func (r OrderRecord) SettlementOf(refund order.Refund) *settlement {
	otherwise := r.IsSettledOtherwise(refund)
	switch {
	case refund.Task != order.TaskNone:
		return nil
	case !refund.SettledAt.IsZero():
		return &settlement{otherwise || refund.PaysReturned(), refund.SettledAt, cmp.Or(r.Operators[refund.SettledBy], refund.SettledBy), refund.Settlement}
	case otherwise:
		return &settlement{Paid: true, Note: refund.Note}
	default:
		return nil
	}
}

// NoteOf is what the decision on a refund says.
func (r OrderRecord) NoteOf(refund order.Refund) string {
	if settled := r.SettlementOf(refund); settled != nil && settled.At.IsZero() {
		return "" // it has the note
	}
	return refund.Note
}

// DomainOf is the domain of a part of a refund.
func (r OrderRecord) DomainOf(part order.RefundPart) string { return r.NameOf(part.Item) }

// DeletionKey is the text of a domain that is deleted with a part of a refund.
func (r OrderRecord) DeletionKey(part order.RefundPart) string {
	if slices.ContainsFunc(r.Items, func(item order.Item) bool { return item.ID == part.Item && lifecycle.DeletionHandsOver(item.TLD) }) {
		return "refund.handover"
	}
	return "refund.deletion"
}

// RefundedPayment is what was refunded of a payment.
func (r OrderRecord) RefundedPayment(p order.Payment) registrar.Cents {
	return refundedOf(r.Order, p.ID)
}

func refundedOf(o order.Order, payment string) (sum registrar.Cents) {
	for _, refund := range o.Refunds {
		if refund.Payment == payment && refund.Made() {
			sum += refund.Amount
		}
	}
	return sum
}

// isReturned reports whether the whole payment was refunded.
func isReturned(o order.Order) bool {
	captured := o.CapturedPayment()
	return captured != nil && captured.Amount > 0 && refundedOf(o, captured.ID) >= captured.Amount
}

// RefundPath is the form that refunds the order of a notice; empty if it has no payment, or if the
// notice is an ordinary termination. Only a withdrawal is closed by its refund.
func (r noticeRow) RefundPath(o withdrawal.RelatedOrder) string {
	switch {
	case !r.Open() || o.PaidAt.IsZero() || o.Gross == 0:
		return ""
	case r.Kind == withdrawal.Withdrawal:
		return refundPath(o.ID) + "?" + url.Values{"notice": {r.ID}}.Encode()
	case r.Ground == withdrawal.Extraordinary:
		return refundPath(o.ID) + "?" + url.Values{"about": {r.ID}, "reason": {order.ReasonTermination}}.Encode()
	default:
		return ""
	}
}
