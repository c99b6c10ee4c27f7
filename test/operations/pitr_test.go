package operations

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/sandbox/stripe"
	"github.com/dotkontor/dotkontor/internal/store"
	"github.com/dotkontor/dotkontor/test/testkit"
	"github.com/dotkontor/dotkontor/test/testkit/pgtest"
)

// archivingServer is a PostgreSQL that archives its write-ahead log.
type archivingServer struct {
	*pgtest.Server
	bin, folder string // of PostgreSQL's programs; of everything that the test stores for it
}

func startArchiving(t *testing.T) *archivingServer {
	t.Helper()
	t.Setenv(pgtest.EnvVariable, "") // a server of its own
	server, err := pgtest.Start("archive_mode=on", "wal_level=replica")
	if errors.Is(err, pgtest.ErrMissing) {
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
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/pg_ctl") // Debian's, next to pg_basebackup
	if path, missing := exec.LookPath("pg_ctl"); missing == nil && len(found) == 0 {
		found = append(found, path)
	}
	if err != nil || len(found) == 0 {
		t.Skip("pg_ctl is missing")
	}
	// PostgreSQL runs as another user, and a socket's path must be short.
	folder, err := os.MkdirTemp("/tmp", "dotkontor-pitr-")
	if err == nil {
		err = errors.Join(os.Chmod(folder, 0o777), os.Mkdir(filepath.Join(folder, "wal"), 0o700), os.Chmod(filepath.Join(folder, "wal"), 0o777))
	}
	if err != nil {
		t.Fatal(err)
	}
	s := &archivingServer{server, filepath.Dir(found[len(found)-1]), folder}
	t.Cleanup(func() {
		s.try(context.WithoutCancel(t.Context()), "pg_ctl", "-D", folder+"/restored", "-s", "-m", "immediate", "-w", "stop") // it may not run
		if err := os.RemoveAll(folder); err != nil {
			t.Error(err)
		}
	})
	s.exec(t, "ALTER SYSTEM SET archive_command = 'test ! -f "+folder+"/wal/%f && cp %p "+folder+"/wal/%f'")
	s.exec(t, "SELECT pg_reload_conf()")
	return s
}

// try runs one of PostgreSQL's programs, as its own user if this is root.
func (s *archivingServer) try(ctx context.Context, program string, args ...string) (string, error) {
	args = append([]string{filepath.Join(s.bin, program)}, args...)
	if os.Getuid() == 0 {
		args = append([]string{"runuser", "-u", "postgres", "--"}, args...)
	}
	command := exec.CommandContext(ctx, args[0], args[1:]...)
	command.Dir = "/"
	command.WaitDelay = time.Second // a server that it starts keeps the output open
	out, err := command.CombinedOutput()
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil
	}
	return string(out), err
}

func (s *archivingServer) run(t *testing.T, program string, args ...string) {
	t.Helper()
	if out, err := s.try(t.Context(), program, args...); err != nil {
		t.Fatalf("%s: %v\n%s", program, err, out)
	}
}

func (s *archivingServer) exec(t *testing.T, statement string) {
	t.Helper()
	db, err := sql.Open("pgx", s.URL)
	if err == nil {
		_, err = db.ExecContext(t.Context(), statement)
		err = errors.Join(err, db.Close())
	}
	if err != nil {
		t.Fatal(statement, err)
	}
}

