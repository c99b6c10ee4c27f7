package operator

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/admin"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/withdrawal"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// pageLinks lead through a list that continues at an id.
type pageLinks struct{ Older, Newest string }

// listedPage is what all lists of admin have.
type listedPage struct {
	pageLinks
	Unaudited bool // customers' addresses are missing
}

// newPageLinks returns the links below a page of a list with a filter. last is the id of its
// last row; empty if there are no more.
func newPageLinks(req *ui.Request, path string, filter url.Values, last string) (links pageLinks) {
	link := func() string {
		if len(filter) == 0 {
			return path
		}
		return path + "?" + filter.Encode()
	}
	if req.Query("before") != "" {
		links.Newest = link()
	}
	if last != "" {
		if filter == nil {
			filter = make(url.Values)
		}
		filter.Set("before", last)
		links.Older = link()
	}
	return links
}

// stateFilter returns the chosen state, or an empty one for all, and the query with it.
func stateFilter[State ~string](req *ui.Request, all []State) (chosen State, query url.Values) {
	if chosen = State(req.Query("state")); slices.Contains(all, chosen) {
		return chosen, url.Values{"state": {string(chosen)}}
	}
	return "", nil
}

type ordersView struct {
	States   []order.State
	State    order.State
	Search   ui.Field
	Found    string // the domain or address whose orders are shown; empty if there was no search
	ByDomain bool   // Found is a domain
	More     bool   // the search found more than are shown
	Orders   []orderRow
	listedPage
}

func (h *Handler) orders(req *ui.Request, operator registrar.Actor) error {
	state, filter := stateFilter(req, order.States())
	orders, err := h.Admin.ListOrders(req.R.Context(), operator, admin.OrderFilter{State: string(state)}, req.Query("before"))
	if err != nil {
		return err
	}
	rows, err := h.orderRows(req, operator, orders.Rows)
	if err != nil {
		return err
	}
	return h.showOrders(req, http.StatusOK, ordersView{State: state, Orders: rows, listedPage: listedPage{newPageLinks(req, ordersPath, filter, orders.Older), orders.Unaudited}}, "")
}

func (h *Handler) showOrders(req *ui.Request, status int, view ordersView, problem string) error {
	view.States = order.States()
	view.Search = ui.Field{
		Name: "q", Label: "orders.find", Hint: "orders.find_hint", Type: "search", MaxLength: 254, Autocomplete: "off",
	}.With(req.Text("q"), "")
	return h.render(req, ui.View{Name: "orders", Status: status, Section: ordersPath}, view, problem)
}

// findOrders shows the orders of a domain or an email address, or redirects to the one that a
// number stands for. It is a POST, so that neither appears in a URL.
func (h *Handler) findOrders(req *ui.Request, operator registrar.Actor) error {
	ctx, text := req.R.Context(), req.Text("q")
	var filter admin.OrderFilter
	found := text
	if key, err := account.EmailKey(text); err == nil {
		filter.EmailKey = key
	} else if name, err := registrar.ParseHost(strings.ToLower(text)); err == nil && strings.Contains(name, ".") {
		filter.Name, found = name, name
	}
	if filter == (admin.OrderFilter{}) {
		id, found, err := h.Admin.FindOrder(ctx, operator, text)
		if err != nil {
			return err
		}
		if found {
			return req.SeeOther(ordersPath + "/" + url.PathEscape(id))
		}
	} else {
		orders, err := h.Admin.ListOrders(ctx, operator, filter, "")
		if err != nil {
			return err
		}
		rows, err := h.orderRows(req, operator, orders.Rows)
		if err != nil {
			return err
		}
		if len(rows) > 0 {
			return h.showOrders(req, http.StatusOK, ordersView{Found: found, ByDomain: filter.Name != "", More: orders.Older != "", Orders: rows, listedPage: listedPage{Unaudited: orders.Unaudited}}, "")
		}
	}
	return h.showOrders(req, http.StatusNotFound, ordersView{Found: text}, h.templates.Text(req.Language, ui.ProblemKey(order.NoSuchOrder)))
}

func (h *Handler) order(req *ui.Request, operator registrar.Actor) error {
	return h.showOrder(req, operator, http.StatusOK, "")
}

func (h *Handler) showOrder(req *ui.Request, operator registrar.Actor, status int, problem string) error {
	record, err := h.Customers.Order(req.R.Context(), operator, req.R.PathValue("id"))
	if err != nil {
		return err
	}
	if record.Operators, err = h.operatorNames(req, operator); err != nil {
		return err
	}
	if record.Undecided, err = h.Refunds.UndecidedDomains(req.R.Context(), operator, record.Order); err != nil {
		return err
	}
	record.Declared, err = h.openNoticesAbout(req, operator, []order.Order{record.Order}, func(withdrawal.Notice) bool { return false })
	if err != nil {
		return err
	}
	return h.render(req, ui.View{Name: "order", Status: status, Title: "order.page", TitleValue: record.ID, Section: ordersPath}, record, problem)
}

func (h *Handler) payments(req *ui.Request, operator registrar.Actor) error {
	state, filter := stateFilter(req, order.PaymentStates())
	payments, err := h.Admin.ListPayments(req.R.Context(), operator, string(state), req.Query("before"))
	if err != nil {
		return err
	}
	rows, err := h.paymentRows(req, operator, payments.Rows)
	if err != nil {
		return err
	}
	return h.render(req, ui.View{Name: "payments", Section: paymentsPath}, struct {
		States   []order.PaymentState
		State    order.PaymentState
		Payments []paymentRow
		listedPage
	}{order.PaymentStates(), state, rows, listedPage{newPageLinks(req, paymentsPath, filter, payments.Older), payments.Unaudited}}, "")
}
