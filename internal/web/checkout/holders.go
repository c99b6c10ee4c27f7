package checkout

import (
	"slices"
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar/holder"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// holderField begins the names of the fields for the holders of items.
const holderField = "holder."

// holderChoice is the choice of a holder for an item that is registered or transferred.
type holderChoice struct {
	Field, Name string
	Options     []ui.Choice
	Current     string
}

// holderChoices returns a choice for each such item if the customer has holders to choose from, or
// the order names one.
func (h *Handler) holderChoices(req *ui.Request, o order.Order) ([]holderChoice, error) {
	all, err := h.Holders(req.R.Context(), req.Actor())
	if err != nil {
		return nil, err
	}
	chosen := slices.ContainsFunc(o.Items, func(item order.Item) bool { return item.Holder != "" })
	if len(all) < 2 && !chosen {
		return nil, nil
	}
	own := slices.ContainsFunc(all, func(one holder.Holder) bool { return one.ID == holder.Own })
	var choices []holderChoice
	for _, item := range o.Items {
		if item.Kind.ForHeldDomain() {
			continue
		}
		choice := holderChoice{Field: holderField + item.ID, Name: item.Name, Current: item.Holder}
		if choice.Current == "" {
			choice.Current = holder.Own
		}
		if !own { // the checkout asks for the customer's data
			choice.Options = append(choice.Options, ui.Choice{Value: holder.Own, Text: h.templates.Text(req.Language, "holder.self")})
		}
		for _, one := range all {
			choice.Options = append(choice.Options, ui.Choice{Value: one.ID, Text: one.Label()})
		}
		choices = append(choices, choice)
	}
	return choices, nil
}

// setHolders stores the chosen holders of an order's items.
func (h *Handler) setHolders(req *ui.Request) error {
	chosen := make(map[string]string)
	for name := range req.R.PostForm {
		if item, ok := strings.CutPrefix(name, holderField); ok {
			chosen[item] = req.Field(name)
		}
	}
	if err := h.Orders.SetHolders(req.R.Context(), req.Actor(), linkSecret(req), chosen); err != nil {
		return h.renderFormError(req, err, formError{})
	}
	return req.RedirectWithFlash("holders_saved", currentPayPath(req))
}
