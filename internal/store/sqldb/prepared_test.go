package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
)

func TestPreparedPool_PreparesEachQueryOnce(t *testing.T) {
	t.Parallel()
	db := openWithSchema(t, Options{Data: t.TempDir(), MaxConnections: 4})
	reader, _ := db.queries.(rewritingDB)
	pool, ok := reader.DBTX.(*preparedPool)
	if !ok {
		t.Fatalf("the reader is a %T", db.queries)
	}
	var all sync.WaitGroup
	for i := range 32 {
		all.Go(func() {
			if _, err := getNote(t.Context(), db.Queries(), fmt.Sprint(i)); !errors.Is(err, sql.ErrNoRows) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if len(pool.statements) != 1 {
		t.Errorf("%d statements are cached, want 1", len(pool.statements))
	}
}

func TestPreparedPool_SurvivesSchemaChange(t *testing.T) {
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

func TestPreparedPool_InvalidQueryIsNotCached(t *testing.T) {
	t.Parallel()
	db := openWithSchema(t, Options{Data: t.TempDir()})
	var n int
	if err := db.queries.QueryRowContext(t.Context(), "SELECT nothing FROM nowhere").Scan(&n); err == nil {
		t.Error("no error")
	}
	if _, err := db.queries.QueryContext(t.Context(), "SELECT nothing FROM nowhere"); err == nil { //nolint:rowserrcheck,sqlclosecheck,gocritic // there are none
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
	db := openWithSchema(t, Options{Data: t.TempDir()})
	list := func(on DBTX) error {
		rows, err := on.QueryContext(t.Context(), "SELECT id FROM notes WHERE id > $1 LIMIT $2", "a", int32(2))
		if err != nil {
			return err
		}
		return errors.Join(rows.Err(), rows.Close())
	}
	if err := errors.Join(list(db.Queries()), db.Write(t.Context(), list)); err != nil {
		t.Fatal(err)
	}
	reader, _ := db.queries.(rewritingDB)
	pool, _ := reader.DBTX.(*preparedPool)
	const want = "SELECT id FROM notes WHERE id > $1 LIMIT 2"
	if pool.statements[want] == nil || db.writeQueue.conn.statements[want] == nil {
		t.Errorf("prepared %v and %v, want %q", slices.Collect(maps.Keys(pool.statements)), slices.Collect(maps.Keys(db.writeQueue.conn.statements)), want)
	}
}
