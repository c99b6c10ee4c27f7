package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/dotkontor/dotkontor/test/testkit/pgtest"
)

// sqliteFile returns the path of the SQLite database in a data folder.
const sqliteFile = "dotkontor.db"

// eachEngine runs a test on SQLite and on PostgreSQL, each with its own empty, migrated
// database. Without PostgreSQL that half is skipped.
func eachEngine(t *testing.T, test func(t *testing.T, db *DB)) {
	t.Helper()
	eachMigrated(t, func(t *testing.T, place Options) { test(t, openAt(t, place)) })
}

// eachMigrated is eachEngine for tests that open the database themselves.
func eachMigrated(t *testing.T, test func(t *testing.T, place Options)) {
	t.Helper()
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		test(t, Options{Data: newMigratedSQLite(t)})
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		test(t, Options{URL: newMigratedPostgres(t), MaxConnections: 8})
	})
}

// eachOptions is eachMigrated with databases that have no schema yet.
func eachOptions(t *testing.T, test func(t *testing.T, place Options)) {
	t.Helper()
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		test(t, Options{Data: t.TempDir()})
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		test(t, Options{URL: pgtest.Database(t), MaxConnections: 8})
	})
}

// openAt opens a database and closes it at the end of the test.
func openAt(t *testing.T, place Options) *DB {
	t.Helper()
	db, err := Open(t.Context(), place)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// migratedSQLite is the content of a migrated SQLite database.
var migratedSQLite = sync.OnceValues(func() (text []byte, err error) {
	folder, err := os.MkdirTemp("", "dotkontor-store-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	if err := createSchema(Options{Data: folder}); err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(folder, sqliteFile+"-wal")); err == nil {
		return nil, errors.New("the database has an unmerged write-ahead log")
	}
	return os.ReadFile(filepath.Join(folder, sqliteFile))
})

func createSchema(opts Options) error {
	db, err := Open(context.Background(), opts)
	if err != nil {
		return err
	}
	return db.Close()
}

// newMigratedSQLite returns a folder with a migrated database.
func newMigratedSQLite(t *testing.T) string {
	t.Helper()
	text, err := migratedSQLite()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, sqliteFile), text, 0o600); err != nil {
		t.Fatal(err)
	}
	return folder
}

// migratedPostgres is a migrated database that tests copy, which is several times faster
// than running the migrations. TestMain drops it.
var migratedPostgres struct {
	sync.Mutex
	server  *pgtest.Server
	address string
	drop    func() error
}

// newMigratedPostgres returns the address of a migrated database.
func newMigratedPostgres(t *testing.T) string {
	t.Helper()
	m := &migratedPostgres
	m.Lock()
	defer m.Unlock()
	var err error
	if m.server == nil {
		if m.server, err = pgtest.Start(); errors.Is(err, pgtest.ErrMissing) {
			t.Skip(err)
		}
		if err == nil {
			m.address, m.drop, err = m.server.NewDatabase()
		}
		if err == nil {
			err = createSchema(Options{URL: m.address})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	address, drop, err := m.server.CopyDatabase(m.address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := drop(); err != nil {
			t.Error(err)
		}
	})
	return address
}

// TestMain drops the database that the tests have copied.
func TestMain(m *testing.M) {
	code := m.Run()
	if migratedPostgres.server != nil {
		if err := errors.Join(migratedPostgres.drop(), migratedPostgres.server.Stop()); err != nil {
			fmt.Fprintln(os.Stderr, "drop the database of the tests:", err)
		}
	}
	os.Exit(code)
}

// queryStrings returns the first column of a query.
func queryStrings(t *testing.T, db interface {
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
}, text string, values ...any,
) (all []string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), text, values...)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var value string
		if err := rows.Scan(&value); err != nil {
			t.Fatal(err)
		}
		all = append(all, value)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}
