// Package pg gives tests and measurements a PostgreSQL of their own.
//
// "make test" starts one server for the whole run and names it in the variable
// DOTKONTOR_TEST_POSTGRES. Whoever runs one package by hand gets a server for
// that test, from the same script, if PostgreSQL is installed. Nothing is
// installed from here: where there is none, the test says so and is skipped.
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

// EnvVariable names the server that is there for all.
const EnvVariable = "DOTKONTOR_TEST_POSTGRES"

// ErrMissing means that no PostgreSQL is installed, or that -short excludes it.
var ErrMissing = errors.New("no PostgreSQL is installed (Debian: postgresql), or -short excludes it")

const (
	// commandTimeout bounds what a server takes to start, to stop or to make a database.
	commandTimeout = time.Minute
	// exitMissing is the script's answer where nothing is installed.
	exitMissing = 69
)

// Server is a running PostgreSQL.
type Server struct {
	// URL is the address of its first database, with a user who may do anything.
	URL string
	// own says that it was started here, and must be stopped here.
	own bool
}

// settingsVariable hands further settings to the script, separated by spaces.
const settingsVariable = "DOTKONTOR_TEST_POSTGRES_SETTINGS"

// Start returns the server that Variable names, or starts one, with settings like
// "shared_buffers=2GB" beside those that tests have. The caller stops it. It
// returns ErrMissing where there is nothing to start.
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
		return nil, fmt.Errorf("PostgreSQL did not start: %w", err)
	}
	// The script prints a line for a shell: export NAME='ADDRESS'.
	_, address, found := strings.Cut(strings.TrimSpace(out), "='")
	if !found {
		return nil, fmt.Errorf("PostgreSQL did not start: %q", out)
	}
	return &Server{URL: strings.TrimSuffix(address, "'"), own: true}, nil
}

// Stop ends the server, if it was started here, and all that it held.
func (s *Server) Stop() error {
	if !s.own {
		return nil
	}
	_, err := script(append(os.Environ(), EnvVariable+"="+s.URL), "stop")
	return err
}

// NewDatabase makes an empty database and returns its address, and a function
// that drops it.
func (s *Server) NewDatabase() (address string, drop func() error, err error) {
	return s.create("")
}

// CopyDatabase is NewDatabase with all that another database has, to which nobody is
// connected.
func (s *Server) CopyDatabase(other string) (address string, drop func() error, err error) {
	parsed, err := url.Parse(other)
	if err != nil {
		return "", nil, errors.New("the database to copy has no address")
	}
	return s.create(" TEMPLATE " + strings.TrimPrefix(parsed.Path, "/"))
}

// create makes a database as the words behind its name say.
func (s *Server) create(how string) (address string, drop func() error, err error) {
	parsed, err := url.Parse(s.URL)
	if err != nil {
		return "", nil, errors.New(EnvVariable + " is no address")
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

// Database returns the address of an empty database that lives as long as the
// test. Without PostgreSQL the test is skipped.
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

// script runs scripts/postgres.sh of the repository.
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
	// The server outlives the script, so its output must not be waited for.
	command.WaitDelay = time.Second
	out, err := command.Output()
	return string(out), err
}

// scriptPath looks in this folder and those above it.
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
