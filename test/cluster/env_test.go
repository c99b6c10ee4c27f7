// Package cluster tests several nodes on one database, and outages of the database.
//
// Nodes are processes of the built binary, "dotkontor serve" in front of a simulated
// world. The test process creates customers and tokens through the product's services
// and acts as one more node. The database is SQLite or PostgreSQL; tests that need
// PostgreSQL are skipped without one.
package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/oauth"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
	"github.com/dotkontor/dotkontor/internal/store"
	"github.com/dotkontor/dotkontor/test/testkit"
	"github.com/dotkontor/dotkontor/test/testkit/pgtest"
)

// waitTimeout bounds every request.
const waitTimeout = 20 * time.Second

// suite is shared by all tests; TestMain sets it.
var suite struct {
	folder, binary, config string
	postgres               *pgtest.Server // nil without PostgreSQL
}

func TestMain(m *testing.M) { os.Exit(runAll(m)) }

func runAll(m *testing.M) int {
	if testkit.SkipShort() {
		return 0
	}
	folder, err := os.MkdirTemp("", "dotkontor-cluster-")
	if err != nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
		return 1
	}
	defer func() { _ = os.RemoveAll(folder) }()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	suite.folder, suite.binary = folder, filepath.Join(folder, "dotkontor")
	if err := testkit.Build(ctx, suite.binary, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
		return 1
	}
	world, err := testkit.Start(ctx, testkit.Command{Path: suite.binary, Args: []string{
		"sandbox", "--world-only", "--listen", "127.0.0.1:0", "--data", filepath.Join(folder, "world"),
	}})
	if err != nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
		return 1
	}
	suite.config = world.Ready
	if suite.postgres, err = pgtest.Start(); err != nil && !errors.Is(err, pgtest.ErrMissing) {
		fmt.Fprintln(os.Stderr, "cluster:", errors.Join(err, world.Stop()))
		return 1
	}
	code := m.Run()
	err = world.Stop()
	if suite.postgres != nil {
		err = errors.Join(err, suite.postgres.Stop())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
		return 1
	}
	return code
}

// testDB is a database and the settings with which a node finds it.
type testDB struct {
	options  store.Options
	settings []string
}

func newSQLite(t *testing.T) testDB {
	t.Helper()
	data := t.TempDir()
	return testDB{store.Options{Data: data}, []string{"DOTKONTOR_DATA=" + data}}
}

// newPostgres creates an empty database that is dropped after the test.
func newPostgres(t *testing.T) testDB {
	t.Helper()
	if suite.postgres == nil {
		t.Skip(pgtest.ErrMissing)
	}
	address, drop, err := suite.postgres.NewDatabase()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := drop(); err != nil {
			t.Error(err)
		}
	})
	return postgresAt(t, address)
}

func postgresAt(t *testing.T, address string) testDB {
	t.Helper()
	return testDB{store.Options{URL: address, MaxConnections: 4}, []string{
		"DOTKONTOR_DATA=" + t.TempDir(), "DOTKONTOR_DATABASE_URL=" + address, "DOTKONTOR_SECRET_KEY=" + config.NewKey(),
	}}
}

// fixture is the test process as a node: it creates customers and tokens.
type fixture struct {
	t         *testing.T
	db        *store.DB
	access    *oauth.Service
	portfolio *portfolio.Service
}

