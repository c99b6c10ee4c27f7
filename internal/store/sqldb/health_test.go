package sqldb

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"database/sql"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/test/testkit/pgtest"
)

// canaryEmail is a value that must not appear in a cause.
const canaryEmail = "erika@canary.example"

// causeOf returns the cause in err, which must not quote the canary.
func causeOf(t *testing.T, err error) *registrar.Cause {
	t.Helper()
	var cause *registrar.Cause
	if !errors.As(err, &cause) {
		t.Fatalf("no cause in %v", err)
	}
	if strings.Contains(err.Error(), "canary") {
		t.Errorf("the error quotes a value: %v", err)
	}
	return cause
}

// insertCanary stores the canary in a transaction.
func insertCanary(ctx context.Context, db *DB, id string) error {
	return db.Write(ctx, func(tx DBTX) error { return insertNote(ctx, tx, id, canaryEmail+strings.Repeat("x", 8<<10)) })
}

func TestWrapError_NamesQueryAndCodeWithoutValues(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, class string
		fail        func(t *testing.T, db *DB) error
	}{
		{"constraint", "constraint", func(t *testing.T, db *DB) error {
			return errors.Join(insertCanary(t.Context(), db, "same"), insertCanary(t.Context(), db, "same"))
		}},
		{"deadline", "timeout", func(t *testing.T, db *DB) error {
			ctx, cancel := context.WithTimeout(t.Context(), 1)
			defer cancel()
			_, err := db.reader.ExecContext(ctx, "-- name: Slow :exec\nSELECT 1")
			if errors.Is(err, context.DeadlineExceeded) { // database/sql notices before the driver does
				err = db.health.wrapError("Slow", err)
			}
			return err
		}},
		{"schema", "", func(t *testing.T, db *DB) error {
			_, err := db.writer.ExecContext(t.Context(), "-- name: FromNowhere :exec\nSELECT '"+canaryEmail+"' FROM nowhere")
			return err
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			eachEngine(t, func(t *testing.T, db *DB) {
				cause := causeOf(t, test.fail(t, db))
				if cause.Part != registrar.PartDatabase || test.class != "" && cause.Class != test.class || cause.Operation == "" || cause.Class == "unclassified" {
					t.Errorf("got %q", cause)
				}
				if len(db.Degraded()) != 0 {
					t.Errorf("degraded: %v", db.Degraded())
				}
			})
		})
	}
}

// openLogged opens a database and returns its log.
func openLogged(t *testing.T, opts Options) (*DB, *bytes.Buffer) {
	t.Helper()
	log := &bytes.Buffer{}
	opts.Logger = slog.New(slog.NewTextHandler(log, nil))
	return openAt(t, opts), log
}

// requireCondition checks that one log record names the condition and the action, and that
// one more ends it after the repair.
func requireCondition(t *testing.T, db *DB, log *bytes.Buffer, condition Condition, repair func()) {
	t.Helper()
	db.probe(t.Context(), probeTimeout)
	if !db.IsDegraded(condition) || strings.Count(log.String(), "database degraded") != 1 || !strings.Contains(log.String(), "state="+string(condition)) ||
		!strings.Contains(log.String(), "action=") || strings.Contains(log.String(), "canary") {
		t.Errorf("degraded: %v; log: %s", db.Degraded(), log)
	}
	repair()
	db.probe(t.Context(), probeTimeout)
	if len(db.Degraded()) != 0 || strings.Count(log.String(), "database recovered") != 1 {
		t.Errorf("degraded: %v; log: %s", db.Degraded(), log)
	}
}

