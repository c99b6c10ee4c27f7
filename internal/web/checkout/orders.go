package checkout

import (
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/dispute"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
	"github.com/dotkontor/dotkontor/internal/registrar/withdrawal"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

const ordersPageSize = 25

type orderRow struct {
	order.Order
	First    string // the first name
	More     int    // the number of others
	StateKey string // the text key of the state
	Pay      string // the payment page of an open order
}

func (h *Handler) listOrders(req *ui.Request) error {
	orders, err := h.Orders.List(req.R.Context(), req.Actor(), req.Query("before"), ordersPageSize+1)
	if err != nil {
		return err
	}
	older := ""
	if len(orders) > ordersPageSize {
		orders = orders[:ordersPageSize]
		older = ui.OrdersPath + "?before=" + url.QueryEscape(orders[ordersPageSize-1].ID)
	}
	if err := h.retax(req, orders); err != nil {
		return err
	}
	disputed, err := h.disputed(req, orders...)
	if err != nil {
		return err
	}
	rows := make([]orderRow, 0, len(orders))
	for _, o := range orders {
		row := orderRow{Order: o, More: len(o.Items) - 1, StateKey: stateKey(o, disputed[o.ID])}
		if len(o.Items) > 0 {
			row.First = o.Items[0].Name
		}
		if row.Pay, err = h.orderPayPath(o); err != nil {
			return err
		}
		rows = append(rows, row)
	}
	return h.templates.Render(req, ui.View{Name: "orders", Title: "orders.title", Section: ui.OrdersPath, Data: struct {
		Orders []orderRow
		Older  string
		Later  bool
	}{rows, older, req.Query("before") != ""}})
}

// retax sets the VAT of the visitor's unpaid orders to today's.
func (h *Handler) retax(req *ui.Request, orders []order.Order) error {
	if !slices.ContainsFunc(orders, func(o order.Order) bool { return o.State.Open() }) {
		return nil
	}
	tax, err := h.Orders.VATRate(req.R.Context(), req.Actor())
	if err != nil {
		return err
	}
	for i := range orders {
		if err := orders[i].Retax(tax); err != nil {
			return err
		}
	}
	return nil
}

// disputed returns the disputes by which the payments of the visitor's orders, the newest first,
// were taken back, or may be; by order. A lock in force precedes one that was lifted.
func (h *Handler) disputed(req *ui.Request, orders ...order.Order) (map[string]dispute.Dispute, error) {
	paid := slices.DeleteFunc(slices.Clone(orders), func(o order.Order) bool { return o.PaidAt.IsZero() || o.Totals.Gross == 0 })
	if len(paid) == 0 {
		return nil, nil
	}
	all, err := h.Disputes(req.R.Context(), req.Actor().Customer, paid[len(paid)-1].ID, paid[0].ID)
	byOrder := make(map[string]dispute.Dispute)
	for _, d := range all {
		lost := d.Status == dispute.Lost && d.Lock == dispute.LockLifted
		if d.Lock.InForce() || lost && !byOrder[d.Order].Lock.InForce() {
			byOrder[d.Order] = d
		}
	}
	return byOrder, err
}

// stateKey returns the text key of an order's state. One whose payment was taken back is not
// completed for its customer, whatever was provisioned, until an operator lifts the lock.
func stateKey(o order.Order, disputed dispute.Dispute) string {
	switch {
	case order.AwaitsAddress(o.State, o.Totals.Rule):
		return "state.awaiting_address"
	case !disputed.Lock.InForce():
		return "state." + displayState(o)
	case disputed.Status == dispute.Lost:
		return "state.lost"
	default:
		return "state.disputed"
	}
}

// orderPayPath returns the payment page of an open order; empty otherwise.
func (h *Handler) orderPayPath(o order.Order) (string, error) {
	if !o.State.Open() {
		return "", nil
	}
	return h.payPath(o)
}

// keptOf is what is left of an order's payment after the refunds that were made or settled.
func keptOf(o order.Order) registrar.Cents {
	left := o.Totals.Gross
	for _, refund := range o.Refunds {
		if captured := o.CapturedPayment(); captured != nil && refund.Payment == captured.ID && (refund.Made() || o.IsSettledOtherwise(refund)) {
			left -= refund.Amount
		}
	}
	return left
}

// isFailedPartRefunded reports whether the customer has the money for what was not possible.
func isFailedPartRefunded(o order.Order) bool {
	made := 0
	for _, refund := range o.Refunds {
		switch {
		case refund.Item == "" || o.IsRepeated(refund):
		case refund.Made() || o.IsSettledOtherwise(refund):
			made++
		default:
			return false
		}
	}
	return made > 0
}

// noticeRow is a withdrawal or termination with what followed for an order.
type noticeRow struct {
	withdrawal.Notice
	Refund order.WithdrawalRefund
	// State is the part of a text key: late is a withdrawal whose deadline has passed, disputed one that
	// waits until the bank has decided about the payment, returned one whose payment it has taken back.
	State string
	Names []string // the domains that it names; none if it is about the whole order
}

// namedIn returns the domains of an order that a notice names.
func namedIn(o order.Order, notice withdrawal.Notice) (names []string) {
	mentions := notice.Mentions()
	for _, item := range o.Items {
		if (slices.Contains(mentions, item.Name) || len(o.Items) == 1) && !slices.Contains(names, item.Name) {
			names = append(names, item.Name)
		}
	}
	return names
}

func noticeRows(o order.Order, declared []withdrawal.Notice, disputed dispute.Dispute, now time.Time) []noticeRow {
	rows := make([]noticeRow, 0, len(declared))
	for _, notice := range withdrawal.WithoutRepetitions(declared, func(n withdrawal.Notice) string { return strings.Join(namedIn(o, n), " ") }) {
		row := noticeRow{Notice: notice, Refund: o.RefundOfWithdrawal(notice.ID, ""), State: "open", Names: namedIn(o, notice)}
		switch {
		case !notice.Open():
			row.State = "done"
		case notice.Kind == withdrawal.Termination && notice.Ground == withdrawal.Extraordinary:
			row.State = "cause"
		case notice.Kind == withdrawal.Termination:
		case disputed.ID != "" && disputed.Status == dispute.Lost:
			row.State = "returned"
		case disputed.ID != "":
			row.State = "disputed"
		case notice.Overdue(now):
			row.State = "late"
		}
		rows = append(rows, row)
	}
	return rows
}

// refundRow is a refund as its customer sees it.
type refundRow struct {
	Items  []string // the ids of what is refunded
	Names  []string
	State  string // due, made or returned; settled after the operator paid a returned one another way
	At     time.Time
	Amount registrar.Cents
	// SettledAt is when the operator did; zero if an earlier release stored it.
	SettledAt time.Time
}

// More is the number of domains besides the first.
func (r refundRow) More() int { return max(0, len(r.Names)-1) }

// refundRows lists what the customer gets back: a returned refund that is paid again appears only
// as its repetition, and one that the provider refused not at all.
func refundRows(o order.Order) (rows []refundRow) {
	for _, refund := range o.Refunds {
		row := refundRow{State: refund.State(), At: refund.MadeAt, Amount: refund.Amount, Names: o.RefundedNames(refund)}
		switch {
		case refund.Returned() && o.IsRepeated(refund), row.State == "refused":
			continue
		case refund.Returned():
			if row.At = refund.FailedAt; o.IsSettledOtherwise(refund) {
				row.State, row.SettledAt = "settled", o.PaidOtherwiseAt(refund)
			}
		}
		for _, part := range o.PartsOf(refund) {
			row.Items = append(row.Items, part.Item)
		}
		rows = append(rows, row)
	}
	return rows
}

// refundRowOf returns the refund of an item; false if there is none.
func refundRowOf(o order.Order, item string) (refundRow, bool) {
	rows := refundRows(o)
	at := slices.IndexFunc(rows, func(row refundRow) bool { return slices.Contains(row.Items, item) })
	if at < 0 {
		return refundRow{}, false
	}
	return rows[at], true
}

// orderView is the page of one order. It shows the same as the payment page, but
// queries no registry.
func (h *Handler) orderView(req *ui.Request) (ui.View, error) {
	o, err := h.Orders.Get(req.R.Context(), req.Actor(), req.R.PathValue("id"))
	if err != nil {
		return ui.View{}, err
	}
	retaxed := []order.Order{o}
	if err := h.retax(req, retaxed); err != nil {
		return ui.View{}, err
	}
	o = retaxed[0]
	pay, err := h.orderPayPath(o)
	if err != nil {
		return ui.View{}, err
	}
	documents, waiting, err := h.invoicesOf(req, o)
	if err != nil {
		return ui.View{}, err
	}
	rows, disputed, err := h.itemRows(req, o)
	if err == nil {
		err = h.addDomainPages(req, rows)
	}
	if err != nil {
		return ui.View{}, err
	}
	var contracts []withdrawal.Contract
	for _, item := range o.Items {
		contracts = append(contracts, withdrawal.Contract{Domain: item.ID, Name: item.Name, Orders: []string{o.ID}, Since: o.CreatedAt})
	}
	declared, err := h.Declared(req.R.Context(), o.Customer, contracts...)
	if err != nil {
		return ui.View{}, err
	}
	pause := reloadInterval(o, h.Now())
	if pause == 0 && waiting && h.Now().Sub(o.PaidAt) < reloadSlowsAfter {
		pause = reloadSoon // the invoice is issued shortly
	}
	live := liveAfter(ui.OrdersPath+"/"+url.PathEscape(o.ID), pause)
	title, name := "order.title", ""
	if len(o.Items) > 0 {
		title, name = "order.title_of", ui.UnicodeName(o.Items[0].Name)
		if more := len(o.Items) - 1; more > 0 {
			name += " " + h.templates.Text(req.Language, "orders.more", more)
		}
	}
	return ui.View{Name: "order", Title: title, TitleValue: name, Section: ui.OrdersPath, Live: live, Data: struct {
		Order order.Order
		Items itemList
		summary
		StateKey, AskedKey, Pay, ReturnedKey string
		Outcome, Delayed                     bool
		// Documents are its invoice and corrections; Waiting means that the invoice is
		// still being issued.
		Documents       []invoiceRow
		Waiting, Orders bool
		Again           bool            // its items can be put into the basket again
		Kept            registrar.Cents // what is left of the payment after its refunds
		Refunds         []refundRow
		Declared        []noticeRow
		Disputed        dispute.Dispute // by which the payment was taken back, or may be; zero if there is none
		Contact         string          // the contact form
	}{o, newItemList(rows, !o.PaidAt.IsZero()), h.summaryOf(req.Language, o), stateKey(o, disputed), askedKey(o, true), pay, returnedKey(o), !o.PaidAt.IsZero(), o.IsDelayed(h.Now()), documents, waiting, false, canOrderAgain(o), keptOf(o), refundRows(o), noticeRows(o, declared, disputed, h.Now()), disputed, ui.InLanguage(req.Language, ui.ContactPath, ui.EnglishContactPath)}}, nil
}

// itemRows returns the rows of an order with the dispute about its payment, as addEnds does.
func (h *Handler) itemRows(req *ui.Request, o order.Order) (rows []itemRow, disputed dispute.Dispute, err error) {
	for _, item := range o.Items {
		row := h.newItemRow(req.Language, o.Totals, item)
		if refund, found := refundRowOf(o, item.ID); found && item.State == order.ItemRefunded && refund.State != "made" && refund.State != "settled" {
			row.StateKey = "item.failed"
		}
		rows = append(rows, row)
	}
	disputed, err = h.addEnds(req, o, rows)
	return rows, disputed, err
}

// addDomainPages links the rows to the domains that the customer holds.
func (h *Handler) addDomainPages(req *ui.Request, rows []itemRow) error {
	var names []string
	for _, row := range rows {
		names = append(names, row.Name)
	}
	held, err := h.heldDomains(req, names)
	for i := range rows {
		if id := held[rows[i].Name]; id != "" {
			rows[i].DomainPage = ui.DomainsPath + "/" + id
		}
	}
	return err
}

// heldDomains returns the ids of those of the names that the visitor's account holds, by name.
func (h *Handler) heldDomains(req *ui.Request, names []string) (map[string]string, error) {
	held := make(map[string]string)
	for some := range slices.Chunk(names, portfolio.MaxHeldNames) {
		ids, err := h.HeldDomains(req.R.Context(), req.Actor(), some)
		if err != nil {
			return nil, err
		}
		maps.Copy(held, ids)
	}
	return held, nil
}

// addEnds adds what became of the domains of a paid order: whether they have ended, or what
// restricts them. It returns the dispute about the payment; zero if there is none.
func (h *Handler) addEnds(req *ui.Request, o order.Order, rows []itemRow) (disputed dispute.Dispute, err error) {
	if o.PaidAt.IsZero() {
		return disputed, nil
	}
	var restricted map[string]portfolio.State
	if req.SignedIn { // everyone may open the link to an order
		if restricted, err = h.Restricted(req.R.Context(), req.Actor()); err != nil {
			return disputed, err
		}
		found, err := h.disputed(req, o)
		if err != nil {
			return disputed, err
		}
		disputed = found[o.ID]
	}
	ended, err := h.EndedDomains(req.R.Context(), o.ID)
	for i := range rows {
		rows[i].Ended = ended[rows[i].ID]
		state := restricted[rows[i].Name]
		if state == portfolio.Disputed && !disputed.Lock.InForce() {
			continue // by the payment of another order, such as a renewal
		}
		if state != "" && rows[i].State == order.ItemActive {
			rows[i].StateKey = "item." + string(state)
		}
	}
	return disputed, err
}
