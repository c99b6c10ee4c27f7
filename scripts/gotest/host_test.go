package main

import "testing"

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

func TestStolenShare_IsAShare(t *testing.T) {
	t.Parallel()
	if share := stolenShare(t.Context()); share < 0 || share > 1 {
		t.Errorf("%v", share)
	}
}
