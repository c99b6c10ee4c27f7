package site

import (
	"cmp"
	"html/template"
	"slices"
	"strconv"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// priceList is a price list prepared for rendering: a hundred table rows take a
// template some milliseconds, and they are the same for all visitors. It belongs to one
// catalog and one VAT rate and is immutable.
type priceList struct {
	catalog *catalog.Catalog
	rate    int
	sorted  map[string][]*priceRow // all rows in each sort order
}

type priceRow struct {
	registrar.Extension
	Ext     string // the extension in Unicode
	Offer   offer
	RuleKey string
	SaleKey string                   // the text key of why names can't be ordered here; empty if they can
	html    map[string]template.HTML // the table row in each language
	csv     map[string][]byte        // the record of the file in each language
}

// sortOrders are the sort orders of the list; the first is the default. Ties are in
// alphabetical order.
var sortOrders = []struct {
	name    string
	compare func(a, b *priceRow) int
}{
	{"popular", func(a, b *priceRow) int { return cmp.Compare(rank(a), rank(b)) }},
	{"name", func(*priceRow, *priceRow) int { return 0 }},
	{"first", func(a, b *priceRow) int { return cmp.Compare(a.Offer.First.Net, b.Offer.First.Net) }},
	{"later", func(a, b *priceRow) int { return cmp.Compare(a.Offer.Renewal.Net, b.Offer.Renewal.Net) }},
	{"long_run", func(a, b *priceRow) int { return cmp.Compare(a.Offer.Total.Net, b.Offer.Total.Net) }},
}

// rank puts the extensions of every search first, in their order, then the popular
// ones.
func rank(row *priceRow) int {
	searched := lookup.DefaultExtensions()
	switch at := slices.Index(searched, row.TLD); {
	case at >= 0:
		return at
	case row.Popular:
		return len(searched)
	default:
		return len(searched) + 1
	}
}

// currentPriceList returns the current price list. It is built on first use to keep the
// start short; concurrent requests wait for one build.
func (h *Handler) currentPriceList(at time.Time) (*priceList, error) {
	prices, rate := h.Catalog.Catalog(), h.RateBasisPoints(at)
	holds := func(known *priceList) bool { return known != nil && known.catalog == prices && known.rate == rate }
	if known := h.cachedPriceList.Load(); holds(known) {
		return known, nil
	}
	h.buildMu.Lock()
	defer h.buildMu.Unlock()
	if known := h.cachedPriceList.Load(); holds(known) {
		return known, nil
	}
	fresh, err := h.buildPriceList(prices, rate, at)
	if err != nil {
		return nil, err
	}
	h.cachedPriceList.Store(fresh)
	return fresh, nil
}

func (h *Handler) buildPriceList(prices *catalog.Catalog, rate int, at time.Time) (*priceList, error) {
	fresh := &priceList{catalog: prices, rate: rate, sorted: make(map[string][]*priceRow)}
	var rows []*priceRow
	for _, ext := range prices.All() {
		row := &priceRow{
			Extension: ext, Ext: ui.UnicodeName(ext.TLD), Offer: h.offerFor(ext, at), html: make(map[string]template.HTML), csv: make(map[string][]byte),
			RuleKey: h.textKey("rule.", ext.Requires), SaleKey: h.textKey("sale.", string(ext.Sale.NoRegistration)),
		}
		for _, language := range []string{ui.German, ui.English} {
			html, err := h.templates.RenderPart(language, "prices", "price-row", row)
			if err != nil {
				return nil, err
			}
			row.html[language] = template.HTML(html) //nolint:gosec  // rendered by our own template
			if row.csv[language], err = row.csvRecord(language, rate); err != nil {
				return nil, err
			}
		}
		rows = append(rows, row)
	}
	for _, order := range sortOrders {
		own := slices.Clone(rows)
		slices.SortStableFunc(own, order.compare)
		fresh.sorted[order.name] = own
	}
	return fresh, nil
}

// searchOrder is the order in which extensions are searched: the default ones, the
// popular ones, all others.
func searchOrder(prices *catalog.Catalog) []string {
	var order, rest []string
	for _, tld := range lookup.DefaultExtensions() {
		if _, listed := prices.Extension(tld); listed {
			order = append(order, tld)
		}
	}
	for _, ext := range prices.All() {
		switch {
		case slices.Contains(order, ext.TLD):
		case ext.Popular:
			order = append(order, ext.TLD)
		default:
			rest = append(rest, ext.TLD)
		}
	}
	return append(order, rest...)
}

var csvHeader = []string{
	"extension", "min_years", "first_term_net_eur", "first_term_gross_eur", "further_year_net_eur", "further_year_gross_eur",
	"five_years_net_eur", "five_years_gross_eur", "transfer_net_eur", "transfer_gross_eur", "vat_percent", "requires",
	"restore_net_eur", "restore_gross_eur", "orderable", "orderable_reason", "five_years_covers_years",
	"late_renewal_days", "redemption_days",
}

// csvRecord is the row for a spreadsheet: amounts, net and gross.
func (row *priceRow) csvRecord(language string, rate int) ([]byte, error) {
	line := []string{row.TLD, strconv.Itoa(row.Offer.Years)}
	for _, sum := range []price{row.Offer.First, row.Offer.Renewal, row.Offer.Total, row.Offer.Transfer} {
		line = append(line, ui.CSVAmount(language, sum.Net), ui.CSVAmount(language, sum.Gross))
	}
	line = append(line, ui.FormatRate(language, rate), row.Requires)
	if row.Offer.RedemptionDays > 0 {
		line = append(line, ui.CSVAmount(language, row.Offer.Restore.Net), ui.CSVAmount(language, row.Offer.Restore.Gross))
	} else {
		line = append(line, "", "") // deleted names can't be restored
	}
	return ui.CSVLine(language, append(line, orderable(row.Sale), string(row.Sale.NoRegistration), strconv.Itoa(row.Offer.TotalYears),
		strconv.Itoa(row.Offer.LateDays), strconv.Itoa(row.Offer.RedemptionDays)))
}

// orderable is empty if nothing was decided.
func orderable(sale registrar.Sale) string {
	switch {
	case !sale.Decided:
		return ""
	case sale.NoRegistration == "":
		return "yes"
	default:
		return "no"
	}
}
