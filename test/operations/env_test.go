// Package operations exercises what an operator does to a running service: a rolling upgrade
// from the previous release, and a recovery to a point in time. Orders and lookups go on
// meanwhile.
//
// The tests take minutes, so "make upgrade" and "make pitr" run them, not "make test". Nodes are
// processes on PostgreSQL in front of a simulated world.
package operations

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/signing"
	"github.com/dotkontor/dotkontor/test/testkit"
)

// runVariable is set by the make targets.
const runVariable = "TEST_OPERATIONS"

func skipUnlessRequested(t *testing.T) {
	t.Helper()
	if os.Getenv(runVariable) == "" {
		t.Skip("takes minutes; run it with make upgrade or make pitr")
	}
}

// limits allow continuous orders.
var limits = []string{
	"DOTKONTOR_ORDERS_VERIFY_OVER_EUR=1000000", "DOTKONTOR_LIMITS_SESSIONS_PER_AGENT=100000",
	"DOTKONTOR_LIMITS_AGENT_QUOTES_PER_MINUTE=100000", "DOTKONTOR_LIMITS_AGENT_QUOTES_PER_HOUR=100000",
	"DOTKONTOR_LIMITS_LOOKUP_PER_MINUTE=100000", "DOTKONTOR_LIMITS_LOOKUP_PER_6_HOURS=100000",
}

// world is a simulated world whose customers and agent are also in a PostgreSQL database.
type world struct {
	t        *testing.T
	folder   string
	config   string
	settings []string // of every node
	testkit.SandboxInfo
	provider testkit.Provider
}

// startWorld starts the world with a binary, and copies its database with the same one.
func startWorld(t *testing.T, binary, database string) *world {
	t.Helper()
	folder := t.TempDir()
	w := &world{t: t, folder: filepath.Join(folder, "world")}
	info := filepath.Join(folder, "info.json")
	process, err := testkit.Start(t.Context(), testkit.Command{Path: binary, Args: []string{
		"sandbox", "--world-only", "--listen", "127.0.0.1:0", "--data", w.folder, "--info", info,
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := process.Stop(); err != nil {
			t.Error(err)
		}
	})
	w.config = process.Ready
	if w.SandboxInfo, err = testkit.ReadSandboxInfo(info); err != nil {
		t.Fatal(err)
	}
	if w.provider, err = testkit.FindProvider(w.folder); err != nil {
		t.Fatal(err)
	}
	if w.settings, err = testkit.CopyToPostgres(t.Context(), binary, w.folder, database); err != nil {
		t.Fatal(err)
	}
	w.settings = append(w.settings, limits...)
	return w
}

// mustRun runs a command on the database.
func (w *world) mustRun(binary string, args ...string) string {
	w.t.Helper()
	out, err := testkit.RunCommand(w.t.Context(), binary, w.settings, append(args, "--config", w.config)...)
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

// node is a place for a process: its addresses and data folder stay while the binary changes.
type node struct {
	w                      *world
	address, private, data string
	settings               []string
	process                *testkit.Process
	logs                   []*os.File // of each process
}

func (w *world) newNode(name string, settings ...string) *node {
	w.t.Helper()
	n := &node{w: w, address: freeAddress(w.t), private: freeAddress(w.t), data: filepath.Join(w.t.TempDir(), name), settings: settings}
	w.t.Cleanup(func() {
		n.stop()
		for _, log := range n.logs {
			if err := log.Close(); err != nil {
				w.t.Error(err)
			}
		}
	})
	return n
}

func freeAddress(t *testing.T) string {
	t.Helper()
	address, err := testkit.FreeAddress(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return address
}

// wantNoErrors checks the log of the last process.
func (n *node) wantNoErrors() {
	n.w.t.Helper()
	text, err := os.ReadFile(n.logs[len(n.logs)-1].Name())
	if err != nil {
		n.w.t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, `"level":"ERROR"`) || strings.Contains(line, "goroutine ") {
			n.w.t.Errorf("the log of %s has %s", n.data, line)
		}
	}
}

func (n *node) start(binary string) {
	n.w.t.Helper()
	log, err := os.Create(fmt.Sprintf("%s-%d.log", n.data, len(n.logs)))
	if err != nil {
		n.w.t.Fatal(err)
	}
	n.logs = append(n.logs, log)
	n.process, err = testkit.Start(context.WithoutCancel(n.w.t.Context()), testkit.Command{
		Path: binary, Args: []string{"serve", "--config", n.w.config}, Stderr: log, StopTimeout: testkit.WaitTimeout,
		Environment: slices.Concat([]string{
			"DOTKONTOR_SERVER_LISTEN=" + n.address, "DOTKONTOR_BASE_URL=http://" + n.address, "DOTKONTOR_SERVER_METRICS_LISTEN=" + n.private, "DOTKONTOR_DATA=" + n.data,
		}, n.w.settings, n.settings),
	})
	if err != nil {
		text, _ := os.ReadFile(log.Name()) // may be missing
		n.w.t.Fatalf("%v\n%s", err, text)
	}
}

func (n *node) stop() {
	n.w.t.Helper()
	if n.process == nil {
		return
	}
	if err := n.process.Stop(); err != nil {
		n.w.t.Error(err)
	}
	n.process = nil
}

// traffic buys domains and looks up names at all addresses. A request that fails is repeated once,
// at the next address; if there is only one, it is not repeated.
type traffic struct {
	w         *world
	addresses []string
	client    http.Client

	turn, lookups, retries atomic.Int64
	mu                     sync.Mutex
	names                  []string // bought
	failures               []string
}

func (w *world) newTraffic(addresses ...string) *traffic {
	return &traffic{w: w, addresses: addresses, client: http.Client{
		// Connections are not kept: a balancer does not send a request to a node that has closed.
		Timeout: 40 * time.Second, Transport: &http.Transport{DisableKeepAlives: true},
	}}
}

// run buys and looks up until stop is called.
func (tr *traffic) run(prefix string) (stop func()) {
	ctx, cancel := context.WithCancel(tr.w.t.Context())
	var all sync.WaitGroup
	for worker := range 4 {
		all.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				tr.buy(context.WithoutCancel(ctx), fmt.Sprintf("%s-%d-%d.de", prefix, worker, i))
			}
		})
	}
	all.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			tr.lookUp(context.WithoutCancel(ctx), fmt.Sprintf("frei-%s-%d.com", prefix, i))
			time.Sleep(20 * time.Millisecond) // orders matter more
		}
	})
	return func() {
		cancel()
		all.Wait()
	}
}

