package rig

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
)

// ErrNoPostgres means that PostgreSQL's programs are not on this machine.
var ErrNoPostgres = errors.New("PostgreSQL is not installed (Debian: apt-get install postgresql)")

const postgresUser = "postgres"

// Postgres is a private PostgreSQL server in a folder of its own. It listens on
// a socket in that folder and nowhere else, and it writes to the disk as one that
// is in service does: fsync is on.
type Postgres struct {
	folder string
	cmd    *exec.Cmd
	end    context.CancelFunc
}

// StartPostgres makes an empty server and waits until it answers.
func StartPostgres(ctx context.Context) (*Postgres, error) {
	programs, err := postgresPrograms()
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "dotkontor-pg-")
	if err != nil {
		return nil, err
	}
	p := &Postgres{folder: folder}
	if err := p.start(ctx, programs); err != nil {
		return nil, errors.Join(err, p.Stop())
	}
	return p, nil
}

// postgresPrograms finds the newest version; Debian keeps them off the PATH.
func postgresPrograms() (string, error) {
	if found, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(found), nil
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil || len(found) == 0 {
		return "", ErrNoPostgres
	}
	slices.Sort(found)
	return filepath.Dir(found[len(found)-1]), nil
}

func (p *Postgres) start(ctx context.Context, programs string) error {
	who, err := unprivileged(p.folder)
	if err != nil {
		return err
	}
	data := filepath.Join(p.folder, "data")
	initialise := exec.CommandContext(ctx, filepath.Join(programs, "initdb"),
		"-D", data, "-U", postgresUser, "-A", "trust", "-E", "UTF8", "--locale", "C.UTF-8")
	initialise.Dir, initialise.SysProcAttr = p.folder, who
	if out, err := initialise.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, bytes.TrimSpace(out))
	}
	ctx, p.end = context.WithCancel(ctx)
	p.cmd = exec.CommandContext(ctx, filepath.Join(programs, "postgres"),
		"-D", data, "-k", p.folder, "-c", "listen_addresses=", "-c", "max_connections=200", "-c", "shared_buffers=4GB")
	p.cmd.Dir, p.cmd.SysProcAttr = p.folder, who
	// Interrupt is its "fast" end: nobody is waited for, and nothing is lost.
	p.cmd.Cancel = func() error { return p.cmd.Process.Signal(os.Interrupt) }
	p.cmd.WaitDelay = 2 * stopTimeout
	if err := p.cmd.Start(); err != nil {
		p.cmd = nil
		return err
	}
	return p.answers(ctx)
}

// unprivileged is how the server must be run: it refuses to be root's.
func unprivileged(folder string) (*syscall.SysProcAttr, error) {
	if os.Geteuid() != 0 {
		return &syscall.SysProcAttr{}, nil
	}
	account, err := user.Lookup(postgresUser)
	if err != nil {
		return nil, err
	}
	uid, err := strconv.ParseUint(account.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(account.Gid, 10, 32)
	if err != nil {
		return nil, err
	}
	if err := os.Chown(folder, int(uid), int(gid)); err != nil {
		return nil, err
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, nil
}

// answers waits until the server does.
func (p *Postgres) answers(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	pool, err := sql.Open("pgx", p.URL(postgresUser))
	if err != nil {
		return err
	}
	defer pool.Close()
	for {
		err := pool.PingContext(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the PostgreSQL server does not answer: %w", err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// URL is the address of one of its databases.
func (p *Postgres) URL(database string) string {
	return (&url.URL{
		Scheme: "postgres", User: url.User(postgresUser), Path: "/" + database,
		RawQuery: url.Values{"host": {p.folder}}.Encode(),
	}).String()
}

// NewDatabase makes an empty database and returns its address. The name is ours,
// and never a person's.
func (p *Postgres) NewDatabase(ctx context.Context, name string) (string, error) {
	pool, err := sql.Open("pgx", p.URL(postgresUser))
	if err != nil {
		return "", err
	}
	defer pool.Close()
	if _, err := pool.ExecContext(ctx, `CREATE DATABASE "`+name+`"`); err != nil {
		return "", err
	}
	return p.URL(name), nil
}

// Stop ends the server and removes all that it kept.
func (p *Postgres) Stop() error {
	if p.cmd != nil {
		p.end()
		_ = p.cmd.Wait() // it was told to end; how it did is of no interest
	}
	return os.RemoveAll(p.folder)
}
