package checkout

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/inbox"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

const (
	transfersPageSize = 25
	maxReports        = 20 // about the transfers of a name
	// clockSkew is the tolerated difference between a registry's clock and ours.
	clockSkew = 5 * time.Minute
)

// transferEvent is one entry of a transfer's timeline. A planned one has not happened yet.
type transferEvent struct {
	Key     string
	At      time.Time // zero if there is no day yet
	Planned bool
	Amount  registrar.Cents // of a refund
}

// transferRow is a transfer with its timeline.
type transferRow struct {
	Name, Order, Page string
	StateKey          string
	ReasonKey         string // why it failed
	Events            []transferEvent
}

// transferGroup is a page of the transfers in progress, or of those that have ended in one way.
type transferGroup struct {
	Rows         []transferRow
	Total        int
	Newer, Older string
}

// unpaidTransfers is an order of transfers that waits for the customer.
type unpaidTransfers struct {
	Pay, First string
	More       int // further items, of any kind
	Gross      registrar.Cents
	transfers  int
}

// listTransfers shows a customer's transfers, those that need attention first: what the customer
// has to do, what has failed, what is in progress, and what is done.
func (h *Handler) listTransfers(req *ui.Request) error {
	list, err := h.Orders.TransferList(req.R.Context(), req.Actor())
	if err != nil {
		return err
	}
	unpaid, err := h.unpaidTransfers(req)
	if err != nil {
		return err
	}
	var counts map[provision.State]int
	if h.Transfers != nil {
		if counts, err = h.Transfers.CountTransfers(req.R.Context(), req.Actor().Customer); err != nil {
			return err
		}
	}
	running := 0
	for state, n := range counts {
		if state != provision.StateActive && state != provision.StateFailed {
			running += n
		}
	}
	view := struct {
		Unpaid                []unpaidTransfers
		UnpaidDomains         int
		Listed                order.ListedCounts
		Lines, Impossible     []transferLine
		Waiting               int // domains
		Locked                bool
		Collapsed             bool // Lines are too many to show them above the transfers in progress
		Failed, Running, Done transferGroup
		New                   string
	}{Unpaid: unpaid, New: transferPath(req.Language)}
	for _, group := range []struct {
		page  *transferGroup
		name  string
		ended provision.State
		total int
	}{
		{&view.Failed, "failed", provision.StateFailed, counts[provision.StateFailed]},
		{&view.Running, "running", "", running},
		{&view.Done, "ended", provision.StateActive, counts[provision.StateActive]},
	} {
		if *group.page, err = h.transferGroup(req, group.name, group.ended, group.total); err != nil {
			return err
		}
	}
	lines := h.listedLines(list)
	for _, line := range lines {
		if line.impossible() {
			view.Impossible = append(view.Impossible, line)
		} else {
			view.Lines = append(view.Lines, line)
		}
	}
	view.Locked, view.Collapsed = someLocked(view.Lines), len(view.Lines) > shownItems
	slices.SortStableFunc(view.Lines, func(a, b transferLine) int { return cmp.Compare(a.urgency(), b.urgency()) })
	for _, o := range view.Unpaid {
		view.UnpaidDomains += o.transfers
	}
	view.Listed = order.CountListed(newListed(lines))
	view.Waiting = view.UnpaidDomains + view.Listed.Waiting()
	return h.templates.Render(req, ui.View{Name: "transfers", Title: "transfers.title", Section: ui.OrdersPath, Data: view})
}

// urgency sorts the lines of a list: first those with a problem, then those that are not checked.
func (l transferLine) urgency() int {
	switch {
	case l.OK:
		return 2
	case l.ReasonKey == "":
		return 1
	default:
		return 0
	}
}

// unpaidTransfers returns the open orders with transfers. They end after a day, so they are
// among the newest.
func (h *Handler) unpaidTransfers(req *ui.Request) ([]unpaidTransfers, error) {
	orders, err := h.Orders.List(req.R.Context(), req.Actor(), "", ordersPageSize)
	if err != nil {
		return nil, err
	}
	if err := h.retax(req, orders); err != nil {
		return nil, err
	}
	var unpaid []unpaidTransfers
	for _, o := range orders {
		var transfers []order.Item
		for _, item := range o.Items {
			if item.Kind == order.Transfer {
				transfers = append(transfers, item)
			}
		}
		pay, err := h.orderPayPath(o)
		if err != nil {
			return nil, err
		}
		if len(transfers) > 0 && pay != "" {
			unpaid = append(unpaid, unpaidTransfers{pay, transfers[0].Name, len(o.Items) - 1, o.Totals.Gross, len(transfers)})
		}
	}
	return unpaid, nil
}

// transferGroup returns the page of a group that the query parameter of its name chooses.
func (h *Handler) transferGroup(req *ui.Request, name string, ended provision.State, total int) (transferGroup, error) {
	group := transferGroup{Total: total}
	if total == 0 {
		return group, nil
	}
	last := (total - 1) / transfersPageSize
	page, err := strconv.Atoi(req.Query(name))
	if err != nil {
		page = 0
	}
	page = min(max(page, 0), last)
	link := func(page int) string { return ui.TransfersPath + "?" + name + "=" + strconv.Itoa(page) + "#" + name }
	if page > 0 {
		group.Newer = link(page - 1)
	}
	if page < last {
		group.Older = link(page + 1)
	}
	items, err := h.Transfers.ListTransfers(req.R.Context(), req.Actor().Customer, ended, transfersPageSize, page*transfersPageSize)
	if err != nil {
		return group, err
	}
	orders := make(map[string]order.Order)
	for _, item := range items {
		reports, err := h.Transfers.ListTransferMessages(req.R.Context(), item.Name, maxReports)
		if err != nil {
			return group, err
		}
		row, err := h.newTransferRow(req, item, reportsOf(item, reports), orders)
		if err != nil {
			return group, err
		}
		group.Rows = append(group.Rows, row)
	}
	return group, nil
}

