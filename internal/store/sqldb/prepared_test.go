package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
)

// preparedTexts returns the texts of the statements that are prepared on a connection of
// the pool.
func preparedTexts(t *testing.T, pool *sql.DB) (texts []string) {
	t.Helper()
	conn, err := pool.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	err = conn.Raw(func(driverConn any) error {
		instrumented, _ := driverConn.(*instrumentedConn)
		texts = slices.Collect(maps.Keys(instrumented.statements))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

func TestQueries_OnlyGeneratedQueriesArePrepared(t *testing.T) {
	t.Parallel()
	db := openWithSchema(t, Options{Data: t.TempDir(), MaxConnections: 1})
	for i := range 3 {
		if _, err := getNote(t.Context(), db.Queries(), fmt.Sprint(i)); !errors.Is(err, sql.ErrNoRows) {
			t.Error(err)
		}
		var n int
		if err := db.Queries().QueryRowContext(t.Context(), fmt.Sprintf("SELECT %d", i)).Scan(&n); err != nil || n != i {
			t.Errorf("got %d, %v", n, err)
		}
	}
	if texts := preparedTexts(t, db.reader); !slices.Equal(texts, []string{getNoteSQL}) {
		t.Errorf("prepared %q", texts)
	}
}

func TestQueries_PreparedOnesSurviveSchemaChange(t *testing.T) {
	t.Parallel()
	db := openWithSchema(t, Options{Data: t.TempDir()})
	for i, column := range []string{"", "ALTER TABLE notes ADD COLUMN more TEXT NOT NULL DEFAULT ''", "ALTER TABLE notes DROP COLUMN more"} {
		if column != "" {
			if _, err := db.writer.ExecContext(t.Context(), column); err != nil {
				t.Fatal(err)
			}
		}
		id := fmt.Sprint(i)
		if err := db.Write(t.Context(), func(tx DBTX) error { return insertNote(t.Context(), tx, id, id) }); err != nil {
			t.Error(err)
		}
		if text, err := getNote(t.Context(), db.Queries(), id); err != nil || text != id {
			t.Errorf("got %q, %v", text, err)
		}
	}
}

func TestQueries_InvalidQueryIsNotPrepared(t *testing.T) {
	t.Parallel()
	db := openWithSchema(t, Options{Data: t.TempDir()})
	var n int
	const invalid = queryNamePrefix + "GetNothing :one\nSELECT nothing FROM nowhere"
	if err := db.queries.QueryRowContext(t.Context(), invalid).Scan(&n); err == nil {
		t.Error("no error")
	}
	if _, err := db.queries.QueryContext(t.Context(), invalid); err == nil { //nolint:rowserrcheck,sqlclosecheck,gocritic // there are none
		t.Error("no error")
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := db.queries.QueryRowContext(canceled, "SELECT 1").Scan(&n); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if err := db.queries.QueryRowContext(t.Context(), "SELECT 1").Scan(&n); err != nil || n != 1 {
		t.Errorf("got %d, %v", n, err)
	}
}

func TestQueries_LimitIsPartOfThePreparedText(t *testing.T) {
	t.Parallel()
	db := openWithSchema(t, Options{Data: t.TempDir(), MaxConnections: 1})
	var id string
	err := db.Queries().QueryRowContext(t.Context(), queryNamePrefix+"ListNotes :many\nSELECT id FROM notes WHERE id > $1 LIMIT $2", "a", int32(2)).Scan(&id)
	if !errors.Is(err, sql.ErrNoRows) {
		t.Fatal(err)
	}
	const want = queryNamePrefix + "ListNotes :many\nSELECT id FROM notes WHERE id > $1 LIMIT 2"
	if texts := preparedTexts(t, db.reader); !slices.Equal(texts, []string{want}) {
		t.Errorf("prepared %q, want %q", texts, want)
	}
}
