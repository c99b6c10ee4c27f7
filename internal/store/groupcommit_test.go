package store

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

// blockedWriter is a database whose writer is held, so that those who come must wait.
type blockedWriter struct {
	*testing.T
	db      *DB
	release func()
	writers sync.WaitGroup
}

func newBlockedWriter(t *testing.T) *blockedWriter {
	t.Helper()
	c := &blockedWriter{T: t, db: openAt(t, Options{Data: newMigratedSQLite(t)})}
	c.db.writeQueue.maxDuration = time.Hour // however slow the machine is
	held, let := make(chan struct{}), make(chan struct{})
	c.release = sync.OnceFunc(func() { close(let) })
	t.Cleanup(c.release)
	c.writers.Go(func() {
		if err := c.db.write(t.Context(), func(*query.Queries) error { close(held); <-let; return nil }); err != nil {
			t.Error(err)
		}
	})
	<-held
	return c
}

// enqueue lets somebody wait for the writer, behind all others who do.
func (c *blockedWriter) enqueue(ctx context.Context, change func(*query.Queries) error, onResult func(error)) {
	c.Helper()
	before := c.queueLength()
	c.writers.Go(func() { onResult(c.db.write(ctx, change)) })
	for end := time.Now().Add(10 * time.Second); c.queueLength() == before; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			c.Fatal("nobody waits")
		}
	}
}

func (c *blockedWriter) queueLength() int {
	c.db.writeQueue.mu.Lock()
	defer c.db.writeQueue.mu.Unlock()
	return len(c.db.writeQueue.waiters)
}

// putKey is a change that leaves a trace.
func putKey(c *blockedWriter, key string) func(*query.Queries) error {
	return func(q *query.Queries) error {
		return q.PutVATCheck(c.Context(), query.PutVATCheckParams{VatID: key, CheckedAt: 1})
	}
}

// hasKey says whether a trace is seen by others.
func (c *blockedWriter) hasKey(key string) bool {
	c.Helper()
	_, err := c.db.read().GetVATCheck(c.Context(), key)
	there, err := found(err)
	if err != nil {
		c.Error(err)
	}
	return there
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
		c.enqueue(t.Context(), func(q *query.Queries) error {
			for before := range i {
				key := fmt.Sprint("k", before)
				if _, err := q.GetVATCheck(t.Context(), key); err != nil {
					t.Errorf("%s does not see %s of the same transaction: %v", own, key, err)
				}
				if c.hasKey(key) {
					t.Errorf("%s was committed before %s", key, own)
				}
			}
			return putKey(c, own)(q)
		}, func(err error) {
			c.requireNoError(err)
			if !c.hasKey(own) {
				t.Errorf("%s was told of success before it was stored", own)
			}
		})
	}
	c.release()
	c.writers.Wait()
}

func TestGroupCommit_FailedChangeRollsBackAlone(t *testing.T) {
	t.Parallel()
	c := newBlockedWriter(t)
	mine := &registrar.Error{Kind: registrar.KindConflict}
	foreign := errors.New("a fault")
	for i, failure := range []error{nil, mine, nil, foreign, nil, mine} {
		key := fmt.Sprint("k", i)
		c.enqueue(t.Context(), func(q *query.Queries) error { return errors.Join(putKey(c, key)(q), failure) }, func(err error) {
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
	failure := errors.New("a fault")
	if err := c.db.write(t.Context(), func(q *query.Queries) error { return errors.Join(putKey(c, "alone")(q), failure) }); !errors.Is(err, failure) {
		t.Errorf("got %v", err)
	}
	c.requireNoError(c.db.write(t.Context(), putKey(c, "next")))
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
		_ = c.db.write(t.Context(), func(q *query.Queries) error {
			c.requireNoError(putKey(c, "panic")(q))
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
		_ = c.db.write(t.Context(), func(*query.Queries) error { panic("alone") })
	}()
	c.requireNoError(c.db.write(t.Context(), putKey(c, "later")))
}

func TestGroupCommit_CanceledWaiterBlocksNoOther(t *testing.T) {
	t.Parallel()
	c := newBlockedWriter(t)
	c.enqueue(t.Context(), putKey(c, "first"), c.requireNoError)
	leaving, leave := context.WithCancel(t.Context())
	c.enqueue(leaving, putKey(c, "gone"), func(err error) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
	c.enqueue(t.Context(), putKey(c, "last"), c.requireNoError)
	leave()
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
	leaving, leave := context.WithCancel(t.Context())
	c.enqueue(t.Context(), putKey(c, "before"), c.requireNoError)
	c.enqueue(leaving, func(q *query.Queries) error {
		leave()
		return q.PutVATCheck(leaving, query.PutVATCheckParams{VatID: "in the middle", CheckedAt: 1})
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
	// What SQLite does after a fault of the disk: nothing is left to be committed.
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
	c.requireNoError(shared.runChange(t.Context(), func(tx query.DBTX) error { return putKey(c, "before")(query.New(tx)) }))
	if err := shared.runChange(t.Context(), func(query.DBTX) error { return gone(shared) }); err == nil {
		t.Error("a change in a transaction that is gone succeeds")
	}
	if err := c.db.writeQueue.commitOrPassOn(t.Context(), shared); err == nil || c.hasKey("before") {
		t.Errorf("it was committed: %v", err)
	}
	c.requireNoError(c.db.write(t.Context(), putKey(c, "later")))
	if !c.hasKey("later") {
		t.Error("the writer is lost")
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
				err := c.db.write(ctx, func(q *query.Queries) error {
					err := putKey(c, key)(q)
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
			t.Errorf("%s: stored is %t, told was %t", key, !want, want)
		}
	}
}
