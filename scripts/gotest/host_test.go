package main

import (
	"context"
	"strings"
	"testing"
)

func TestParseCPUTimes_CountsGuestsOnce(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		stat string
		want cpuTimes
	}{
		"linux":    {"cpu  10 2 3 100 5 0 1 79 8 1\ncpu0 1 1 1 1 1 1 1 1 0 0\n", cpuTimes{total: 200, stolen: 79}},
		"no steal": {"cpu  10 2 3 100 5 0 1\n", cpuTimes{}},
		"garbage":  {"cpu  a b c d e f g h\n", cpuTimes{}},
		"empty":    {"", cpuTimes{}},
	} {
		if got := parseCPUTimes(test.stat); got != test.want {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
	}
}

func TestRests_EndWithTheLackOrAfterTheLast(t *testing.T) {
	t.Parallel()
	lack := 0.9
	var out strings.Builder
	r := &rests{left: 3, stolen: func(context.Context) float64 { return lack }}
	lines := func() int {
		defer out.Reset()
		r.await(t.Context(), &out)
		return strings.Count(out.String(), "withholds 90 %")
	}
	lack = 0.1
	if n := lines(); n != 0 || r.left != 3 {
		t.Errorf("%d rests on a quiet host, %d left", n, r.left)
	}
	lack = 0.9
	if n := lines(); n != 3 {
		t.Errorf("%d rests, want 3", n)
	}
	if n := lines(); n != 0 { // before the next package
		t.Errorf("%d rests after the last one", n)
	}
}
