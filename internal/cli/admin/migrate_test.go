package admin

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/internal/cli"
	"github.com/dotkontor/dotkontor/test/testkit/clitest"
)

func TestMigratePlan_ExitCodeSaysWhetherNodesMayStayUp(t *testing.T) {
	t.Parallel()
	for behind, want := range map[string]struct {
		code int
		last string
	}{
		"version_id > 1000": {cli.ExitOK, "nothing to do: nodes may stay up"},
		"version_id > 20":   {cli.ExitOK, "compatible: running nodes may stay up"},
		// Migration 8 narrows the schema.
		"version_id > 7": {cli.ExitIncompatible, "incompatible: stop all nodes before this program starts; programs before schema 8 refuse"},
	} {
		folder := clitest.DataDirWithCustomer(t)
		clitest.ExecSQL(t, "sqlite", filepath.Join(folder, "dotkontor.db"), "DELETE FROM goose_db_version WHERE "+behind)
		for range 2 { // the plan changes nothing
			code, out, errOut := clitest.Run(t, &grammar{}, nil, "migrate", "--plan", "--data", folder)
			lines := strings.Split(strings.TrimSpace(string(out)), "\n")
			if code != want.code || !strings.HasPrefix(lines[len(lines)-1], want.last) {
				t.Errorf("%s: exit code %d, want %d\n%s%s", behind, code, want.code, out, errOut)
			}
		}
	}
}
