package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// postgresVariable holds the address of a PostgreSQL server for tests, whose
// user may create databases. "make test" starts one and sets it.
const postgresVariable = "DOTKONTOR_TEST_POSTGRES"

// eachEngine runs a test on SQLite and on PostgreSQL, each with an empty
// database of its own. Where there is no PostgreSQL, that half says so and is
// skipped.
func eachEngine(t *testing.T, test func(t *testing.T, db *DB)) {
	t.Helper()
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		test(t, openAt(t, Options{Data: newMigratedSQLite(t)}))
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		test(t, openAt(t, Options{URL: newMigratedPostgres(t), MaxConnections: 8}))
	})
}

// eachOptions is eachEngine for tests that open the database themselves, or more
// than once.
func eachOptions(t *testing.T, test func(t *testing.T, place Options)) {
	t.Helper()
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		test(t, Options{Data: t.TempDir()})
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		test(t, Options{URL: newPostgres(t), MaxConnections: 8})
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

// newPostgres makes an empty database, which is dropped at the end of the test,
// and returns its address.
func newPostgres(t *testing.T) string {
	t.Helper()
	return createPostgres(t, "")
}

// migratedSQLite is a SQLite database whose schema is up to date, as a file.
var migratedSQLite = sync.OnceValues(func() (text []byte, err error) {
	folder, err := os.MkdirTemp("", "dotkontor-store-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	db, err := Open(context.Background(), Options{Data: folder})
	if err != nil {
		return nil, err
	}
	if err := db.Close(); err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(folder, databaseFile+"-wal")); err == nil {
		return nil, errors.New("a part of the database is still in its log")
	}
	return os.ReadFile(filepath.Join(folder, databaseFile))
})

// newMigratedSQLite is a folder with such a database.
func newMigratedSQLite(t *testing.T) string {
	t.Helper()
	text, err := migratedSQLite()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, databaseFile), text, 0o600); err != nil {
		t.Fatal(err)
	}
	return folder
}

// postgresTemplate is a database whose schema is up to date. Copying it is several times faster
// than making the schema anew for each test.
var postgresTemplate struct {
	sync.Mutex
	name string
}

// newMigratedPostgres is newPostgres with the schema in it.
func newMigratedPostgres(t *testing.T) string {
	t.Helper()
	postgresTemplate.Lock()
	defer postgresTemplate.Unlock()
	if postgresTemplate.name == "" {
		address := createPostgres(t, "")
		db, err := Open(t.Context(), Options{URL: address})
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		made, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		name := "pattern_" + strings.ToLower(rand.Text())
		server := os.Getenv(postgresVariable)
		execOnServer(t, server, "CREATE DATABASE "+name+" TEMPLATE "+strings.TrimPrefix(made.Path, "/"))
		postgresTemplate.name = name
	}
	return createPostgres(t, " TEMPLATE "+postgresTemplate.name)
}

// TestMain drops what the tests have copied.
func TestMain(m *testing.M) {
	code := m.Run()
	if postgresTemplate.name != "" {
		pool, err := sql.Open("pgx", os.Getenv(postgresVariable))
		if err == nil {
			_, err = pool.Exec("DROP DATABASE " + postgresTemplate.name + " WITH (FORCE)")
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "a database of the tests is left:", err)
		}
	}
	os.Exit(code)
}

// createPostgres makes a database as the words behind its name say.
func createPostgres(t *testing.T, how string) string {
	t.Helper()
	server := os.Getenv(postgresVariable)
	if server == "" {
		t.Skipf("no PostgreSQL: %s is not set; \"make test\" sets it, and so does: eval \"$(scripts/postgres.sh start)\"", postgresVariable)
	}
	address, err := url.Parse(server)
	if err != nil {
		t.Fatalf("%s is no address", postgresVariable)
	}
	name := "test_" + strings.ToLower(rand.Text())
	execOnServer(t, server, "CREATE DATABASE "+name+how)
	t.Cleanup(func() { execOnServer(t, server, "DROP DATABASE "+name+" WITH (FORCE)") })
	address.Path = "/" + name
	return address.String()
}

// execOnServer runs one statement outside of any test's database. It has a context
// of its own, because that of a test has ended when its database is dropped.
func execOnServer(t *testing.T, server, statement string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	pool, err := sql.Open("pgx", server)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	if _, err := pool.ExecContext(ctx, statement); err != nil {
		t.Fatal(err)
	}
}
