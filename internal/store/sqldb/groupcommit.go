package sqldb

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
)

// SQLite has one writer, and most of the cost of a small transaction is the disk sync of
// its commit. Changes that wait for the writer at the same moment therefore share a
// transaction: each runs in a savepoint, isolated from the failure of the others, and no
// caller learns of success before the commit. PostgreSQL groups commits itself.
//
// A change that no other change waits behind has a transaction of its own, without
// savepoints.
//
// The writer is one connection for as long as the database is open, so that statements
// are prepared once (writerconn.go).

const (
	// maxGroupSize and maxGroupDuration bound a transaction: its first change waits for
	// its last.
	maxGroupSize     = 32
	maxGroupDuration = 20 * time.Millisecond
)

// The statements around a change and around a group.
const (
	beginImmediate = "BEGIN IMMEDIATE"
	beginChange    = "SAVEPOINT change"
	undoChange     = "ROLLBACK TO change"
	endChange      = "RELEASE change"
)

// writeQueue serialises access to the writer connection.
type writeQueue struct {
	pool        *sql.DB
	inliner     *limitInliner
	maxDuration time.Duration // maxGroupDuration, except in tests
	// conn is the writer connection, owned by the current holder of the queue. It is nil
	// before the first change and after a failure.
	conn *writerConn

	mu   sync.Mutex
	busy bool
	// waiters are in order of arrival. Closing a waiter's channel passes it the writer,
	// and with it the obligation to pass it on.
	waiters []chan struct{}
	// openGroup is the transaction that the next holder joins.
	openGroup *commitGroup
}

// commitGroup is a transaction of one or more changes.
type commitGroup struct {
	conn      *writerConn
	queries   DBTX // conn with rewritten statements
	startedAt time.Time
	changes   int
	// single is set if no change waited when the transaction began: it has no savepoints.
	single bool
	// sealed stops further changes from joining.
	sealed bool
	// fatal is the error after which nothing of the transaction can be committed.
	fatal error
	// done is closed after the commit, whose result is err.
	done chan struct{}
	err  error
}

// errDatabaseClosed is the result of a change that was open when the database was closed.
var errDatabaseClosed = errors.New("the database was closed")

// close closes the connection and fails the open transaction. Changes that still wait
// open another connection, which fails once the pool is closed.
func (t *writeQueue) close() {
	t.acquire(nil)
	t.mu.Lock()
	s := t.openGroup
	t.openGroup = nil
	t.mu.Unlock()
	if t.conn != nil {
		t.discardConn()
	}
	if s != nil {
		s.err = errDatabaseClosed
		close(s.done)
	}
	t.release()
}

// write runs change in a transaction that is committed if it returns nil.
func (t *writeQueue) write(ctx context.Context, change func(DBTX) error) (err error) {
	if !t.acquire(ctx.Done()) {
		return ctx.Err()
	}
	s, err := t.joinOrBegin(ctx)
	if err != nil {
		t.release()
		return fmt.Errorf("begin: %w", err)
	}
	// Runs after a panic too: other callers wait for the same transaction.
	defer func() {
		if failed := t.commitOrPassOn(ctx, s); failed != nil {
			err = failed
		}
	}()
	if err := ctx.Err(); err != nil {
		return err
	}
	return s.runChange(ctx, change)
}

