package contract

import (
	"testing"
)

// The doctor sees every promise from outside, so a healthy service has none that
// fails. It talks from the usual loopback address, which other tests may use as
// well: near the limit it warns, and a warning is no failure.
func TestTheDoctorFindsNothingWrong(t *testing.T) {
	onBoth(t, func(t *testing.T, on *target) {
		got := command(t, "doctor", "--url", on.base)
		if got.code != 0 {
			t.Errorf("exit code %d\n%s%s", got.code, got.out, got.errOut)
		}
	})
}
