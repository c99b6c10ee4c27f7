package checkout

import (
	"net/url"

	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/web/page"
)

// ordersPage is how many orders one page of the list has.
const ordersPage = 25

// listed is one line of the list.
type listed struct {
	order.Order
	// First is the name that stands for all, More how many others there are.
	First string
	More  int
	// StateKey says how it stands.
	StateKey string
	// Pay is where an open order is paid.
	Pay string
}

// list is what the customer has ordered, the newest first.
func (h *Handler) list(v *page.Visit) error {
	orders, err := h.orders.List(v.R.Context(), v.Actor(), v.Query("before"), ordersPage+1)
	if err != nil {
		return err
	}
	older := ""
	if len(orders) > ordersPage {
		orders = orders[:ordersPage]
		older = page.OrdersPath + "?before=" + url.QueryEscape(orders[ordersPage-1].ID)
	}
	lines := make([]listed, 0, len(orders))
	for _, o := range orders {
		line := listed{Order: o, More: len(o.Items) - 1, StateKey: "state." + standing(o)}
		if len(o.Items) > 0 {
			line.First = o.Items[0].Name
		}
		if line.Pay, err = h.payPathOf(o); err != nil {
			return err
		}
		lines = append(lines, line)
	}
	return h.views.Render(v, page.View{Name: "orders", Title: "orders.title", Section: page.OrdersPath, Data: struct {
		Orders []listed
		Older  string
		Later  bool
		// Invoices is where they are listed; empty where there are none.
		Invoices string
	}{lines, older, v.Query("before") != "", h.invoicesPath()}})
}

// invoicesPath is where invoices are listed; empty where there are none.
func (h *Handler) invoicesPath() string {
	if h.invoices == nil {
		return ""
	}
	return invoicesPath
}

// payPathOf is where an open order is paid; empty once it is not open.
func (h *Handler) payPathOf(o order.Order) (string, error) {
	if !o.State.Open() {
		return "", nil
	}
	address, err := h.orders.PayURL(o)
	if err != nil {
		return "", err
	}
	return h.pathOf(address), nil
}

// lookAtOrder is one order. It shows what its own page shows, but asks no registry.
func (h *Handler) lookAtOrder(v *page.Visit) (page.View, error) {
	o, err := h.orders.Get(v.R.Context(), v.Actor(), v.R.PathValue("id"))
	if err != nil {
		return page.View{}, err
	}
	pay, err := h.payPathOf(o)
	if err != nil {
		return page.View{}, err
	}
	rows := make([]row, 0, len(o.Items))
	for _, item := range o.Items {
		rows = append(rows, h.rowOf(v.Language, item))
	}
	documents, waiting, err := h.documentsOf(v, o)
	if err != nil {
		return page.View{}, err
	}
	pause := reloadIn(o, v.Now)
	if pause == 0 && waiting && v.Now.Sub(o.PaidAt) < slackens {
		pause = soon // the invoice follows
	}
	live := liveAt(page.OrdersPath+"/"+url.PathEscape(o.ID), pause)
	return page.View{Name: "order", Title: "order.title", Section: page.OrdersPath, Live: live, Data: struct {
		Order order.Order
		Rows  []row
		summary
		StateKey, AskedKey, Pay, ReturnedKey string
		Outcome                              bool
		// Documents are its invoice and corrections; Waiting says that the first is
		// still being issued.
		Documents       []document
		Waiting, Orders bool
	}{o, rows, h.summaryOf(v.Language, o.Totals), "state." + standing(o), askedKey(o.By.Kind), pay, returnedKey(o), !o.PaidAt.IsZero(), documents, waiting, false}}, nil
}
