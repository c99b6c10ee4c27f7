package account

import "testing"

func TestSession_NetworkLeavesTheHostOut(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"203.0.113.77": "203.0.113.x", "::ffff:203.0.113.77": "203.0.113.x", "2001:db8:12:34::5": "2001:db8:12:x", "2001:db8::1": "2001:db8:x", "": "", "x": "",
	} {
		if got := (Session{Address: address}).Network(); got != want {
			t.Errorf("%s: %q, want %q", address, got, want)
		}
	}
}
