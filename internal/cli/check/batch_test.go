package check

import (
	"testing"
)

func TestProgress_ExitCodes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		p    progress
		want int
	}{
		{progress{total: 3, done: 3, free: 1, failed: 2}, 0},
		{progress{total: 3, done: 3, failed: 2}, 2},
		{progress{total: 3, done: 3}, 2},
		{progress{total: 3, done: 3, failed: 3}, 1},
		{progress{total: 3, done: 1, free: 1, interrupted: true}, 130},
	} {
		if got := test.p.exitCode(); got != test.want {
			t.Errorf("%+v: exit code %d, want %d", test.p, got, test.want)
		}
	}
}