func TestHealth_FullDiskLoggedOnce(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("mounting a tmpfs needs root")
	}
	folder := t.TempDir()
	if err := syscall.Mount("tmpfs", folder, "tmpfs", 0, "size=8m"); err != nil {
		t.Skip("mount:", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(folder, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	openWithSchema(t, Options{Data: folder})
	db, log := openLogged(t, Options{Data: folder})
	ballast := filepath.Join(folder, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 16<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("the disk is not full: %v", err)
	}
	var err error
	for id := 'a'; err == nil && id < 'z'; id++ { // writes into space that the write-ahead log has already succeed
		err = insertCanary(t.Context(), db, string(id))
	}
	if cause := causeOf(t, err); cause.Class != "disk_full" || !cause.Outage {
		t.Errorf("got %q", cause)
	}
	requireCondition(t, db, log, DiskFull, func() {
		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
	})
	if err := insertCanary(t.Context(), db, "after"); err != nil {
		t.Error(err)
	}
}

func TestHealth_DamagedFileIsFailingAndSaysToRestore(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, databaseFile), []byte(strings.Repeat("not a database. ", 1024)), 0o600); err != nil {
		t.Fatal(err)
	}
	db, log := openLogged(t, Options{Data: folder})
	err := insertCanary(t.Context(), db, "a")
	if cause := causeOf(t, err); cause.Class != classCorrupt || !cause.Outage || ActionIfDamaged(err) == "" {
		t.Errorf("got %q", cause)
	}
	if found := db.Degraded(); len(found) != 1 || found[0].Condition != Failing || !strings.Contains(log.String(), "restore the last backup") {
		t.Errorf("degraded: %v; log: %s", found, log)
	}
}

// max_page_count keeps the database from growing, as a full disk would.
func TestHealth_MaxPageCountIsDiskFull(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	openWithSchema(t, Options{Data: folder})
	db, log := openLogged(t, Options{Data: folder})
	err := db.Write(t.Context(), func(DBTX) error {
		_, err := db.writeQueue.conn.Conn.ExecContext(t.Context(), "PRAGMA max_page_count = 1")
		return err
	})
	for id := 'a'; err == nil && id < 'z'; id++ {
		err = insertCanary(t.Context(), db, string(id))
	}
	if cause := causeOf(t, err); cause.Error() != "database: InsertNote: disk_full (SQLite 13)" {
		t.Errorf("got %q", cause)
	}
	if !db.IsDegraded(DiskFull) || strings.Count(log.String(), "database degraded") != 1 {
		t.Errorf("log: %s", log)
	}
}

func TestHealth_ReadOnlyRoleLoggedOnce(t *testing.T) {
	t.Parallel()
	address, must := newRole(t)
	limited, log := openLogged(t, Options{URL: address})
	must("REVOKE INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public FROM ROLE_NAME")
	err := insertCanary(t.Context(), limited, "a")
	if cause := causeOf(t, err); cause.Error() != "database: InsertNote: permission_denied (SQLSTATE 42501)" {
		t.Errorf("got %q", cause)
	}
	requireCondition(t, limited, log, ReadOnly, func() { must("GRANT ALL ON ALL TABLES IN SCHEMA public TO ROLE_NAME") })
	if strings.Contains(log.String(), "secret") {
		t.Errorf("the log has the password: %s", log)
	}
	must("ALTER ROLE ROLE_NAME SET default_transaction_read_only = on")
	standby, _ := openLogged(t, Options{URL: address})
	if cause := causeOf(t, insertCanary(t.Context(), standby, "b")); cause.Error() != "database: InsertNote: read_only (SQLSTATE 25006)" {
		t.Errorf("got %q", cause)
	}
}

