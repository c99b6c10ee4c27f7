package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"net/url"
	"os"
	"strings"
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
	eachPlace(t, func(t *testing.T, place Options) { test(t, openAt(t, place)) })
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
	server := os.Getenv(postgresVariable)
	if server == "" {
		t.Skipf("no PostgreSQL: %s is not set; \"make test\" sets it, and so does: eval \"$(scripts/postgres.sh start)\"", postgresVariable)
	}
	address, err := url.Parse(server)
	if err != nil {
		t.Fatalf("%s is no address", postgresVariable)
	}
	name := "test_" + strings.ToLower(rand.Text())
	onServer(t, server, "CREATE DATABASE "+name)
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
