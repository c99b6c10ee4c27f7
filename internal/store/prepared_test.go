package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"testing"
)

func TestPreparedPool_PreparesEachQueryOnce(t *testing.T) {
	t.Parallel()
	db := openAt(t, Options{Data: newMigratedSQLite(t), MaxConnections: 4})
	kept, ok := db.queries.(*preparedPool)
	if !ok {
		t.Fatalf("the reader is a %T", db.queries)
	}
	var all sync.WaitGroup
	for i := range 32 {
		all.Go(func() {
			if _, err := db.read().GetVATCheck(t.Context(), fmt.Sprint(i)); !errors.Is(err, sql.ErrNoRows) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if len(kept.statements) != 1 {
		t.Errorf("%d statements are kept", len(kept.statements))
	}
}

func TestPreparedPool_SurvivesSchemaChange(t *testing.T) {
	t.Parallel()
	db := openAt(t, Options{Data: newMigratedSQLite(t)})
	for _, column := range []string{"", "ALTER TABLE vat_checks ADD COLUMN more TEXT NOT NULL DEFAULT ''", "ALTER TABLE vat_checks DROP COLUMN more"} {
		if column != "" {
			if _, err := db.writer.ExecContext(t.Context(), column); err != nil {
				t.Fatal(err)
			}
		}
		if err := db.write(t.Context(), putKey(&blockedWriter{T: t}, "DE1")); err != nil {
			t.Error(err)
		}
		var id string
		if err := db.queries.QueryRowContext(t.Context(), "SELECT vat_id FROM vat_checks").Scan(&id); err != nil || id != "DE1" {
			t.Errorf("%q, %v", id, err)
		}
	}
}

func TestPreparedPool_InvalidQueryIsNotCached(t *testing.T) {
	t.Parallel()
	db := openAt(t, Options{Data: newMigratedSQLite(t)})
	var n int
	if err := db.queries.QueryRowContext(t.Context(), "SELECT nothing FROM nowhere").Scan(&n); err == nil {
		t.Error("no error")
	}
	if _, err := db.queries.QueryContext(t.Context(), "SELECT nothing FROM nowhere"); err == nil { //nolint:rowserrcheck,sqlclosecheck,gocritic // there are none
		t.Error("no error")
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	if err := db.queries.QueryRowContext(gone, "SELECT 1").Scan(&n); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if err := db.queries.QueryRowContext(t.Context(), "SELECT 1").Scan(&n); err != nil || n != 1 {
		t.Errorf("got %d, %v", n, err)
	}
}
