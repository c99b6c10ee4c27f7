// Package contract tries the promises of the interface on the built binary,
// from outside, as a stranger's client would.
//
// The product runs twice: as "dotkontor sandbox", and as "dotkontor serve" in
// front of a simulated world in another process. What holds for one must hold
// for the other. The limits per address stay on; every test talks from loopback
// addresses of its own, so no test spends another one's budget.
//
// Some things must hold for every answer, whatever a test is about: it keeps to
// the published description, names no contact of a registry and allows no
// credentials across origins. The client here looks at that each time. After
// the last test the logs are read once more as a whole.
//
// It refuses to look inside: of the product's packages it uses the sandbox's
// list of contact words alone.
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

// marker stands in every name that these tests make up, so that one search
// through a log tells whether a searched name got there.
const marker = "geheimwort"

// waitTimeout bounds every wait for something that takes moments.
const waitTimeout = 60 * time.Second

// suite is what all tests share. TestMain sets it before the first one.
var suite struct {
	folder      string
	binary      string
	worldConfig string
	targets     []*target
	// troubled are targets for names that make registries complain. The product
	// leaves a registry alone that complains, so they would spoil the answers
	// of other tests.
	troubled  []*target
	addresses addressPool
	running   processGroup
}

func TestMain(m *testing.M) {
	if testkit.SkipShort() {
		return
	}
	// The tests mostly wait, so more of them run at a time than there are
	// processors.
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

// killBeforeTimeout keeps a test run that hangs from leaving processes behind:
// at its time-out the testing package ends without asking anybody.
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

// canBindLoopback: Linux owns all of 127.0.0.0/8, other systems one address.
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
	if raceEnabled { // the server is what has goroutines, so it is watched too
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
	// The world has made a demo customer, in the folder that its configuration
	// names.
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

// tearDown stops the shared processes as an operator would, and then reads
// everything that they have logged.
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

// The binary is built by a command, so the go tool does not see that these tests
// depend on the product, and would go on showing a remembered result after a
// change. It does see which files a test looks at.
func TestSources_AreInputsOfTheTestCache(t *testing.T) {
	seen, err := testkit.Sources()
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"main.go", "routes.go", "openapi.json", "extensions.csv", "go.mod"} {
		if !slices.Contains(seen, file) {
			t.Errorf("%s was not looked at", file)
		}
	}
}

// addressPool hands out loopback addresses, each once. The second octet differs
// from run to run, so that two runs at a time do not meet.
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

// onBothTargets runs one test against both ways of running the product.
func onBothTargets(t *testing.T, test func(t *testing.T, on *target)) {
	t.Helper()
	onTargets(t, suite.targets, test)
}

// onFaultyTargets is onBoth for names that make registries complain.
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

// inParallel runs f for every row at once and waits for all. Unlike sub-tests the
// rows do not queue for places, so slow ones cost the time of the slowest.
func inParallel[T any](rows []T, f func(row T)) {
	var all sync.WaitGroup
	for _, row := range rows {
		all.Go(func() { f(row) })
	}
	all.Wait()
}
