package contract

import (
	"strings"
	"testing"
)

// dotkontor doctor passes on a healthy service. It uses 127.0.0.1 and observes that
// address's budget, so its two runs are sequential.
func TestDoctor_HealthyServicePassesWithAndWithoutToken(t *testing.T) {
	onBothTargets(t, func(t *testing.T, on *target) {
		got := runCLI(t, "doctor", "--url", on.base)
		if got.code != 0 {
			t.Errorf("exit code %d\n%s%s", got.code, got.out, got.errOut)
		}
		got = runCLI(t, "doctor", "--url", on.base, "--token", on.demo.Token)
		if got.code != 0 || !strings.Contains(got.out, "list_my_domains works") || strings.Contains(got.out, on.demo.Token) {
			t.Errorf("exit code %d\n%s%s", got.code, got.out, got.errOut)
		}
	})
}
