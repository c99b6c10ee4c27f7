package ui

import (
	"slices"
	"strconv"
	"testing"
)

func TestNewChart_PartsStackAndFillTheAxis(t *testing.T) {
	t.Parallel()
	label := func(value int64) string { return strconv.FormatInt(value, 10) }
	if NewChart("c", []ChartColumn{{Values: []int64{0, 0}}, {}}, 1, label) != nil {
		t.Error("a chart without heights")
	}
	c := NewChart("c", []ChartColumn{{Label: "a", Values: []int64{300, 57}}, {Label: "b", Values: []int64{400}}}, 100, label)
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
}

func TestNewChart_ValuesBelowZeroHangFromTheZeroLine(t *testing.T) {
	t.Parallel()
	label := func(value int64) string { return strconv.FormatInt(value, 10) }
	for name, test := range map[string]struct {
		columns []ChartColumn
		ticks   []string
	}{
		"only below zero": {[]ChartColumn{{Values: []int64{-300, -57}}, {Values: []int64{0, 0}}}, []string{"-400", "-300", "-200", "-100", "0"}},
		"both":            {[]ChartColumn{{Values: []int64{-100, -19}}, {Values: []int64{200, 38}}}, []string{"-200", "-100", "0", "100", "200", "300"}},
	} {
		c := NewChart("c", test.columns, 100, label)
		var ticks []string
		for i, tick := range c.Ticks {
			ticks = append(ticks, tick.Label)
			if tick.Zero != (tick.Label == "0") || tick.Zero && tick.Y != c.Base || tick.Y < chartTop || tick.Y > chartTop+chartHeight || i > 0 && tick.Y >= c.Ticks[i-1].Y {
				t.Errorf("%s: tick %+v, the base is at %d", name, tick, c.Base)
			}
		}
		if !slices.Equal(ticks, test.ticks) {
			t.Errorf("%s: the axis has %q, not %q", name, ticks, test.ticks)
		}
		net, vat := c.Columns[0].Parts[0], c.Columns[0].Parts[1]
		if net.Y != c.Base || net.Height <= 0 || vat.Y != net.Y+net.Height || vat.Height <= 0 || vat.Y+vat.Height > chartTop+chartHeight {
			t.Errorf("%s: %+v below %+v, the base is at %d", name, vat, net, c.Base)
		}
	}
}

func TestFormatAxis_SignComesFirst(t *testing.T) {
	t.Parallel()
	for language, want := range map[string]string{"de": minus + "20\u00a0Tsd.\u00a0€", "en": minus + "€20k"} {
		if got := FormatAxis(language, -20_000_00); got != want {
			t.Errorf("%s: %q, not %q", language, got, want)
		}
	}
}
