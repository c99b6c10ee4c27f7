package operations

import (
	"archive/tar"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/store"
	"github.com/dotkontor/dotkontor/test/testkit"
	"github.com/dotkontor/dotkontor/test/testkit/pgtest"
)

// firstBase is upgraded from while there is no release tag: a commit with schema 20, so that
// migrations run while its nodes do.
const firstBase = "a4991498"

// base returns the newest release tag that this commit descends from, or firstBase.
func base(t *testing.T, root string) string {
	t.Helper()
	tags := git(t, root, "tag", "--merged", "HEAD", "--sort=-v:refname", "--list", "v*")
	commit, _, _ := strings.Cut(strings.TrimSpace(tags), "\n")
	if commit == "" {
		commit = firstBase
	}
	if err := exec.CommandContext(t.Context(), "git", "-C", root, "cat-file", "-e", commit+"^{commit}").Run(); err != nil {
		t.Skipf("the history does not contain %s, which is upgraded from (a shallow clone, or no git checkout)", commit)
	}
	return commit
}

func git(t *testing.T, root string, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", root}, args...)...).Output()
	if err != nil {
		t.Skipf("git %s: %v", strings.Join(args, " "), err)
	}
	return string(out)
}

// buildCommit builds the binary of another commit.
func buildCommit(t *testing.T, root, commit string) string {
	t.Helper()
	sources, binary := filepath.Join(t.TempDir(), "sources"), filepath.Join(t.TempDir(), "dotkontor-before")
	if err := extract(sources, strings.NewReader(git(t, root, "archive", "--format=tar", commit))); err != nil {
		t.Fatal(err)
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-buildvcs=false", "-o", binary, "./cmd/dotkontor")
	build.Dir, build.Env = sources, append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-mod=readonly", "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", commit, err, out)
	}
	return binary
}

func extract(folder string, from io.Reader) error {
	for archive := tar.NewReader(from); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		path := filepath.Join(folder, filepath.FromSlash(header.Name))
		switch header.Typeflag {
		case tar.TypeDir:
			err = os.MkdirAll(path, 0o750)
		case tar.TypeReg:
			var content []byte
			if content, err = io.ReadAll(archive); err == nil {
				err = errors.Join(os.MkdirAll(filepath.Dir(path), 0o750), os.WriteFile(path, content, 0o600))
			}
		}
		if err != nil {
			return err
		}
	}
}

func buildTree(t *testing.T) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "dotkontor")
	if err := testkit.Build(t.Context(), binary, os.Stderr); err != nil {
		t.Fatal(err)
	}
	return binary
}

// Two nodes of the previous release are replaced one by one while customers buy and look up
// names. The second one is also restarted on the schema that the first new one has made.
func TestRollingUpgrade_LosesAndRepeatsNoOrder(t *testing.T) {
	skipUnlessRequested(t)
	root, err := testkit.ModuleRoot()
	if err != nil {
		t.Fatal(err)
	}
	commit := base(t, root)
	before, after := buildCommit(t, root, commit), buildTree(t)
	database := pgtest.Database(t)
	w := startWorld(t, before, database)

	plan := w.mustRun(after, "migrate", "--plan")
	t.Logf("from %s:\n%s", commit, plan)
	if !strings.Contains(plan, "nodes may stay up") {
		t.Fatal("the plan does not let nodes stay up")
	}
	one, two := w.newNode("one"), w.newNode("two")
	one.start(before)
	two.start(before)
	load := w.newTraffic(one.address, two.address)
	stop := load.run("upgrade")
	load.waitForOrders(40)

	one.stop()
	one.start(after) // migrates
	load.waitForOrders(40)
	two.stop()
	two.start(before) // on the new schema
	load.waitForOrders(40)
	two.stop()
	two.start(after)
	load.waitForOrders(40)
	stop()

	load.wantNoFailures()
	one.wantNoErrors()
	two.wantNoErrors()
	t.Logf("%d orders, %d lookups, %d requests repeated at the other node", len(load.bought()), load.lookups.Load(), load.retries.Load())
	wantOneOrderEach(t, w, database, load.bought())
	waitReconciled(t, w, after)
	testkit.Reconcile(t, w.config, w.settings...) // with the registry
}

// wantOneOrderEach waits until every name has exactly one completed order and one charge.
func wantOneOrderEach(t *testing.T, w *world, database string, names []string) {
	t.Helper()
	db, err := store.Open(t.Context(), store.Options{URL: database, MaxConnections: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	completed := func() bool {
		unfinished := 0
		paid := make(map[string]int)
		for _, o := range paidOrders(t, db) {
			if o.State != order.Completed {
				unfinished++
			}
			for _, item := range o.Items {
				paid[item.Name]++
			}
		}
		for _, name := range names {
			if paid[name] != 1 {
				t.Fatalf("%s has %d paid orders", name, paid[name])
			}
		}
		if len(paid) != len(names) {
			t.Fatalf("%d names were paid, %d bought", len(paid), len(names))
		}
		return unfinished == 0
	}
	testkit.Eventually(t, "end of all orders", completed)
	money, err := w.provider.Money(t.Context())
	if err != nil || len(money.Charges) != len(names) || len(money.Refunds) != 0 {
		t.Errorf("%d orders, %d charges and %d refunds (%v)", len(names), len(money.Charges), len(money.Refunds), err)
	}
}

// paidOrders returns all orders that were paid.
func paidOrders(t *testing.T, db *store.DB) (paid []order.Order) {
	t.Helper()
	last := ""
	for {
		page, err := db.ListOrdersAfter(t.Context(), last, 500)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range page {
			last = o.ID
			if o.CapturedPayment() != nil {
				paid = append(paid, o)
			}
		}
		if len(page) == 0 {
			return paid
		}
	}
}

// waitReconciled waits until doctor finds nothing: invoices and webhooks follow an order.
func waitReconciled(t *testing.T, w *world, binary string) {
	t.Helper()
	var out string
	ok := func() bool {
		var err error
		ctx, cancel := context.WithTimeout(t.Context(), testkit.WaitTimeout)
		defer cancel()
		out, err = testkit.RunCommand(ctx, binary, w.settings, "doctor", "--reconcile", "--patience", "0s", "--config", w.config)
		return err == nil
	}
	defer func() { t.Log(strings.TrimSpace(out)) }()
	testkit.Eventually(t, "reconciliation", ok)
}
