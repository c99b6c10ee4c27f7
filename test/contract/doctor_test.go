package contract

import (
	"strings"
	"testing"
)

// The doctor sees every promise from outside, so a healthy service has none that
// fails. It talks from the usual loopback address and watches how that budget
// falls, so its two visits come one after the other.
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
