package operator

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/invoice"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// newChart returns the chart of a year, net next to zero and VAT beyond it; nil if no month has
// revenue or corrections.
func (h *Handler) newChart(language string, year invoice.Year) *ui.Chart {
	columns := make([]ui.ChartColumn, 0, len(year.Months))
	for i, month := range year.Months {
		net := int64(month.Net())
		columns = append(columns, ui.ChartColumn{Label: h.templates.ShortMonth(language, time.Month(i+1)), Values: []int64{net, int64(month.Gross()) - net}})
	}
	return ui.NewChart("chart", columns, 100, func(cents int64) string { return ui.FormatAxis(language, registrar.Cents(cents)) })
}

func (h *Handler) revenueYear(req *ui.Request, operator registrar.Actor) (invoice.Year, error) {
	return h.Revenue.Of(req.R.Context(), operator, wantedYear(req))
}

func (h *Handler) revenue(req *ui.Request, operator registrar.Actor) error {
	year, err := h.revenueYear(req, operator)
	if err != nil {
		return err
	}
	var years []int
	for y := year.Last; y >= year.First; y-- {
		years = append(years, y)
	}
	return h.render(req, ui.View{Name: "revenue", Section: revenuePath}, struct {
		invoice.Year
		Years []int
		Chart *ui.Chart
	}{year, years, h.newChart(req.Language, year)}, "")
}

// revenueFile serves the revenue of a year by month. Corrections are positive, as on the
// documents; net, vat and gross have them deducted.
func (h *Handler) revenueFile(req *ui.Request, operator registrar.Actor) error {
	year, err := h.revenueYear(req, operator)
	if err != nil {
		return err
	}
	amount := func(cents registrar.Cents) string { return ui.CSVAmount(req.Language, cents) }
	rows := [][]string{strings.Split(h.templates.Text(req.Language, "revenue.columns"), " ")}
	for i, month := range year.Months {
		row := []string{fmt.Sprintf("%d-%02d", year.Year, i+1)}
		for _, sums := range []invoice.Amounts{month.Invoices, month.Corrections} {
			row = append(row, strconv.Itoa(sums.Documents), amount(sums.Net), amount(sums.VAT), amount(sums.Gross))
		}
		rows = append(rows, append(row, amount(month.Net()), amount(month.VAT()), amount(month.Gross())))
	}
	return ui.ServeCSV(req, "revenue-"+strconv.Itoa(year.Year)+".csv", rows)
}

// wantedYear is the year in the query, or one after the present.
func wantedYear(req *ui.Request) int {
	if wanted, err := strconv.Atoi(req.Query("year")); err == nil {
		return wanted
	}
	return 1 << 20
}
