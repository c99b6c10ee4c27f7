package cli

import (
	"slices"
	"testing"
	"time"
)

func TestParseRateLimitPolicy_IgnoresInvalidItems(t *testing.T) {
	t.Parallel()
	for header, want := range map[string][]RateWindow{
		`"60s";q=30;w=60, "21600s";q=300;w=21600`: {{30, time.Minute}, {300, 6 * time.Hour}},
		`"burst"; w=1; q=5`:                       {{5, time.Second}},
		``:                                        nil,
		`"x";q=0;w=60`:                            nil,
		`"x";q=5`:                                 nil,
		`"x";q=5;w=99999999999`:                   nil,
		`"x";q=-5;w=60, "y";q=2;w=2`:              {{2, 2 * time.Second}},
	} {
		if got := ParseRateLimitPolicy(header); !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", header, got, want)
		}
	}
}
