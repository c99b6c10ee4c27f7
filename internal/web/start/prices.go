package start

import (
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/web/page"
	"github.com/dotkontor/dotkontor/internal/web/wire"
)

// rowsAPage keeps the page light on a phone's line.
const rowsAPage = 100

// pricesPage is what the template reads.
type pricesPage struct {
	Rows       []template.HTML
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

// chosenPrices are the rows that an address asks for, all of them.
func (h *Handler) chosenPrices(v *page.Visit) (shown pricesPage, rows []*priceRow, err error) {
	known, err := h.list(v.Now)
	if err != nil {
		return shown, nil, err
	}
	shown = pricesPage{Path: v.R.URL.Path, Categories: catalog.Categories(), Rate: h.rate(v), Sort: orders[0].name}
	shown.Filter = strings.ToLower(strings.TrimSpace(v.Query("q")))
	if wanted := catalog.Category(v.Query("category")); slices.Contains(shown.Categories, wanted) {
		shown.Category = wanted
	}
	for _, order := range orders {
		shown.Sorts = append(shown.Sorts, order.name)
		if order.name == v.Query("sort") {
			shown.Sort = order.name
		}
	}
	all := known.sorted[shown.Sort]
	part := strings.TrimPrefix(shown.Filter, ".")
	for _, row := range all {
		if shown.Category != "" && !shown.Category.Holds(row.Extension) {
			continue
		}
		if strings.Contains(row.TLD[1:], part) || strings.Contains(row.Ext[1:], part) {
			rows = append(rows, row)
		}
	}
	shown.Found, shown.All = len(rows), len(all)
	return shown, rows, nil
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
	shown, rows, err := h.chosenPrices(v)
	if err != nil {
		return err
	}
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
	for _, row := range rows[from:min(len(rows), from+rowsAPage)] {
		shown.Rows = append(shown.Rows, row.shown[v.Language])
	}
	section := page.PricesPath
	if v.Language == page.English {
		section = page.EnglishPricesPath
	}
	return h.views.Render(v, page.View{
		Name: "prices", Title: "prices.title", Section: section, Public: "prices.description", Data: shown,
	})
}

var typeCSV = []string{"text/csv; charset=utf-8"}

// pricesFile is the same list for a spreadsheet, every row of the choice.
func (h *Handler) pricesFile(v *page.Visit) error {
	_, rows, err := h.chosenPrices(v)
	if err != nil {
		return err
	}
	body, err := csvLine(fileColumns)
	if err != nil {
		return err
	}
	for _, row := range rows {
		body = append(body, row.line...)
	}
	v.W.Header().Set("Content-Disposition", `attachment; filename="dotkontor-prices.csv"`)
	wire.WriteBytes(v.W, http.StatusOK, typeCSV, body)
	return nil
}
