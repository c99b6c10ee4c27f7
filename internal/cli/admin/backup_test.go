package admin

import (
	"crypto/rand"
	"database/sql"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/internal/cli"
	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/test/testkit/clitest"
)

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
	folder, place := clitest.DataDirWithCustomer(t), t.TempDir()
	file := filepath.Join(place, "today.backup")
	for range 2 { // the second backup replaces the first
		if _, errOut := clitest.MustRun(t, &grammar{}, nil, "backup", "--data", folder, file); !strings.Contains(errOut, "1 rows") || !strings.Contains(errOut, "secret.key") {
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
	if out, _ := clitest.MustRun(t, &grammar{}, nil, "restore", "--data", other, file); !strings.Contains(string(out), "restored: 1 rows") {
		t.Errorf("got %s", out)
	}
	if email := customerEmail(t, "sqlite", filepath.Join(other, "dotkontor.db")); email != "anna@example.com" {
		t.Errorf("got %s", email)
	}
	if code, _, errOut := clitest.Run(t, &grammar{}, nil, "restore", "--data", other, file); code != cli.ExitError || !strings.Contains(errOut, "not empty") {
		t.Errorf("restoring twice: %d, %s", code, errOut)
	}
}

func TestBackup_WorksThroughPipes(t *testing.T) {
	t.Parallel()
	packed, _ := clitest.MustRun(t, &grammar{}, nil, "backup", "--data", clitest.DataDirWithCustomer(t), "-")
	other := t.TempDir()
	clitest.MustRun(t, &grammar{}, packed, "restore", "--data", other, "-")
	if email := customerEmail(t, "sqlite", filepath.Join(other, "dotkontor.db")); email != "anna@example.com" {
		t.Errorf("got %s", email)
	}
	if code, _, errOut := clitest.Run(t, &grammar{}, packed[:len(packed)-1], "restore", "--data", t.TempDir(), "-"); code != cli.ExitError || !strings.Contains(errOut, "truncated or altered") {
		t.Errorf("a truncated backup: %d, %s", code, errOut)
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
	if code, _, errOut := clitest.Run(t, &grammar{}, nil, "backup", "--data", nowhere, file); code != cli.ExitError || !strings.Contains(errOut, "no database") {
		t.Errorf("got %d, %s", code, errOut)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "yesterday" {
		t.Errorf("the old backup is %q, %v", text, err)
	}
	if files, err := os.ReadDir(place); err != nil || len(files) != 1 {
		t.Errorf("%d files, %v", len(files), err)
	}
	if _, err := os.Stat(nowhere); err == nil {
		t.Error("a backup created a data folder")
	}
}

func TestBackup_RequiresExplicitDatabase(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"backup", "restore"} {
		if code, _, errOut := clitest.Run(t, &grammar{}, nil, command, "-"); code != cli.ExitUsage || !strings.Contains(errOut, "--config") {
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
	clitest.ExecSQL(t, "pgx", server, "CREATE DATABASE "+name)
	t.Cleanup(func() { clitest.ExecSQL(t, "pgx", server, "DROP DATABASE "+name+" WITH (FORCE)") })
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
	packed, _ := clitest.MustRun(t, &grammar{}, nil, "backup", "--data", clitest.DataDirWithCustomer(t), "-")
	clitest.MustRun(t, &grammar{}, packed, "restore", "--config", file, "-")
	if email := customerEmail(t, "pgx", address.String()); email != "anna@example.com" {
		t.Errorf("got %s", email)
	}
	if _, errOut := clitest.MustRun(t, &grammar{}, nil, "backup", "--config", file, "-"); !strings.Contains(errOut, "secret_key") {
		t.Errorf("got %s", errOut)
	}
}

func TestBackup_ReportsOnlySecretKeyAsMissing(t *testing.T) {
	t.Parallel()
	_, errOut := clitest.MustRun(t, &grammar{}, nil, "backup", "--data", clitest.DataDirWithCustomer(t), filepath.Join(t.TempDir(), "b"))
	if !strings.Contains(errOut, "not included: secret.key in the data folder") || strings.Contains(errOut, "price list") {
		t.Errorf("got %q", errOut)
	}
}
