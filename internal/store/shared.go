package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

// SQLite has one writer, and what costs most about a small transaction is the wait
// for the disk at its end. So changes that wait for the writer at the same moment
// share a transaction: each runs between savepoints, as if it were alone, and nobody
// hears of success before the one commit. PostgreSQL does the same by itself.
//
// A change that nobody waits behind has a transaction of its own, as ever.
//
// The writer is one connection for as long as the database is open, so that each
// statement is understood once (prepared.go) and transactions are begun and ended
// here.

const (
	// mostShared and longestShared bound a transaction: the first of it waits for the
	// last.
	mostShared    = 32
	longestShared = 20 * time.Millisecond
)

// turns lets one after the other have the writer.
type turns struct {
	pool    *sql.DB
	longest time.Duration // of a transaction, longestShared
	// lane is the connection that writes, and belongs to whoever has the turn. It is
	// nil before the first one, and after a fault.
	lane *lane

	mu    sync.Mutex
	taken bool
	// queue are those who wait, in their order. Whose channel is closed has the
	// writer, and with it the duty to hand it on.
	queue []chan struct{}
	// open is the transaction that the one who has the writer goes on with.
	open *shared
}

// shared is a transaction of several.
type shared struct {
	lane    *lane
	began   time.Time
	changes int
	// alone says that nobody waited when it began: it has no savepoints.
	alone bool
	// last says that nobody may join, broken that nothing of it can be kept.
	last   bool
	broken error
	// over is closed after the commit, whose outcome is err.
	over chan struct{}
	err  error
}

// errClosed is why a change was not kept.
var errClosed = errors.New("the database was closed")

// close ends the connection, and with it what is open on it. Whoever still waits
// opens another, which fails once the pool is closed.
func (t *turns) close() {
	t.wait(nil)
	t.mu.Lock()
	s := t.open
	t.open = nil
	t.mu.Unlock()
	if t.lane != nil {
		t.abandon()
	}
	if s != nil {
		s.err = errClosed
		close(s.over)
	}
	t.handOn()
}

// write runs change in a transaction that is committed when it returns nil.
func (t *turns) write(ctx context.Context, change func(query.DBTX) error) (err error) {
	if !t.wait(ctx.Done()) {
		return ctx.Err()
	}
	s, err := t.join(ctx)
	if err != nil {
		t.handOn()
		return fmt.Errorf("begin: %w", err)
	}
	// Also after a panic: others hang on the same transaction.
	defer func() {
		if failed := t.leave(ctx, s); failed != nil {
			err = failed
		}
	}()
	if err := ctx.Err(); err != nil {
		return err
	}
	return s.run(ctx, change)
}

// wait returns when it is our turn. It is false if the caller is gone before.
func (t *turns) wait(gone <-chan struct{}) bool {
	t.mu.Lock()
	if !t.taken {
		t.taken = true
		t.mu.Unlock()
		return true
	}
	turn := make(chan struct{})
	t.queue = append(t.queue, turn)
	t.mu.Unlock()
	select {
	case <-turn:
		return true
	case <-gone:
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	at := slices.Index(t.queue, turn)
	if at < 0 {
		return true // it came at the same moment, and somebody may hang on us
	}
	t.queue = slices.Delete(t.queue, at, at+1)
	return false
}

// join is the transaction that is open, or a new one.
func (t *turns) join(ctx context.Context) (*shared, error) {
	t.mu.Lock()
	s, alone := t.open, len(t.queue) == 0
	t.open = nil
	t.mu.Unlock()
	if s != nil {
		return s, nil
	}
	if t.lane == nil {
		lane, err := openLane(ctx, t.pool)
		if err != nil {
			return nil, err
		}
		t.lane = lane
	}
	// A caller who leaves ends the wait for another process; nobody else is in it yet.
	if err := t.lane.do(ctx, "BEGIN IMMEDIATE"); err != nil {
		t.abandon()
		return nil, err
	}
	return &shared{lane: t.lane, began: time.Now(), alone: alone, last: alone, over: make(chan struct{})}, nil
}

// abandon gives the connection up, and whatever was open on it.
func (t *turns) abandon() {
	t.lane.close()
	t.lane = nil
}

// leave hands the transaction on, or commits it, and returns when it is committed.
func (t *turns) leave(ctx context.Context, s *shared) error {
	t.mu.Lock()
	if !s.last && s.broken == nil && s.changes < mostShared && time.Since(s.began) < t.longest && len(t.queue) > 0 {
		t.open = s
		t.next()
		t.mu.Unlock()
		<-s.over
		return s.err
	}
	t.mu.Unlock()
	if !s.end(context.WithoutCancel(ctx)) {
		t.abandon()
	}
	close(s.over)
	t.handOn()
	return s.err
}

// handOn gives the writer to the next one, if there is one.
func (t *turns) handOn() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.queue) == 0 {
		t.taken = false
		return
	}
	t.next()
}

func (t *turns) next() {
	close(t.queue[0])
	t.queue = slices.Delete(t.queue, 0, 1)
}

// run makes one change. If it fails, or panics, or its caller has gone, nothing of it
// stays.
func (s *shared) run(caller context.Context, change func(query.DBTX) error) (err error) {
	ctx := context.WithoutCancel(caller)
	s.changes++
	if !s.alone {
		if err := s.do(ctx, "SAVEPOINT change"); err != nil {
			return err
		}
	}
	kept := false
	defer func() {
		switch {
		case s.alone && !kept:
			s.broken = cmp.Or(err, errUndone)
		case s.alone:
		case !kept:
			if s.do(ctx, "ROLLBACK TO change") == nil {
				_ = s.do(ctx, "RELEASE change") // noted in broken
			}
			// SQLite gives a whole transaction up after some faults. Nobody shall build
			// on one that is not there any more.
			var ours *registrar.Error
			s.last = s.last || !errors.As(err, &ours)
		default:
			err = s.do(ctx, "RELEASE change")
		}
	}()
	if err := change(s.lane); err != nil {
		return err
	}
	if err := caller.Err(); err != nil {
		return err
	}
	kept = true
	return nil
}

// errUndone is why a transaction is given up that a panic has passed through.
var errUndone = errors.New("the change did not come to its end")

// do runs a statement without which the transaction can't be trusted.
func (s *shared) do(ctx context.Context, statement string) error {
	if err := s.lane.do(ctx, statement); err != nil {
		s.broken = fmt.Errorf("%s: %w", statement, err)
		return s.broken
	}
	return nil
}

// end commits, or undoes what can't be kept. It is false if nobody knows what is
// left on the connection.
func (s *shared) end(ctx context.Context) bool {
	if s.err = s.broken; s.err == nil {
		err := s.lane.do(ctx, "COMMIT")
		if err == nil {
			return true
		}
		s.err = fmt.Errorf("commit: %w", err)
	}
	return s.lane.do(ctx, "ROLLBACK") == nil
}
