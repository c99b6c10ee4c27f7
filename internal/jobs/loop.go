// Package jobs processes database rows that become due: mails to send, order items to
// provision, domains to synchronise.
//
// Every row has a due time. A Loop lists due rows and passes each to a handler, several
// concurrently and never the same one twice at a time. It starts work promptly, bounds
// concurrency, and lets work in flight finish on shutdown.
//
// A Worker is a Loop whose rows are claimed first: their due times move to the end of a
// lease, in the statement that lists them or by a compare-and-swap, because several nodes
// list the same rows. It postpones rows whose handler fails.
//
// A lease outlives the slowest call, so it lasts for minutes. A Heartbeat releases the leases of
// a node that has died within a minute.
//
// A panic ends one row's work, not the process: it is passed to OnError, and the row or the
// loop backs off before the next attempt.
package jobs

import (
	"context"
	"sync"
	"time"

	"github.com/dotkontor/dotkontor/internal/failpoint"
)

// Loop processes due rows. Its fields must not change after Run.
type Loop[T any] struct {
	Name string // the job's name in traces; empty if Do starts a span itself
	// ListDue returns up to limit due rows, the longest overdue first.
	ListDue func(ctx context.Context, limit int) ([]T, error)
	// Key identifies a row.
	Key func(T) string
	// Do claims a row and processes it. ctx is that of Run: work that must not be
	// interrupted by a shutdown needs another context.
	Do func(ctx context.Context, row T)
	// OnError is called when ListDue fails, or when ListDue or Do panics, unless ctx has
	// ended; see ErrorLogger. After a failed ListDue the next one backs off.
	OnError  func(ctx context.Context, err error)
	Interval time.Duration // how often the loop looks for rows stored by other nodes
	// Release is set if ListDue leases the rows that it returns. It is called with those that
	// have not begun at shutdown. A leased row is processed although its key is in progress:
	// the handler of its former lease has stored the result.
	Release func(ctx context.Context, rows []T)
	// BatchSize is how many rows are listed at a time, in addition to those backing off;
	// Concurrency is how many are processed. A batch must be larger, so that it can't
	// consist only of rows in progress.
	BatchSize, Concurrency int

	wakeC    chan struct{}
	wakeOnce sync.Once
}

const (
	// fetchTimeout bounds ListDue, so that a hanging database does not block the loop
	// forever. After failures it backs off up to maxFetchBackoff.
	fetchTimeout = 30 * time.Second
	// minFetchGap lets rows that are stored in quick succession be listed together.
	minFetchGap     = 50 * time.Millisecond
	maxFetchBackoff = 30 * time.Second
	// A row whose handler panicked backs off, because it would panic again. maxBackedOff
	// bounds how many are remembered.
	minPanicBackoff, maxPanicBackoff = time.Minute, time.Hour
	maxBackedOff                     = 1024
)

// panicBackoff is how often a row's handler has panicked, and until when it is skipped.
type panicBackoff struct {
	panics int
	until  time.Time
}

// outcome is how the processing of a row ended.
type outcome struct {
	key      string
	panicked bool
}

func (l *Loop[T]) wakeSignal() chan struct{} {
	l.wakeOnce.Do(func() { l.wakeC = make(chan struct{}, 1) })
	return l.wakeC
}

// Wake makes the loop list due rows soon. It never blocks.
func (l *Loop[T]) Wake() {
	select {
	case l.wakeSignal() <- struct{}{}:
	default: // already signalled
	}
}

