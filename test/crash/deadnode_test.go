package crash_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/store"
	"github.com/dotkontor/dotkontor/test/testkit"
	"github.com/dotkontor/dotkontor/test/testkit/pgtest"
)

// One node dies and one freezes when the command to the registry is stored and not yet sent. A
// third one takes over both items. The frozen one then resumes where it was.
func TestDeadNode_AnotherOneResumesItsWorkWithinAMinute(t *testing.T) {
	t.Parallel()
	database := pgtest.Database(t)
	worldFolder := filepath.Join(t.TempDir(), "world")
	world, err := testkit.Start(t.Context(), testkit.Command{Path: binary, Args: []string{
		"sandbox", "--world-only", "--listen", "127.0.0.1:0", "--data", worldFolder,
	}})
	if err != nil {
		t.Fatal(err)
	}
	stopAfter(t, world)
	settings, err := testkit.CopyToPostgres(t.Context(), binary, worldFolder, database)
	if err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(t.Context(), store.Options{URL: database, MaxConnections: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	startNode := func(failpoint string) (node *testkit.Process, log string) {
		t.Helper()
		data := t.TempDir()
		file, err := os.Create(filepath.Join(data, "log"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = file.Close() })
		node, err = testkit.Start(context.WithoutCancel(t.Context()), testkit.Command{
			Path: binary, Args: []string{"serve", "--config", world.Ready}, Stderr: file,
			Environment: append([]string{
				"DOTKONTOR_SERVER_LISTEN=127.0.0.1:0", "DOTKONTOR_SERVER_METRICS_LISTEN=off", "DOTKONTOR_LOG_LEVEL=warn", "DOTKONTOR_DATA=" + data, failpoint,
			}, settings...),
		})
		if err != nil {
			t.Fatal(err)
		}
		stopAfter(t, node)
		t.Cleanup(func() {
			if text, err := os.ReadFile(file.Name()); err == nil && t.Failed() {
				t.Logf("log of the node with %q:\n%s", failpoint, text)
			}
		})
		return node, file.Name()
	}
	itemOf := func(name string) provision.Item {
		t.Helper()
		item, err := db.ProvisionItemByPayment(t.Context(), provision.ManualPayment+name, name)
		if err != nil || item == nil {
			t.Fatal(name, item, err)
		}
		return *item
	}
	order := func(name string) {
		t.Helper()
		_, err := testkit.RunCommand(t.Context(), binary, settings, "domains", "register", name, "--customer", testkit.DemoCustomer, "--manual-payment", name, "--config", world.Ready)
		if err != nil {
			t.Fatal(err)
		}
	}
	const ofFrozen, ofKilled = "eingefroren.org", "abgestuerzt.org"

	frozen, log := startNode("STOP_AT=requested")
	order(ofFrozen)
	testkit.Eventually(t, "frozen node", frozen.Frozen)
	killed, _ := startNode("KILL_AT=requested")
	order(ofKilled)
	testkit.Eventually(t, "killed node", func() bool {
		response, err := http.Get(killed.Ready + "/readyz")
		if err == nil {
			_ = response.Body.Close()
		}
		return err != nil
	})
	for _, name := range []string{ofFrozen, ofKilled} {
		if item := itemOf(name); item.State != provision.StateRequested || item.Node == "" {
			t.Fatalf("%s is in state %s, leased by %q", name, item.State, item.Node)
		}
	}

	startNode("KILL_AT=")
	testkit.Eventually(t, "takeover", func() bool { // within a minute
		return itemOf(ofFrozen).State == provision.StateActive && itemOf(ofKilled).State == provision.StateActive
	})
	before := itemOf(ofFrozen)
	if err := frozen.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	// It sends no command: the registry would refuse it, because the name is registered.
	testkit.Eventually(t, "record of the call that did not begin", func() bool {
		text, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if strings.Contains(line, before.ID) {
				if !strings.Contains(line, "order item waiting for the registry") {
					t.Fatalf("the resumed node logs %s", line)
				}
				return true
			}
		}
		return false
	})
	// It works again, too: of the next items, each node takes some.
	for _, name := range []string{"danach-eins.org", "danach-zwei.org", "danach-drei.org"} {
		order(name)
		testkit.Eventually(t, name, func() bool { return itemOf(name).State == provision.StateActive })
	}
	if after := itemOf(ofFrozen); !after.UpdatedAt.Equal(before.UpdatedAt) || after.State != before.State {
		t.Errorf("the resumed node has changed its former item from %+v to %+v", before, after)
	}
	testkit.Reconcile(t, world.Ready, settings...)
}

// stopAfter stops a process with the test. A frozen one is resumed, because it can't stop.
func stopAfter(t *testing.T, process *testkit.Process) {
	t.Helper()
	t.Cleanup(func() {
		_ = process.Signal(syscall.SIGCONT) // it may have exited
		if err := process.Stop(); err != nil {
			t.Error(err)
		}
	})
}
