package start

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/web/page"
	"github.com/dotkontor/dotkontor/internal/web/wire"
)

// rowsAPage keeps the page light on a phone's line.
const rowsAPage = 100

// priceRow is one extension.
type priceRow struct {
	registrar.Extension
	// Ext is how the extension is read.
	Ext     string
	Offer   offer
	RuleKey string
}

// pricesPage is what the template reads.
type pricesPage struct {
	Rows       []priceRow
	Path, CSV  string
	Filter     string
	Category   catalog.Category
	Categories []catalog.Category
	Sort       string
	Sorts      []string
	// Found and All count extensions, Page and Pages pages.
	Found, All, Page, Pages int
	// Before and After are the neighbours' addresses; empty if there are none.
	Before, After string
	Rate          string
}

// orders are how the list can be sorted. The first is what counts if nothing was
// chosen; equals stand in alphabetical order.
var orders = []struct {
	name    string
	compare func(a, b priceRow) int
}{
	{"popular", func(a, b priceRow) int { return cmp.Compare(rank(a), rank(b)) }},
	{"name", func(priceRow, priceRow) int { return 0 }},
	{"first", func(a, b priceRow) int { return cmp.Compare(a.Offer.First.Net, b.Offer.First.Net) }},
	{"later", func(a, b priceRow) int { return cmp.Compare(a.Offer.Later.Net, b.Offer.Later.Net) }},
	{"long_run", func(a, b priceRow) int { return cmp.Compare(a.Offer.LongRun.Net, b.Offer.LongRun.Net) }},
}

func rank(row priceRow) int {
	if row.Popular {
		return 0
	}
	return 1
}

// chosenPrices are the rows that an address asks for, all of them.
func (h *Handler) chosenPrices(v *page.Visit) pricesPage {
	shown := pricesPage{Path: v.R.URL.Path, Categories: catalog.Categories(), Rate: h.rate(v)}
	shown.Filter = strings.ToLower(strings.TrimSpace(v.Query("q")))
	if wanted := catalog.Category(v.Query("category")); slices.Contains(shown.Categories, wanted) {
		shown.Category = wanted
	}
	order := orders[0]
	for _, one := range orders {
		shown.Sorts = append(shown.Sorts, one.name)
		if one.name == v.Query("sort") {
			order = one
		}
	}
	shown.Sort = order.name
	part := strings.TrimPrefix(shown.Filter, ".")
	for _, ext := range h.Catalogue.All() {
		shown.All++
		written := readable(ext.TLD)
		if shown.Category != "" && !shown.Category.Holds(ext) ||
			!strings.Contains(ext.TLD[1:], part) && !strings.Contains(written[1:], part) {
			continue
		}
		row := priceRow{Extension: ext, Ext: written, Offer: h.offerOf(ext, v.Now)}
		if ext.Requires != "" {
			row.RuleKey = h.ruleKey(ext.Requires)
		}
		shown.Rows = append(shown.Rows, row)
	}
	slices.SortStableFunc(shown.Rows, order.compare)
	shown.Found = len(shown.Rows)
	return shown
}

// address is the list's own with these choices, on another page of it.
func (p pricesPage) address(path string, number int) string {
	query := url.Values{}
	for name, value := range map[string]string{"q": p.Filter, "category": string(p.Category), "sort": p.Sort} {
		if value != "" && value != orders[0].name {
			query.Set(name, value)
		}
	}
	if number > 1 {
		query.Set("page", strconv.Itoa(number))
	}
	if len(query) == 0 {
		return path
	}
	return path + "?" + query.Encode()
}

func (h *Handler) prices(v *page.Visit) error {
	shown := h.chosenPrices(v)
	shown.Pages = max(1, (shown.Found+rowsAPage-1)/rowsAPage)
	number, _ := strconv.Atoi(v.Query("page"))
	shown.Page = min(max(1, number), shown.Pages)
	if shown.Page > 1 {
		shown.Before = shown.address(shown.Path, shown.Page-1)
	}
	if shown.Page < shown.Pages {
		shown.After = shown.address(shown.Path, shown.Page+1)
	}
	shown.CSV = shown.address(shown.Path+".csv", 1)
	from := (shown.Page - 1) * rowsAPage
	shown.Rows = shown.Rows[from:min(len(shown.Rows), from+rowsAPage)]
	section := page.PricesPath
	if v.Language == page.English {
		section = page.EnglishPricesPath
	}
	return h.views.Render(v, page.View{
		Name: "prices", Title: "prices.title", Section: section, Public: "prices.description", Data: shown,
	})
}

var typeCSV = []string{"text/csv; charset=utf-8"}

// pricesFile is the same list for a spreadsheet: every row of the choice, amounts
// with a point, net and gross.
func (h *Handler) pricesFile(v *page.Visit) error {
	var body bytes.Buffer
	out := csv.NewWriter(&body)
	lines := [][]string{{
		"extension", "min_years", "first_term_net_eur", "first_term_gross_eur", "further_year_net_eur", "further_year_gross_eur",
		"five_years_net_eur", "five_years_gross_eur", "transfer_net_eur", "transfer_gross_eur", "vat_percent", "requires",
	}}
	shown := h.chosenPrices(v)
	for _, row := range shown.Rows {
		line := []string{row.TLD, strconv.Itoa(row.Offer.Years)}
		for _, sum := range []price{row.Offer.First, row.Offer.Later, row.Offer.LongRun, row.Offer.Transfer} {
			line = append(line, sum.Net.String(), sum.Gross.String())
		}
		lines = append(lines, append(line, strings.Replace(shown.Rate, ",", ".", 1), row.Requires))
	}
	if err := out.WriteAll(lines); err != nil {
		return err
	}
	v.W.Header().Set("Content-Disposition", `attachment; filename="dotkontor-prices.csv"`)
	wire.WriteBytes(v.W, http.StatusOK, typeCSV, body.Bytes())
	return nil
}
