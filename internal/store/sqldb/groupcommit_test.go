package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// blockedWriter is a database whose writer is held, so that further changes wait.
type blockedWriter struct {
	*testing.T
	db      *DB
	release func()
	writers sync.WaitGroup
}

func newBlockedWriter(t *testing.T) *blockedWriter {
	t.Helper()
	c := &blockedWriter{T: t, db: openWithSchema(t, Options{Data: t.TempDir()})}
	c.db.writeQueue.maxDuration = time.Hour // groups must not end early on a slow machine
	held, released := make(chan struct{}), make(chan struct{})
	c.release = sync.OnceFunc(func() { close(released) })
	t.Cleanup(c.release)
	c.writers.Go(func() {
		if err := c.db.Write(t.Context(), func(DBTX) error { close(held); <-released; return nil }); err != nil {
			t.Error(err)
		}
	})
	<-held
	return c
}

// enqueue queues a change behind all others.
func (c *blockedWriter) enqueue(ctx context.Context, change func(DBTX) error, onResult func(error)) {
	c.Helper()
	before := c.queueLength()
	c.writers.Go(func() { onResult(c.db.Write(ctx, change)) })
	for end := time.Now().Add(10 * time.Second); c.queueLength() == before; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			c.Fatal("the change is not queued")
		}
	}
}

func (c *blockedWriter) queueLength() int {
	c.db.writeQueue.mu.Lock()
	defer c.db.writeQueue.mu.Unlock()
	return len(c.db.writeQueue.waiters)
}

// putKey is a change that inserts a row.
func putKey(c *blockedWriter, key string) func(DBTX) error {
	return func(tx DBTX) error {
		return insertNote(c.Context(), tx, key, "")
	}
}

// hasKey reports whether the row is committed.
func (c *blockedWriter) hasKey(key string) bool {
	c.Helper()
	_, err := getNote(c.Context(), c.db.Queries(), key)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		c.Error(err)
	}
	return err == nil
}

func (c *blockedWriter) requireNoError(err error) {
	if err != nil {
		c.Error(err)
	}
}

func TestGroupCommit_WaitingChangesShareOneCommit(t *testing.T) {
	t.Parallel()
	c := newBlockedWriter(t)
	for i := range 5 {
		own := fmt.Sprint("k", i)
		c.enqueue(t.Context(), func(tx DBTX) error {
			for before := range i {
				key := fmt.Sprint("k", before)
				if _, err := getNote(t.Context(), tx, key); err != nil {
					t.Errorf("%s does not see %s of the same transaction: %v", own, key, err)
				}
				if c.hasKey(key) {
					t.Errorf("%s was committed before %s", key, own)
				}
			}
			return putKey(c, own)(tx)
		}, func(err error) {
			c.requireNoError(err)
			if !c.hasKey(own) {
				t.Errorf("%s returned before it was committed", own)
			}
		})
	}
	c.release()
	c.writers.Wait()
}

func TestGroupCommit_FailedChangeRollsBackAlone(t *testing.T) {
	t.Parallel()
	c := newBlockedWriter(t)
	refusal := &registrar.Error{Kind: registrar.KindConflict}
	other := errors.New("failed")
	for i, failure := range []error{nil, refusal, nil, other, nil, &registrar.Cause{Class: classIO}, nil, refusal} {
		key := fmt.Sprint("k", i)
		c.enqueue(t.Context(), func(tx DBTX) error { return errors.Join(putKey(c, key)(tx), failure) }, func(err error) {
			if (err == nil) != (failure == nil) || failure != nil && !errors.Is(err, failure) {
				t.Errorf("%s: got %v", key, err)
			}
			if c.hasKey(key) != (failure == nil) {
				t.Errorf("%s: stored is %t", key, c.hasKey(key))
			}
		})
	}
	c.release()
	c.writers.Wait()
}

func TestGroupCommit_SingleFailedChangeIsRolledBack(t *testing.T) {
	t.Parallel()
	c := newBlockedWriter(t)
	c.release()
	c.writers.Wait()
	failure := errors.New("failed")
	if err := c.db.Write(t.Context(), func(tx DBTX) error { return errors.Join(putKey(c, "alone")(tx), failure) }); !errors.Is(err, failure) {
		t.Errorf("got %v", err)
	}
	c.requireNoError(c.db.Write(t.Context(), putKey(c, "next")))
	if c.hasKey("alone") || !c.hasKey("next") {
		t.Error("a failed change was stored, or the next one was not")
	}
}