func (p testDB) openFixture(t *testing.T) *fixture {
	t.Helper()
	db, err := store.Open(t.Context(), p.options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	tokens, err := oauth.New(oauth.Config{Store: db})
	if err != nil {
		t.Fatal(err)
	}
	return &fixture{t, db, tokens, portfolio.New(db, time.Now)}
}

var operator = registrar.Actor{Kind: registrar.ActorOperator, Through: "test"}

// newCustomer creates a confirmed account with one domain and returns its id.
func (r *fixture) newCustomer(name string) string {
	r.t.Helper()
	now := time.Now()
	id := registrar.NewID("cus_", now)
	email := name + "@example.com"
	err := r.db.UpdateCustomers(r.t.Context(), func(tx account.Tx) error {
		account := account.Account{
			Customer: account.Customer{ID: id, Email: email, Language: "de", CreatedAt: now, ConfirmedAt: now},
			EmailKey: email, UserHandle: id,
		}
		if ok, err := tx.InsertAccount(r.t.Context(), account); err != nil || !ok {
			return errors.Join(err, fmt.Errorf("inserted: %v", ok))
		}
		return nil
	})
	if err != nil {
		r.t.Fatal(err)
	}
	domain, err := registrar.ParseName(name+".de", func(tld string) bool { return tld == ".de" })
	if err != nil {
		r.t.Fatal(err)
	}
	_, err = r.portfolio.Add(r.t.Context(), operator, portfolio.AddParams{
		Customer: id, Name: domain, Status: registrar.DomainActive, PaidUntil: now.Add(24 * time.Hour),
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return id
}

// newToken creates an access token of an account.
func (r *fixture) newToken(account string) (id, secret string) {
	r.t.Helper()
	actor := operator
	actor.Customer = account
	token, secret, err := r.access.Create(r.t.Context(), actor, oauth.TokenParams{Name: "test"})
	if err != nil {
		r.t.Fatal(err)
	}
	return token.ID, secret
}

func (r *fixture) revoke(id string) {
	r.t.Helper()
	if err := r.access.RevokeFor(r.t.Context(), operator, id); err != nil {
		r.t.Fatal(err)
	}
}

// node is a running "dotkontor serve".
type node struct {
	t    *testing.T
	base string
	// log is the path of its log.
	log string
}

func (p testDB) startNode(t *testing.T, settings ...string) *node {
	t.Helper()
	return p.startNodeWithConfig(t, suite.config, settings...)
}

func (p testDB) startNodeWithConfig(t *testing.T, configFile string, settings ...string) *node {
	t.Helper()
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	environment := append([]string{"DOTKONTOR_SERVER_METRICS_LISTEN=off"}, p.settings...)
	process, err := testkit.Start(context.WithoutCancel(t.Context()), testkit.Command{
		Path: suite.binary, Args: []string{"serve", "--config", configFile}, Environment: append(environment, settings...), Stderr: log,
	})
	if err != nil {
		text, _ := os.ReadFile(log.Name()) // may be missing
		t.Fatalf("%v\n%s", err, text)
	}
	t.Cleanup(func() {
		if err := errors.Join(process.Stop(), log.Close()); err != nil {
			t.Error(err)
		}
		text, err := os.ReadFile(log.Name())
		if err != nil || bytes.Contains(text, []byte("dotkontor_live_")) || bytes.Contains(text, []byte("goroutine ")) {
			t.Errorf("the log contains a token or a panic (%v):\n%s", err, text)
		}
	})
	return &node{t, process.Ready, log.Name()}
}

// toolResponse is a tool result with its HTTP status.
type toolResponse struct {
	status  int
	header  http.Header
	isError bool
	content map[string]any
}

// code returns the error code of a tool, or "ok".
func (s toolResponse) code() string {
	if !s.isError {
		return "ok"
	}
	code, _ := s.content["code"].(string)
	return code
}

func (n *node) callTool(bearer, tool string, arguments any) toolResponse {
	n.t.Helper()
	message, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": tool, "arguments": arguments},
	})
	if err != nil {
		n.t.Fatal(err)
	}
	return n.post("/api/mcp", bearer, message)
}

func (n *node) listDomains(bearer string) toolResponse {
	n.t.Helper()
	return n.callTool(bearer, "list_my_domains", map[string]any{})
}

func (n *node) post(path, bearer string, message []byte) toolResponse {
	n.t.Helper()
	ctx, cancel := context.WithTimeout(n.t.Context(), waitTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, n.base+path, bytes.NewReader(message))
	if err != nil {
		n.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	if bearer != "" {
		request.Header.Set("Authorization", "Bearer "+bearer)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		n.t.Error(err)
		return toolResponse{}
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	var body struct {
		Result struct {
			IsError           bool
			StructuredContent map[string]any
		}
	}
	if err := errors.Join(err, json.Unmarshal(text, &body)); err != nil {
		n.t.Errorf("%d %q: %v", answer.StatusCode, text, err)
	}
	return toolResponse{answer.StatusCode, answer.Header, body.Result.IsError, body.Result.StructuredContent}
}
