package sqldb

import (
	"context"
	"testing"

	"github.com/dotkontor/dotkontor/test/testkit/pgtest"
)

// testSchema has a table for the tests and the one that the PostgreSQL probe writes to.
var testSchema = []string{
	"CREATE TABLE notes (id TEXT NOT NULL PRIMARY KEY, text TEXT NOT NULL)",
	"CREATE TABLE " + VersionTable + " (version_id BIGINT NOT NULL, tstamp TIMESTAMP NOT NULL)",
	"INSERT INTO " + VersionTable + " (version_id, tstamp) VALUES (1, '2026-01-01 00:00:00')",
}

// eachEngine runs a test on SQLite and on PostgreSQL, each with a database of its own.
// Without PostgreSQL that half is skipped.
func eachEngine(t *testing.T, test func(t *testing.T, db *DB)) {
	t.Helper()
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		test(t, openWithSchema(t, Options{Data: t.TempDir()}))
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		test(t, openWithSchema(t, Options{URL: pgtest.Database(t), MaxConnections: 8}))
	})
}

// openAt opens a database until the end of the test.
func openAt(t *testing.T, opts Options) *DB {
	t.Helper()
	db, err := Open(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() }) // a test may have broken it
	return db
}

// openWithSchema opens an empty database and creates testSchema in it.
func openWithSchema(t *testing.T, opts Options) *DB {
	t.Helper()
	db := openAt(t, opts)
	for _, statement := range testSchema {
		if _, err := db.writer.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	return db
}

// The named queries are in the form that sqlc generates.
const (
	insertNoteSQL = "-- name: InsertNote :exec\nINSERT INTO notes (id, text) VALUES ($1, $2)"
	getNoteSQL    = "-- name: GetNote :one\nSELECT text FROM notes WHERE id = $1"
)

func insertNote(ctx context.Context, tx DBTX, id, text string) error {
	_, err := tx.ExecContext(ctx, insertNoteSQL, id, text)
	return err
}

func getNote(ctx context.Context, tx DBTX, id string) (text string, err error) {
	err = tx.QueryRowContext(ctx, getNoteSQL, id).Scan(&text)
	return text, err
}
