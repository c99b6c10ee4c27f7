package cluster

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/signing"
	"github.com/dotkontor/dotkontor/internal/store"
	"github.com/dotkontor/dotkontor/test/testkit"
)

// keyedNode is a node with its keys in the configuration file, or in its data folder if
// there are none.
type keyedNode struct {
	t    *testing.T
	cfg  config.Config
	path string
}

func newKeyedNode(t *testing.T, database string) *keyedNode {
	t.Helper()
	cfg, err := config.Load(suite.config, nil)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Data, cfg.Database.URL = t.TempDir(), config.Secret(database)
	cfg.Server.Listen, cfg.Server.MetricsListen, cfg.BaseURL = "127.0.0.1:0", "off", "http://127.0.0.1:0"
	cfg.Limits.SessionsPerAgent = 100_000
	cfg.Limits.AgentQuotesPerMinute, cfg.Limits.AgentQuotesPerHour = 100_000, 100_000
	return &keyedNode{t, cfg, filepath.Join(cfg.Data, "node.toml")}
}

// writeKeys replaces the keys in the configuration file atomically.
func (n *keyedNode) writeKeys(first string, more ...string) {
	n.t.Helper()
	n.cfg.SecretKey, n.cfg.AdditionalSecretKeys = config.Secret(first), nil
	for _, key := range more {
		n.cfg.AdditionalSecretKeys = append(n.cfg.AdditionalSecretKeys, config.Secret(key))
	}
	if err := errors.Join(n.cfg.Write(n.path+".new"), os.Rename(n.path+".new", n.path)); err != nil {
		n.t.Fatal(err)
	}
}

func (n *keyedNode) start() *node {
	n.t.Helper()
	return testDB{}.startNodeWithConfig(n.t, n.path, "DOTKONTOR_SERVER_METRICS_LISTEN=off")
}

func (n *keyedNode) command(ctx context.Context, args ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, suite.binary, append(args, "--config", n.path)...)
	command.Env = testkit.Environment()
	return command
}

// runCLI returns the output of a command.
func (n *keyedNode) runCLI(args ...string) (string, error) {
	n.t.Helper()
	ctx, cancel := context.WithTimeout(n.t.Context(), 2*time.Minute)
	defer cancel()
	out, err := n.command(ctx, args...).CombinedOutput()
	return string(out), err
}

// killAtOutput starts a command and kills it at the first line that contains the text.
func (n *keyedNode) killAtOutput(text string, args ...string) {
	n.t.Helper()
	if !n.tryKillAtOutput(text, args...) {
		n.t.Fatalf("%q ended before it was killed at %q", args, text)
	}
}

// tryKillAtOutput reports whether the command was killed before it ended successfully.
func (n *keyedNode) tryKillAtOutput(text string, args ...string) bool {
	n.t.Helper()
	ctx, cancel := context.WithTimeout(n.t.Context(), 2*time.Minute)
	defer cancel()
	command := n.command(ctx, args...)
	out, err := command.StdoutPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		n.t.Fatal(err)
	}
	found := false
	for lines := bufio.NewScanner(out); !found && lines.Scan(); {
		found = strings.Contains(lines.Text(), text)
	}
	_ = command.Process.Kill() // it may have exited
	_, _ = io.Copy(io.Discard, out)
	err = command.Wait()
	if !found {
		n.t.Fatalf("no output %q: %v", text, err)
	}
	return err != nil
}

// dropRotatedKey drops the key that the output of a rotation names.
func (n *keyedNode) dropRotatedKey(out string) string {
	n.t.Helper()
	_, old, found := strings.Cut(out, "--drop ")
	if !found {
		n.t.Fatalf("no key to drop: %s", out)
	}
	old = strings.Fields(old)[0]
	if out, err := n.runCLI("config", "rotate-key", "--drop", old); err != nil {
		n.t.Fatalf("%v\n%s", err, out)
	}
	return old
}

// signedTraffic sends signed requests to nodes continuously and records failures.
type signedTraffic struct {
	t      *testing.T
	secret string
	done   atomic.Int64
	mu     sync.Mutex
	failed []string
}

const sessionsPath = "/api/acp/checkout_sessions"

