package pgtest

import (
	"database/sql"
	"errors"
	"os"
	"strings"
	"testing"
)

func TestDatabase_EmptyAndIsolated(t *testing.T) {
	t.Parallel()
	for range 2 {
		db, err := sql.Open("pgx", Database(t))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close() })
		if _, err := db.ExecContext(t.Context(), "CREATE TABLE mine (x TEXT)"); err != nil {
			t.Error(err)
		}
	}
}

func TestServer_StopRemovesItsFiles(t *testing.T) {
	t.Setenv(EnvVariable, "")
	server, err := Start()
	if errors.Is(err, ErrMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	// Benchmarks include the time to sync commits to the disk.
	db, err := sql.Open("pgx", server.URL)
	if err != nil {
		t.Fatal(err)
	}
	var fsync string
	if err := db.QueryRowContext(t.Context(), "SHOW fsync").Scan(&fsync); err != nil || fsync != "on" {
		t.Errorf("fsync is %s, %v", fsync, err)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	_, folder, _ := strings.Cut(server.URL, "host=")
	if err := server.Stop(); err != nil {
		t.Fatal(err)
	}
	if err := server.exec("SELECT 1"); err == nil {
		t.Error("the server still runs")
	}
	if _, err := os.Stat(folder); err == nil || folder == "" {
		t.Errorf("%q is left behind", folder)
	}
}