// now returns the server's time.
func (s *archivingServer) now(t *testing.T) (now time.Time) {
	t.Helper()
	db, err := sql.Open("pgx", s.URL)
	if err == nil {
		err = errors.Join(db.QueryRowContext(t.Context(), "SELECT clock_timestamp()").Scan(&now), db.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	return now
}

// restore starts the base backup as it was at a time, and returns the URL of a database in it.
func (s *archivingServer) restore(t *testing.T, database string, until time.Time) string {
	t.Helper()
	restored := filepath.Join(s.folder, "restored")
	settings := fmt.Sprintf("restore_command = 'cp %[1]s/wal/%%f %%p'\nrecovery_target_time = '%[2]s'\nrecovery_target_action = 'promote'\narchive_mode = off\n",
		s.folder, until.UTC().Format("2006-01-02 15:04:05.000000+00"))
	script := "cat >>" + restored + "/postgresql.auto.conf <<'END'\n" + settings + "END\ntouch " + restored + "/recovery.signal"
	shell := []string{"bash", "-c", script}
	if os.Getuid() == 0 {
		shell = append([]string{"runuser", "-u", "postgres", "--"}, shell...)
	}
	if out, err := exec.CommandContext(t.Context(), shell[0], shell[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s.run(t, "pg_ctl", "-D", restored, "-s", "-w", "-t", "60", "-l", s.folder+"/log", "start", "-o", "-k "+s.folder+" -c listen_addresses= -c max_connections=300")
	address, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	address.RawQuery = url.Values{"host": {s.folder}}.Encode()
	testkit.Eventually(t, "end of the recovery", func() bool {
		db, err := sql.Open("pgx", address.String())
		recovering := true
		if err == nil {
			_ = db.QueryRowContext(t.Context(), "SELECT pg_is_in_recovery()").Scan(&recovering) // it may still start
			_ = db.Close()
		}
		return !recovering
	})
	return address.String()
}

// Docs/operating.md describes these steps. What was sold after the time is lost here and exists
// at the payment provider and at the registry: doctor names each of them.
func TestPointInTimeRecovery_OrdersUntilThenAreCompleteAndLaterOnesAreNamed(t *testing.T) {
	skipUnlessRequested(t)
	binary := buildTree(t)
	server := startArchiving(t)
	database, _, err := server.NewDatabase()
	if err != nil {
		t.Fatal(err)
	}
	w := startWorld(t, binary, database)
	n := w.newNode("node")
	n.start(binary)
	shop := w.newTraffic(n.address)
	buy := func(names ...string) {
		t.Helper()
		for _, name := range names {
			shop.buy(t.Context(), name)
		}
		shop.wantNoFailures()
		wantOneOrderEach(t, w, database, shop.bought())
	}
	buy("vor-der-sicherung-1.de", "vor-der-sicherung-2.de")
	server.run(t, "pg_basebackup", "-h", socketFolder(t, server.URL), "-U", "dotkontor", "-D", server.folder+"/restored", "-X", "stream", "-c", "fast")
	buy("nach-der-sicherung-1.de", "nach-der-sicherung-2.de")
	waitReconciled(t, w, binary)
	// The registry decides about this one after the moment.
	const undecided = "pending-am-zeitpunkt.org"
	shop.buy(t.Context(), undecided)
	kept, until := shop.bought(), server.now(t)
	buy("nach-dem-zeitpunkt-1.de", "nach-dem-zeitpunkt-2.de")
	waitReconciled(t, w, binary)
	lost := shop.bought()[len(kept):]
	charges := chargesOf(t, w, database, lost)
	n.stop()
	segment := switchSegment(t, server)
	testkit.Eventually(t, "archived log", func() bool { _, err := os.Stat(filepath.Join(server.folder, "wal", segment)); return err == nil })

	restored := server.restore(t, database, until)
	for i, setting := range w.settings {
		if strings.HasPrefix(setting, "DOTKONTOR_DATABASE_URL=") {
			w.settings[i] = "DOTKONTOR_DATABASE_URL=" + restored
		}
	}
	// Before the service starts, doctor names what it has lost.
	out, err := testkit.RunCommand(t.Context(), binary, w.settings, "doctor", "--reconcile", "--patience", "0s", "--config", w.config)
	t.Log(strings.TrimSpace(out))
	if err == nil {
		t.Error("doctor finds no difference")
	}
	for name, charge := range charges {
		if !strings.Contains(out, "FAIL  stray      "+charge.ID+": the provider charged ") {
			t.Errorf("doctor does not name the charge %s of %s", charge.ID, name)
		}
		info := w.mustRun(binary, "registry", "info", name)
		if !strings.Contains(info, name) {
			t.Errorf("the registry does not have %s: %s", name, info)
		}
	}
	if findings := strings.Count(out, "FAIL"); findings != len(lost) {
		t.Errorf("%d findings, want one for each order that was lost", findings)
	}
	n.start(binary)
	wantOrderCompleted(t, restored, undecided)
	var names []string
	db, err := store.Open(t.Context(), store.Options{URL: restored, MaxConnections: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	for _, o := range paidOrders(t, db) {
		for _, item := range o.Items {
			names = append(names, item.Name)
		}
	}
	slices.Sort(names)
	want := slices.Sorted(slices.Values(kept))
	if !slices.Equal(names, want) {
		t.Errorf("the restored orders are %q, want %q", names, want)
	}
	// A lost name is not sold again, because its registry has it.
	status, text := shop.send(t.Context(), "/api/domain/check", signNothing, map[string]string{"domain": lost[0]})
	if status != 200 || !strings.Contains(string(text), `"available":false`) {
		t.Errorf("%s: %d %s", lost[0], status, text)
	}
	// The operator returns the money of the lost orders. Then everything agrees again.
	for _, charge := range charges {
		if _, err := w.provider.RefundPayment(t.Context(), charge.Intent, 0); err != nil {
			t.Error(err)
		}
	}
	shop.buy(t.Context(), "nach-der-wiederherstellung.de")
	shop.wantNoFailures()
	waitReconciled(t, w, binary)
	n.wantNoErrors()
}

// chargesOf returns the provider's charge of each name.
func chargesOf(t *testing.T, w *world, database string, names []string) map[string]stripe.Charge {
	t.Helper()
	db, err := store.Open(t.Context(), store.Options{URL: database, MaxConnections: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	money, err := w.provider.Money(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	charges := make(map[string]stripe.Charge)
	for _, o := range paidOrders(t, db) {
		for _, charge := range money.Charges {
			if name := o.Items[0].Name; slices.Contains(names, name) && charge.Intent == o.CapturedPayment().Intent {
				charges[name] = charge
			}
		}
	}
	if len(charges) != len(names) {
		t.Fatalf("charges of %q: %v", names, charges)
	}
	return charges
}

// wantOrderCompleted waits for the end of an order that was not completed at the moment.
func wantOrderCompleted(t *testing.T, database, name string) {
	t.Helper()
	db, err := store.Open(t.Context(), store.Options{URL: database, MaxConnections: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	state := func() order.State {
		for _, o := range paidOrders(t, db) {
			if o.Items[0].Name == name {
				return o.State
			}
		}
		return ""
	}
	t.Logf("the order of %s was %s", name, state())
	testkit.Eventually(t, "end of the order of "+name, func() bool { return state() == order.Completed })
}

func socketFolder(t *testing.T, address string) string {
	t.Helper()
	parsed, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return parsed.Query().Get("host")
}

// switchSegment ends the current segment of the log, which is then archived.
func switchSegment(t *testing.T, s *archivingServer) (name string) {
	t.Helper()
	db, err := sql.Open("pgx", s.URL)
	if err == nil {
		err = errors.Join(db.QueryRowContext(t.Context(), "SELECT pg_walfile_name(pg_switch_wal())").Scan(&name), db.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	return name
}
