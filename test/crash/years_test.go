package crash_test

import (
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/test/crash"
)

// Thirteen months: a term, its renewal or its end, and the hold after it.
func TestYears_RenewalsAndExpiriesSurviveKills(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	err := crash.RunYears(t.Context(), binary, t.TempDir(), crash.YearSettings{
		Customers: 12, Domains: 100, Days: 395, RegisterDays: 20, Kills: 5, Seed: 20, Timeout: 5 * time.Minute,
	}, &out)
	t.Log(out.String())
	if err != nil {
		t.Fatal(err)
	}
}
