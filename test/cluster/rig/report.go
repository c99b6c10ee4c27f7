package main

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"html"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// result is a finished run.
type result struct {
	facts
	began, ended time.Time
	seed         uint64
	command      string
	purchases    int
	verdicts     []verdict
	recoveries   []time.Duration
	skipped      []string
	notes        []string
}

// write writes report.md, the charts and every request to a folder.
func (r result) write(folder string) error {
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return err
	}
	files := map[string]string{"report.md": r.markdown()}
	files["rates.svg"] = r.chart("Requests per second", r.rates())
	files["latency.svg"] = r.chart("Milliseconds until the response", r.latencies())
	files["errors.svg"] = r.chart("Failed requests and rejections per second", r.errors())
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return r.writeRequests(filepath.Join(folder, "requests.csv"))
}

func (r result) writeRequests(path string) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	rows := csv.NewWriter(file)
	_ = rows.Write([]string{"sent", "answered", "kind", "client", "node", "status", "limited", "try", "order"}) // Error has it
	for _, one := range r.records {
		_ = rows.Write([]string{
			one.Sent.UTC().Format(time.RFC3339Nano), one.Answered.UTC().Format(time.RFC3339Nano), string(one.Kind), one.Client, one.Node,
			strconv.Itoa(one.Status), strconv.FormatBool(one.Limited), strconv.Itoa(one.Try), one.Order,
		})
	}
	rows.Flush()
	return cmp.Or(rows.Error(), file.Close())
}

func (r result) markdown() string {
	var text strings.Builder
	fmt.Fprintf(&text, "# Three nodes with faults\n\n`%s`, seed %d, %s, from %s UTC: %d requests, %d purchases, %d faults.\n\n", r.command, r.seed,
		r.ended.Sub(r.began).Round(time.Second), r.began.UTC().Format(time.DateTime), len(r.records), r.purchases, len(r.faults))
	for _, v := range r.verdicts {
		fmt.Fprintf(&text, "- **%s** %s: %s\n", v.outcome(), v.Rule, v.Detail)
		for _, line := range v.Evidence {
			fmt.Fprintf(&text, "  - %s\n", line)
		}
	}
	text.WriteString("\n")
	for _, line := range slices.Concat(r.notes, r.skipped) {
		fmt.Fprintf(&text, "- %s\n", line)
	}
	text.WriteString("\n![](rates.svg)\n![](latency.svg)\n![](errors.svg)\n\n| fault | from | to | last failing request after |  |\n|---|---|---|---|---|\n")
	for i, f := range r.faults {
		note := f.Note
		if f.Interrupted > 0 {
			note = fmt.Sprintf("%d orders in progress, finished after %s. %s", f.Interrupted, f.Resumed.Round(time.Second/10), note)
		}
		fmt.Fprintf(&text, "| %s | %s | %s | %s | %s |\n", f, clock(f.Start), clock(f.End), r.recoveries[i].Round(time.Second/10), note)
	}
	text.WriteString("\n| requests | sent | p50 ms | p99 ms | failed | rejected |\n|---|---|---|---|---|---|\n")
	for _, what := range []kind{restCheck, mcpCheck, page, create, complete} {
		var times []float64
		failed, limited := 0, 0
		for _, one := range r.records {
			if one.Kind != what {
				continue
			}
			times = append(times, milliseconds(one))
			if one.failed() {
				failed++
			}
			if one.Limited {
				limited++
			}
		}
		slices.Sort(times)
		fmt.Fprintf(&text, "| %s | %d | %.0f | %.0f | %d | %d |\n", what, len(times), percentile(times, 0.5), percentile(times, 0.99), failed, limited)
	}
	return text.String()
}

func (v verdict) outcome() string {
	switch {
	case !v.Pass:
		return "FAIL"
	case v.Untested:
		return "NONE"
	default:
		return "PASS"
	}
}

func milliseconds(r record) float64 {
	return float64(r.Answered.Sub(r.Sent).Microseconds()) / 1000
}

// percentile returns a percentile of sorted values.
func percentile(sorted []float64, share float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)-1, int(share*float64(len(sorted))))]
}

// interval is the resolution of the charts.
const interval = 5 * time.Second

// series is a line of a chart, one value per interval.
type series struct {
	name, color string
	values      []float64
}

func (r result) intervals() int { return int(r.ended.Sub(r.began)/interval) + 1 }

// collect sorts records into intervals by when they were sent.
func (r result) collect(keep func(record) bool) [][]record {
	slots := make([][]record, r.intervals())
	for _, one := range r.records {
		if i := int(one.Sent.Sub(r.began) / interval); i >= 0 && i < len(slots) && keep(one) {
			slots[i] = append(slots[i], one)
		}
	}
	return slots
}

