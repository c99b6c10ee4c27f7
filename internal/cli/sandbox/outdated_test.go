package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/internal/cli"
	"github.com/dotkontor/dotkontor/test/testkit/clitest"
)

func TestSandbox_DatabaseBeforeBaselineSaysHowToStartFresh(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for _, statement := range []string{
		"CREATE TABLE goose_db_version (id INTEGER PRIMARY KEY, version_id INTEGER NOT NULL, is_applied INTEGER NOT NULL, tstamp TIMESTAMP)",
		"INSERT INTO goose_db_version (version_id, is_applied) VALUES (0, 1), (23, 1)",
		"CREATE TABLE deeds (id TEXT NOT NULL PRIMARY KEY)",
	} {
		clitest.ExecSQL(t, "sqlite", filepath.Join(folder, "dotkontor.db"), statement)
	}
	code, _, errOut := clitest.Run(t, &grammar{}, nil, "sandbox", "--data", folder, "--listen", "127.0.0.1:0")
	if code != cli.ExitError || !strings.Contains(errOut, "before v0.1.0") || !strings.Contains(errOut, "move the data folder "+folder+" away") {
		t.Errorf("got %d, %s", code, errOut)
	}
}

func TestSandbox_DamagedDatabaseSaysToRestore(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "dotkontor.db"), []byte(strings.Repeat("not a database. ", 1024)), 0o600); err != nil {
		t.Fatal(err)
	}
	code, _, errOut := clitest.Run(t, &grammar{}, nil, "sandbox", "--data", folder, "--listen", "127.0.0.1:0")
	if code != cli.ExitError || !strings.Contains(errOut, "database_corrupt") || !strings.Contains(errOut, "restore the last backup") {
		t.Errorf("got %d, %s", code, errOut)
	}
}
