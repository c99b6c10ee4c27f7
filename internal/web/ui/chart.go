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
	Zero  bool // the line that separates columns above and below zero, if there are such
}

// ChartColumn is a column: what is below it, and its values from zero on, those below zero
// downwards.
type ChartColumn struct {
	Label  string
	Values []int64
}

// extent returns how far the column reaches above and below zero.
func (c ChartColumn) extent() (above, below int64) {
	for _, value := range c.Values {
		above, below = above+max(value, 0), below+max(-value, 0)
	}
	return above, below
}

// NewChart returns the chart of some columns; nil if none has a height. The axis has steps
// of at least unit, which label formats.
func NewChart(id string, columns []ChartColumn, unit int64, label func(int64) string) *Chart {
	var above, below int64
	for _, column := range columns {
		up, down := column.extent()
		above, below = max(above, up), max(below, down)
	}
	if above+below == 0 {
		return nil
	}
	step := tickStep(above+below, unit)
	steps := func(value int64) int64 { return (value + step - 1) / step }
	ticks := max(chartTicks, steps(above)+steps(below))
	height := func(value int64) int { return int(value * chartHeight / (step * ticks)) }
	bottom := chartTop + chartHeight
	c := &Chart{
		ID: id, Width: chartLeft + len(columns)*columnWidth, Base: bottom - height(step*steps(below)), LabelBase: bottom + 22,
		ColumnWidth: columnWidth - columnGap,
	}
	for i, column := range columns {
		one := chartColumn{X: chartLeft + i*columnWidth + columnGap/2, Middle: chartLeft + i*columnWidth + columnWidth/2, Label: column.Label}
		var up, down int64
		for _, value := range column.Values { // the heights of sums, so that rounding leaves no gap
			if value < 0 {
				one.Parts = append(one.Parts, chartPart{Y: c.Base + height(down), Height: height(down-value) - height(down)})
				down -= value
				continue
			}
			one.Parts = append(one.Parts, chartPart{Y: c.Base - height(up+value), Height: height(up+value) - height(up)})
			up += value
		}
		c.Columns = append(c.Columns, one)
	}
	for i := range ticks + 1 {
		value := step * (i - steps(below))
		c.Ticks = append(c.Ticks, chartTick{Y: bottom - int(chartHeight*i/ticks), Label: label(value), Zero: value == 0 && below > 0})
	}
	return c
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
	sign := ""
	if amount < 0 {
		sign, amount = minus, -amount
	}
	euros, thousands := int64(amount/100), ""
	switch {
	case euros >= 10_000_000:
		euros, thousands = euros/1_000_000, InLanguage(language, "\u00a0Mio.", "m")
	case euros >= 10_000:
		euros, thousands = euros/1000, InLanguage(language, "\u00a0Tsd.", "k")
	}
	return sign + fmt.Sprintf(InLanguage(language, "%d%s\u00a0€", "€%d%s"), euros, thousands)
}
