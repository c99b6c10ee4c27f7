package checkout

import (
	"slices"
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// unmetRule is a requirement that the holder does not meet.
type unmetRule struct {
	Key   string
	Names string // the domains that it applies to; empty if it is the only one
}

// namesMissing lists the domains of an order that lack something.
func namesMissing(view order.View, missing string) string {
	if len(view.Order.Items) == 1 {
		return ""
	}
	var names []string
	for _, item := range view.Order.Items {
		if slices.Contains(view.MissingByItem[item.ID], missing) {
			names = append(names, ui.UnicodeName(item.Name))
		}
	}
	return strings.Join(names, ", ")
}

// unmetRules are those of an order that have a text.
func (h *Handler) unmetRules(view order.View) (rules []unmetRule) {
	for _, missing := range view.Missing {
		if key := "rule." + missing; h.templates.Has(key) {
			rules = append(rules, unmetRule{Key: key, Names: namesMissing(view, missing)})
		}
	}
	return rules
}
