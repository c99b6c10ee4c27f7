package checkout

import (
	"slices"
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// unmetRule is a requirement that the holder does not meet.
type unmetRule struct {
	Text  string
	Names string // the domains that it applies to; empty if it is the only one
}

// unmetHolder is a chosen holder who does not meet requirements of the domains.
type unmetHolder struct {
	Name, Country string
	Edit          string // the form for its data, which returns to the order
	Rules         []unmetRule
}

// namesMissing lists the domains of an order that lack something from a holder.
func namesMissing(view order.View, missing, holder string) string {
	var names []string
	for _, item := range view.Order.Items {
		if item.Holder == holder && slices.Contains(view.MissingByItem[item.ID], missing) {
			names = append(names, ui.UnicodeName(item.Name))
		}
	}
	return strings.Join(names, ", ")
}

// unmetRules are those that the customer's own data do not meet and that have a text.
func (h *Handler) unmetRules(language string, view order.View) (rules []unmetRule) {
	for _, missing := range view.Missing {
		key, names := "rule."+missing, namesMissing(view, missing, "")
		if !h.templates.Has(key) || names == "" && isMissingByItem(view, missing) {
			continue
		}
		if len(view.Order.Items) == 1 {
			names = ""
		}
		rules = append(rules, unmetRule{h.templates.Text(language, key), names})
	}
	return rules
}

// isMissingByItem reports whether an item lacks something; otherwise it concerns the order.
func isMissingByItem(view order.View, missing string) bool {
	return slices.ContainsFunc(view.Order.Items, func(item order.Item) bool { return slices.Contains(view.MissingByItem[item.ID], missing) })
}

// unmetHolders are the holders chosen for items whose extensions do not admit them.
func (h *Handler) unmetHolders(language, page string, view order.View) (holders []unmetHolder) {
	seen := make(map[string]bool)
	for _, item := range view.Order.Items {
		if item.Holder == "" || seen[item.Holder] {
			continue
		}
		seen[item.Holder] = true
		unmet := unmetHolder{
			Name: item.Registrant.DisplayName(), Country: registrar.CountryName(language, item.Registrant.Country),
			Edit: ui.WithNext(ui.HoldersPath+"/"+item.Holder, page),
		}
		for _, missing := range view.Missing {
			names, key := namesMissing(view, missing, item.Holder), "rule.holder."+string(registrar.RequiresCode(missing))
			if !h.templates.Has(key) {
				key = "rule." + missing
			}
			if names != "" && h.templates.Has(key) {
				unmet.Rules = append(unmet.Rules, unmetRule{h.templates.Text(language, key), names})
			}
		}
		if len(unmet.Rules) > 0 {
			holders = append(holders, unmet)
		}
	}
	return holders
}

// onlyHoldersMissing reports whether all that an order lacks is the fault of chosen holders.
func onlyHoldersMissing(view order.View) bool {
	return len(view.Missing) > 0 && !slices.ContainsFunc(view.Missing, func(missing string) bool {
		return missing == order.MissingCode || !isMissingByItem(view, missing) || namesMissing(view, missing, "") != ""
	})
}
