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
	tx      *sql.Tx
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
	// free ends the context of the transaction, which is nobody's but its own.
	free context.CancelFunc
}

// write runs change in a transaction that is committed when it returns nil.
func (t *turns) write(ctx context.Context, change func(*query.Queries) error) (err error) {
	if !t.wait(ctx) {
		return ctx.Err()
	}
	s, err := t.join(ctx)
	if err != nil {
		t.handOn()
		return fmt.Errorf("begin: %w", err)
	}
	// Also after a panic: others hang on the same transaction.
	defer func() {
		if failed := t.leave(s); failed != nil {
			err = failed
		}
	}()
	if err := ctx.Err(); err != nil {
		return err
	}
	return s.run(ctx, change)
}

// wait returns when it is our turn. It is false if ctx ends before.
func (t *turns) wait(ctx context.Context) bool {
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
	case <-ctx.Done():
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
	// A caller who leaves ends the wait for another process, but not a transaction in
	// which others will have done something.
	own, free := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, free)
	tx, err := t.pool.BeginTx(own, nil)
	if err == nil && !stop() {
		_ = tx.Rollback() // its context has ended, and with it the transaction
		err = ctx.Err()
	}
	if err != nil {
		free()
		return nil, err
	}
	return &shared{tx: tx, began: time.Now(), alone: alone, last: alone, over: make(chan struct{}), free: free}, nil
}

// leave hands the transaction on, or commits it, and returns when it is committed.
func (t *turns) leave(s *shared) error {
	t.mu.Lock()
	if !s.last && s.broken == nil && s.changes < mostShared && time.Since(s.began) < t.longest && len(t.queue) > 0 {
		t.open = s
		t.next()
		t.mu.Unlock()
		<-s.over
		return s.err
	}
	t.mu.Unlock()
	s.end()
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
func (s *shared) run(caller context.Context, change func(*query.Queries) error) (err error) {
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
	if err := change(query.New(steady{s.tx})); err != nil {
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
	if _, err := s.tx.ExecContext(ctx, statement); err != nil {
		s.broken = fmt.Errorf("%s: %w", statement, err)
		return s.broken
	}
	return nil
}

// end commits, and tells everybody.
func (s *shared) end() {
	defer close(s.over)
	defer s.free()
	if s.broken != nil {
		s.err = s.broken
		_ = s.tx.Rollback() // it is the end either way
		return
	}
	if err := s.tx.Commit(); err != nil {
		s.err = fmt.Errorf("commit: %w", err)
		_ = s.tx.Rollback() // after a failed commit there may be something left
	}
}

// steady lets statements run to their end: SQLite gives the whole transaction up if
// one that writes is interrupted, and it is not only the caller's. They are short.
type steady struct{ tx *sql.Tx }

var _ query.DBTX = steady{}

func (s steady) ExecContext(ctx context.Context, text string, values ...any) (sql.Result, error) {
	return s.tx.ExecContext(context.WithoutCancel(ctx), text, values...)
}

func (s steady) PrepareContext(ctx context.Context, text string) (*sql.Stmt, error) {
	return s.tx.PrepareContext(context.WithoutCancel(ctx), text)
}

func (s steady) QueryContext(ctx context.Context, text string, values ...any) (*sql.Rows, error) {
	return s.tx.QueryContext(context.WithoutCancel(ctx), text, values...)
}

func (s steady) QueryRowContext(ctx context.Context, text string, values ...any) *sql.Row {
	return s.tx.QueryRowContext(context.WithoutCancel(ctx), text, values...)
}
