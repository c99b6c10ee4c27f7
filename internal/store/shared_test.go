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

// crowd is a database whose writer is held, so that those who come must wait.
type crowd struct {
	*testing.T
	db      *DB
	release func()
	all     sync.WaitGroup
}

func newCrowd(t *testing.T) *crowd {
	t.Helper()
	c := &crowd{T: t, db: openAt(t, Options{Data: copiedSQLite(t)})}
	c.db.turns.longest = time.Hour // however slow the machine is
	held, let := make(chan struct{}), make(chan struct{})
	c.release = sync.OnceFunc(func() { close(let) })
	t.Cleanup(c.release)
	c.all.Go(func() {
		if err := c.db.write(t.Context(), func(*query.Queries) error { close(held); <-let; return nil }); err != nil {
			t.Error(err)
		}
	})
	<-held
	return c
}

// come lets somebody wait for the writer, behind all others who do.
func (c *crowd) come(ctx context.Context, change func(*query.Queries) error, told func(error)) {
	c.Helper()
	before := c.waiting()
	c.all.Go(func() { told(c.db.write(ctx, change)) })
	for end := time.Now().Add(10 * time.Second); c.waiting() == before; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			c.Fatal("nobody waits")
		}
	}
}

func (c *crowd) waiting() int {
	c.db.turns.mu.Lock()
	defer c.db.turns.mu.Unlock()
	return len(c.db.turns.queue)
}

// put is a change that leaves a trace.
func put(c *crowd, key string) func(*query.Queries) error {
	return func(q *query.Queries) error {
		return q.PutVATCheck(c.Context(), query.PutVATCheckParams{VatID: key, CheckedAt: 1})
	}
}

// has says whether a trace is seen by others.
func (c *crowd) has(key string) bool {
	c.Helper()
	_, err := c.db.read().VATCheck(c.Context(), key)
	there, err := found(err)
	if err != nil {
		c.Error(err)
	}
	return there
}

func (c *crowd) well(err error) {
	if err != nil {
		c.Error(err)
	}
}

func TestChangesThatWaitTogetherAreCommittedTogether(t *testing.T) {
	t.Parallel()
	c := newCrowd(t)
	for i := range 5 {
		own := fmt.Sprint("k", i)
		c.come(t.Context(), func(q *query.Queries) error {
			for before := range i {
				key := fmt.Sprint("k", before)
				if _, err := q.VATCheck(t.Context(), key); err != nil {
					t.Errorf("%s does not see %s of the same transaction: %v", own, key, err)
				}
				if c.has(key) {
					t.Errorf("%s was committed before %s", key, own)
				}
			}
			return put(c, own)(q)
		}, func(err error) {
			c.well(err)
			if !c.has(own) {
				t.Errorf("%s was told of success before it was stored", own)
			}
		})
	}
	c.release()
	c.all.Wait()
}

func TestAChangeThatFailsTakesNobodyWithIt(t *testing.T) {
	t.Parallel()
	c := newCrowd(t)
	mine := &registrar.Error{Kind: registrar.KindConflict}
	foreign := errors.New("a fault")
	for i, failure := range []error{nil, mine, nil, foreign, nil, mine} {
		key := fmt.Sprint("k", i)
		c.come(t.Context(), func(q *query.Queries) error { return errors.Join(put(c, key)(q), failure) }, func(err error) {
			if (err == nil) != (failure == nil) || failure != nil && !errors.Is(err, failure) {
				t.Errorf("%s: got %v", key, err)
			}
			if c.has(key) != (failure == nil) {
				t.Errorf("%s: stored is %t", key, c.has(key))
			}
		})
	}
	c.release()
	c.all.Wait()
}

func TestOneThatFailsAloneLeavesNothing(t *testing.T) {
	t.Parallel()
	c := newCrowd(t)
	c.release()
	c.all.Wait()
	failure := errors.New("a fault")
	if err := c.db.write(t.Context(), func(q *query.Queries) error { return errors.Join(put(c, "alone")(q), failure) }); !errors.Is(err, failure) {
		t.Errorf("got %v", err)
	}
	c.well(c.db.write(t.Context(), put(c, "next")))
	if c.has("alone") || !c.has("next") {
		t.Error("a failed change was stored, or the next one was not")
	}
}