// Run processes rows until ctx ends, and lets handlers in flight finish.
func (l *Loop[T]) Run(ctx context.Context) {
	ticker := time.NewTicker(l.Interval)
	defer ticker.Stop()
	var all sync.WaitGroup
	defer all.Wait()
	var (
		busy        = make(map[string]int) // the handlers in progress by key
		running     int
		backedOff   = make(map[string]panicBackoff)
		ended       = make(chan outcome, l.Concurrency)
		queue       []T
		leased      = ctx // of the rows in the queue
		fetchNeeded = true
		failures    int
		retryAt     time.Time
		nextFetch   time.Time
		gap         <-chan time.Time // ends at nextFetch
	)
	for ctx.Err() == nil {
		for running < l.Concurrency && ctx.Err() == nil {
			if len(queue) == 0 && fetchNeeded {
				if wait := time.Until(nextFetch); wait > 0 {
					gap = time.After(wait)
					break
				}
				var err error
				leased = holdLeases(ctx)
				if queue, fetchNeeded, err = l.fetchDue(ctx, busy, backedOff); err != nil {
					failures++
					retryAt = time.Now().Add(Backoff(failures, l.Interval, max(l.Interval, maxFetchBackoff)))
				} else {
					failures, retryAt = 0, time.Time{}
				}
				if !fetchNeeded {
					nextFetch = time.Now().Add(failpoint.Backoff(minFetchGap))
				}
			}
			if len(queue) == 0 {
				break
			}
			row := queue[0]
			queue = queue[1:]
			key := l.Key(row)
			busy[key]++
			running++
			rowCtx := leased
			all.Go(func() {
				done := outcome{key: key}
				defer func() { ended <- done }()
				if err := recoverPanic(func() error { l.do(rowCtx, row); return nil }); err != nil {
					done.panicked = true
					l.OnError(ctx, err)
				}
			})
		}
		select {
		case <-ctx.Done():
		case done := <-ended:
			running--
			if busy[done.key]--; busy[done.key] == 0 {
				delete(busy, done.key)
			}
			l.recordOutcome(backedOff, done)
		case <-l.wakeSignal():
			fetchNeeded = true
		case <-gap:
			gap = nil
		case <-ticker.C:
			fetchNeeded = fetchNeeded || !time.Now().Before(retryAt)
		}
	}
	if l.Release != nil {
		l.Release(ctx, queue)
	}
}

func (l *Loop[T]) do(ctx context.Context, row T) {
	if l.Name == "" {
		l.Do(ctx, row)
		return
	}
	ctx, span := startSpan(ctx, l.Name)
	defer span.end()
	l.Do(ctx, row)
	span.handled(nil)
}

// recordOutcome backs off a row whose handler panicked.
func (l *Loop[T]) recordOutcome(backedOff map[string]panicBackoff, done outcome) {
	if !done.panicked {
		delete(backedOff, done.key)
		return
	}
	if len(backedOff) >= maxBackedOff {
		clear(backedOff)
	}
	r := backedOff[done.key]
	r.panics++
	r.until = time.Now().Add(Backoff(r.panics, minPanicBackoff, maxPanicBackoff))
	backedOff[done.key] = r
}

// fetchDue returns the due rows that are neither in progress here nor backing off, and
// whether there may be more. A leased row that is backing off is due when its lease ends.
func (l *Loop[T]) fetchDue(ctx context.Context, busy map[string]int, backedOff map[string]panicBackoff) (rows []T, more bool, err error) {
	fetchCtx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	// Rows backing off are still due and come first, so they must not use up the batch.
	now, limit := time.Now(), l.BatchSize
	for _, r := range backedOff {
		if now.Before(r.until) {
			limit++
		}
	}
	var due []T
	err = recoverPanic(func() (err error) {
		due, err = l.ListDue(fetchCtx, limit)
		return err
	})
	if err != nil {
		if ctx.Err() == nil {
			l.OnError(ctx, err)
		}
		return nil, false, err
	}
	for _, row := range due {
		if key := l.Key(row); (busy[key] == 0 || l.Release != nil) && !now.Before(backedOff[key].until) {
			rows = append(rows, row)
		}
	}
	return rows, len(due) == limit, nil
}

// Backoff returns the delay after the given number of failed attempts: first, doubled each
// time, up to maximum.
func Backoff(attempts int, first, maximum time.Duration) time.Duration {
	delay := first
	for range attempts - 1 {
		if delay *= 2; delay >= maximum {
			return failpoint.Backoff(maximum)
		}
	}
	return failpoint.Backoff(min(delay, maximum))
}
