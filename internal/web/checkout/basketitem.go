package checkout

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

// basketItem is an entry of the basket: register:example.de for the shortest term,
// register-3:example.com for three years, transfer:example.de, or register-0-29750-29750:gold.com
// for a premium name with the prices of a year that the search showed.
type basketItem struct {
	name  registrar.Name
	kind  order.Kind
	years int // 0 means the term on sale
	// register and renew are the prices of a premium name, only for this page: an order has the
	// registry's current ones. Zero for a name at the list price.
	register, renew registrar.Cents
}

// Premium reports whether the registry has set a price of its own for the name.
func (i basketItem) Premium() bool { return i.register > 0 }

func (i basketItem) String() string {
	kind := string(i.kind)
	switch {
	case i.Premium():
		kind = fmt.Sprintf("%s-%d-%d-%d", kind, i.years, i.register, i.renew)
	case i.years > 0:
		kind += "-" + strconv.Itoa(i.years)
	}
	return kind + ":" + i.name.ASCII()
}

// maxShownPrice bounds the prices in a planted cookie.
const maxShownPrice = 1_000_000_00

func (h *Handler) parseItem(text string) (item basketItem, err error) {
	what, name, _ := strings.Cut(text, ":")
	kind, details, detailed := strings.Cut(what, "-")
	item.kind = order.Kind(kind)
	if detailed {
		years, prices, premium := strings.Cut(details, "-")
		register, renew, _ := strings.Cut(prices, "-")
		if item.years, err = strconv.Atoi(years); err == nil && premium {
			item.register, item.renew = shownPrice(register), shownPrice(renew)
		}
	}
	if err != nil || item.kind != order.Register && (item.kind != order.Transfer || detailed) {
		return basketItem{}, &registrar.Error{Kind: registrar.KindInvalid, Code: order.BadItems}
	}
	item.name, err = h.parseName(name)
	return h.withSoldTerm(item), err
}

// parseItems returns the entries of a basket without invalid ones and further ones of a name: none of our
// pages adds them.
func (h *Handler) parseItems(texts []string) (items []basketItem) {
	for _, text := range texts {
		item, err := h.parseItem(text)
		known := slices.ContainsFunc(items, func(other basketItem) bool { return other.name.ASCII() == item.name.ASCII() })
		if err == nil && !known {
			items = append(items, item)
		}
	}
	return items
}

func shownPrice(text string) registrar.Cents {
	cents, err := strconv.Atoi(text)
	if err != nil || cents < 0 || cents > maxShownPrice {
		return 0
	}
	return registrar.Cents(cents)
}

// withSoldTerm returns the item with the shortest term if its own is not sold, or no longer.
func (h *Handler) withSoldTerm(item basketItem) basketItem {
	if ext, _ := h.Extension(item.name.TLD()); item.years <= ext.Term() || item.years > h.LongestTerm(ext) {
		item.years = 0
	}
	return item
}

// parseName parses a name of an extension in the price list.
func (h *Handler) parseName(text string) (registrar.Name, error) {
	return registrar.ParseName(text, func(tld string) bool { _, listed := h.Extension(tld); return listed })
}

// saleError is why names of an extension can't be ordered in this way; nil if they can.
func saleError(ext registrar.Extension, kind order.Kind) error {
	refusal := ext.Sale.NoRegistration
	if kind == order.Transfer {
		refusal = ext.Sale.NoTransfer
	}
	if refusal == "" {
		return nil
	}
	return &registrar.Error{Kind: registrar.KindUnsupported, Code: refusal}
}

// withItem returns the items of a basket with another one, which replaces that of the same name.
func withItem(items []string, added basketItem) []string {
	rest := slices.DeleteFunc(slices.Clone(items), func(other string) bool {
		_, held, _ := strings.Cut(other, ":")
		return held == added.name.ASCII()
	})
	return append(rest, added.String())
}