// reportsOf returns what the registry reported about an item's own request, the newest first:
// the first request of ours after the item was paid.
func reportsOf(item provision.Item, reports []inbox.Transfer) (own []inbox.Transfer) {
	for _, report := range slices.Backward(reports) {
		if !report.Ours || report.RequestedAt.Before(item.CreatedAt.Add(-clockSkew)) {
			continue
		}
		if len(own) == 0 || own[0].RequestedAt.Sub(report.RequestedAt).Abs() <= time.Second {
			own = slices.Insert(own, 0, report)
		}
	}
	return own
}

// slowTransfer is how long a registry may take to accept a request before the page says so.
const slowTransfer = 15 * time.Minute

// outcomeKeys are the texts of what the registry reports about the end of a transfer.
var outcomeKeys = map[string]string{
	"clientApproved": "transfers.approved", "serverApproved": "transfers.timed_out", "clientRejected": "transfers.rejected",
	"clientCancelled": "transfers.cancelled", "serverCancelled": "transfers.cancelled",
}

// newTransferRow returns a transfer with its timeline, which includes what the registry
// reported. Its price and refund are in its order, which is read once.
func (h *Handler) newTransferRow(req *ui.Request, item provision.Item, reports []inbox.Transfer, orders map[string]order.Order) (transferRow, error) {
	row := transferRow{Name: item.Name, StateKey: "item.provisioning.transfer", Events: []transferEvent{{Key: "transfers.paid", At: item.CreatedAt}}}
	row.Order, _ = order.OrderOfPayment(item.Payment) // an operator's payment has no order
	o, err := h.orderOf(req, row.Order, orders)
	if err != nil {
		return row, err
	}
	at := slices.IndexFunc(o.Items, func(ordered order.Item) bool { return ordered.Name == item.Name })
	if at >= 0 && o.Items[at].Gross == 0 {
		row.Events[0].Key = "transfers.confirmed"
	}
	if item.State == provision.StatePending { // earlier, the registry has not accepted it; later states have their own time
		row.Events = append(row.Events, transferEvent{Key: "transfers.requested", At: item.RequestedAt})
	} else if len(reports) > 0 {
		row.Events = append(row.Events, transferEvent{Key: "transfers.requested", At: reports[0].RequestedAt})
	}
	decided := false
	if len(reports) > 0 && outcomeKeys[reports[0].Status] != "" {
		decided = true
		row.Events = append(row.Events, transferEvent{Key: outcomeKeys[reports[0].Status], At: reports[0].DecidedAt})
	}
	switch item.State {
	case provision.StateActive:
		row.StateKey, row.Page = "item.active.transfer", ui.DomainsPath+"/"+item.Domain
		row.Events = append(row.Events, transferEvent{Key: "transfers.done", At: item.UpdatedAt})
	case provision.StateFailed, provision.StateUndoing:
		row.StateKey, row.ReasonKey = "item.failed", h.withoutLock(h.reasonKey(order.Transfer, item.Failure), item.TLD)
		row.Events = append(row.Events, transferEvent{Key: "transfers.failed", At: item.UpdatedAt})
		if at >= 0 {
			row.addRefund(o, o.Items[at])
		}
	case provision.StatePending:
		if decided { // and not yet read by the order
			row.Events = append(row.Events, transferEvent{Key: "transfers.soon", Planned: true})
			break
		}
		_, days := h.TransferTerms(item.TLD)
		row.Events = append(row.Events, transferEvent{Key: "transfers.expected", At: item.TransferredBy(days), Planned: true})
	default:
		key := "transfers.sending"
		if h.Now().Sub(item.CreatedAt) > slowTransfer {
			key = "transfers.delayed"
		}
		row.Events = append(row.Events, transferEvent{Key: key, Planned: true})
	}
	return row, nil
}

// orderOf reads an order; it is empty if there is none.
func (h *Handler) orderOf(req *ui.Request, id string, orders map[string]order.Order) (order.Order, error) {
	if o, read := orders[id]; read || id == "" {
		return o, nil
	}
	o, err := h.Orders.Get(req.R.Context(), req.Actor(), id)
	if err != nil && registrar.KindOf(err) != registrar.KindNotFound {
		return o, err
	}
	orders[id] = o
	return o, nil
}

// addRefund adds the refund of a failed item.
func (r *transferRow) addRefund(o order.Order, item order.Item) {
	refund, found := refundRowOf(o, item.ID)
	switch {
	case item.Gross == 0:
		r.StateKey = "item.failed.free"
	case found && refund.State == "made":
		r.StateKey = "item.refunded"
		r.Events = append(r.Events, transferEvent{Key: "transfers.refunded", At: refund.At, Amount: refund.Amount})
	case found && refund.State != "due": // returned by the bank
		next := "transfers.refund_again"
		if refund.State == "settled" {
			r.StateKey, next = "item.refunded", "transfers.refund_settled"
		}
		r.Events = append(r.Events, transferEvent{Key: "transfers.refund_returned", At: refund.At, Amount: refund.Amount}, transferEvent{Key: next, At: refund.SettledAt, Planned: refund.SettledAt.IsZero()})
	case found:
		r.Events = append(r.Events, transferEvent{Key: "transfers.refund_due", Planned: true, Amount: refund.Amount})
	default:
		r.Events = append(r.Events, transferEvent{Key: "transfers.refund_due", Planned: true, Amount: item.Gross})
	}
}
