package operator

import (
	"fmt"
	"strconv"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/invoice"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// The chart's coordinates; style.css scales it to the page.
const (
	chartLeft, chartTop      = 80, 10
	chartHeight, columnWidth = 180, 34
	columnGap                = 8
	chartTicks               = 4
)

// column is one month of the chart: net below, VAT on top of it. Amounts below zero have no
// height; the table shows them.
type column struct {
	X, Middle, NetY, NetHeight, VATY, VATHeight int
	Month                                       int
}

type chartTick struct {
	Y     int
	Label string
}

type chart struct {
	Columns                []column
	Ticks                  []chartTick
	Width, Base, LabelBase int
	ColumnWidth            int
}

// newChart returns the chart of a year; nil if no month has revenue.
func newChart(language string, year invoice.Year) *chart {
	most := registrar.Cents(0)
	for _, month := range year.Months {
		most = max(most, month.Gross())
	}
	if most == 0 {
		return nil
	}
	step := tickStep(most)
	height := func(amount registrar.Cents) int {
		return int(int64(max(0, amount)) * chartHeight / int64(step*chartTicks))
	}
	c := &chart{Width: chartLeft + 12*columnWidth, Base: chartTop + chartHeight, LabelBase: chartTop + chartHeight + 22, ColumnWidth: columnWidth - columnGap}
	for i, month := range year.Months {
		one := column{X: chartLeft + i*columnWidth + columnGap/2, Middle: chartLeft + i*columnWidth + columnWidth/2, Month: i + 1}
		one.NetHeight = height(month.Net())
		one.VATHeight = max(0, height(month.Gross())-one.NetHeight)
		one.NetY = c.Base - one.NetHeight
		one.VATY = one.NetY - one.VATHeight
		c.Columns = append(c.Columns, one)
	}
	for i := range chartTicks + 1 {
		c.Ticks = append(c.Ticks, chartTick{Y: c.Base - chartHeight*i/chartTicks, Label: axisLabel(language, step*registrar.Cents(i))})
	}
	return c
}

// tickStep returns a round amount of whole euros, chartTicks times which is at least most.
func tickStep(most registrar.Cents) registrar.Cents {
	for unit := registrar.Cents(100); ; unit *= 10 {
		for _, factor := range []registrar.Cents{1, 2, 5} {
			if unit*factor*chartTicks >= most {
				return unit * factor
			}
		}
	}
}

// axisLabel formats whole euros in few characters.
func axisLabel(language string, amount registrar.Cents) string {
	euros, thousands := int64(amount/100), ""
	switch {
	case euros >= 10_000_000:
		euros, thousands = euros/1_000_000, ui.InLanguage(language, "\u00a0Mio.", "m")
	case euros >= 10_000:
		euros, thousands = euros/1000, ui.InLanguage(language, "\u00a0Tsd.", "k")
	}
	return fmt.Sprintf(ui.InLanguage(language, "%d%s\u00a0€", "€%d%s"), euros, thousands)
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
		Chart *chart
	}{year, years, newChart(req.Language, year)}, "")
}