func TestGroupCommit_PanicRollsBackItsChangeOnly(t *testing.T) {
	t.Parallel()
	c := newBlockedWriter(t)
	c.enqueue(t.Context(), putKey(c, "before"), c.requireNoError)
	c.writers.Go(func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		_ = c.db.Write(t.Context(), func(tx DBTX) error {
			c.requireNoError(putKey(c, "panic")(tx))
			panic("now")
		})
	})
	for c.queueLength() < 2 {
		time.Sleep(time.Millisecond)
	}
	c.enqueue(t.Context(), putKey(c, "after"), c.requireNoError)
	c.release()
	c.writers.Wait()
	if !c.hasKey("before") || c.hasKey("panic") || !c.hasKey("after") {
		t.Errorf("stored: %t %t %t", c.hasKey("before"), c.hasKey("panic"), c.hasKey("after"))
	}
	func() {
		defer func() { _ = recover() }()
		_ = c.db.Write(t.Context(), func(DBTX) error { panic("alone") })
	}()
	c.requireNoError(c.db.Write(t.Context(), putKey(c, "later")))
}

func TestGroupCommit_CanceledWaiterBlocksNoOther(t *testing.T) {
	t.Parallel()
	c := newBlockedWriter(t)
	c.enqueue(t.Context(), putKey(c, "first"), c.requireNoError)
	canceled, cancel := context.WithCancel(t.Context())
	c.enqueue(canceled, putKey(c, "gone"), func(err error) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
	c.enqueue(t.Context(), putKey(c, "last"), c.requireNoError)
	cancel()
	for c.queueLength() > 2 {
		time.Sleep(time.Millisecond)
	}
	c.release()
	c.writers.Wait()
	if !c.hasKey("first") || c.hasKey("gone") || !c.hasKey("last") {
		t.Errorf("stored: %t %t %t", c.hasKey("first"), c.hasKey("gone"), c.hasKey("last"))
	}
}

func TestGroupCommit_CallerCanceledMidwayBlocksNoOther(t *testing.T) {
	t.Parallel()
	c := newBlockedWriter(t)
	canceled, cancel := context.WithCancel(t.Context())
	c.enqueue(t.Context(), putKey(c, "before"), c.requireNoError)
	c.enqueue(canceled, func(tx DBTX) error {
		cancel()
		return insertNote(canceled, tx, "in the middle", "")
	}, func(err error) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
	c.enqueue(t.Context(), putKey(c, "after"), c.requireNoError)
	c.release()
	c.writers.Wait()
	if !c.hasKey("before") || c.hasKey("in the middle") || !c.hasKey("after") {
		t.Errorf("stored: %t %t %t", c.hasKey("before"), c.hasKey("in the middle"), c.hasKey("after"))
	}
}

func TestGroupCommit_LostTransactionFailsEveryChange(t *testing.T) {
	t.Parallel()
	c := newBlockedWriter(t)
	// SQLite does this after an I/O error: nothing is left to commit.
	gone := func(s *commitGroup) error { return s.exec(t.Context(), "ROLLBACK") }
	shared, err := func() (*commitGroup, error) {
		c.release()
		c.writers.Wait()
		c.db.writeQueue.acquire(t.Context().Done())
		return c.db.writeQueue.joinOrBegin(t.Context())
	}()
	if err != nil {
		t.Fatal(err)
	}
	shared.single, shared.sealed = false, false
	c.requireNoError(shared.runChange(t.Context(), putKey(c, "before")))
	if err := shared.runChange(t.Context(), func(DBTX) error { return gone(shared) }); err == nil {
		t.Error("a change in a rolled back transaction succeeded")
	}
	if err := c.db.writeQueue.commitOrPassOn(t.Context(), shared); err == nil || c.hasKey("before") {
		t.Errorf("got %v, before is committed: %t", err, c.hasKey("before"))
	}
	c.requireNoError(c.db.Write(t.Context(), putKey(c, "later")))
	if !c.hasKey("later") {
		t.Error("the writer does not work any more")
	}
}

func TestGroupCommit_ManyWritersLoseNothing(t *testing.T) {
	t.Parallel()
	c := newBlockedWriter(t)
	c.release()
	var mu sync.Mutex
	stored := make(map[string]bool)
	for worker := range 16 {
		c.writers.Go(func() {
			for n := range 40 {
				key := fmt.Sprint(worker, "-", n)
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				if rand.N(5) == 0 {
					cancel()
				}
				err := c.db.Write(ctx, func(tx DBTX) error {
					err := putKey(c, key)(tx)
					if rand.N(5) == 0 {
						err = errors.Join(err, &registrar.Error{Kind: registrar.KindConflict})
					}
					return err
				})
				cancel()
				mu.Lock()
				stored[key] = err == nil
				mu.Unlock()
			}
		})
	}
	c.writers.Wait()
	for key, want := range stored {
		if c.hasKey(key) != want {
			t.Errorf("%s: stored is %t, reported was %t", key, !want, want)
		}
	}
}