func (s *signedTraffic) send(ctx context.Context, base, method, path, key, body string) (int, string, error) {
	request, err := http.NewRequestWithContext(ctx, method, base+path, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	timestamp := time.Now().UTC().Format(time.RFC3339Nano)
	request.Header.Set("Timestamp", timestamp)
	request.Header.Set("Signature", signing.Compute(s.secret, timestamp, []byte(body)))
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Idempotency-Key", key)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return answer.StatusCode, string(text), err
}

// runRound creates a session at one node, repeats the request at the other, which decrypts
// the stored response, reads the session, which decrypts its link, and cancels it.
func (s *signedTraffic) runRound(ctx context.Context, name string, nodes []*node) error {
	body := `{"items":[{"id":"register:` + name + `.de"}],"buyer":{"first_name":"Erika","last_name":"Mustermann","email":"` + name + `@kundin.example","phone_number":"+49.30123456"},` +
		`"fulfillment_address":{"name":"Erika Mustermann","line_one":"Musterweg 1","city":"Berlin","state":"","country":"DE","postal_code":"10115"}}`
	first, last := nodes[0], nodes[len(nodes)-1]
	status, made, err := s.send(ctx, first.base, http.MethodPost, sessionsPath, name, body)
	if err != nil || status != http.StatusCreated {
		return fmt.Errorf("create: %d %s %w", status, made, err)
	}
	status, again, err := s.send(ctx, last.base, http.MethodPost, sessionsPath, name, body)
	if err != nil || status != http.StatusCreated || again != made {
		return fmt.Errorf("repeat: %d %s, and not %s: %w", status, again, made, err)
	}
	var session struct {
		ID         string
		PaymentURL string `json:"payment_url"`
	}
	if err := json.Unmarshal([]byte(made), &session); err != nil {
		return err
	}
	status, read, err := s.send(ctx, last.base, http.MethodGet, sessionsPath+"/"+session.ID, "", "")
	// Each node uses its own base URL for the page.
	_, link, found := strings.Cut(session.PaymentURL, "/checkout/")
	if err != nil || status != http.StatusOK || !found || !strings.Contains(read, link) {
		return fmt.Errorf("read: %d %s %w", status, read, err)
	}
	// The number of open sessions per agent is limited.
	status, canceled, err := s.send(ctx, first.base, http.MethodPost, sessionsPath+"/"+session.ID+"/cancel", name+"-cancel", "{}")
	if err != nil || status != http.StatusOK {
		return fmt.Errorf("cancel: %d %s %w", status, canceled, err)
	}
	return nil
}

// start sends until stop is called, which returns the number of rounds.
func (s *signedTraffic) start(prefix string, nodes ...*node) (stop func() int64) {
	ctx, cancel := context.WithCancel(s.t.Context())
	var all sync.WaitGroup
	for worker := range 2 {
		all.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				turn := slices.Concat(nodes[(worker+i)%len(nodes):], nodes[:(worker+i)%len(nodes)])
				err := s.runRound(context.WithoutCancel(ctx), fmt.Sprintf("%s-%d-%d", prefix, worker, i), turn)
				if err != nil {
					s.mu.Lock()
					s.failed = append(s.failed, err.Error())
					s.mu.Unlock()
				}
				s.done.Add(1)
			}
		})
	}
	return func() int64 {
		cancel()
		all.Wait()
		return s.done.Load()
	}
}

// waitForRounds waits for four more completed rounds.
func (s *signedTraffic) waitForRounds() {
	s.t.Helper()
	until := s.done.Load() + 4
	testkit.Eventually(s.t, "further rounds", func() bool { return s.done.Load() >= until })
}

func (s *signedTraffic) wantNoFailures() {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.failed) > 0 {
		s.t.Errorf("%d of %d rounds failed, for example %s", len(s.failed), s.done.Load(), s.failed[0])
	}
}

func newSignedTraffic(t *testing.T, n *keyedNode) *signedTraffic {
	t.Helper()
	out, err := n.runCLI("agents", "add", "rotation", "--json")
	var made struct{ Secret string }
	if err == nil {
		err = json.NewDecoder(bytes.NewReader([]byte(out[max(0, strings.Index(out, "{")):]))).Decode(&made)
	}
	if err != nil || made.Secret == "" {
		t.Fatalf("agents add: %v: %s", err, out)
	}
	return &signedTraffic{t: t, secret: made.Secret}
}

func keyID(t *testing.T, key string) string {
	t.Helper()
	parsed, err := config.ParseKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return registrar.SealKey(parsed).KeyID()
}

