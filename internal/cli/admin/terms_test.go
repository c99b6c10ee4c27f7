package admin

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/internal/cli"
	"github.com/dotkontor/dotkontor/test/testkit/clitest"
)

// dataDirWithTerms returns a service whose brake was engaged by volume: one domain is due
// for its hold, one waits, and one expired before the first run.
func dataDirWithTerms(t *testing.T) (settings string) {
	t.Helper()
	folder := clitest.DataDirWithCustomer(t)
	settings = filepath.Join(folder, "serve.toml")
	if err := os.WriteFile(settings, fmt.Appendf(nil, "base_url = \"https://domains.example\"\ndata = %q\n", folder), 0o600); err != nil {
		t.Fatal(err)
	}
	const started, now = "1780000000000000", "1790000000000000"
	for _, statement := range []string{
		`INSERT INTO brakes (name, started_at, last_run_at, stopped_at, reason) VALUES ('terms', ` + started + `, ` + now + `, ` + now + `, 'volume')`,
		`INSERT INTO domains (id, customer_id, name, tld, status, paid_until, created_at, updated_at) VALUES
			('dom_1', 'cus_1', 'faellig.org', '.org', 'expired', 1789000000000000, 1, 1),
			('dom_2', 'cus_1', 'wartend.org', '.org', 'expired', 1788000000000000, 1, 1),
			('dom_3', 'cus_1', 'uralt.org', '.org', 'expired', 1770000000000000, 1, 1)`,
		`INSERT INTO term_ends (domain_id, term_end, customer_id, name, tld, account, state, step_at, due_at, waits_for, updated_at) VALUES
			('dom_1', 1789000000000000, 'cus_1', 'faellig.org', '.org', '', 'unpaid', 1789900000000000, 1, '', 1),
			('dom_2', 1788000000000000, 'cus_1', 'wartend.org', '.org', '', 'held', 1790086400000000, 1, 'notices', 1)`,
	} {
		clitest.ExecSQL(t, "sqlite", filepath.Join(folder, "dotkontor.db"), statement)
	}
	return settings
}

func TestTerms_ShowPreviewConfirmAndDecide(t *testing.T) {
	t.Parallel()
	settings := dataDirWithTerms(t)
	run := func(args ...string) string {
		t.Helper()
		out, _ := clitest.MustRun(t, &grammar{}, nil, append(append([]string{"terms"}, args...), "--config", settings)...)
		return string(out)
	}
	brake := run("brake")
	for _, want := range []string{"stopped by the volume rule", "limit per day: 20", "faellig.org", "hold", "--actions 1"} {
		if !strings.Contains(brake, want) {
			t.Errorf("the preview lacks %q:\n%s", want, brake)
		}
	}
	list := run("list")
	for _, want := range []string{"wartend.org", "notices", "uralt.org", "overdue"} {
		if !strings.Contains(list, want) {
			t.Errorf("the list lacks %q:\n%s", want, list)
		}
	}
	if strings.Contains(list, "faellig.org") {
		t.Errorf("a domain without a reason to wait is listed:\n%s", list)
	}
	if code, _, errOut := clitest.Run(t, &grammar{}, nil, "terms", "confirm", "--actions", "0", "--config", settings); code == cli.ExitOK || !strings.Contains(errOut, "terms brake") {
		t.Errorf("an unread preview: %d %s", code, errOut)
	}
	run("confirm", "--actions", "1")
	if code, _, errOut := clitest.Run(t, &grammar{}, nil, "terms", "confirm", "--actions", "1", "--config", settings); code == cli.ExitOK || !strings.Contains(errOut, "not engaged") {
		t.Errorf("confirmed twice: %d %s", code, errOut)
	}
	if brake := run("brake"); !strings.HasPrefix(brake, "running") {
		t.Errorf("after the confirmation:\n%s", brake)
	}
	run("delete", "wartend.org")
	run("leave", "faellig.org")
	run("start", "uralt.org")
	if list := run("list", "--json"); !strings.Contains(list, `"domain":"faellig.org"`) || !strings.Contains(list, `"reason":"left"`) || strings.Contains(list, "wartend") || strings.Contains(list, "uralt") {
		t.Errorf("after the decisions:\n%s", list)
	}
	if code, _, errOut := clitest.Run(t, &grammar{}, nil, "terms", "delete", "fremd.org", "--config", settings); code == cli.ExitOK || !strings.Contains(errOut, "no such domain") {
		t.Errorf("an unknown domain: %d %s", code, errOut)
	}
}
