package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// report has all measurements and where they were taken.
type report struct {
	// Commit is the measured one, and Dirty is true if the tree differs from it.
	Commit   string        `json:"commit"`
	Dirty    bool          `json:"dirty"`
	Go       string        `json:"go"`
	System   string        `json:"system"`
	Cores    int           `json:"cores"`
	Began    time.Time     `json:"began"`
	Rounds   int           `json:"rounds"`
	Duration string        `json:"duration"`
	Lines    []measurement `json:"lines"`
}

// measurement is one measurement.
type measurement struct {
	Section  string  `json:"section"`
	What     string  `json:"what"`
	Measured float64 `json:"measured"`
	Unit     unit    `json:"unit"`
	// Wanted is nil for a figure that only explains another.
	Wanted *target `json:"wanted,omitempty"`
	// OK is true without a target.
	OK   bool   `json:"ok"`
	Note string `json:"note,omitempty"`
}

// target is one bound of a measurement.
type target struct {
	AtLeast *float64 `json:"at_least,omitempty"`
	AtMost  *float64 `json:"at_most,omitempty"`
}

func atLeast(value float64) *target { return &target{AtLeast: &value} }
func atMost(value float64) *target  { return &target{AtMost: &value} }

func (t *target) met(measured float64) bool {
	switch {
	case t == nil:
		return true
	case t.AtLeast != nil && measured < *t.AtLeast:
		return false
	case t.AtMost != nil && measured > *t.AtMost:
		return false
	}
	return !math.IsNaN(measured) // NaN is neither below nor above a bound, and no success
}

func (t *target) text(u unit) string {
	switch {
	case t == nil:
		return "-"
	case t.AtLeast != nil:
		return "≥ " + u.text(*t.AtLeast)
	case t.AtMost != nil:
		return "≤ " + u.text(*t.AtMost)
	default:
		return "-"
	}
}

// unit is the unit of a figure.
type unit string

const (
	ratio        unit = "ratio"
	perSecond    unit = "1/s"
	microseconds unit = "µs"
	seconds      unit = "s"
	minutes      unit = "min"
	megabytes    unit = "MB"
	mebibytes    unit = "MiB"
	bytesEach    unit = "B"
	count        unit = "count"
	each         unit = "each"
)

const mebi = 1 << 20

// decimals are few, because more would not be reproducible. A ratio has one more than
// its target, so that a narrow miss does not look like a hit.
var decimals = map[unit]int{ratio: 3, microseconds: 1, milliseconds: 1, seconds: 2, minutes: 1, each: 1, megabytes: 1, mebibytes: 1}

func (u unit) text(value float64) string {
	number := grouped(strconv.FormatFloat(value, 'f', decimals[u], 64))
	if u == ratio || u == count || u == each {
		return number
	}
	return number + " " + string(u)
}

// grouped separates groups of three digits with commas.
func grouped(number string) string {
	whole, fraction, hasFraction := strings.Cut(number, ".")
	sign := ""
	if rest, negative := strings.CutPrefix(whole, "-"); negative {
		sign, whole = "-", rest
	}
	var b strings.Builder
	for i, digit := range whole {
		if i > 0 && (len(whole)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(digit)
	}
	if hasFraction {
		return sign + b.String() + "." + fraction
	}
	return sign + b.String()
}

// newMeasurement returns a measurement compared with its target.
func newMeasurement(what string, value float64, u unit, wanted *target, note string) measurement {
	return measurement{What: what, Measured: value, Unit: u, Wanted: wanted, OK: wanted.met(value), Note: note}
}

func newReport(ctx context.Context, s settings) report {
	commit, dirty := measuredCommit(ctx, s.binary)
	return report{
		Commit:   commit,
		Dirty:    dirty,
		Go:       runtime.Version(),
		System:   runtime.GOOS + "/" + runtime.GOARCH,
		Cores:    runtime.GOMAXPROCS(0),
		Began:    time.Now().UTC().Truncate(time.Second),
		Rounds:   s.rounds,
		Duration: s.duration.String(),
	}
}

// measuredCommit returns the commit of the working directory. A binary that was built
// elsewhere is its own name.
func measuredCommit(ctx context.Context, binary string) (commit string, dirty bool) {
	if binary != "" {
		return binary, false
	}
	head, err := exec.CommandContext(ctx, "git", "rev-parse", "--short", "HEAD").Output()
	if err != nil {
		return "an unknown commit", false
	}
	changes, err := exec.CommandContext(ctx, "git", "status", "--porcelain").Output()
	return strings.TrimSpace(string(head)), err != nil || len(changes) > 0
}

// met reports whether every target was met.
func (r report) met() bool {
	for _, l := range r.Lines {
		if !l.OK {
			return false
		}
	}
	return true
}

// print writes Markdown, so that docs/benchmarks.md can take over its rows.
func (r report) print(out io.Writer) {
	state := ""
	if r.Dirty {
		state = " with uncommitted changes"
	}
	fmt.Fprintf(out, "dotkontor bench of %s%s: %s, %s, %d cores, %s; medians of %d rounds of %s\n",
		r.Commit, state, r.Go, r.System, r.Cores, r.Began.Format(time.RFC3339), r.Rounds, r.Duration)
	for start := 0; start < len(r.Lines); {
		section := r.Lines[start].Section
		var rows [][]string
		for ; start < len(r.Lines) && r.Lines[start].Section == section; start++ {
			l := r.Lines[start]
			rows = append(rows, []string{l.What, l.Unit.text(l.Measured), l.Wanted.text(l.Unit), l.verdict(), l.Note})
		}
		fmt.Fprintf(out, "\n## %s\n\n", section)
		printTable(out, []string{"what", "measured", "wanted", "verdict", "note"}, rows)
	}
	r.printGoals(out)
}

// printTable writes a Markdown table with aligned columns, except for the last one.
func printTable(out io.Writer, header []string, rows [][]string) {
	widths := make([]int, len(header)-1)
	for _, row := range append([][]string{header}, rows...) {
		for i := range widths {
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i]))
		}
	}
	write := func(row []string) {
		for i, width := range widths {
			fmt.Fprintf(out, "| %-*s ", width, row[i])
		}
		fmt.Fprintf(out, "| %s |\n", row[len(widths)])
	}
	write(header)
	fmt.Fprintln(out, strings.Repeat("|---", len(header))+"|")
	for _, row := range rows {
		write(row)
	}
}

func (l measurement) verdict() string {
	switch {
	case !l.OK:
		return "MISSED"
	case l.Wanted == nil:
		return ""
	default:
		return "ok"
	}
}

func (r report) write(path string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o600)
}
