package operator

import (
	"strconv"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/cost"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// maxShownExtensions bounds the table; the file has all.
const maxShownExtensions = 50

// newMarginChart shows the revenue of each month: cost below, the margin on it, and the revenue
// of items of unknown cost on top. Amounts below zero are in the table only.
func (h *Handler) newMarginChart(language string, year cost.Year) *ui.Chart {
	columns := make([]ui.ChartColumn, 0, len(year.Months))
	for i, month := range year.Months {
		columns = append(columns, ui.ChartColumn{
			Label: h.templates.ShortMonth(language, time.Month(i+1)), Values: []int64{int64(max(month.Cost, 0)), int64(max(month.Known(), 0)), int64(max(month.UnknownRevenue, 0))},
		})
	}
	return ui.NewChart("chart", columns, 100, func(cents int64) string { return ui.FormatAxis(language, registrar.Cents(cents)) })
}

func (h *Handler) marginYear(req *ui.Request, operator registrar.Actor) (cost.Year, error) {
	return h.Margins.Of(req.R.Context(), operator, wantedYear(req))
}

func (h *Handler) margin(req *ui.Request, operator registrar.Actor) error {
	year, err := h.marginYear(req, operator)
	if err != nil {
		return err
	}
	var years []int
	for y := year.Last; y >= year.First; y-- {
		years = append(years, y)
	}
	hidden := max(len(year.Extensions)-maxShownExtensions, 0)
	year.Extensions = year.Extensions[:len(year.Extensions)-hidden]
	return h.render(req, ui.View{Name: "margin", Section: marginPath}, struct {
		cost.Year
		Years  []int
		Hidden int
		Chart  *ui.Chart
	}{year, years, hidden, h.newMarginChart(req.Language, year)}, "")
}

// marginFile serves the margin of a year by month and extension. Where no cost is known, the
// columns of cost and margin are empty.
func (h *Handler) marginFile(req *ui.Request, operator registrar.Actor) error {
	year, err := h.marginYear(req, operator)
	if err != nil {
		return err
	}
	amount := func(cents registrar.Cents) string { return ui.CSVAmount(req.Language, cents) }
	rows := [][]string{strings.Split(h.templates.Text(req.Language, "margin.columns"), " ")}
	for _, row := range year.Rows {
		paid, margin := "", ""
		if row.HasCost() {
			paid, margin = amount(row.Cost), amount(row.Known())
		}
		rows = append(rows, []string{
			row.Month, row.TLD, strconv.Itoa(row.Items), amount(row.Revenue), paid, margin, strconv.Itoa(row.UnknownItems), amount(row.UnknownRevenue),
		})
	}
	return ui.ServeCSV(req, "margin-"+strconv.Itoa(year.Year)+".csv", rows)
}
