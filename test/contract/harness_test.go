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

	"github.com/dotkontor/dotkontor/test/rig"
)

// secret stands in every name that these tests make up, so that one search
// through a log tells whether a searched name got there.
const secret = "geheimwort"

// patience bounds every wait for something that takes moments.
const patience = 60 * time.Second

// stage is what all tests share. TestMain sets it before the first one.
var stage struct {
	folder      string
	binary      string
	worldConfig string
	targets     []*target
	// troubled are targets for names that make registries complain. The product
	// leaves a registry alone that complains, so they would spoil the answers
	// of other tests.
	troubled  []*target
	addresses addressBook
	running   herd
}

func TestMain(m *testing.M) {
	flag.Parse()
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
	stage.folder = folder
	defer func() {
		stage.running.kill()
		if err := os.RemoveAll(folder); err != nil {
			fmt.Fprintln(os.Stderr, "contract:", err)
		}
	}()
	defer killBeforeTimeout()()
	if err := raiseStage(); err != nil {
		fmt.Fprintln(os.Stderr, "contract:", err)
		return 1
	}
	code = m.Run()
	if err := lowerStage(); err != nil {
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
	timer := time.AfterFunc(whole-whole/50, stage.running.kill)
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

func raiseStage() error {
	stage.addresses.second = byte(32 + os.Getpid()%192)
	stage.binary = filepath.Join(stage.folder, "dotkontor")
	var flags []string
	if raced { // the server is what has goroutines, so it is watched too
		flags = append(flags, "-race")
	}
	if err := rig.Build(context.Background(), stage.binary, os.Stderr, flags...); err != nil {
		return err
	}
	sandbox, err := startSandbox("sandbox")
	if err != nil {
		return err
	}
	world, err := start("world", nil, "sandbox", "--world-only", "--listen", "127.0.0.1:0",
		"--data", filepath.Join(stage.folder, "world"), "--info", filepath.Join(stage.folder, "world.json"))
	if err != nil {
		return err
	}
	stage.worldConfig = world.ready
	// The world has made a demo customer, in the folder that its configuration
	// names.
	serve, err := startServe("serve", "DOTKONTOR_DATA="+filepath.Join(stage.folder, "world"))
	if err != nil {
		return err
	}
	serve.data = filepath.Join(stage.folder, "world")
	if serve.demo, err = readDemo(filepath.Join(stage.folder, "world.json")); err != nil {
		return err
	}
	stage.targets = []*target{sandbox, serve}
	if sandbox, err = startSandbox("sandbox-in-trouble"); err != nil {
		return err
	}
	if serve, err = startServe("serve-in-trouble"); err != nil {
		return err
	}
	stage.troubled = []*target{sandbox, serve}
	return nil
}

// lowerStage stops the shared processes as an operator would, and then reads
// everything that they have logged.
func lowerStage() error {
	var problems []error
	all := slices.Concat(stage.targets, stage.troubled)
	for _, target := range all {
		problems = append(problems, target.process.stop())
	}
	problems = append(problems, stage.running.stop())
	for _, target := range all {
		text, err := os.ReadFile(target.log)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		for _, problem := range wrongInLog(text, forbiddenWords()) {
			problems = append(problems, fmt.Errorf("log of %s: %s", target.name, problem))
		}
	}
	return errors.Join(problems...)
}

// The binary is built by a command, so the go tool does not see that these tests
// depend on the product, and would go on showing a remembered result after a
// change. It does see which files a test looks at.
func TestAChangeOfTheProductRunsTheseTestsAgain(t *testing.T) {
	seen, err := rig.Sources()
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"main.go", "routes.go", "openapi.json", "extensions.csv", "go.mod"} {
		if !slices.Contains(seen, file) {
			t.Errorf("%s was not looked at", file)
		}
	}
}

// addressBook hands out loopback addresses, each once. The second octet differs
// from run to run, so that two runs at a time do not meet.
type addressBook struct {
	mu     sync.Mutex
	second byte
	given  []netip.Addr
}

func (b *addressBook) next() netip.Addr {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := len(b.given)
	addr := netip.AddrFrom4([4]byte{127, b.second, byte(1 + n/250), byte(1 + n%250)})
	b.given = append(b.given, addr)
	return addr
}

func (b *addressBook) all() []netip.Addr {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]netip.Addr(nil), b.given...)
}

// onBoth runs one test against both ways of running the product.
func onBoth(t *testing.T, test func(t *testing.T, on *target)) {
	t.Helper()
	onEach(t, stage.targets, test)
}

// onBothInTrouble is onBoth for names that make registries complain.
func onBothInTrouble(t *testing.T, test func(t *testing.T, on *target)) {
	t.Helper()
	onEach(t, stage.troubled, test)
}

func onEach(t *testing.T, targets []*target, test func(t *testing.T, on *target)) {
	t.Helper()
	t.Parallel()
	for _, target := range targets {
		t.Run(target.name, func(t *testing.T) {
			t.Parallel()
			test(t, target)
		})
	}
}

// together runs f for every row at once and waits for all. Unlike sub-tests the
// rows do not queue for places, so slow ones cost the time of the slowest.
func together[T any](rows []T, f func(row T)) {
	var all sync.WaitGroup
	for _, row := range rows {
		all.Go(func() { f(row) })
	}
	all.Wait()
}

// eventually waits until ready says yes.
func eventually(t *testing.T, what string, ready func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if ready() {
			return
		}
	}
	t.Fatalf("%s did not happen within %s", what, patience)
}
