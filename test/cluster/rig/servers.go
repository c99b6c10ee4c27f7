package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// startTimeout bounds the start of a server, exitTimeout its end. Both are generous: the
	// machine may be busy.
	startTimeout = time.Minute
	exitTimeout  = 30 * time.Second
	pollInterval = 100 * time.Millisecond
)

// eventually polls until done returns true.
func eventually(ctx context.Context, what string, within time.Duration, done func(context.Context) bool) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	for !done(ctx) {
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", what, ctx.Err())
		case <-time.After(pollInterval):
		}
	}
	return nil
}

// daemon is a server program of another project.
type daemon struct {
	path string
	args []string
	log  *os.File
	// credential is the user it runs as; nil means this process's.
	credential *syscall.Credential

	process *exec.Cmd
	exited  chan struct{}
}

func (d *daemon) start() error {
	d.process = exec.CommandContext(context.Background(), d.path, d.args...)
	d.process.Stdout, d.process.Stderr = d.log, d.log
	d.process.Dir = "/"
	// An interrupt at the terminal is for the rig, which stops the servers in order.
	d.process.SysProcAttr = &syscall.SysProcAttr{Credential: d.credential, Setpgid: true}
	if err := d.process.Start(); err != nil {
		return err
	}
	d.exited = make(chan struct{})
	go func(process *exec.Cmd, exited chan struct{}) {
		_ = process.Wait()
		close(exited)
	}(d.process, d.exited)
	return nil
}

func (d *daemon) signal(signal syscall.Signal) error {
	if d.process == nil {
		return nil
	}
	return d.process.Process.Signal(signal)
}

// stop sends a signal and waits until the process has ended.
func (d *daemon) stop(signal syscall.Signal) error {
	if d.process == nil {
		return nil
	}
	_ = d.signal(signal) // it may have ended
	select {
	case <-d.exited:
	case <-time.After(exitTimeout):
		_ = d.signal(syscall.SIGKILL)
		<-d.exited
		return fmt.Errorf("%s did not end after signal %s and was killed", filepath.Base(d.path), signal)
	}
	d.process = nil
	return nil
}

// postgres is one of the two database servers.
type postgres struct {
	daemon
	folder, bin, port string
}

const databaseUser, databaseName = "dotkontor", "dotkontor"

// findPostgres returns the folder of the newest installed version.
func findPostgres() (string, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin")
	if err != nil || len(found) == 0 {
		return "", errors.New("PostgreSQL is not installed (Debian: postgresql)")
	}
	slices.Sort(found)
	return found[len(found)-1], nil
}

// postgresCredential returns Debian's user for PostgreSQL, which refuses to run as root.
func postgresCredential() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil //nolint:nilnil // no other user is needed
	}
	account, err := user.Lookup("postgres")
	if err != nil {
		return nil, err
	}
	uid, err := strconv.ParseUint(account.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(account.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, err
}

// run runs one of PostgreSQL's programs.
func (p *postgres) run(ctx context.Context, program string, args ...string) error {
	cmd := exec.CommandContext(ctx, filepath.Join(p.bin, program), args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: p.credential}
	cmd.Dir = "/"
	cmd.Stdout, cmd.Stderr = p.log, p.log
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s (see %s): %w", program, p.log.Name(), err)
	}
	return nil
}

func (p *postgres) initialize(ctx context.Context) error {
	if err := p.run(ctx, "initdb", "-D", p.folder, "-U", databaseUser, "-A", "trust", "-E", "UTF8", "--locale=C", "--no-instructions"); err != nil {
		return err
	}
	return p.configure(false)
}

