package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	"net/url"
	"os"
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
		test(t, openAt(t, Options{Data: t.TempDir()}))
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		test(t, openAt(t, Options{URL: copiedPostgres(t), MaxConnections: 8}))
	})
}

// eachPlace is eachEngine for tests that open the database themselves, or more
// than once.
func eachPlace(t *testing.T, test func(t *testing.T, place Options)) {
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
	return makePostgres(t, "")
}

// pattern is a database whose schema is up to date. Copying it is several times faster
// than making the schema anew for each test.
var pattern struct {
	sync.Mutex
	name string
}

// copiedPostgres is newPostgres with the schema in it.
func copiedPostgres(t *testing.T) string {
	t.Helper()
	pattern.Lock()
	defer pattern.Unlock()
	if pattern.name == "" {
		address := makePostgres(t, "")
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
		onServer(t, server, "CREATE DATABASE "+name+" TEMPLATE "+strings.TrimPrefix(made.Path, "/"))
		pattern.name = name
	}
	return makePostgres(t, " TEMPLATE "+pattern.name)
}

// TestMain drops what the tests have copied.
func TestMain(m *testing.M) {
	code := m.Run()
	if pattern.name != "" {
		pool, err := sql.Open("pgx", os.Getenv(postgresVariable))
		if err == nil {
			_, err = pool.Exec("DROP DATABASE " + pattern.name + " WITH (FORCE)")
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "a database of the tests is left:", err)
		}
	}
	os.Exit(code)
}

// makePostgres makes a database as the words behind its name say.
func makePostgres(t *testing.T, how string) string {
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
	onServer(t, server, "CREATE DATABASE "+name+how)
	t.Cleanup(func() { onServer(t, server, "DROP DATABASE "+name+" WITH (FORCE)") })
	address.Path = "/" + name
	return address.String()
}

// onServer runs one statement outside of any test's database. It has a context
// of its own, because that of a test has ended when its database is dropped.
func onServer(t *testing.T, server, statement string) {
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
