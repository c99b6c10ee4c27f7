package browser

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A sandbox of its own: the demo customer gets a role and a second factor.
func TestOperatorPages_Journey(t *testing.T) {
	s := startSandbox(t)
	add := exec.CommandContext(t.Context(), s.binary, "operators", "add", "--config", filepath.Join(s.data, "serve.toml"), s.Demo.Email)
	out, err := add.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	_, link, _ := strings.Cut(string(out), "/portal/security/enrol?link=")
	s.Enrolment = strings.TrimSpace(link)
	wantRules(t, runScript(t, s, "operator.mjs"),
		"hidden from anonymous visitors", "a password is not enough", "menu opens one group at a time", "withdrawal is open work until it is handled",
		"termination ends the contract of its domain",
		"message is open work until it is handled", "good lines of a transfer list are ordered", "order found by state and by domain", "domain locked and the registrant notified", "a lock restricts the registrant",
		"lock lifted", "an operator's access is in the customer's activity", "agent added, rotated and removed", "price list compared, then applied")
}
