package site

import (
	"html/template"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// pricesPerPage keeps the page small on mobile connections.
const pricesPerPage = 100

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
	// Before and After are the URLs of the neighbouring pages; empty if there are none.
	Before, After string
	Rate          string
}

func (h *Handler) filterPrices(req *ui.Request) (shown pricesPage, rows []*priceRow, err error) {
	known, err := h.currentPriceList(h.Now())
	if err != nil {
		return shown, nil, err
	}
	shown = pricesPage{Path: req.R.URL.Path, Categories: catalog.Categories(), Rate: h.rate(req), Sort: sortOrders[0].name}
	shown.Filter = strings.ToLower(strings.TrimSpace(req.Query("q")))
	if wanted := catalog.Category(req.Query("category")); slices.Contains(shown.Categories, wanted) {
		shown.Category = wanted
	}
	for _, order := range sortOrders {
		shown.Sorts = append(shown.Sorts, order.name)
		if order.name == req.Query("sort") {
			shown.Sort = order.name
		}
	}
	all := known.sorted[shown.Sort]
	for _, row := range all {
		if shown.Category != "" && !shown.Category.Contains(row.Extension) {
			continue
		}
		if matches(row.TLD, shown.Filter) || matches(row.Ext, shown.Filter) {
			rows = append(rows, row)
		}
	}
	// Who asks for .de does not mean .deals.
	if i := slices.IndexFunc(rows, func(row *priceRow) bool { return row.TLD == shown.Filter || row.Ext == shown.Filter }); i > 0 {
		exact := rows[i]
		rows = slices.Insert(slices.Delete(rows, i, i+1), 0, exact)
	}
	shown.Found, shown.All = len(rows), len(all)
	return shown, rows, nil
}

// matches reports whether an extension contains the filter or, if that has a leading dot, begins
// with it: .de is no part of .trade.
func matches(ext, filter string) bool {
	if strings.HasPrefix(filter, ".") {
		return strings.HasPrefix(ext, filter)
	}
	return strings.Contains(ext, filter)
}

// pageURL returns the URL of another page of the same selection.
func (p pricesPage) pageURL(path string, number int) string {
	query := map[string]string{"q": p.Filter, "category": string(p.Category)}
	if p.Sort != sortOrders[0].name {
		query["sort"] = p.Sort
	}
	if number > 1 {
		query["page"] = strconv.Itoa(number)
	}
	return ui.WithQuery(path, query)
}

func (h *Handler) showPrices(req *ui.Request) error {
	shown, rows, err := h.filterPrices(req)
	if err != nil {
		return err
	}
	shown.Pages = max(1, (shown.Found+pricesPerPage-1)/pricesPerPage)
	number, _ := strconv.Atoi(req.Query("page"))
	shown.Page = min(max(1, number), shown.Pages)
	if shown.Page > 1 {
		shown.Before = shown.pageURL(shown.Path, shown.Page-1)
	}
	if shown.Page < shown.Pages {
		shown.After = shown.pageURL(shown.Path, shown.Page+1)
	}
	shown.CSV = shown.pageURL(shown.Path+".csv", 1)
	from := (shown.Page - 1) * pricesPerPage
	for _, row := range rows[from:min(len(rows), from+pricesPerPage)] {
		shown.Rows = append(shown.Rows, row.html[req.Language])
	}
	return h.templates.Render(req, ui.View{
		Name: "prices", Title: "prices.title", Section: ui.InLanguage(req.Language, ui.PricesPath, ui.EnglishPricesPath),
		Public: "prices.description", Data: shown,
	})
}

var typeCSV = []string{"text/csv; charset=utf-8"}

// pricesCSV serves the selection as CSV, without paging.
func (h *Handler) pricesCSV(req *ui.Request) error {
	_, rows, err := h.filterPrices(req)
	if err != nil {
		return err
	}
	body, err := ui.CSVLine(req.Language, csvHeader)
	if err != nil {
		return err
	}
	for _, row := range rows {
		body = append(body, row.csv[req.Language]...)
	}
	req.W.Header().Set("Content-Disposition", `attachment; filename="dotkontor-prices.csv"`)
	httpjson.WriteBytes(req.W, http.StatusOK, typeCSV, body)
	return nil
}
