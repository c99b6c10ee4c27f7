package keyring

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// failingStore is a Store whose SealKeys fails as fail says.
type failingStore struct {
	Store

	mu   sync.Mutex
	fail error
	rows []Key
}

func (f *failingStore) SealKeys(context.Context) ([]Key, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.rows, f.fail
}

func (f *failingStore) failWith(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fail = err
}

func (f *failingStore) DeleteSealNode(context.Context, string) error { return nil }
func (f *failingStore) SealedColumns() []string                      { return nil }
func (f *failingStore) AddSealKey(_ context.Context, k Key) (bool, error) {
	f.rows = []Key{k}
	return true, nil
}

func TestRun_OutageNotLoggedOtherFailuresLoggedOnce(t *testing.T) {
	t.Parallel()
	database := func(class string, outage bool) error {
		return &registrar.Cause{
			Part: registrar.PartDatabase, Operation: "ListSealKeys", Class: class, Outage: outage,
			Err: errors.Join(errors.New("foreign"), errors.New("canary")), // as pgconn joins the errors of several addresses
		}
	}
	missing := registrar.SealKey{2}.KeyID()
	for name, test := range map[string]struct {
		first, then   error
		rows          []Key
		cause, action string
	}{
		"outage":                {database("connection_refused", true), database("connection_refused", true), nil, "", ""},
		"session lost, outage":  {database("server_shutdown", false), database("connection_refused", true), nil, "", ""},
		"session lost":          {database("server_shutdown", false), nil, nil, "", ""},
		"no connection is free": {context.DeadlineExceeded, context.DeadlineExceeded, nil, "", ""},
		"schema": {
			database("schema_mismatch", false), database("schema_mismatch", false), nil,
			"database: ListSealKeys: schema_mismatch", "check the database",
		},
		"missing key": {nil, nil, []Key{{ID: missing, State: Active}}, "keyring: key " + missing + " is missing", "restore the missing key"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				store := &failingStore{}
				ring, err := Open(t.Context(), Config{
					Store: store, Logger: slog.New(slog.NewTextHandler(&log, nil)),
					Load: func() ([]registrar.SealKey, error) { return []registrar.SealKey{{1}}, nil },
				})
				if err != nil {
					t.Fatal(err)
				}
				store.fail = test.first
				if test.rows != nil {
					store.rows = test.rows
				}
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan struct{})
				go func() { defer close(ended); ring.Run(ctx) }()
				time.Sleep(refreshInterval + time.Second)
				synctest.Wait()
				store.failWith(test.then)
				time.Sleep(10 * refreshInterval)
				cancel()
				<-ended
				text, want := log.String(), 0
				if test.cause != "" {
					want = 1
				}
				if strings.Count(text, "secret keys not refreshed") != want || strings.Contains(text, "canary") ||
					!strings.Contains(text, test.cause) || !strings.Contains(text, test.action) {
					t.Errorf("the log says %s", text)
				}
			})
		})
	}
}
