package fresh

import (
	"os"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/agent"
	"github.com/dotkontor/dotkontor/internal/store"
)

func TestMain(m *testing.M) { os.Exit(Main(m)) }

// see leaves something in a database, and says what was there before.
func see(t *testing.T, place store.Options, path string) string {
	t.Helper()
	db, err := store.Open(t.Context(), place)
	if err != nil {
		t.Fatal(err)
	}
	first, err := db.SeeSignature(t.Context(), agent.Seen{Agent: "agt_1", MAC: "mac", Path: path, EndsAt: time.Now().Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	return first
}

func TestADatabaseCanBeUsedAtOnceAndIsOfItsOwn(t *testing.T) {
	t.Parallel()
	for engine, open := range map[string]func(*testing.T) store.Options{
		"SQLite":     func(t *testing.T) store.Options { t.Helper(); return SQLite(t) },
		"PostgreSQL": func(t *testing.T) store.Options { t.Helper(); return Postgres(t, 2) },
	} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			mine, theirs := open(t), open(t)
			if got := see(t, mine, "/mine"); got != "/mine" {
				t.Errorf("somebody has used it: %s", got)
			}
			if got := see(t, theirs, "/theirs"); got != "/theirs" {
				t.Errorf("it is the other one: %s", got)
			}
			if got := see(t, mine, "/again"); got != "/mine" {
				t.Errorf("it kept nothing: %s", got)
			}
		})
	}
}
