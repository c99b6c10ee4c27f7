package domains

import (
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar/lifecycle"
	"github.com/dotkontor/dotkontor/internal/sandbox/registry/ledger"
)

// What pages promise about a restore must be what the sandbox shows.
func TestPolicy_RestoreDaysAreThoseOfTheTermPolicies(t *testing.T) {
	t.Parallel()
	for _, tld := range []string{
		".com", ".org", ".io", ".at", ".co.at", ".or.at", ".ch", ".li", ".it", ".fr", ".us", ".com.de",
	} {
		days := ledger.PolicyOf(tld).RestoreDays
		if days == 0 {
			days = 30
		}
		if promised := lifecycle.PolicyOf(tld).RedemptionDays; promised != days {
			t.Errorf("%s: %d days to restore, pages say %d", tld, days, promised)
		}
	}
}