func (tr *traffic) bought() []string {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return append([]string(nil), tr.names...)
}

// waitForOrders waits for more purchases.
func (tr *traffic) waitForOrders(count int) {
	tr.w.t.Helper()
	until := len(tr.bought()) + count
	testkit.Eventually(tr.w.t, "further orders", func() bool { return len(tr.bought()) >= until || tr.failed() })
}

func (tr *traffic) failed() bool {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return len(tr.failures) > 0
}

func (tr *traffic) fail(format string, args ...any) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.failures = append(tr.failures, fmt.Sprintf(format, args...))
}

func (tr *traffic) wantNoFailures() {
	tr.w.t.Helper()
	tr.mu.Lock()
	defer tr.mu.Unlock()
	for _, failure := range tr.failures {
		tr.w.t.Error(failure)
	}
}

// buy creates a checkout session for a new buyer and completes it with a payment token.
func (tr *traffic) buy(ctx context.Context, name string) {
	label, _, _ := strings.Cut(name, ".")
	status, text := tr.post(ctx, "/api/acp/checkout_sessions", label, map[string]any{
		"items":               []map[string]any{{"id": "register:" + name, "quantity": 1}},
		"buyer":               map[string]string{"first_name": "Carla", "last_name": "Neu", "email": label + "@kundin.example", "phone_number": "+4930123456"},
		"fulfillment_address": map[string]string{"name": "Carla Neu", "line_one": "Seeweg 1", "city": "Berlin", "state": "Berlin", "postal_code": "10115", "country": "DE"},
	})
	var session struct{ ID, Status string }
	if err := json.Unmarshal(text, &session); status != http.StatusCreated || err != nil {
		tr.fail("create a session for %s: %d %s (%v)", name, status, text, err)
		return
	}
	status, text = tr.post(ctx, "/api/acp/checkout_sessions/"+session.ID+"/complete", label+"-complete", map[string]any{
		"payment_data": map[string]string{"token": "spt_ok_" + label, "provider": "stripe"},
	})
	if err := json.Unmarshal(text, &session); status != http.StatusOK || err != nil || session.Status != "completed" {
		tr.fail("complete the session of %s: %d %s (%v)", name, status, text, err)
		return
	}
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.names = append(tr.names, name)
}

func signNothing(*http.Request, []byte) {}

func (tr *traffic) lookUp(ctx context.Context, name string) {
	status, text := tr.send(ctx, "/api/domain/check", signNothing, map[string]string{"domain": name})
	if status != http.StatusOK || !bytes.Contains(text, []byte(`"available":true`)) {
		tr.fail("look up %s: %d %s", name, status, text)
	}
	tr.lookups.Add(1)
}

func (tr *traffic) post(ctx context.Context, path, key string, message any) (status int, text []byte) {
	sign := func(request *http.Request, body []byte) {
		at := time.Now().UTC().Format(time.RFC3339Nano)
		request.Header.Set("Idempotency-Key", key)
		request.Header.Set("Authorization", "Bearer "+tr.w.Agent.Key)
		request.Header.Set(signing.TimestampHeader, at)
		request.Header.Set(signing.SignatureHeader, signing.Compute(tr.w.Agent.Secret, at, body))
	}
	for deadline := time.Now().Add(testkit.WaitTimeout); ; time.Sleep(time.Second) {
		status, text = tr.send(ctx, path, sign, message)
		// The first attempt may still run at the other node.
		if status != http.StatusConflict || !bytes.Contains(text, []byte("idempotency_in_flight")) || time.Now().After(deadline) {
			return status, text
		}
	}
}

// send sends a request to the next node, and once more to the one after it if that fails.
func (tr *traffic) send(ctx context.Context, path string, prepare func(*http.Request, []byte), message any) (status int, text []byte) {
	body, err := json.Marshal(message)
	if err != nil {
		return 0, []byte(err.Error())
	}
	first := int(tr.turn.Add(1))
	for attempt := range min(2, len(tr.addresses)) {
		if attempt > 0 {
			tr.retries.Add(1)
		}
		address := tr.addresses[(first+attempt)%len(tr.addresses)]
		status, text = tr.sendTo(ctx, "http://"+address+path, prepare, body)
		if status != 0 && status < http.StatusInternalServerError {
			break
		}
	}
	return status, text
}

// sendTo returns the status 0 if there is no response.
func (tr *traffic) sendTo(ctx context.Context, address string, prepare func(*http.Request, []byte), body []byte) (int, []byte) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return 0, []byte(err.Error())
	}
	request.Header.Set("Content-Type", "application/json")
	prepare(request, body)
	response, err := tr.client.Do(request)
	if err != nil {
		return 0, []byte(err.Error())
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil {
		return 0, []byte(err.Error())
	}
	return response.StatusCode, text
}
