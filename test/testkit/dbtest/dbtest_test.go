package dbtest

import (
	"os"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/agent"
	"github.com/dotkontor/dotkontor/internal/store"
)

func TestMain(m *testing.M) { os.Exit(Main(m)) }

// writeAndRead writes to a database and returns its previous content.
func writeAndRead(t *testing.T, options store.Options, path string) string {
	t.Helper()
	db, err := store.Open(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	first, err := db.RecordSignature(t.Context(), agent.SeenSignature{Agent: "agt_1", MAC: "mac", Path: path, ExpiresAt: time.Now().Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	return first
}

func TestDatabase_MigratedAndIsolated(t *testing.T) {
	t.Parallel()
	for engine, open := range map[string]func(*testing.T) store.Options{
		"SQLite":     func(t *testing.T) store.Options { t.Helper(); return SQLite(t) },
		"PostgreSQL": func(t *testing.T) store.Options { t.Helper(); return Postgres(t, 2) },
	} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			mine, theirs := open(t), open(t)
			if got := writeAndRead(t, mine, "/mine"); got != "/mine" {
				t.Errorf("not empty: %s", got)
			}
			if got := writeAndRead(t, theirs, "/theirs"); got != "/theirs" {
				t.Errorf("shared with another test: %s", got)
			}
			if got := writeAndRead(t, mine, "/again"); got != "/mine" {
				t.Errorf("not persistent: %s", got)
			}
		})
	}
}
