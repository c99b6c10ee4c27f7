package operator

import (
	"net/http"
	"net/url"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/office"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/web/page"
)

// customers is where one customer is asked for.
func (h *Handler) customers(v *page.Visit, _ registrar.Actor) error {
	return h.showSearch(v, http.StatusOK, "")
}

func (h *Handler) showSearch(v *page.Visit, status int, problem string) error {
	field := page.Field{
		Name: "q", Label: "customers.find", Hint: "customers.find_hint", Type: "search", MaxLength: 254, Autocomplete: "off", Focus: true,
	}.With(v.Text("q"), "")
	return h.renderWith(v, page.View{Name: "customers", Status: status, Title: "customers.title", Section: customersPath}, field, problem)
}

// findCustomer leads to the account that is named. It is a POST, so that no address of
// a person gets into an address of ours.
func (h *Handler) findCustomer(v *page.Visit, operator registrar.Actor) error {
	id, err := h.Files.Find(v.R.Context(), operator, v.Text("q"))
	if registrar.KindOf(err) == registrar.KindNotFound || registrar.KindOf(err) == registrar.KindInvalid {
		return h.showSearch(v, http.StatusNotFound, h.views.Text(v.Language, page.ProblemKey(office.NoSuchCustomer)))
	}
	if err != nil {
		return err
	}
	return v.SeeOther(customersPath + "/" + url.PathEscape(id))
}

// customer is one account, read only.
func (h *Handler) customer(v *page.Visit, operator registrar.Actor) error {
	file, err := h.Files.Open(v.R.Context(), operator, v.R.PathValue("id"))
	if err != nil {
		return err
	}
	return h.render(v, page.View{Name: "customer", Title: "customer.title", Section: customersPath}, file)
}

// order is one order with its payments and refunds.
func (h *Handler) order(v *page.Visit, operator registrar.Actor) error {
	o, err := h.Files.Order(v.R.Context(), operator, v.R.PathValue("id"))
	if err != nil {
		return err
	}
	return h.render(v, page.View{Name: "order", Title: "order.title", Section: homePath}, struct {
		order.Order
		Due bool
	}{o, o.RefundsDue() > 0})
}
