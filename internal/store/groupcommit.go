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
	// maxGroupSize and longestShared bound a transaction: the first of it waits for the
	// last.
	maxGroupSize     = 32
	maxGroupDuration = 20 * time.Millisecond
)

// writeQueue lets one after the other have the writer.
type writeQueue struct {
	pool        *sql.DB
	maxDuration time.Duration // of a transaction, longestShared
	// conn is the connection that writes, and belongs to whoever has the turn. It is
	// nil before the first one, and after a fault.
	conn *writerConn

	mu   sync.Mutex
	busy bool
	// waiters are those who wait, in their order. Whose channel is closed has the
	// writer, and with it the duty to hand it on.
	waiters []chan struct{}
	// openGroup is the transaction that the one who has the writer goes on with.
	openGroup *commitGroup
}

// commitGroup is a transaction of several.
type commitGroup struct {
	conn      *writerConn
	startedAt time.Time
	changes   int
	// single says that nobody waited when it began: it has no savepoints.
	single bool
	// sealed says that nobody may join, broken that nothing of it can be kept.
	sealed bool
	fatal  error
	// done is closed after the commit, whose outcome is err.
	done chan struct{}
	err  error
}

// errDatabaseClosed is why a change was not kept.
var errDatabaseClosed = errors.New("the database was closed")

// close ends the connection, and with it what is open on it. Whoever still waits
// opens another, which fails once the pool is closed.
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

// write runs change in a transaction that is committed when it returns nil.
func (t *writeQueue) write(ctx context.Context, change func(query.DBTX) error) (err error) {
	if !t.acquire(ctx.Done()) {
		return ctx.Err()
	}
	s, err := t.joinOrBegin(ctx)
	if err != nil {
		t.release()
		return fmt.Errorf("begin: %w", err)
	}
	// Also after a panic: others hang on the same transaction.
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

// acquire returns when it is our turn. It is false if the caller is gone before.
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
		return true // it came at the same moment, and somebody may hang on us
	}
	t.waiters = slices.Delete(t.waiters, index, index+1)
	return false
}

// joinOrBegin is the transaction that is open, or a new one.
func (t *writeQueue) joinOrBegin(ctx context.Context) (*commitGroup, error) {
	t.mu.Lock()
	s, alone := t.openGroup, len(t.waiters) == 0
	t.openGroup = nil
	t.mu.Unlock()
	if s != nil {
		return s, nil
	}
	if t.conn == nil {
		conn, err := openWriterConn(ctx, t.pool)
		if err != nil {
			return nil, err
		}
		t.conn = conn
	}
	// A caller who leaves ends the wait for another process; nobody else is in it yet.
	if err := t.conn.exec(ctx, "BEGIN IMMEDIATE"); err != nil {
		t.discardConn()
		return nil, err
	}
	return &commitGroup{conn: t.conn, startedAt: time.Now(), single: alone, sealed: alone, done: make(chan struct{})}, nil
}

// discardConn gives the connection up, and whatever was open on it.
func (t *writeQueue) discardConn() {
	t.conn.close()
	t.conn = nil
}

// commitOrPassOn hands the transaction on, or commits it, and returns when it is committed.
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

// release gives the writer to the next one, if there is one.
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

// runChange makes one change. If it fails, or panics, or its caller has gone, nothing of it
// stays.
func (s *commitGroup) runChange(callerCtx context.Context, change func(query.DBTX) error) (err error) {
	ctx := context.WithoutCancel(callerCtx)
	s.changes++
	if !s.single {
		if err := s.exec(ctx, "SAVEPOINT change"); err != nil {
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
			if s.exec(ctx, "ROLLBACK TO change") == nil {
				_ = s.exec(ctx, "RELEASE change") // noted in broken
			}
			// SQLite gives a whole transaction up after some faults. Nobody shall build
			// on one that is not there any more.
			var ours *registrar.Error
			s.sealed = s.sealed || !errors.As(err, &ours)
		default:
			err = s.exec(ctx, "RELEASE change")
		}
	}()
	if err := change(s.conn); err != nil {
		return err
	}
	if err := callerCtx.Err(); err != nil {
		return err
	}
	succeeded = true
	return nil
}

// errChangePanicked is why a transaction is given up that a panic has passed through.
var errChangePanicked = errors.New("the change did not come to its end")

// exec runs a statement without which the transaction can't be trusted.
func (s *commitGroup) exec(ctx context.Context, statement string) error {
	if err := s.conn.exec(ctx, statement); err != nil {
		s.fatal = fmt.Errorf("%s: %w", statement, err)
		return s.fatal
	}
	return nil
}

// commitOrRollback commits, or undoes what can't be kept. It is false if nobody knows what is
// left on the connection.
func (s *commitGroup) commitOrRollback(ctx context.Context) bool {
	if s.err = s.fatal; s.err == nil {
		err := s.conn.exec(ctx, "COMMIT")
		if err == nil {
			return true
		}
		s.err = fmt.Errorf("commit: %w", err)
	}
	return s.conn.exec(ctx, "ROLLBACK") == nil
}
