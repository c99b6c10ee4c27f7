// Package clitest runs command lines inside a test.
package clitest

import (
	"bytes"
	"context"
	"database/sql"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/cli"
	"github.com/dotkontor/dotkontor/test/testkit/dbtest"
)

// Run runs a command line in this process.
func Run(t *testing.T, grammar any, in []byte, args ...string) (code int, out []byte, errOut string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = cli.Run(t.Context(), grammar, args, nil, bytes.NewReader(in), &stdout, &stderr)
	return code, stdout.Bytes(), stderr.String()
}

// MustRun is Run for commands that have to succeed.
func MustRun(t *testing.T, grammar any, in []byte, args ...string) (out []byte, errOut string) {
	t.Helper()
	code, out, errOut := Run(t, grammar, in, args...)
	if code != cli.ExitOK {
		t.Fatalf("dotkontor %s ended with %d: %s", strings.Join(args, " "), code, errOut)
	}
	return out, errOut
}

// DataDirWithCustomer returns a data folder whose database has one customer.
func DataDirWithCustomer(t *testing.T) string {
	t.Helper()
	folder := dbtest.SQLite(t).Data
	ExecSQL(t, "sqlite", filepath.Join(folder, "dotkontor.db"), `INSERT INTO customers
		(id, email, email_key, user_handle, language, created_at) VALUES ('cus_1', 'anna@example.com', 'anna', 'h', 'de', 1)`)
	return folder
}

func ExecSQL(t *testing.T, driver, address, text string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute) // even if the test's context has ended
	defer cancel()
	db, err := sql.Open(driver, address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.ExecContext(ctx, text); err != nil {
		t.Fatal(err)
	}
}