// newRole returns the address of a database for a new role with all privileges, and a
// function that runs statements as the owner, with the role in place of ROLE_NAME.
func newRole(t *testing.T) (address string, must func(statement string)) {
	t.Helper()
	owner := pgtest.Database(t)
	admin, err := sql.Open("pgx", owner)
	if err != nil {
		t.Fatal(err)
	}
	role := "reader_" + strings.ToLower(rand.Text()[:12])
	must = func(statement string) {
		t.Helper()
		if _, err := admin.ExecContext(t.Context(), strings.ReplaceAll(statement, "ROLE_NAME", role)); err != nil {
			t.Fatal(err)
		}
	}
	openWithSchema(t, Options{URL: owner})
	must("CREATE ROLE ROLE_NAME LOGIN PASSWORD 'secret'")
	t.Cleanup(func() {
		_, err := admin.ExecContext(context.WithoutCancel(t.Context()), "DROP OWNED BY "+role+"; DROP ROLE "+role)
		if err := errors.Join(err, admin.Close()); err != nil {
			t.Error(err)
		}
	})
	must("GRANT ALL ON ALL TABLES IN SCHEMA public TO ROLE_NAME")
	must("GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO ROLE_NAME")
	parsed, err := url.Parse(owner)
	if err != nil {
		t.Fatal(err)
	}
	parsed.User = url.UserPassword(role, "secret")
	return parsed.String(), must
}

func TestHealth_MissingTablePrivilegeIsNoCondition(t *testing.T) {
	t.Parallel()
	address, must := newRole(t)
	db, log := openLogged(t, Options{URL: address})
	must("REVOKE INSERT ON notes FROM ROLE_NAME")
	for range 3 {
		if cause := causeOf(t, insertCanary(t.Context(), db, "a")); cause.Class != classPermission || cause.Outage {
			t.Errorf("got %q, outage %t, want an error without outage", cause, cause.Outage)
		}
		db.probe(t.Context(), probeTimeout)
	}
	if len(db.Degraded()) != 0 || log.Len() != 0 {
		t.Errorf("degraded: %v; log: %s", db.Degraded(), log)
	}
}

func TestHealth_UnrelatedErrorIsNotPartOfOutage(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		db.health.applyProbeResult(Unreachable, &registrar.Cause{Part: registrar.PartDatabase, Operation: "probe", Class: "timeout"})
		_, err := db.writer.ExecContext(t.Context(), "-- name: FromNowhere :exec\nSELECT 1 FROM nowhere")
		if cause := causeOf(t, err); cause.Outage {
			t.Errorf("%q is attributed to the outage", cause)
		}
		for _, class := range []error{io.EOF, context.DeadlineExceeded, syscall.ECONNRESET} {
			if cause := causeOf(t, db.health.wrapError("Query", class)); !cause.Outage {
				t.Errorf("%q is not attributed to the outage", cause)
			}
		}
		db.health.applyProbeResult(ReadOnly, &registrar.Cause{Part: registrar.PartDatabase, Operation: "probe", Class: classReadOnly})
		if cause := causeOf(t, db.health.wrapError("Query", io.EOF)); cause.Outage {
			t.Errorf("%q is attributed to another condition", cause)
		}
	})
}

