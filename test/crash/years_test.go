package crash_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/test/crash"
)

// years runs thirteen months of a hundred domains and returns their histories.
func years(t *testing.T) []string {
	t.Helper()
	var out strings.Builder
	histories, err := crash.RunYears(t.Context(), binary, t.TempDir(), crash.YearSettings{
		Customers: 12, Domains: 100, Days: 395, RegisterDays: 20, Kills: 5, Seed: 20, Timeout: 5 * time.Minute,
	}, &out)
	t.Log(out.String())
	if err != nil {
		t.Fatal(err)
	}
	return histories
}

// A run is repeated by its seed, whatever the kills interrupt.
func TestYears_RenewalsAndExpiriesSurviveKills(t *testing.T) {
	t.Parallel()
	first, second := years(t), years(t)
	for i, history := range second {
		if history != first[i] {
			t.Errorf("with the same seed a domain's history was\n%s\nthen\n%s", first[i], history)
		}
	}
	if !slices.ContainsFunc(first, func(history string) bool { return strings.Contains(history, "expired") }) {
		t.Errorf("no history has an expired domain: %q", first)
	}
}
