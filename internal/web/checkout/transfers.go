package checkout

import (
	"slices"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

const (
	transfersPath = "/portal/transfers"
	// maxTransfers is how many transfers the page shows; earlier ones are in the orders.
	maxTransfers = 100
)

// transferEvent is one entry of a transfer's timeline. A planned one has not happened yet.
type transferEvent struct {
	Key     string
	At      time.Time // zero if there is no day yet
	Planned bool
}

// transferRow is a transfer with its timeline.
type transferRow struct {
	Name, Order, Page string
	StateKey          string
	ReasonKey         string // why it failed
	Events            []transferEvent
}

// listTransfers shows the timelines of the customer's transfers.
func (h *Handler) listTransfers(req *ui.Request) error {
	items, err := h.Transfers(req.R.Context(), req.Actor().Customer, maxTransfers)
	if err != nil {
		return err
	}
	orders := make(map[string]order.Order)
	var running, ended []transferRow
	for _, item := range items {
		row, err := h.newTransferRow(req, item, orders)
		if err != nil {
			return err
		}
		if item.State.Final() {
			ended = append(ended, row)
		} else {
			running = append(running, row)
		}
	}
	return h.templates.Render(req, ui.View{Name: "transfers", Title: "transfers.title", Section: ui.OrdersPath, Data: struct {
		Running, Ended []transferRow
		New            string
	}{running, ended, transferPath(req.Language)}})
}

// newTransferRow returns a transfer with its timeline. The refund of a failed one is in its
// order, which is read once.
func (h *Handler) newTransferRow(req *ui.Request, item provision.Item, orders map[string]order.Order) (transferRow, error) {
	row := transferRow{Name: item.Name, StateKey: "item.provisioning.transfer", Events: []transferEvent{{Key: "transfers.paid", At: item.CreatedAt}}}
	row.Order, _ = order.OrderOfPayment(item.Payment)                                   // an operator's payment has no order
	if item.State == provision.StateRequested || item.State == provision.StatePending { // later states have their own time
		row.Events = append(row.Events, transferEvent{Key: "transfers.requested", At: item.RequestedAt})
	}
	switch item.State {
	case provision.StateActive:
		row.StateKey, row.Page = "item.active.transfer", ui.DomainsPath+"/"+item.Domain
		row.Events = append(row.Events, transferEvent{Key: "transfers.done", At: item.UpdatedAt})
	case provision.StateFailed, provision.StateUndoing:
		row.StateKey, row.ReasonKey = "item.failed", h.reasonKey(item.Failure)
		row.Events = append(row.Events, transferEvent{Key: "transfers.failed", At: item.UpdatedAt})
		err := h.addRefund(req, &row, item, orders)
		return row, err
	case provision.StatePending:
		_, days := h.TransferTerms(item.TLD)
		row.Events = append(row.Events, transferEvent{Key: "transfers.expected", At: item.RequestedAt.AddDate(0, 0, days), Planned: true})
	default:
		row.Events = append(row.Events, transferEvent{Key: "transfers.soon", Planned: true})
	}
	return row, nil
}

func (h *Handler) addRefund(req *ui.Request, row *transferRow, item provision.Item, orders map[string]order.Order) error {
	if row.Order == "" {
		return nil
	}
	o, read := orders[row.Order]
	if !read {
		var err error
		o, err = h.Orders.Get(req.R.Context(), req.Actor(), row.Order)
		if err != nil && registrar.KindOf(err) != registrar.KindNotFound {
			return err
		}
		orders[row.Order] = o
	}
	for _, ordered := range o.Items {
		if ordered.Name != item.Name {
			continue
		}
		at := slices.IndexFunc(o.Refunds, func(refund order.Refund) bool { return refund.Item == ordered.ID })
		switch {
		case ordered.Gross == 0:
			row.StateKey = "item.failed.free"
		case at >= 0 && o.Refunds[at].Provider != "":
			row.StateKey = "item.refunded"
			row.Events = append(row.Events, transferEvent{Key: "transfers.refunded", At: o.Refunds[at].MadeAt})
		default:
			row.Events = append(row.Events, transferEvent{Key: "transfers.refund_due", Planned: true})
		}
	}
	return nil
}