func TestHealth_ForeignWriteLockIsNoCondition(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	other := openWithSchema(t, Options{Data: folder})
	db, log := openLogged(t, Options{Data: folder})
	tx, err := other.writer.BeginTx(t.Context(), nil) // takes the write lock at once
	if err != nil {
		t.Fatal(err)
	}
	// The engine waits longer than the probe, but not the default of ten seconds.
	if _, err := db.writer.ExecContext(t.Context(), "PRAGMA busy_timeout = 500"); err != nil {
		t.Fatal(err)
	}
	db.probe(t.Context(), 50*time.Millisecond)
	if len(db.Degraded()) != 0 || log.Len() != 0 {
		t.Errorf("degraded: %v; log: %s", db.Degraded(), log)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	db.probe(t.Context(), probeTimeout)
	if len(db.Degraded()) != 0 || log.Len() != 0 {
		t.Errorf("degraded afterwards: %v; log: %s", db.Degraded(), log)
	}
}

func TestHealth_ReadOnlyEndsWithFirstProbeAfterFix(t *testing.T) {
	t.Parallel()
	address := pgtest.Database(t)
	openWithSchema(t, Options{URL: address})
	admin, err := sql.Open("pgx", address)
	if err != nil {
		t.Fatal(err)
	}
	must := func(statement string) {
		t.Helper()
		if _, err := admin.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	role := "reader_" + strings.ToLower(rand.Text()[:12])
	must("CREATE ROLE " + role + " LOGIN PASSWORD 'secret'")
	t.Cleanup(func() {
		_, err := admin.ExecContext(context.WithoutCancel(t.Context()), "DROP OWNED BY "+role+"; DROP ROLE "+role)
		if err := errors.Join(err, admin.Close()); err != nil {
			t.Error(err)
		}
	})
	must("GRANT ALL ON ALL TABLES IN SCHEMA public TO " + role)
	must("ALTER ROLE " + role + " SET default_transaction_read_only = on")
	parsed, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	parsed.User = url.UserPassword(role, "secret")
	db, log := openLogged(t, Options{URL: parsed.String()})
	// sessions opens n read-only sessions and returns one; the others are idle afterwards.
	sessions := func(n int) (open *sql.Conn) {
		t.Helper()
		for range n {
			conn, err := db.writer.Conn(t.Context())
			if err == nil {
				err = conn.PingContext(t.Context())
			}
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = conn.Close() }) // most are closed already
			if open != nil {
				defer conn.Close() //nolint:gocritic // all are open until the last one is
			} else {
				open = conn
			}
		}
		return open
	}
	inUse := sessions(8)
	requireCondition(t, db, log, ReadOnly, func() {
		sessions(4)
		must("ALTER ROLE " + role + " RESET default_transaction_read_only")
	})
	// A session that was in use throughout is still read-only; the database is not.
	_, err = inUse.ExecContext(t.Context(), "UPDATE "+VersionTable+" SET tstamp = tstamp")
	if cause := causeOf(t, err); cause.Class != "read_only" || len(db.Degraded()) != 0 {
		t.Errorf("got %q, degraded: %v", cause, db.Degraded())
	}
	if err := inUse.Close(); err != nil {
		t.Fatal(err)
	}
	for id := range 12 {
		if err := insertCanary(t.Context(), db, string(rune('a'+id))); err != nil {
			t.Fatal(err)
		}
	}
	if len(db.Degraded()) != 0 || strings.Count(log.String(), "database degraded") != 1 {
		t.Errorf("degraded: %v; log: %s", db.Degraded(), log)
	}
}

func TestHealth_ActionFollowsClass(t *testing.T) {
	t.Parallel()
	dial := &net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded}
	for _, test := range []struct {
		engine Engine
		cause  registrar.Cause
		action string
	}{
		{Postgres, registrar.Cause{Class: "too_many_connections"}, "lower database.max_connections or raise the server's limit"},
		{Postgres, registrar.Cause{Class: "login_refused"}, "check user and password in database.url"},
		{Postgres, registrar.Cause{Class: "timeout"}, "the server accepts connections but does not respond: check its load and locks"},
		{Postgres, registrar.Cause{Class: "timeout", Err: dial}, "check that the PostgreSQL server is running"},
		{Postgres, registrar.Cause{Class: "connection_refused"}, "check that the PostgreSQL server is running"},
		{SQLite, registrar.Cause{Class: "timeout"}, "check that the data folder exists"},
	} {
		if got := newHealth(test.engine, nil).operatorAction(Unreachable, &test.cause); !strings.HasPrefix(got, test.action) {
			t.Errorf("%v: %q", test.cause.Class, got)
		}
	}
	for class := range actionByClass {
		if !slices.Contains(ErrorClasses(), class) {
			t.Errorf("ErrorClasses lacks %s", class)
		}
	}
}

func TestHealth_ClosedPortNamesHostWithoutPassword(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	host := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	db, log := openLogged(t, Options{URL: "postgres://erika:canary@" + host + "/canary?sslmode=disable"})
	for range 3 {
		cause := causeOf(t, insertCanary(t.Context(), db, "a"))
		if cause.Error() != "database: connect at "+host+": connection_refused" || !cause.Outage {
			t.Errorf("got %q", cause)
		}
	}
	if text := log.String(); strings.Count(text, "database degraded") != 1 || !db.IsDegraded(Unreachable) || strings.Contains(text, "canary") {
		t.Errorf("log: %s", text)
	}
}