func (r result) perSecond(name, color string, keep func(record) bool) series {
	s := series{name: name, color: color}
	for _, slot := range r.collect(keep) {
		s.values = append(s.values, float64(len(slot))/interval.Seconds())
	}
	return s
}

func (r result) rates() []series {
	return []series{
		r.perSecond("lookups", "#1f77b4", func(one record) bool { return one.Kind.isLookup() }),
		r.perSecond("pages", "#2ca02c", func(one record) bool { return one.Kind == page }),
		r.perSecond("orders", "#9467bd", func(one record) bool { return one.Kind.isOrder() }),
	}
}

func (r result) latencies() []series {
	lines := []series{{name: "p50", color: "#1f77b4"}, {name: "p99", color: "#d62728"}}
	for _, slot := range r.collect(func(one record) bool { return !one.Kind.isOrder() && !one.Faulty }) {
		var times []float64
		for _, one := range slot {
			times = append(times, milliseconds(one))
		}
		slices.Sort(times)
		lines[0].values = append(lines[0].values, percentile(times, 0.5))
		lines[1].values = append(lines[1].values, percentile(times, 0.99))
	}
	return lines
}

func (r result) errors() []series {
	return []series{
		r.perSecond("lookups and pages failed", "#d62728", func(one record) bool { return one.failed() && !one.Kind.isOrder() }),
		r.perSecond("order requests failed", "#9467bd", func(one record) bool { return one.failed() && one.Kind.isOrder() }),
		r.perSecond("over the limit", "#7f7f7f", func(one record) bool { return one.Limited }),
	}
}

// Sizes of a chart in pixels.
const (
	chartWidth, chartHeight = 1200, 320
	plotLeft, plotTop       = 60, 60
	plotWidth, plotHeight   = 1120, 210
)

// chart draws series over time, with the faults as marked intervals.
func (r result) chart(title string, lines []series) string {
	highest := 1.0
	for _, line := range lines {
		for _, value := range line.values {
			highest = math.Max(highest, value)
		}
	}
	length := float64(r.intervals()) * interval.Seconds()
	x := func(seconds float64) float64 { return plotLeft + plotWidth*seconds/length }
	y := func(value float64) float64 { return plotTop + plotHeight*(1-value/highest) }
	var svg strings.Builder
	fmt.Fprintf(&svg, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="11"><rect width="100%%" height="100%%" fill="#fff"/>`, chartWidth, chartHeight)
	fmt.Fprintf(&svg, `<text x="%d" y="18" font-size="15">%s</text>`, plotLeft, html.EscapeString(title))
	for i, line := range lines {
		fmt.Fprintf(&svg, `<text x="%d" y="18" fill="%s">%s</text>`, plotLeft+400+i*200, line.color, html.EscapeString(line.name))
	}
	for i, f := range r.faults {
		from := x(f.Start.Sub(r.began).Seconds())
		fmt.Fprintf(&svg, `<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="#f5c542" opacity=".35"/>`, from, plotTop, math.Max(2, x(f.End.Sub(r.began).Seconds())-from), plotHeight)
		fmt.Fprintf(&svg, `<text x="%.1f" y="%d" font-size="9">%s</text>`, from, plotTop-4-10*(i%3), html.EscapeString(f.Name))
	}
	for _, share := range []float64{0, 0.5, 1} {
		fmt.Fprintf(&svg, `<line x1="%d" x2="%d" y1="%.1f" y2="%.1f" stroke="#ddd"/>`, plotLeft, plotLeft+plotWidth, y(highest*share), y(highest*share))
		fmt.Fprintf(&svg, `<text x="%d" y="%.1f" text-anchor="end">%.4g</text>`, plotLeft-6, y(highest*share)+4, highest*share)
	}
	const labels = 6
	for i := range labels + 1 {
		seconds := length * float64(i) / labels
		fmt.Fprintf(&svg, `<text x="%.1f" y="%d" text-anchor="middle">%.1f min</text>`, x(seconds), plotTop+plotHeight+18, seconds/60)
	}
	for _, line := range lines {
		var points []string
		for i, value := range line.values {
			points = append(points, fmt.Sprintf("%.1f,%.1f", x((float64(i)+0.5)*interval.Seconds()), y(value)))
		}
		fmt.Fprintf(&svg, `<polyline fill="none" stroke="%s" stroke-width="1.5" points="%s"/>`, line.color, strings.Join(points, " "))
	}
	svg.WriteString("</svg>\n")
	return svg.String()
}
