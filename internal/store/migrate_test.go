package store

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pressly/goose/v3/lock"

	"github.com/dotkontor/dotkontor/internal/store/sqldb"
	"github.com/dotkontor/dotkontor/test/testkit/pgtest"
)

// markNewerSchema makes a database look as if a later version had used it, and returns what
// this version knows.
func markNewerSchema(t *testing.T, db *DB) (newest int64) {
	t.Helper()
	newest = newestKnownSchema(t, db)
	insertMigration(t, db, newest+1)
	return newest
}

// insertMigration notes a migration as done.
func insertMigration(t *testing.T, db *DB, version int64) {
	t.Helper()
	statement := fmt.Sprintf("INSERT INTO %s (version_id, is_applied) VALUES (%d, TRUE)", sqldb.VersionTable, version)
	if _, err := db.sql.Writer().ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

// requireNewerSchemaError checks that an error says which version is needed.
func requireNewerSchemaError(t *testing.T, what string, newest int64, err error) {
	t.Helper()
	if want := fmt.Sprintf("the database has schema %d and this dotkontor knows up to %d", newest+1, newest); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%s: got %v, want %s", what, err, want)
	}
}

func TestOpen_RefusesNewerSchema(t *testing.T) {
	t.Parallel()
	eachOptions(t, func(t *testing.T, place Options) {
		db := openAt(t, place)
		var backup bytes.Buffer
		if _, err := Backup(t.Context(), place, testTime, &backup); err != nil {
			t.Fatal(err)
		}
		before := schemaOf(t, db)
		newest := markNewerSchema(t, db)
		_, err := Open(t.Context(), place)
		requireNewerSchemaError(t, "opening", newest, err)
		_, err = Restore(t.Context(), place, &backup)
		requireNewerSchemaError(t, "restoring", newest, err)
		if after := schemaOf(t, db); after != before {
			t.Errorf("the schema was\n%s\nand is\n%s", before, after)
		}
		// What is in it can still be saved.
		if summary, err := Backup(t.Context(), place, testTime, &backup); err != nil || summary.Schema != newest+1 {
			t.Errorf("a backup: schema %d, %v", summary.Schema, err)
		}
	})
}

// The usual update: an old node and a new one start together, and the old one
// has to wait for the new one's migrations.
func TestOpen_RefusesSchemaMigratedWhileWaiting(t *testing.T) {
	t.Parallel()
	place := Options{URL: pgtest.Database(t), MaxConnections: 4}
	db := openAt(t, place)
	migrator, err := db.migrator()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := migrator.DownTo(t.Context(), 0); err != nil { // a node without anything to do does not wait
		t.Fatal(err)
	}
	later, err := db.sql.Writer().Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer later.Close()
	if _, err := later.ExecContext(t.Context(), "SELECT pg_advisory_lock($1)", lock.DefaultLockID); err != nil {
		t.Fatal(err)
	}
	opened := make(chan error, 1)
	go func() {
		other, err := Open(t.Context(), place)
		if err == nil {
			err = errors.Join(errors.New("it was opened"), other.Close())
		}
		opened <- err
	}()
	asksForTheLock := func() bool {
		return count(t, db, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '%pg_try_advisory_lock%' AND pid <> pg_backend_pid()") > 0
	}
	for deadline := time.Now().Add(time.Minute); !asksForTheLock(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it does not wait for the lock")
		}
	}
	for version := range newestKnownSchema(t, db) {
		insertMigration(t, db, version+1)
	}
	newest := markNewerSchema(t, db)
	if _, err := later.ExecContext(t.Context(), "SELECT pg_advisory_unlock($1)", lock.DefaultLockID); err != nil {
		t.Fatal(err)
	}
	requireNewerSchemaError(t, "opening after the wait", newest, <-opened)
}
