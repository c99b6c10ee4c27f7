// Package nodes tries what must hold when several processes share one database,
// and when the database is away.
//
// The processes are the built binary, as an operator runs it: "dotkontor serve"
// in front of a simulated world. Customers and tokens are put into the database
// by this process, through the product's own services: for the others it is one
// more node. The database is SQLite, or a private PostgreSQL; where there is
// none, what needs one says so and is skipped.
package nodes

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
	"github.com/dotkontor/dotkontor/internal/registrar/access"
	"github.com/dotkontor/dotkontor/internal/registrar/customer"
	"github.com/dotkontor/dotkontor/internal/registrar/holding"
	"github.com/dotkontor/dotkontor/internal/store"
	"github.com/dotkontor/dotkontor/test/pg"
	"github.com/dotkontor/dotkontor/test/rig"
)

// patience bounds every wait for something that takes moments.
const patience = 20 * time.Second

// stage is what all tests share. TestMain sets it before the first one.
var stage struct {
	folder, binary, config string
	postgres               *pg.Server // nil where there is none
}

func TestMain(m *testing.M) { os.Exit(runAll(m)) }

func runAll(m *testing.M) int {
	folder, err := os.MkdirTemp("", "dotkontor-nodes-")
	if err != nil {
		fmt.Fprintln(os.Stderr, "nodes:", err)
		return 1
	}
	defer func() { _ = os.RemoveAll(folder) }()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	stage.folder, stage.binary = folder, filepath.Join(folder, "dotkontor")
	if err := rig.Build(ctx, stage.binary, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "nodes:", err)
		return 1
	}
	world, err := rig.Start(ctx, rig.Command{Path: stage.binary, Args: []string{
		"sandbox", "--world-only", "--listen", "127.0.0.1:0", "--data", filepath.Join(folder, "world"),
	}})
	if err != nil {
		fmt.Fprintln(os.Stderr, "nodes:", err)
		return 1
	}
	stage.config = world.Ready
	if stage.postgres, err = pg.Start(); err != nil && !errors.Is(err, pg.ErrMissing) {
		fmt.Fprintln(os.Stderr, "nodes:", errors.Join(err, world.Stop()))
		return 1
	}
	code := m.Run()
	err = world.Stop()
	if stage.postgres != nil {
		err = errors.Join(err, stage.postgres.Stop())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "nodes:", err)
		return 1
	}
	return code
}

// place is a database, and what a node must be told to find it.
type place struct {
	options  store.Options
	settings []string
}

func newSQLite(t *testing.T) place {
	t.Helper()
	data := t.TempDir()
	return place{store.Options{Data: data}, []string{"DOTKONTOR_DATA=" + data}}
}

// newPostgres makes an empty database, which is dropped at the end of the test.
func newPostgres(t *testing.T) place {
	t.Helper()
	if stage.postgres == nil {
		t.Skip(pg.ErrMissing)
	}
	address, drop, err := stage.postgres.NewDatabase()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := drop(); err != nil {
			t.Error(err)
		}
	})
	return at(t, address)
}

func at(t *testing.T, address string) place {
	t.Helper()
	return place{store.Options{URL: address, MaxConnections: 4}, []string{
		"DOTKONTOR_DATA=" + t.TempDir(), "DOTKONTOR_DATABASE_URL=" + address, "DOTKONTOR_SECRET_KEY=" + config.NewKey(),
	}}
}

// registry is this process as a node: it makes customers and tokens.
type registry struct {
	t        *testing.T
	db       *store.DB
	access   *access.Service
	holdings *holding.Service
}

func (p place) open(t *testing.T) *registry {
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
	tokens, err := access.New(access.Config{Store: db})
	if err != nil {
		t.Fatal(err)
	}
	held, err := holding.New(holding.Config{Store: db})
	if err != nil {
		t.Fatal(err)
	}
	return &registry{t, db, tokens, held}
}

var operator = registrar.Actor{Kind: registrar.ActorOperator, Through: "test"}

// customer makes a confirmed account that holds one domain, and returns its id.
func (r *registry) customer(name string) string {
	r.t.Helper()
	now := time.Now()
	id := registrar.NewID("cus_", now)
	email := name + "@example.com"
	err := r.db.ChangeCustomers(r.t.Context(), func(tx customer.Tx) error {
		account := customer.Account{
			Customer: customer.Customer{ID: id, Email: email, Language: "de", CreatedAt: now, ConfirmedAt: now},
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
	_, err = r.holdings.Add(r.t.Context(), operator, holding.Addition{
		Customer: id, Name: domain, Status: holding.StatusActive, PaidUntil: now.Add(24 * time.Hour),
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return id
}

// token makes one for an account.
func (r *registry) token(account string) (id, secret string) {
	r.t.Helper()
	actor := operator
	actor.Customer = account
	token, secret, err := r.access.Create(r.t.Context(), actor, "test")
	if err != nil {
		r.t.Fatal(err)
	}
	return token.ID, secret
}

func (r *registry) revoke(id string) {
	r.t.Helper()
	if err := r.access.RevokeAny(r.t.Context(), operator, id); err != nil {
		r.t.Fatal(err)
	}
}

// node is one running "dotkontor serve".
type node struct {
	t    *testing.T
	base string
	// log is the file of its log.
	log string
}

func (p place) node(t *testing.T, settings ...string) *node {
	t.Helper()
	return p.nodeWith(t, stage.config, settings...)
}

func (p place) nodeWith(t *testing.T, configFile string, settings ...string) *node {
	t.Helper()
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	environment := append([]string{"DOTKONTOR_SERVER_METRICS_LISTEN=off"}, p.settings...)
	process, err := rig.Start(context.WithoutCancel(t.Context()), rig.Command{
		Path: stage.binary, Args: []string{"serve", "--config", configFile}, Environment: append(environment, settings...), Stderr: log,
	})
	if err != nil {
		text, _ := os.ReadFile(log.Name()) // if there is nothing to read, there is nothing to tell
		t.Fatalf("%v\n%s", err, text)
	}
	t.Cleanup(func() {
		if err := errors.Join(process.Stop(), log.Close()); err != nil {
			t.Error(err)
		}
		text, err := os.ReadFile(log.Name())
		if err != nil || bytes.Contains(text, []byte("dotkontor_live_")) || bytes.Contains(text, []byte("goroutine ")) {
			t.Errorf("the log has a token or a panic in it (%v):\n%s", err, text)
		}
	})
	return &node{t, process.Ready, log.Name()}
}

// said is what a tool answered, and with which status.
type said struct {
	status  int
	header  http.Header
	isError bool
	content map[string]any
}

// code is that of a tool's failure, ok if it is none.
func (s said) code() string {
	if !s.isError {
		return "ok"
	}
	code, _ := s.content["code"].(string)
	return code
}

func (n *node) call(bearer, tool string, arguments any) said {
	n.t.Helper()
	message, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": tool, "arguments": arguments},
	})
	if err != nil {
		n.t.Fatal(err)
	}
	return n.post("/api/mcp", bearer, message)
}

func (n *node) domains(bearer string) said {
	n.t.Helper()
	return n.call(bearer, "list_my_domains", map[string]any{})
}

func (n *node) post(path, bearer string, message []byte) said {
	n.t.Helper()
	ctx, cancel := context.WithTimeout(n.t.Context(), patience)
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
		return said{}
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
	return said{answer.StatusCode, answer.Header, body.Result.IsError, body.Result.StructuredContent}
}
