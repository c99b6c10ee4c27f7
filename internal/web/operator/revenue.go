package operator

import (
	"strconv"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/invoice"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// newChart returns the chart of a year, net below and VAT on top of it; nil if no month has
// revenue. The table shows amounts below zero.
func newChart(language string, year invoice.Year) *ui.Chart {
	columns := make([]ui.ChartColumn, 0, len(year.Months))
	for i, month := range year.Months {
		net := int64(month.Net())
		columns = append(columns, ui.ChartColumn{Label: strconv.Itoa(i + 1), Values: []int64{net, int64(month.Gross()) - net}})
	}
	return ui.NewChart("chart", columns, 100, func(cents int64) string { return ui.FormatAxis(language, registrar.Cents(cents)) })
}

func (h *Handler) revenue(req *ui.Request, operator registrar.Actor) error {
	wanted, err := strconv.Atoi(req.Query("year"))
	if err != nil {
		wanted = 1 << 20 // the present year
	}
	year, err := h.Revenue.Of(req.R.Context(), operator, wanted)
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
	}{year, years, newChart(req.Language, year)}, "")
}