// configure writes the settings. A server in operation reads them at SIGHUP.
func (p *postgres) configure(synchronous bool) error {
	standbys := ""
	if synchronous {
		standbys = "*"
	}
	path := filepath.Join(p.folder, "postgresql.conf")
	settings := fmt.Sprintf(`listen_addresses = '127.0.0.1'
port = %s
unix_socket_directories = ''
max_connections = 100
shared_buffers = 64MB
wal_level = replica
wal_keep_size = 512MB
wal_retrieve_retry_interval = 1s
synchronous_commit = on
synchronous_standby_names = '%s'
`, p.port, standbys)
	if err := os.WriteFile(path, []byte(settings), 0o600); err != nil {
		return err
	}
	if p.credential != nil {
		return os.Chown(path, int(p.credential.Uid), int(p.credential.Gid))
	}
	return nil
}

// launch starts the server and waits until it accepts connections.
func (p *postgres) launch(ctx context.Context) error {
	if err := p.start(); err != nil { //nolint:contextcheck // a fault or the end stops it
		return err
	}
	return eventually(ctx, "start of PostgreSQL", startTimeout, func(ctx context.Context) bool {
		_, err := p.query(ctx, "postgres", "SELECT 1")
		return err == nil
	})
}

// query returns the first column of the first row as text.
func (p *postgres) query(ctx context.Context, database, statement string) (text string, err error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, "postgres://"+databaseUser+"@127.0.0.1:"+p.port+"/"+database+"?sslmode=disable")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	rows, err := conn.Query(ctx, statement, pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	if rows.Next() {
		text = string(rows.RawValues()[0])
	}
	rows.Close()
	return text, rows.Err()
}

// follow makes p a synchronous replica of primary, from nothing.
func (p *postgres) follow(ctx context.Context, primary *postgres) error {
	if err := os.RemoveAll(p.folder); err != nil {
		return err
	}
	if err := p.run(ctx, "pg_basebackup", "-h", "127.0.0.1", "-p", primary.port, "-U", databaseUser, "-D", p.folder, "-R", "-X", "stream", "-c", "fast"); err != nil {
		return err
	}
	if err := p.configure(false); err != nil {
		return err
	}
	if err := p.launch(ctx); err != nil {
		return err
	}
	if err := primary.configure(true); err != nil {
		return err
	}
	if err := primary.signal(syscall.SIGHUP); err != nil {
		return err
	}
	return eventually(ctx, "synchronous replication", startTimeout, func(ctx context.Context) bool {
		state, err := primary.query(ctx, "postgres", "SELECT sync_state FROM pg_stat_replication")
		return err == nil && state == "sync"
	})
}

// promote makes a replica the primary.
func (p *postgres) promote(ctx context.Context) error {
	return p.run(ctx, "pg_ctl", "-D", p.folder, "-w", "-t", "60", "promote")
}

// balancerConfig is what an operator would write: nodes that stop answering are removed after
// two failed checks, a request that reached no node goes to another one, and one that a node
// may have processed is repeated only if it is a GET. What may need the database goes to nodes
// that reach it, unless none does.
func balancerConfig(address string, nodes []*node) string {
	var text strings.Builder
	fmt.Fprintf(&text, `global
  maxconn 2000
defaults
  mode http
  timeout connect 1s
  timeout client 30s
  timeout server 30s
  timeout queue 5s
  timeout check 1s
  retries 2
  option redispatch 1
  retry-on conn-failure empty-response
  option forwardfor
frontend shop
  bind %s
  http-request disable-l7-retry unless METH_GET
  use_backend complete if !{ path_beg /api/domain/ } { nbsrv(complete) gt 0 }
  default_backend nodes
`, address)
	backend := func(name, check string) {
		fmt.Fprintf(&text, `backend %s
  balance roundrobin
  option httpchk GET /readyz
  http-check expect status 200
%s  http-response set-header X-Node %%s
  default-server check inter 1s fall 2 rise 2 on-marked-down shutdown-sessions
`, name, check)
		for _, n := range nodes {
			fmt.Fprintf(&text, "  server %s %s\n", n.name, n.address)
		}
	}
	backend("complete", "  http-check expect ! string \"degraded database\"\n")
	backend("nodes", "")
	return text.String()
}