func TestAPanicUndoesItsOwnChangeOnly(t *testing.T) {
	t.Parallel()
	c := newCrowd(t)
	c.come(t.Context(), put(c, "before"), c.well)
	c.all.Go(func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		_ = c.db.write(t.Context(), func(q *query.Queries) error {
			c.well(put(c, "panic")(q))
			panic("now")
		})
	})
	for c.waiting() < 2 {
		time.Sleep(time.Millisecond)
	}
	c.come(t.Context(), put(c, "after"), c.well)
	c.release()
	c.all.Wait()
	if !c.has("before") || c.has("panic") || !c.has("after") {
		t.Errorf("stored: %t %t %t", c.has("before"), c.has("panic"), c.has("after"))
	}
	func() {
		defer func() { _ = recover() }()
		_ = c.db.write(t.Context(), func(*query.Queries) error { panic("alone") })
	}()
	c.well(c.db.write(t.Context(), put(c, "later")))
}

func TestWhoLeavesTheQueueLeavesNobodyWaiting(t *testing.T) {
	t.Parallel()
	c := newCrowd(t)
	c.come(t.Context(), put(c, "first"), c.well)
	leaving, leave := context.WithCancel(t.Context())
	c.come(leaving, put(c, "gone"), func(err error) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
	c.come(t.Context(), put(c, "last"), c.well)
	leave()
	for c.waiting() > 2 {
		time.Sleep(time.Millisecond)
	}
	c.release()
	c.all.Wait()
	if !c.has("first") || c.has("gone") || !c.has("last") {
		t.Errorf("stored: %t %t %t", c.has("first"), c.has("gone"), c.has("last"))
	}
}

func TestWhoLeavesInTheMiddleStopsNobody(t *testing.T) {
	t.Parallel()
	c := newCrowd(t)
	leaving, leave := context.WithCancel(t.Context())
	c.come(t.Context(), put(c, "before"), c.well)
	c.come(leaving, func(q *query.Queries) error {
		leave()
		return q.PutVATCheck(leaving, query.PutVATCheckParams{VatID: "in the middle", CheckedAt: 1})
	}, func(err error) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
	c.come(t.Context(), put(c, "after"), c.well)
	c.release()
	c.all.Wait()
	if !c.has("before") || c.has("in the middle") || !c.has("after") {
		t.Errorf("stored: %t %t %t", c.has("before"), c.has("in the middle"), c.has("after"))
	}
}

func TestATransactionThatIsGoneIsToldToAllOfIt(t *testing.T) {
	t.Parallel()
	c := newCrowd(t)
	// What SQLite does after a fault of the disk: nothing is left to be committed.
	gone := func(s *shared) error { return s.do(t.Context(), "ROLLBACK") }
	shared, err := func() (*shared, error) {
		c.release()
		c.all.Wait()
		c.db.turns.wait(t.Context().Done())
		return c.db.turns.join(t.Context())
	}()
	if err != nil {
		t.Fatal(err)
	}
	shared.alone, shared.last = false, false
	c.well(shared.run(t.Context(), func(tx query.DBTX) error { return put(c, "before")(query.New(tx)) }))
	if err := shared.run(t.Context(), func(query.DBTX) error { return gone(shared) }); err == nil {
		t.Error("a change in a transaction that is gone succeeds")
	}
	if err := c.db.turns.leave(t.Context(), shared); err == nil || c.has("before") {
		t.Errorf("it was committed: %v", err)
	}
	c.well(c.db.write(t.Context(), put(c, "later")))
	if !c.has("later") {
		t.Error("the writer is lost")
	}
}

func TestACrowdOfWritersLosesNothing(t *testing.T) {
	t.Parallel()
	c := newCrowd(t)
	c.release()
	var mu sync.Mutex
	stored := make(map[string]bool)
	for worker := range 16 {
		c.all.Go(func() {
			for n := range 40 {
				key := fmt.Sprint(worker, "-", n)
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				if rand.N(5) == 0 {
					cancel()
				}
				err := c.db.write(ctx, func(q *query.Queries) error {
					err := put(c, key)(q)
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
	c.all.Wait()
	for key, want := range stored {
		if c.has(key) != want {
			t.Errorf("%s: stored is %t, told was %t", key, !want, want)
		}
	}
}
