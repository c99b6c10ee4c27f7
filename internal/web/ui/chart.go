package ui

import (
	"fmt"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// The chart's coordinates; style.css scales it to the page.
const (
	chartLeft, chartTop      = 80, 10
	chartHeight, columnWidth = 180, 34
	columnGap                = 8
	chartTicks               = 4
)

// Chart is a column chart. The template "chart" renders it as SVG; its heading has the id
// ID-title and its description ID-text, and the page shows the same values as a table.
type Chart struct {
	ID                     string
	Columns                []chartColumn
	Ticks                  []chartTick
	Width, Base, LabelBase int
	ColumnWidth            int
}

type chartColumn struct {
	X, Middle int
	Label     string
	Parts     []chartPart
}

// chartPart is a rectangle; style.css gives the first and the second part of a column
// different colours.
type chartPart struct{ Y, Height int }

type chartTick struct {
	Y     int
	Label string
}

// ChartColumn is a column: what is below it, and its values from the bottom up. Values below
// zero have no height.
type ChartColumn struct {
	Label  string
	Values []int64
}

// NewChart returns the chart of some columns; nil if none has a height. The axis has steps
// of at least unit, which label formats.
func NewChart(id string, columns []ChartColumn, unit int64, label func(int64) string) *Chart {
	var most int64
	for _, column := range columns {
		most = max(most, sum(column.Values))
	}
	if most <= 0 {
		return nil
	}
	step := tickStep(most, unit)
	c := &Chart{
		ID: id, Width: chartLeft + len(columns)*columnWidth, Base: chartTop + chartHeight, LabelBase: chartTop + chartHeight + 22,
		ColumnWidth: columnWidth - columnGap,
	}
	for i, column := range columns {
		one := chartColumn{X: chartLeft + i*columnWidth + columnGap/2, Middle: chartLeft + i*columnWidth + columnWidth/2, Label: column.Label}
		below := 0
		for n := range column.Values {
			// The heights of sums, so that rounding leaves no gap.
			height := max(below, int(max(0, sum(column.Values[:n+1]))*chartHeight/(step*chartTicks)))
			one.Parts = append(one.Parts, chartPart{Y: c.Base - height, Height: height - below})
			below = height
		}
		c.Columns = append(c.Columns, one)
	}
	for i := range chartTicks + 1 {
		c.Ticks = append(c.Ticks, chartTick{Y: c.Base - chartHeight*i/chartTicks, Label: label(step * int64(i))})
	}
	return c
}

func sum(values []int64) (total int64) {
	for _, value := range values {
		total += value
	}
	return total
}

// tickStep returns a round multiple of unit, chartTicks times which is at least most.
func tickStep(most, unit int64) int64 {
	for ; ; unit *= 10 {
		for _, factor := range []int64{1, 2, 5} {
			if unit*factor*chartTicks >= most {
				return unit * factor
			}
		}
	}
}

// FormatAxis formats whole euros in few characters.
func FormatAxis(language string, amount registrar.Cents) string {
	euros, thousands := int64(amount/100), ""
	switch {
	case euros >= 10_000_000:
		euros, thousands = euros/1_000_000, InLanguage(language, "\u00a0Mio.", "m")
	case euros >= 10_000:
		euros, thousands = euros/1000, InLanguage(language, "\u00a0Tsd.", "k")
	}
	return fmt.Sprintf(InLanguage(language, "%d%s\u00a0€", "€%d%s"), euros, thousands)
}