// sealedCountsByKey counts the encrypted values of all columns by key.
func sealedCountsByKey(t *testing.T, options store.Options) map[string]int {
	t.Helper()
	db, err := store.Open(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	counts := make(map[string]int)
	for _, column := range db.SealedColumns() {
		for after := []string(nil); ; {
			values, err := db.SealedValues(t.Context(), column, after, 100)
			if err != nil {
				t.Fatal(err)
			}
			if len(values) == 0 {
				break
			}
			for _, value := range values {
				counts[registrar.SealedBy(value.Sealed)]++
			}
			after = values[len(values)-1].Key
		}
	}
	return counts
}

func TestRotateKey_ThreeNodesKeepAnsweringSignedRequests(t *testing.T) {
	t.Parallel()
	database := newPostgres(t).options.URL
	first, second, third := newKeyedNode(t, database), newKeyedNode(t, database), newKeyedNode(t, database)
	old, fresh := config.NewKey(), config.NewKey()
	var nodes []*node
	for _, n := range []*keyedNode{first, second, third} {
		n.writeKeys(old)
		nodes = append(nodes, n.start())
	}
	signer := newSignedTraffic(t, first)
	stop := signer.start("rotation", nodes...)
	signer.waitForRounds()

	// The rotation does not start while a node lacks the key.
	first.writeKeys(old, fresh)
	third.writeKeys(old, fresh)
	if out, err := first.runCLI("config", "rotate-key", "--wait", "6s"); err == nil || !strings.Contains(out, "these nodes do not open values of key "+keyID(t, fresh)) {
		t.Errorf("rotated while a node lacks the key: %v\n%s", err, out)
	}
	signer.waitForRounds()
	second.writeKeys(fresh, old) // the order does not matter
	first.killAtOutput("phase 2", "config", "rotate-key")
	signer.waitForRounds()
	first.killAtOutput("phase 3", "config", "rotate-key")
	signer.waitForRounds()
	if out, err := first.runCLI("config", "rotate-key"); err != nil || !strings.Contains(out, "phase 4") {
		t.Fatalf("%v\n%s", err, out)
	}
	signer.waitForRounds()

	// Without the old key no node starts before it is dropped.
	alone := newKeyedNode(t, database)
	alone.writeKeys(fresh)
	if out, err := alone.runCLI("serve"); err == nil || !strings.Contains(out, "sealed with key "+keyID(t, old)) {
		t.Errorf("a node without the previous key: %v\n%s", err, out)
	}
	if out, err := first.runCLI("config", "rotate-key", "--drop", keyID(t, fresh)); err == nil {
		t.Errorf("the active key was dropped:\n%s", out)
	}
	if out, err := first.runCLI("config", "rotate-key", "--drop", keyID(t, old)); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	first.writeKeys(fresh)
	second.writeKeys(fresh)
	third.writeKeys(fresh)
	nodes = append(nodes, alone.start())
	signer.waitForRounds()
	stop()
	stop = signer.start("afterwards", nodes[3], nodes[0], nodes[2])
	signer.waitForRounds()
	t.Logf("%d rounds of signed requests", stop())
	signer.wantNoFailures()
	counts := sealedCountsByKey(t, store.Options{URL: database, MaxConnections: 2})
	if counts[keyID(t, fresh)] == 0 || len(counts) != 1 {
		t.Errorf("values by key: %v, want only %s", counts, keyID(t, fresh))
	}
	wrong := newKeyedNode(t, database)
	wrong.writeKeys(old)
	if out, err := wrong.runCLI("serve"); err == nil || !strings.Contains(out, "sealed with key "+keyID(t, fresh)) {
		t.Errorf("a node with the old key: %v\n%s", err, out)
	}
}

func TestRotateKey_SQLiteNodeKeepsAnsweringSignedRequests(t *testing.T) {
	t.Parallel()
	n := newKeyedNode(t, "")
	n.writeKeys("") // secret.key in the data folder
	running := n.start()
	signer := newSignedTraffic(t, n)
	stop := signer.start("sqlite", running)
	signer.waitForRounds()
	n.killAtOutput("phase 2", "config", "rotate-key")
	signer.waitForRounds()
	rotate := func() string {
		out, err := n.runCLI("config", "rotate-key")
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		signer.waitForRounds()
		return n.dropRotatedKey(out)
	}
	// A few values are sealed so quickly that the kill may come too late.
	for attempt := 1; !n.tryKillAtOutput("phase 3", "config", "rotate-key"); attempt++ {
		if attempt == 10 {
			t.Fatal("never killed during phase 3")
		}
		rotate()
	}
	signer.waitForRounds()
	old := rotate()
	signer.waitForRounds()
	t.Logf("%d rounds of signed requests", stop())
	signer.wantNoFailures()
	ids, err := n.runCLI("config", "key-id")
	if err != nil || strings.Contains(ids, old) || len(strings.Fields(ids)) != 1 {
		t.Errorf("the file has the keys %q, %v", ids, err)
	}
	if counts := sealedCountsByKey(t, store.Options{Data: n.cfg.Data}); len(counts) != 1 || counts[strings.TrimSpace(ids)] == 0 {
		t.Errorf("values by key: %v", counts)
	}
}
