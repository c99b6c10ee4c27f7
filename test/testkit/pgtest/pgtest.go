// Package pgtest provides PostgreSQL databases to tests and benchmarks.
//
// "make test" starts one server for the whole run and names it in the variable
// DOTKONTOR_TEST_POSTGRES. Without the variable, a server is started for the test if
// PostgreSQL is installed; otherwise the test is skipped.
package pgtest

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
)

// EnvVariable is the variable with the URL of the shared server.
const EnvVariable = "DOTKONTOR_TEST_POSTGRES"

// ErrMissing means that no PostgreSQL is installed, or that -short excludes it.
var ErrMissing = errors.New("no PostgreSQL is installed (Debian: postgresql), or -short excludes it")

const (
	// commandTimeout bounds starting, stopping and creating a database.
	commandTimeout = time.Minute
	// exitMissing is the script's exit code if PostgreSQL is not installed.
	exitMissing = 69
)

// Server is a running PostgreSQL.
type Server struct {
	// URL is the URL of its first database, with a superuser.
	URL string
	// own reports whether Start started it, so that Stop stops it.
	own bool
}

// settingsVariable passes further settings to the script, separated by spaces.
const settingsVariable = "DOTKONTOR_TEST_POSTGRES_SETTINGS"

// Start returns the server that EnvVariable names, or starts one with additional
// settings like "shared_buffers=2GB". The caller stops it.
func Start(settings ...string) (*Server, error) {
	if testing.Testing() && testing.Short() {
		return nil, ErrMissing
	}
	if address := os.Getenv(EnvVariable); address != "" {
		return &Server{URL: address}, nil
	}
	out, err := script(append(os.Environ(), settingsVariable+"="+strings.Join(settings, " ")), "start", "--installed")
	var ended *exec.ExitError
	if errors.As(err, &ended) && ended.ExitCode() == exitMissing {
		return nil, ErrMissing
	}
	if err != nil {
		return nil, fmt.Errorf("pgtest: start: %w", err)
	}
	// The script prints a line for a shell: export NAME='ADDRESS'.
	_, address, found := strings.Cut(strings.TrimSpace(out), "='")
	if !found {
		return nil, fmt.Errorf("pgtest: start: unexpected output %q", out)
	}
	return &Server{URL: strings.TrimSuffix(address, "'"), own: true}, nil
}

// Stop stops the server and deletes its data if Start started it.
func (s *Server) Stop() error {
	if !s.own {
		return nil
	}
	_, err := script(append(os.Environ(), EnvVariable+"="+s.URL), "stop")
	return err
}

// NewDatabase creates an empty database and returns its URL and a function that drops
// it.
func (s *Server) NewDatabase() (address string, drop func() error, err error) {
	return s.create("")
}

// CopyDatabase creates a copy of another database, which must have no connections.
func (s *Server) CopyDatabase(other string) (address string, drop func() error, err error) {
	parsed, err := url.Parse(other)
	if err != nil {
		return "", nil, errors.New("pgtest: copy: invalid database URL")
	}
	return s.create(" TEMPLATE " + strings.TrimPrefix(parsed.Path, "/"))
}

// create creates a database; how follows its name in the statement.
func (s *Server) create(how string) (address string, drop func() error, err error) {
	parsed, err := url.Parse(s.URL)
	if err != nil {
		return "", nil, errors.New(EnvVariable + " is not a URL")
	}
	name := "test_" + strings.ToLower(rand.Text())
	if err := s.exec("CREATE DATABASE " + name + how); err != nil {
		return "", nil, err
	}
	parsed.Path = "/" + name
	return parsed.String(), func() error { return s.exec("DROP DATABASE " + name + " WITH (FORCE)") }, nil
}

func (s *Server) exec(statement string) error {
	ctx, cancel := context.WithTimeout(context.Background(), commandTimeout)
	defer cancel()
	pool, err := sql.Open("pgx", s.URL)
	if err != nil {
		return err
	}
	_, err = pool.ExecContext(ctx, statement)
	return errors.Join(err, pool.Close())
}

// Database returns the URL of an empty database that is dropped after the test. Without
// PostgreSQL the test is skipped.
func Database(t testing.TB) string {
	t.Helper()
	server, err := Start()
	if errors.Is(err, ErrMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	address, drop, err := server.NewDatabase()
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

// script runs scripts/postgres.sh.
func script(environment []string, args ...string) (string, error) {
	path, err := scriptPath()
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), commandTimeout)
	defer cancel()
	command := exec.CommandContext(ctx, path, args...)
	command.Env = environment
	command.Stderr = os.Stderr
	// The server outlives the script and keeps its output open.
	command.WaitDelay = time.Second
	out, err := command.Output()
	return string(out), err
}

// scriptPath searches this folder and its parents.
func scriptPath() (string, error) {
	folder, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		path := filepath.Join(folder, "scripts", "postgres.sh")
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
		parent := filepath.Dir(folder)
		if parent == folder {
			return "", errors.New("scripts/postgres.sh is not in this folder or above it")
		}
		folder = parent
	}
}
