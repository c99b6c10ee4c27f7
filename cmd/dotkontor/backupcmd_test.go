package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"database/sql"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/store"
)

// runCommand runs a command line in this process.
func runCommand(t *testing.T, in []byte, args ...string) (code int, out []byte, errOut string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = Run(t.Context(), args, nil, bytes.NewReader(in), &stdout, &stderr)
	return code, stdout.Bytes(), stderr.String()
}

// mustRun is dotkontor for what has to go well.
func mustRun(t *testing.T, in []byte, args ...string) (out []byte, errOut string) {
	t.Helper()
	code, out, errOut := runCommand(t, in, args...)
	if code != ExitOK {
		t.Fatalf("dotkontor %s ended with %d: %s", strings.Join(args, " "), code, errOut)
	}
	return out, errOut
}

// dataDirWithCustomer is a data folder whose database has one customer.
func dataDirWithCustomer(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	db, err := store.Open(t.Context(), store.Options{Data: folder})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	execSQL(t, "sqlite", filepath.Join(folder, "dotkontor.db"), `INSERT INTO customers
		(id, email, email_key, user_handle, language, created_at) VALUES ('cus_1', 'anna@example.com', 'anna', 'h', 'de', 1)`)
	return folder
}

func execSQL(t *testing.T, driver, address, text string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute) // also when the test's own has ended
	defer cancel()
	db, err := sql.Open(driver, address)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(ctx, text); err != nil {
		t.Fatal(err)
	}
}

func customerEmail(t *testing.T, driver, address string) string {
	t.Helper()
	db, err := sql.Open(driver, address)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var email string
	if err := db.QueryRowContext(t.Context(), "SELECT email FROM customers").Scan(&email); err != nil {
		t.Fatal(err)
	}
	return email
}

func TestBackup_PrivateFileRestoresOnce(t *testing.T) {
	t.Parallel()
	folder, place := dataDirWithCustomer(t), t.TempDir()
	file := filepath.Join(place, "today.backup")
	for range 2 { // a later one replaces it
		if _, errOut := mustRun(t, nil, "backup", "--data", folder, file); !strings.Contains(errOut, "1 rows") || !strings.Contains(errOut, "secret.key") {
			t.Errorf("got %s", errOut)
		}
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got %v, %v", info.Mode(), err)
	}
	if files, err := os.ReadDir(place); err != nil || len(files) != 1 {
		t.Errorf("%d files, %v", len(files), err)
	}
	other := t.TempDir()
	if out, _ := mustRun(t, nil, "restore", "--data", other, file); !strings.Contains(string(out), "restored: 1 rows") {
		t.Errorf("got %s", out)
	}
	if email := customerEmail(t, "sqlite", filepath.Join(other, "dotkontor.db")); email != "anna@example.com" {
		t.Errorf("got %s", email)
	}
	if code, _, errOut := runCommand(t, nil, "restore", "--data", other, file); code != ExitError || !strings.Contains(errOut, "not empty") {
		t.Errorf("restoring twice: %d, %s", code, errOut)
	}
}

func TestBackup_WorksThroughPipes(t *testing.T) {
	t.Parallel()
	packed, _ := mustRun(t, nil, "backup", "--data", dataDirWithCustomer(t), "-")
	other := t.TempDir()
	mustRun(t, packed, "restore", "--data", other, "-")
	if email := customerEmail(t, "sqlite", filepath.Join(other, "dotkontor.db")); email != "anna@example.com" {
		t.Errorf("got %s", email)
	}
	if code, _, errOut := runCommand(t, packed[:len(packed)-1], "restore", "--data", t.TempDir(), "-"); code != ExitError || !strings.Contains(errOut, "cut or altered") {
		t.Errorf("a cut one: %d, %s", code, errOut)
	}
}

func TestBackup_FailureKeepsPreviousFile(t *testing.T) {
	t.Parallel()
	place := t.TempDir()
	file := filepath.Join(place, "today.backup")
	if err := os.WriteFile(file, []byte("yesterday"), 0o600); err != nil {
		t.Fatal(err)
	}
	nowhere := filepath.Join(t.TempDir(), "nothing")
	if code, _, errOut := runCommand(t, nil, "backup", "--data", nowhere, file); code != ExitError || !strings.Contains(errOut, "no database") {
		t.Errorf("got %d, %s", code, errOut)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "yesterday" {
		t.Errorf("the old one is %q, %v", text, err)
	}
	if files, err := os.ReadDir(place); err != nil || len(files) != 1 {
		t.Errorf("%d files, %v", len(files), err)
	}
	if _, err := os.Stat(nowhere); err == nil {
		t.Error("a backup made a data folder")
	}
}

func TestBackup_RequiresExplicitDatabase(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"backup", "restore"} {
		if code, _, errOut := runCommand(t, nil, command, "-"); code != ExitUsage || !strings.Contains(errOut, "--config") {
			t.Errorf("%s: %d, %s", command, code, errOut)
		}
	}
}

func TestBackup_RestoresSQLiteIntoPostgreSQL(t *testing.T) {
	t.Parallel()
	server := os.Getenv("DOTKONTOR_TEST_POSTGRES")
	if server == "" {
		t.Skip("no PostgreSQL: DOTKONTOR_TEST_POSTGRES is not set; \"make test\" sets it")
	}
	name := "test_" + strings.ToLower(rand.Text())
	execSQL(t, "pgx", server, "CREATE DATABASE "+name)
	t.Cleanup(func() { execSQL(t, "pgx", server, "DROP DATABASE "+name+" WITH (FORCE)") })
	address, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	address.Path = "/" + name
	cfg := config.Default()
	cfg.BaseURL, cfg.SecretKey = "https://domains.example", config.Secret(config.NewKey())
	cfg.Database.URL = config.Secret(address.String())
	file := filepath.Join(t.TempDir(), "dotkontor.toml")
	if err := cfg.Write(file); err != nil {
		t.Fatal(err)
	}
	packed, _ := mustRun(t, nil, "backup", "--data", dataDirWithCustomer(t), "-")
	mustRun(t, packed, "restore", "--config", file, "-")
	if email := customerEmail(t, "pgx", address.String()); email != "anna@example.com" {
		t.Errorf("got %s", email)
	}
	if _, errOut := mustRun(t, nil, "backup", "--config", file, "-"); !strings.Contains(errOut, "secret_key") {
		t.Errorf("got %s", errOut)
	}
}

func TestBackup_ReportsOnlySecretKeyAsMissing(t *testing.T) {
	t.Parallel()
	_, errOut := mustRun(t, nil, "backup", "--data", dataDirWithCustomer(t), filepath.Join(t.TempDir(), "b"))
	if !strings.Contains(errOut, "Not in it: secret.key in the data folder.") || strings.Contains(errOut, "price list") || strings.Contains(errOut, "Preisliste") {
		t.Errorf("got %q", errOut)
	}
}
