// Package contract tests the public interface of the built binary from outside.
//
// The product runs twice: as "dotkontor sandbox", and as "dotkontor serve" in front of a
// simulated world in another process. Both have to behave alike. Limits per address stay
// on; every test has its own loopback addresses, so tests do not share budgets.
//
// The client checks invariants of every response: it conforms to openapi.json, contains
// no contact data of a registry and allows no credentials across origins. After the last
// test the complete logs are checked.
//
// Of the product's packages it uses only the sandbox's list of contact words.
package contract

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/test/testkit"
)

// marker is part of every invented name, so that searching a log for it finds every
// logged name.
const marker = "geheimwort"

// waitTimeout bounds every wait.
const waitTimeout = 60 * time.Second

// suite is shared by all tests; TestMain sets it.
var suite struct {
	folder      string
	binary      string
	worldConfig string
	targets     []*target
	// troubled are targets for names that make registries fail. The product backs off
	// from a failing registry, which would affect other tests.
	troubled  []*target
	addresses addressPool
	running   processGroup
}

func TestMain(m *testing.M) {
	if testkit.SkipShort() {
		return
	}
	// The tests mostly wait, so more of them run than there are processors.
	if err := flag.Set("test.parallel", "24"); err != nil {
		fmt.Fprintln(os.Stderr, "contract:", err)
		os.Exit(1)
	}
	os.Exit(runAll(m))
}

func runAll(m *testing.M) (code int) {
	if err := canBindLoopback(); err != nil {
		fmt.Fprintln(os.Stderr, "contract: left out, because this system has one loopback address only:", err)
		return 0
	}
	folder, err := os.MkdirTemp("", "dotkontor-contract-")
	if err != nil {
		fmt.Fprintln(os.Stderr, "contract:", err)
		return 1
	}
	suite.folder = folder
	defer func() {
		suite.running.kill()
		if err := os.RemoveAll(folder); err != nil {
			fmt.Fprintln(os.Stderr, "contract:", err)
		}
	}()
	defer killBeforeTimeout()()
	if err := setUp(); err != nil {
		fmt.Fprintln(os.Stderr, "contract:", err)
		return 1
	}
	code = m.Run()
	if err := tearDown(); err != nil {
		fmt.Fprintf(os.Stderr, "--- FAIL: after the last test\n%v\n", err)
		return 1
	}
	return code
}

// killBeforeTimeout kills the processes of a hanging test run: at its timeout the testing
// package exits without cleanup.
func killBeforeTimeout() (stop func()) {
	limit, ok := flag.Lookup("test.timeout").Value.(flag.Getter)
	if !ok {
		return func() {}
	}
	whole, ok := limit.Get().(time.Duration)
	if !ok || whole <= 0 {
		return func() {}
	}
	timer := time.AfterFunc(whole-whole/50, suite.running.kill)
	return func() { timer.Stop() }
}

// canBindLoopback reports whether 127.0.0.0/8 can be used, as on Linux.
func canBindLoopback() error {
	listener, err := net.Listen("tcp", "127.9.9.9:0")
	if err != nil {
		return err
	}
	return listener.Close()
}

func setUp() error {
	suite.addresses.second = byte(32 + os.Getpid()%192)
	suite.binary = filepath.Join(suite.folder, "dotkontor")
	var flags []string
	if raceEnabled { // the server has the goroutines
		flags = append(flags, "-race")
	}
	if err := testkit.Build(context.Background(), suite.binary, os.Stderr, flags...); err != nil {
		return err
	}
	sandbox, err := startSandbox("sandbox")
	if err != nil {
		return err
	}
	world, err := start("world", nil, "sandbox", "--world-only", "--listen", "127.0.0.1:0",
		"--data", filepath.Join(suite.folder, "world"), "--info", filepath.Join(suite.folder, "world.json"))
	if err != nil {
		return err
	}
	suite.worldConfig = world.ready
	// The world has created a demo customer in the data folder of its configuration.
	serve, err := startServe("serve", "DOTKONTOR_DATA="+filepath.Join(suite.folder, "world"))
	if err != nil {
		return err
	}
	serve.data = filepath.Join(suite.folder, "world")
	if serve.demo, err = readDemo(filepath.Join(suite.folder, "world.json")); err != nil {
		return err
	}
	suite.targets = []*target{sandbox, serve}
	if sandbox, err = startSandbox("sandbox-in-trouble"); err != nil {
		return err
	}
	if serve, err = startServe("serve-in-trouble"); err != nil {
		return err
	}
	suite.troubled = []*target{sandbox, serve}
	return nil
}

// tearDown stops the shared processes and checks their logs.
func tearDown() error {
	var problems []error
	all := slices.Concat(suite.targets, suite.troubled)
	for _, target := range all {
		problems = append(problems, target.process.stop())
	}
	problems = append(problems, suite.running.stop())
	for _, target := range all {
		text, err := os.ReadFile(target.log)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		for _, problem := range logProblems(text, forbiddenWords()) {
			problems = append(problems, fmt.Errorf("log of %s: %s", target.name, problem))
		}
	}
	return errors.Join(problems...)
}

// The go tool does not see that the tests depend on the built binary, but it records the
// files that a test reads.
func TestSources_AreInputsOfTheTestCache(t *testing.T) {
	seen, err := testkit.Sources()
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"main.go", "routes.go", "openapi.json", "extensions.csv", "go.mod"} {
		if !slices.Contains(seen, file) {
			t.Errorf("%s was not read", file)
		}
	}
}

// addressPool returns each loopback address once. The second octet is random, so that
// concurrent runs do not share addresses.
type addressPool struct {
	mu     sync.Mutex
	second byte
	used   []netip.Addr
}

func (b *addressPool) next() netip.Addr {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := len(b.used)
	addr := netip.AddrFrom4([4]byte{127, b.second, byte(1 + n/250), byte(1 + n%250)})
	b.used = append(b.used, addr)
	return addr
}

func (b *addressPool) all() []netip.Addr {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]netip.Addr(nil), b.used...)
}

// onBothTargets runs a test against sandbox and serve.
func onBothTargets(t *testing.T, test func(t *testing.T, on *target)) {
	t.Helper()
	onTargets(t, suite.targets, test)
}

// onFaultyTargets is onBothTargets for names that make registries fail.
func onFaultyTargets(t *testing.T, test func(t *testing.T, on *target)) {
	t.Helper()
	onTargets(t, suite.troubled, test)
}

func onTargets(t *testing.T, targets []*target, test func(t *testing.T, on *target)) {
	t.Helper()
	t.Parallel()
	for _, target := range targets {
		t.Run(target.name, func(t *testing.T) {
			t.Parallel()
			test(t, target)
		})
	}
}

// inParallel runs f for all rows concurrently and waits. Unlike parallel subtests, rows
// are not limited by -parallel.
func inParallel[T any](rows []T, f func(row T)) {
	var all sync.WaitGroup
	for _, row := range rows {
		all.Go(func() { f(row) })
	}
	all.Wait()
}
