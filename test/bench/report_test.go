package main

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestMedian_MiddleOrMeanOfMiddleTwo(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		values []float64
		want   float64
	}{
		{[]float64{7}, 7},
		{[]float64{9, 1}, 5},
		{[]float64{3, 100, 1}, 3},
		{[]float64{4, 1000, 2, 1}, 3},
	} {
		before := append([]float64(nil), test.values...)
		if got := median(test.values); got != test.want {
			t.Errorf("median of %v is %v, want %v", test.values, got, test.want)
		}
		for i := range before {
			if before[i] != test.values[i] {
				t.Fatalf("the values were reordered: %v", test.values)
			}
		}
	}
	if got := median(nil); !math.IsNaN(got) {
		t.Errorf("median of nothing is %v, want not a number", got)
	}
}

func TestTarget_MetOnItsOwnSideOnly(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		target *target
		value  float64
		want   bool
	}{
		{atLeast(0.6), 0.6, true},
		{atLeast(0.6), 0.59, false},
		{atMost(200), 200, true},
		{atMost(200), 200.1, false},
		{atLeast(1), math.NaN(), false},
		{atMost(1), math.NaN(), false},
		{nil, -1, true},
	} {
		if got := test.target.met(test.value); got != test.want {
			t.Errorf("%v with %s is %t, want %t", test.value, test.target.text(ratio), got, test.want)
		}
	}
}

func TestReport_NamesMissedTargets(t *testing.T) {
	t.Parallel()
	r := newReport(t.Context(), settings{rounds: 3, duration: time.Second})
	r.Lines = []measurement{
		newMeasurement("speed", 0.5, ratio, atLeast(0.6), "slow"),
		newMeasurement("requests", 1234567.8, perSecond, nil, ""),
	}
	if r.met() {
		t.Error("a missed target counts as met")
	}
	var out bytes.Buffer
	r.print(&out)
	for _, want := range []string{"speed", "0.500", "≥ 0.600", "MISSED", "slow", "1,234,568 1/s"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the report lacks %q:\n%s", want, out.String())
		}
	}

	path := filepath.Join(t.TempDir(), "report.json")
	if err := r.write(path); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var read report
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	if len(read.Lines) != 2 || read.Lines[0].OK || !read.Lines[1].OK || *read.Lines[0].Wanted.AtLeast != 0.6 {
		t.Errorf("the file says %s", text)
	}
}

func TestGrouped_SeparatesThousands(t *testing.T) {
	t.Parallel()
	for number, want := range map[string]string{
		"7": "7", "999": "999", "1000": "1,000", "12345.60": "12,345.60", "-1234": "-1,234", "-123": "-123",
	} {
		if got := grouped(number); got != want {
			t.Errorf("%s is written %s, want %s", number, got, want)
		}
	}
}

func TestRun_InvalidFlagsAreRefused(t *testing.T) {
	t.Parallel()
	for _, args := range []string{"-rounds 0", "-duration 1ns", "-connections 0", "-starts 0", "-only nothing", "leftover", "-unknown"} {
		var out, errOut bytes.Buffer
		if code := run(t.Context(), strings.Fields(args), nil, &out, &errOut); code != exitFailed || errOut.Len() == 0 {
			t.Errorf("%s ends with %d and %q, want %d and a reason", args, code, errOut.String(), exitFailed)
		}
	}
}

func TestPercentile_IsAMeasuredValue(t *testing.T) {
	t.Parallel()
	values := make([]float64, 0, 100)
	for n := range 100 {
		values = append(values, float64(100-n))
	}
	for share, want := range map[float64]float64{0: 1, 0.5: 51, 0.99: 100, 1: 100} {
		if got := percentile(values, share); got != want {
			t.Errorf("the %v-th part is at %v, want %v", share, got, want)
		}
	}
}

func TestReport_GoalsComeLastWithBothBounds(t *testing.T) {
	t.Parallel()
	r := newReport(t.Context(), settings{rounds: 5, duration: time.Second})
	r.Lines = []measurement{
		newMeasurement("purchases on SQLite, from create to registered", 96, perSecond, atLeast(40), ""),
		newMeasurement("  CPU time of the product for each", 11, milliseconds, nil, ""),
		newMeasurement("purchases on PostgreSQL, fsync on, from create to registered", 70, perSecond, atLeast(50), ""),
		newMeasurement("  CPU time of the product for each", 5, milliseconds, nil, ""),
	}
	if !r.met() || r.goalsMet() {
		t.Errorf("targets met %t, goals met %t", r.met(), r.goalsMet())
	}
	var out bytes.Buffer
	r.print(&out)
	_, summary, _ := strings.Cut(out.String(), "## Must reach")
	var rows []string
	for line := range strings.Lines(summary) {
		if fields := strings.Split(line, "|"); len(fields) > 5 {
			for i := range fields {
				fields[i] = strings.TrimSpace(fields[i])
			}
			rows = append(rows, strings.Join(fields[1:6], ";"))
		}
	}
	want := []string{
		"metric;measured;must;target;verdict", "---;---;---;---;---",
		"product CPU per purchase, SQLite;11.0 ms;≤ 10.0 ms;≤ 7.0 ms;MISSED",
		"product CPU per purchase, PostgreSQL with fsync;5.0 ms;≤ 8.0 ms;≤ 6.0 ms;target reached",
		"purchases per second, SQLite;96 1/s;≥ 95 1/s;≥ 110 1/s;reached",
		"purchases per second, PostgreSQL with fsync;70 1/s;≥ 80 1/s;≥ 95 1/s;MISSED",
	}
	if !slices.Equal(rows, want) {
		t.Errorf("the goals are %q", rows)
	}
}

func TestMedianLines_MergesRepeatedRuns(t *testing.T) {
	t.Parallel()
	var runs [][]measurement
	for _, value := range []float64{3, 9, 1} {
		runs = append(runs, []measurement{newMeasurement("speed", value, perSecond, atLeast(2), "")})
	}
	merged, err := medianLines(runs)
	if err != nil || len(merged) != 1 || merged[0].Measured != 3 || !merged[0].OK {
		t.Errorf("got %+v, %v", merged, err)
	}
	runs[1][0].What = "another"
	if _, err := medianLines(runs); err == nil {
		t.Error("different measurements were merged")
	}
}

func TestRequireDisk_SaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	if err := requireDisk(t.TempDir(), 1); err != nil {
		t.Error(err)
	}
	if err := requireDisk(t.TempDir(), 1<<60); err == nil || !strings.Contains(err.Error(), "-rows") {
		t.Errorf("got %v", err)
	}
}