func TestHealth_NamesWrongPasswordAndMissingDatabase(t *testing.T) {
	t.Parallel()
	parsed, err := url.Parse(pgtest.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	missing := *parsed
	missing.Path = "/canary_missing"
	db, _ := openLogged(t, Options{URL: missing.String()})
	if cause := causeOf(t, insertCanary(t.Context(), db, "a")); cause.Class != "no_such_database" || cause.Code != "SQLSTATE 3D000" {
		t.Errorf("got %q", cause)
	}
	unknown := *parsed
	unknown.User = url.UserPassword("canary_nobody", "canary")
	db, _ = openLogged(t, Options{URL: unknown.String()})
	if cause := causeOf(t, insertCanary(t.Context(), db, "a")); cause.Class != "login_refused" {
		t.Errorf("got %q", cause)
	}
}

func TestHealth_NamesUntrustedServerCertificate(t *testing.T) {
	t.Parallel()
	tlsServer := httptest.NewTLSServer(nil)
	defer tlsServer.Close()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = io.ReadFull(conn, make([]byte, 8)) // the SSLRequest message
			_, _ = conn.Write([]byte("S"))
			_ = tls.Server(conn, &tls.Config{Certificates: tlsServer.TLS.Certificates, MinVersion: tls.VersionTLS12}).Handshake() // the client aborts it
			_ = conn.Close()
		}
	}()
	db, log := openLogged(t, Options{URL: "postgres://erika:canary@" + listener.Addr().String() + "/canary?sslmode=verify-full"})
	cause := causeOf(t, insertCanary(t.Context(), db, "a"))
	if cause.Error() != "database: connect at "+listener.Addr().String()+": tls_unknown_authority" || strings.Contains(log.String(), "canary") {
		t.Errorf("got %q; log: %s", cause, log)
	}
}

func TestWrapError_NamesDeadlockAndStatementTimeout(t *testing.T) {
	t.Parallel()
	db := openWithSchema(t, Options{URL: pgtest.Database(t)})
	for _, id := range []string{"a", "b"} {
		if err := insertCanary(t.Context(), db, id); err != nil {
			t.Fatal(err)
		}
	}
	begin := func() *sql.Tx {
		tx, err := db.writer.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = tx.Rollback() })
		return tx
	}
	lock := func(tx *sql.Tx, id string) error {
		_, err := tx.ExecContext(t.Context(), "-- name: LockNote :exec\nUPDATE notes SET text = text WHERE id = $1", id)
		return err
	}
	one, two := begin(), begin()
	if err := errors.Join(lock(one, "a"), lock(two, "b")); err != nil {
		t.Fatal(err)
	}
	ends := make(chan error, 2)
	for _, try := range []struct {
		tx *sql.Tx
		id string
	}{{one, "b"}, {two, "a"}} {
		go func() {
			err := lock(try.tx, try.id)
			ends <- errors.Join(err, try.tx.Rollback())
		}()
	}
	if cause := causeOf(t, errors.Join(<-ends, <-ends)); cause.Error() != "database: LockNote: deadlock (SQLSTATE 40P01)" {
		t.Errorf("got %q", cause)
	}
	slow := begin()
	if _, err := slow.ExecContext(t.Context(), "SET LOCAL statement_timeout = 20"); err != nil {
		t.Fatal(err)
	}
	_, err := slow.ExecContext(t.Context(), "-- name: Sleep :exec\nSELECT pg_sleep(10)")
	if cause := causeOf(t, err); cause.Error() != "database: Sleep: statement_timeout (SQLSTATE 57014)" {
		t.Errorf("got %q", cause)
	}
	if len(db.Degraded()) != 0 {
		t.Errorf("degraded: %v", db.Degraded())
	}
}
