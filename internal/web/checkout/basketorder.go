package checkout

import (
	"errors"

	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// checkedQuery is the parameter of the basket's page after an order that something prevented.
const checkedQuery = "checked"

// checkBasket returns what prevents an order of the basket, if the page is to name it.
func (h *Handler) checkBasket(req *ui.Request) error {
	if !req.SignedIn || req.Query(checkedQuery) == "" || len(req.Basket()) == 0 {
		return nil
	}
	_, err := h.Orders.Prepare(req.R.Context(), req.Actor(), order.Request{Items: h.requestedItems(req), Channel: order.ChannelPortal, DryRun: true})
	var refused *order.ItemsRefused
	var unquoted *order.ItemsUnquoted
	if errors.As(err, &refused) || errors.As(err, &unquoted) {
		return err
	}
	if err != nil { // the button says it again
		httpjson.RecordError(req.W, err)
	}
	return nil
}

// orderBasket prepares the order, which is then reviewed and paid like any other.
// Nothing is owed before that.
func (h *Handler) orderBasket(req *ui.Request) error {
	if !req.SignedIn {
		return req.RedirectToSignIn(ui.SignInPath)
	}
	err := h.ApplyTerms(req)
	page := ""
	if err == nil {
		page, err = h.createOrder(req)
	}
	if err != nil {
		return h.showBasket(req, err, "")
	}
	return req.SeeOther(page)
}

// OrderBasket is orderBasket for a customer who has just signed in. It returns the order's
// page, or the basket's if something can't be ordered, which says why.
func (h *Handler) OrderBasket(req *ui.Request) (page string) {
	_, err := h.dropBought(req, false) // the basket may be older than a purchase on another device
	if err == nil {
		page, err = h.createOrder(req)
	}
	if err != nil {
		httpjson.RecordError(req.W, err)
		return ui.BasketPathIn(req.Language) + "?" + checkedQuery + "=1"
	}
	return page
}

// ShowBasketEmail shows the basket with what is wrong with the email address of a new customer.
func (h *Handler) ShowBasketEmail(req *ui.Request, email string, wrong error) error {
	req.SetFormPath(ui.BasketPathIn(req.Language))
	return h.showBasket(req, wrong, email)
}

func (h *Handler) requestedItems(req *ui.Request) (items []order.RequestedItem) {
	for _, r := range h.basketRows(req).Rows {
		items = append(items, order.RequestedItem{Name: r.name, Kind: r.kind, Years: r.years})
	}
	return items
}

// createOrder orders the basket, empties it and returns the order's page. An empty basket
// is its own page.
func (h *Handler) createOrder(req *ui.Request) (page string, err error) {
	items := h.requestedItems(req)
	if len(items) == 0 {
		return ui.BasketPathIn(req.Language), nil
	}
	created, err := h.Orders.Create(req.R.Context(), req.Actor(), order.Request{Items: items, Channel: order.ChannelPortal})
	if err != nil {
		return "", err
	}
	if page, err = h.payPath(created); err == nil {
		_, err = req.SetBasket(nil)
	}
	return page, err
}
