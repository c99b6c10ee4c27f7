package operations

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/test/testkit"
	"github.com/dotkontor/dotkontor/test/testkit/pgtest"
)

// startBalancer runs HAProxy with the configuration of deploy/compose in front of three nodes.
// Only addresses differ, and there is no TLS.
func startBalancer(t *testing.T, nodes []*node) string {
	t.Helper()
	program, err := exec.LookPath("haproxy")
	if err != nil {
		program = "/usr/sbin/haproxy"
	}
	if _, err := os.Stat(program); err != nil {
		t.Skip("haproxy is missing")
	}
	root, err := testkit.ModuleRoot()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "deploy", "compose", "haproxy.cfg"))
	if err != nil {
		t.Fatal(err)
	}
	address := freeAddress(t)
	settings := string(text)
	replace := func(pattern, by string) {
		t.Helper()
		expression := regexp.MustCompile(pattern)
		if !expression.MatchString(settings) {
			t.Fatalf("haproxy.cfg has no %s", pattern)
		}
		settings = expression.ReplaceAllString(settings, by)
	}
	replace(`bind :8443 .*`, "bind "+address)
	replace(`maxconn 20000`, "maxconn 1000") // within the limit of open files
	replace(` resolvers docker init-addr libc,none`, "")
	replace(`(?s)resolvers docker\n.*?\n\n`, "")
	replace(`check port 9464 `, "check ")
	for i, n := range nodes {
		_, port, _ := strings.Cut(n.private, ":")
		replace(`server node`+string(rune('1'+i))+` .*`, "server node"+string(rune('1'+i))+" "+n.address+" port "+port)
	}
	file := filepath.Join(t.TempDir(), "haproxy.cfg")
	if err := os.WriteFile(file, []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), program, "-db", "-f", file)
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
	log, err := os.Create(file + ".log")
	if err != nil {
		t.Fatal(err)
	}
	command.Stdout, command.Stderr = log, log
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Signal(syscall.SIGTERM)
		_ = command.Wait() // its exit code is that of the signal
		_ = log.Close()
		if text, err := os.ReadFile(log.Name()); t.Failed() {
			t.Log(string(text), err)
		}
	})
	testkit.Eventually(t, "answer through the balancer", func() bool {
		response, err := http.Get("http://" + address + "/")
		if err == nil {
			_ = response.Body.Close()
		}
		return err == nil && response.StatusCode == http.StatusOK
	})
	return address
}

// Behind a balancer that asks /readyz, clients notice nothing of a rolling restart: they repeat no
// request.
func TestRollingUpgrade_BehindBalancerFailsNoRequest(t *testing.T) {
	skipUnlessRequested(t)
	binary := buildTree(t)
	w := startWorld(t, binary, pgtest.Database(t))
	root, err := testkit.ModuleRoot()
	if err != nil {
		t.Fatal(err)
	}
	// The passwords are elsewhere; the server's settings are those of the Compose file.
	deployed, _ := config.Load(filepath.Join(root, "deploy", "compose", "dotkontor.toml"), nil)
	delay, timeout := time.Duration(deployed.Server.DrainDelay), time.Duration(deployed.Server.DrainTimeout)
	if delay == 0 {
		t.Fatal("deploy/compose/dotkontor.toml has no drain_delay")
	}
	var nodes []*node
	for _, name := range []string{"one", "two", "three"} {
		n := w.newNode(name, "DOTKONTOR_SERVER_DRAIN_DELAY="+delay.String(), "DOTKONTOR_SERVER_DRAIN_TIMEOUT="+timeout.String(), "DOTKONTOR_SERVER_TRUSTED_PROXIES=127.0.0.1")
		n.start(binary)
		nodes = append(nodes, n)
	}
	load := w.newTraffic(startBalancer(t, nodes))
	stop := load.run("balanced")
	load.waitForOrders(20)
	for _, n := range nodes {
		n.stop()
		n.start(binary)
		load.waitForOrders(20)
	}
	stop()
	load.wantNoFailures()
	for _, n := range nodes {
		n.wantNoErrors()
	}
	t.Logf("drain delay %s: %d orders, %d lookups, %d repeated", delay, len(load.bought()), load.lookups.Load(), load.retries.Load())
	waitReconciled(t, w, binary)
}
