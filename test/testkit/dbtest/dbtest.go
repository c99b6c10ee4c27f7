// Package dbtest provides each test with a database whose schema is up to date.
//
// Migrations take longer than most tests, so they run once per process and each test
// gets a copy. Tests of the migrations start from an empty folder, or with
// test/testkit/pgtest.
package dbtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/dotkontor/dotkontor/internal/store"
	"github.com/dotkontor/dotkontor/test/testkit/pgtest"
)

// databaseFile is the file name that internal/store uses.
const databaseFile = "dotkontor.db"

var sqliteTemplate = sync.OnceValues(func() (text []byte, err error) {
	folder, err := os.MkdirTemp("", "dotkontor-fresh-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	if err := createSchema(store.Options{Data: folder}); err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(folder, databaseFile+"-wal")); err == nil {
		return nil, errors.New("dbtest: the write-ahead log is not empty")
	}
	return os.ReadFile(filepath.Join(folder, databaseFile))
})

func createSchema(options store.Options) error {
	db, err := store.Open(context.Background(), options)
	if err != nil {
		return err
	}
	return db.Close()
}

// SQLite returns a folder with an empty migrated database.
func SQLite(t testing.TB) store.Options {
	t.Helper()
	text, err := sqliteTemplate()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, databaseFile), text, 0o600); err != nil {
		t.Fatal(err)
	}
	return store.Options{Data: folder}
}

// postgresTemplate is the database that is copied; Main drops it.
var postgresTemplate struct {
	sync.Mutex
	server  *pgtest.Server
	address string
	drop    func() error
}

// Postgres returns an empty migrated PostgreSQL database, or skips the test. The package
// needs a TestMain that calls Main.
func Postgres(t testing.TB, connections int) store.Options {
	t.Helper()
	postgresTemplate.Lock()
	defer postgresTemplate.Unlock()
	if err := createPostgresTemplate(); errors.Is(err, pgtest.ErrMissing) {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	address, drop, err := postgresTemplate.server.CopyDatabase(postgresTemplate.address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := drop(); err != nil {
			t.Error(err)
		}
	})
	return store.Options{URL: address, MaxConnections: connections}
}

func createPostgresTemplate() (err error) {
	if postgresTemplate.server == nil {
		if postgresTemplate.server, err = pgtest.Start(); err != nil {
			return err
		}
	}
	if postgresTemplate.address != "" {
		return nil
	}
	address, drop, err := postgresTemplate.server.NewDatabase()
	if err != nil {
		return err
	}
	postgresTemplate.drop = drop
	if err := createSchema(store.Options{URL: address}); err != nil {
		return err
	}
	postgresTemplate.address = address
	return nil
}

// Main runs the tests of a package, drops the shared template and returns the exit code.
func Main(tests interface{ Run() int }) int {
	code := tests.Run()
	var err error
	if postgresTemplate.drop != nil {
		err = postgresTemplate.drop()
	}
	if postgresTemplate.server != nil {
		err = errors.Join(err, postgresTemplate.server.Stop())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "dbtest: drop template:", err)
		return 1
	}
	return code
}
