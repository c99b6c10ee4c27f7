package admin

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/test/testkit/clitest"
)

func TestDatabase_MissingInUsedFolderIsAnErrorAndIsNotCreated(t *testing.T) {
	t.Parallel()
	settings, _, _ := dataDirWithOrders(t)
	folder := filepath.Dir(settings)
	database := filepath.Join(folder, "dotkontor.db")
	if err := os.WriteFile(filepath.Join(folder, "node.id"), []byte("node_x\nhost\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	clitest.MustRun(t, &grammar{}, nil, "orders", "list", "--config", settings)
	if err := os.Rename(database, database+".away"); err != nil {
		t.Fatal(err)
	}
	code, out, message := clitest.Run(t, &grammar{}, nil, "config", "check", settings)
	if code == 0 || !strings.Contains(string(out)+message, "the database is missing") {
		t.Errorf("config check: exit code %d, %s %s", code, out, message)
	}
	for _, command := range [][]string{{"orders", "list"}, {"notices", "list"}, {"customers", "list"}} {
		code, _, message := clitest.Run(t, &grammar{}, nil, append(command, "--config", settings)...)
		if code == 0 || !strings.Contains(message, "the database is missing") {
			t.Errorf("%v: exit code %d, %s", command, code, message)
		}
	}
	if _, err := os.Stat(database); err == nil {
		t.Error("a command created an empty database")
	}
}

func TestDatabase_DamagedSaysToRestore(t *testing.T) {
	t.Parallel()
	settings, _, _ := dataDirWithOrders(t)
	if err := os.WriteFile(filepath.Join(filepath.Dir(settings), "dotkontor.db"), []byte(strings.Repeat("not a database. ", 1024)), 0o600); err != nil {
		t.Fatal(err)
	}
	code, _, message := clitest.Run(t, &grammar{}, nil, "orders", "list", "--config", settings)
	if code == 0 || !strings.Contains(message, "database_corrupt") || !strings.Contains(message, "restore the last backup") {
		t.Errorf("exit code %d, %s", code, message)
	}
}
