// Package fresh gives tests databases of their own whose schema is up to date.
//
// Making the schema takes longer than most tests, so it is made once in a process and
// copied for each of them. It is not the place for tests of the schema itself, or of
// how it is made: those begin with an empty folder, or with test/testkit/pgtest.
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

// databaseFile is what the store calls its database.
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
		return nil, errors.New("a part of the database is still in its log")
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

// SQLite is a folder with a database that nobody has used.
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

// postgresTemplate is the database that is copied on a server; Main drops it.
var postgresTemplate struct {
	sync.Mutex
	server  *pgtest.Server
	address string
	drop    func() error
}

// Postgres is the same on PostgreSQL. Without one the test is skipped. A package that
// uses it has a TestMain with Main in it.
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

// Main runs the tests of a package, removes what was made for all of them and returns
// the exit code.
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
		fmt.Fprintln(os.Stderr, "a database of the tests is left:", err)
		return 1
	}
	return code
}
