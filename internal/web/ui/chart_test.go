package ui

import (
	"strconv"
	"testing"
)

func TestNewChart_PartsStackAndFillTheAxis(t *testing.T) {
	t.Parallel()
	label := func(value int64) string { return strconv.FormatInt(value, 10) }
	if NewChart("c", []ChartColumn{{Values: []int64{0, 0}}, {Values: []int64{-5}}}, 1, label) != nil {
		t.Error("a chart without heights")
	}
	c := NewChart("c", []ChartColumn{{Label: "a", Values: []int64{300, 57}}, {Label: "b", Values: []int64{400}}, {Label: "c", Values: []int64{-1}}}, 100, label)
	if top := c.Ticks[len(c.Ticks)-1]; top.Label != "400" || top.Y != chartTop {
		t.Errorf("the axis ends at %+v", top)
	}
	full := c.Columns[1].Parts[0]
	if full.Height != chartHeight || full.Y != chartTop {
		t.Errorf("the highest column: %+v", full)
	}
	net, vat := c.Columns[0].Parts[0], c.Columns[0].Parts[1]
	if net.Y+net.Height != c.Base || vat.Y+vat.Height != net.Y || net.Height+vat.Height != 357*chartHeight/400 {
		t.Errorf("stacked: %+v on %+v", vat, net)
	}
	if c.Columns[2].Parts[0].Height != 0 {
		t.Errorf("a negative value has a height: %+v", c.Columns[2])
	}
}