// acquire waits for the writer. It returns false if done is closed first.
func (t *writeQueue) acquire(done <-chan struct{}) bool {
	t.mu.Lock()
	if !t.busy {
		t.busy = true
		t.mu.Unlock()
		return true
	}
	turn := make(chan struct{})
	t.waiters = append(t.waiters, turn)
	t.mu.Unlock()
	select {
	case <-turn:
		return true
	case <-done:
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	index := slices.Index(t.waiters, turn)
	if index < 0 {
		return true // the writer was passed to us in the meantime, possibly with an open group
	}
	t.waiters = slices.Delete(t.waiters, index, index+1)
	return false
}

// joinOrBegin returns the open transaction or begins one.
func (t *writeQueue) joinOrBegin(ctx context.Context) (*commitGroup, error) {
	t.mu.Lock()
	s, alone := t.openGroup, len(t.waiters) == 0
	t.openGroup = nil
	t.mu.Unlock()
	if s != nil {
		return s, nil
	}
	if t.conn == nil {
		conn, err := t.pool.Conn(ctx)
		if err != nil {
			return nil, err
		}
		t.conn = &writerConn{conn}
	}
	// The caller's ctx may end the wait for another process: no other change is in the
	// transaction yet.
	if err := t.conn.exec(ctx, beginImmediate); err != nil {
		t.discardConn()
		return nil, err
	}
	return &commitGroup{conn: t.conn, queries: rewritingDB{t.conn, t.inliner, false}, startedAt: time.Now(), single: alone, sealed: alone, done: make(chan struct{})}, nil
}

// discardConn closes the connection, which rolls back whatever is open on it.
func (t *writeQueue) discardConn() {
	t.conn.close()
	t.conn = nil
}

// commitOrPassOn passes the transaction to the next waiter, or commits it. It returns
// after the commit.
func (t *writeQueue) commitOrPassOn(ctx context.Context, s *commitGroup) error {
	t.mu.Lock()
	if !s.sealed && s.fatal == nil && s.changes < maxGroupSize && time.Since(s.startedAt) < t.maxDuration && len(t.waiters) > 0 {
		t.openGroup = s
		t.wakeNext()
		t.mu.Unlock()
		<-s.done
		return s.err
	}
	t.mu.Unlock()
	if !s.commitOrRollback(context.WithoutCancel(ctx)) {
		t.discardConn()
	}
	close(s.done)
	t.release()
	return s.err
}

// release passes the writer to the next waiter, if there is one.
func (t *writeQueue) release() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.waiters) == 0 {
		t.busy = false
		return
	}
	t.wakeNext()
}

func (t *writeQueue) wakeNext() {
	close(t.waiters[0])
	t.waiters = slices.Delete(t.waiters, 0, 1)
}

// runChange runs one change. If it fails, panics or its caller's ctx ends, all of its
// statements are rolled back.
func (s *commitGroup) runChange(callerCtx context.Context, change func(DBTX) error) (err error) {
	ctx := context.WithoutCancel(callerCtx)
	s.changes++
	if !s.single {
		if err := s.exec(ctx, beginChange); err != nil {
			return err
		}
	}
	succeeded := false
	defer func() {
		switch {
		case s.single && !succeeded:
			s.fatal = cmp.Or(err, errChangePanicked)
		case s.single:
		case !succeeded:
			if s.exec(ctx, undoChange) == nil {
				_ = s.exec(ctx, endChange) // recorded in fatal
			}
			// SQLite rolls back the whole transaction after some errors, so no change
			// joins after a driver error or a panic.
			var driverError *registrar.Cause
			s.sealed = s.sealed || err == nil || errors.As(err, &driverError)
		default:
			err = s.exec(ctx, endChange)
		}
	}()
	if err := change(s.queries); err != nil {
		return err
	}
	if err := callerCtx.Err(); err != nil {
		return err
	}
	succeeded = true
	return nil
}

// errChangePanicked is the result of a transaction whose only change panicked.
var errChangePanicked = errors.New("the change panicked")

// exec runs a statement whose failure is fatal to the transaction.
func (s *commitGroup) exec(ctx context.Context, statement string) error {
	if err := s.conn.exec(ctx, statement); err != nil {
		s.fatal = fmt.Errorf("%s: %w", statement, err)
		return s.fatal
	}
	return nil
}

// commitOrRollback ends the transaction. It returns false if the state of the connection
// is unknown.
func (s *commitGroup) commitOrRollback(ctx context.Context) bool {
	if s.err = s.fatal; s.err == nil {
		err := s.conn.exec(ctx, commitStatement)
		if err == nil {
			return true
		}
		s.err = fmt.Errorf("commit: %w", err)
	}
	return s.conn.exec(ctx, "ROLLBACK") == nil
}
