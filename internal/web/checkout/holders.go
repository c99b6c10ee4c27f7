package checkout

import (
	"slices"
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/holder"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

const (
	// holderField begins the names of the fields for the holders of items.
	holderField = "holder."
	// oneHolderField is the holder of all items.
	oneHolderField = "holder"
	// shownField begins the names of the fields with the holders that the page has shown as stored.
	shownField = "was."
)

// holdersChosen (KindConflict): another holder was chosen, but not yet saved, when the order was sent.
const holdersChosen registrar.Code = "holders_chosen"

// holderChoice is the choice of a holder for an item that is registered or transferred.
type holderChoice struct {
	Item, Field, Name string
	Form              string // the id of the form that it belongs to; empty inside of it
	Options           []ui.Choice
	Current           string
}

// holderChoices is the choice of holders for an order.
type holderChoices struct {
	One       holderChoice   // for all items; its Current is empty if they have several holders
	Items     []holderChoice // for each
	Transfers bool           // a transfer changes the holder that the registry has now
	New       string         // the form for another holder, which returns to the page
}

// holderOptions are the holders that a customer can choose from.
func (h *Handler) holderOptions(req *ui.Request) ([]ui.Choice, error) {
	all, err := h.Holders(req.R.Context(), req.Actor())
	if err != nil {
		return nil, err
	}
	var options []ui.Choice
	if !slices.ContainsFunc(all, func(one holder.Holder) bool { return one.ID == holder.Own }) { // the checkout asks for the customer's data
		options = append(options, ui.Choice{Value: holder.Own, Text: h.templates.Text(req.Language, "holder.self")})
	}
	for _, one := range all {
		options = append(options, ui.Choice{Value: one.ID, Text: one.Label()})
	}
	return options, nil
}

// holderChoices returns nil if there is nothing to choose or say: the customer has no other
// holders, the order names none, and no domain is transferred.
func (h *Handler) holderChoices(req *ui.Request, o order.Order) (*holderChoices, error) {
	options, err := h.holderOptions(req)
	if err != nil {
		return nil, err
	}
	choices := &holderChoices{New: ui.WithNext(ui.HoldersPath+"/new", currentPayPath(req))}
	chosen := false
	for _, item := range o.Items {
		if item.Kind.ForHeldDomain() {
			continue
		}
		chosen, choices.Transfers = chosen || item.Holder != "", choices.Transfers || item.Kind == order.Transfer
		choice := holderChoice{Item: item.ID, Field: holderField + item.ID, Name: item.Name, Options: options, Current: item.Holder}
		if choice.Current == "" {
			choice.Current = holder.Own
		}
		choices.Items = append(choices.Items, choice)
	}
	if len(choices.Items) == 0 || len(options) < 2 && !chosen && !choices.Transfers {
		return nil, nil
	}
	choices.One = choices.Items[0]
	if slices.ContainsFunc(choices.Items, func(c holderChoice) bool { return c.Current != choices.One.Current }) {
		choices.One.Current = ""
	}
	return choices, nil
}

// joinOrderForm makes the choices part of the form that orders, so that what is chosen is never lost.
// That with the customer's own data is left out: Enter would save the choice instead of them.
func (c *holderChoices) joinOrderForm(orderable, withData bool) {
	c.One.Form = "holders-chosen"
	if orderable && !withData {
		c.One.Form = "order"
	}
}

// chosenHolders returns the holders by item for which a form has other values than those shown: of the
// choice for all, of those for each, or of both if which is empty.
func chosenHolders(req *ui.Request, which string, changedOnly bool) map[string]string {
	chosen := make(map[string]string)
	choose := func(field string, items ...string) {
		holder := req.Field(field)
		if holder == "" || changedOnly && holder == req.Field(shownField+field) {
			return
		}
		for _, item := range items {
			chosen[item] = holder
		}
	}
	if which != "each" {
		choose(oneHolderField, req.R.PostForm["item"]...)
	}
	for name := range req.R.PostForm {
		if item, ok := strings.CutPrefix(name, holderField); ok && which != "one" {
			choose(name, item)
		}
	}
	return chosen
}

// saveChosenHolders saves holders that were chosen, but not saved, before the order is sent, and returns
// holdersChosen then: the customer orders what the page shows.
func (h *Handler) saveChosenHolders(req *ui.Request) error {
	chosen := chosenHolders(req, "", true)
	if len(chosen) == 0 {
		return nil
	}
	if err := h.Orders.SetHolders(req.R.Context(), req.Actor(), linkSecret(req), chosen); err != nil {
		return err
	}
	return registrar.Conflict(holdersChosen)
}

// setHolders stores the chosen holders of an order's items: one for all, or one for each.
func (h *Handler) setHolders(req *ui.Request) error {
	chosen := chosenHolders(req, req.Field("holders"), false)
	if err := h.Orders.SetHolders(req.R.Context(), req.Actor(), linkSecret(req), chosen); err != nil {
		return h.renderFormError(req, err, formError{})
	}
	return req.RedirectWithFlash("holders_saved", currentPayPath(req))
}
