package browser

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/test/testkit/nodejs"
)

// A sandbox of its own: the demo customer gets a role and a second factor.
func TestOperatorPages_Journey(t *testing.T) {
	nodejs.Program(t, "playwright-core")
	s := startSandbox(t)
	add := exec.CommandContext(t.Context(), s.binary, "operators", "add", "--config", filepath.Join(s.data, "serve.toml"), s.Demo.Email)
	out, err := add.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	_, link, _ := strings.Cut(string(out), "/portal/security/enrol?link=")
	s.Enrolment = strings.TrimSpace(link)
	wantRules(t, runScript(t, s, "operator.mjs"),
		"nothing is there for strangers", "a password is not enough", "domain locked, and its holder told", "a lock binds its holder",
		"lock lifted", "a look is in the customer's activity", "agent let in, rotated and removed", "price list compared, then in force")
}
