package checkout

import (
	"net/url"

	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// ordersPageSize is how many orders one page of the list has.
const ordersPageSize = 25

// orderRow is one line of the list.
type orderRow struct {
	order.Order
	// First is the name that stands for all, More how many others there are.
	First string
	More  int
	// StateKey says how it stands.
	StateKey string
	// Pay is where an open order is paid.
	Pay string
}

// listOrders is what the customer has ordered, the newest first.
func (h *Handler) listOrders(req *ui.Request) error {
	orders, err := h.orders.List(req.R.Context(), req.Actor(), req.Query("before"), ordersPageSize+1)
	if err != nil {
		return err
	}
	older := ""
	if len(orders) > ordersPageSize {
		orders = orders[:ordersPageSize]
		older = ui.OrdersPath + "?before=" + url.QueryEscape(orders[ordersPageSize-1].ID)
	}
	rows := make([]orderRow, 0, len(orders))
	for _, o := range orders {
		row := orderRow{Order: o, More: len(o.Items) - 1, StateKey: "state." + displayState(o)}
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
		// Invoices is where they are listed; empty where there are none.
		Invoices string
	}{rows, older, req.Query("before") != "", h.invoicesPath()}})
}

// invoicesPath is where invoices are listed; empty where there are none.
func (h *Handler) invoicesPath() string {
	if h.invoices == nil {
		return ""
	}
	return invoicesPath
}

// orderPayPath is where an open order is paid; empty once it is not open.
func (h *Handler) orderPayPath(o order.Order) (string, error) {
	if !o.State.Open() {
		return "", nil
	}
	address, err := h.orders.PayURL(o)
	if err != nil {
		return "", err
	}
	return h.localPath(address), nil
}

// orderView is one order. It shows what its own page shows, but asks no registry.
func (h *Handler) orderView(req *ui.Request) (ui.View, error) {
	o, err := h.orders.Get(req.R.Context(), req.Actor(), req.R.PathValue("id"))
	if err != nil {
		return ui.View{}, err
	}
	pay, err := h.orderPayPath(o)
	if err != nil {
		return ui.View{}, err
	}
	rows := make([]itemRow, 0, len(o.Items))
	for _, item := range o.Items {
		rows = append(rows, h.newItemRow(req.Language, item))
	}
	documents, waiting, err := h.invoicesOf(req, o)
	if err != nil {
		return ui.View{}, err
	}
	pause := reloadInterval(o, req.Now)
	if pause == 0 && waiting && req.Now.Sub(o.PaidAt) < reloadSlowsAfter {
		pause = reloadSoon // the invoice follows
	}
	live := liveAfter(ui.OrdersPath+"/"+url.PathEscape(o.ID), pause)
	return ui.View{Name: "order", Title: "order.title", Section: ui.OrdersPath, Live: live, Data: struct {
		Order order.Order
		Rows  []itemRow
		summary
		StateKey, AskedKey, Pay, ReturnedKey string
		Outcome                              bool
		// Documents are its invoice and corrections; Waiting says that the first is
		// still being issued.
		Documents       []invoiceRow
		Waiting, Orders bool
	}{o, rows, h.summaryOf(req.Language, o.Totals), "state." + displayState(o), askedKey(o.By.Kind), pay, returnedKey(o), !o.PaidAt.IsZero(), documents, waiting, false}}, nil
}
