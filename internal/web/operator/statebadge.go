package operator

import (
	"slices"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/admin"
	"github.com/dotkontor/dotkontor/internal/registrar/dispute"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// stateBadge is the state of an order or a payment, with the dispute that says what the payment is
// worth.
type stateBadge struct {
	Key     string // the state's text
	Plain   bool   // without the colour of the state: the money is not ours
	Dispute *disputeBadge
}

// disputeBadge is a dispute beside a state.
type disputeBadge struct {
	dispute.Dispute
	Kind string // inquiry, dispute or bank_return
}

// newStateBadge returns how every page shows the state of a payment, or of the order that it paid for.
// returned means that all of it was refunded.
func newStateBadge(key string, returned bool, disputes []dispute.Dispute) stateBadge {
	badge := stateBadge{Key: key, Plain: returned}
	if worst, found := dispute.MostSerious(disputes); found {
		badge.Plain = returned || worst.TakesMoney()
		badge.Dispute = &disputeBadge{worst, disputeKind(worst)}
	}
	return badge
}

// orderBadge shows an order. A charge that paid for nothing here says nothing about it.
func orderBadge(state string, returned bool, disputes []dispute.Dispute) stateBadge {
	return newStateBadge("state."+state, returned, slices.DeleteFunc(slices.Clone(disputes), func(d dispute.Dispute) bool {
		return d.Lock == dispute.LockNone && !d.Status.Inquiry()
	}))
}

func paymentBadge(id, state string, returned bool, disputes []dispute.Dispute) stateBadge {
	return newStateBadge("payment."+state, returned, slices.DeleteFunc(slices.Clone(disputes), func(d dispute.Dispute) bool { return d.Payment != id }))
}

// StateBadge is the order's state.
func (r OrderRecord) StateBadge() stateBadge {
	return orderBadge(string(r.State), isReturned(r.Order), r.Disputes)
}

// StateOf is the state of one of its items. One that was never paid is as canceled or expired as the
// order: it waits for nothing.
func (r OrderRecord) StateOf(item order.Item) string {
	if item.State == order.ItemWaiting && r.State.Final() {
		return string(r.State)
	}
	return string(item.State)
}

// PaymentBadge is the state of one of its payments.
func (r OrderRecord) PaymentBadge(p order.Payment) stateBadge {
	return paymentBadge(p.ID, string(p.State), p.Amount > 0 && r.RefundedPayment(p) >= p.Amount, r.Disputes)
}

// BadgeOf is the state of one of the customer's orders.
func (r CustomerRecord) BadgeOf(o order.Order) stateBadge {
	return orderBadge(string(o.State), isReturned(o), slices.DeleteFunc(slices.Clone(r.Disputes), func(d dispute.Dispute) bool { return d.Order != o.ID }))
}

// orderRow is an order in a list.
type orderRow struct {
	admin.OrderEntry
	Badge stateBadge
}

func (h *Handler) orderRows(req *ui.Request, operator registrar.Actor, orders []admin.OrderEntry) ([]orderRow, error) {
	return rowsWithDisputes(h, req, operator, orders, func(o admin.OrderEntry) string { return o.ID }, func(o admin.OrderEntry, disputes []dispute.Dispute) orderRow {
		return orderRow{o, orderBadge(o.State, o.Refunded, disputes)}
	})
}

// paymentRow is a payment in a list.
type paymentRow struct {
	admin.PaymentEntry
	Badge stateBadge
}

func (h *Handler) paymentRows(req *ui.Request, operator registrar.Actor, payments []admin.PaymentEntry) ([]paymentRow, error) {
	return rowsWithDisputes(h, req, operator, payments, func(p admin.PaymentEntry) string { return p.Order }, func(p admin.PaymentEntry, disputes []dispute.Dispute) paymentRow {
		return paymentRow{p, paymentBadge(p.ID, p.State, p.Amount > 0 && p.Refunded >= p.Amount, disputes)}
	})
}

// rowsWithDisputes returns the rows of a list, given the order of an entry and its row with the
// disputes of that order.
func rowsWithDisputes[Entry, Row any](
	h *Handler, req *ui.Request, operator registrar.Actor, entries []Entry, orderOf func(Entry) string, newRow func(Entry, []dispute.Dispute) Row,
) ([]Row, error) {
	ids := make([]string, len(entries))
	for i, entry := range entries {
		ids[i] = orderOf(entry)
	}
	disputes, err := h.Disputes.OfOrders(req.R.Context(), operator, ids)
	rows := make([]Row, len(entries))
	for i, entry := range entries {
		rows[i] = newRow(entry, disputes[ids[i]])
	}
	return rows, err
}
