// Package duty does work that waits in rows of a database: letters to be sent,
// paid lines to be provisioned, domains to be looked at.
//
// Every row has a time at which it is due. A Loop asks for rows whose time has
// come and hands each to a function, several at a time and never the same one
// twice at once. The function claims the row first, by a compare-and-swap on the
// time at which it is due: several nodes ask for the same rows, and a loop may
// hold one that another has taken meanwhile. So the loop promises nothing that
// the claim does not; it only sees to it that work begins soon, that there is
// never too much of it, and that what is under way is finished when the service
// stops.
//
// It knows nothing of what the rows mean.
//
// A panic ends one piece of work and not the process: it is handed to Failed, and the
// row or the loop waits before the next attempt.
package jobs

import (
	"context"
	"sync"
	"time"
)

// Loop does what is due. Its fields are set before Run and not changed after.
type Loop[T any] struct {
	// ListDue returns up to limit rows whose time has come, the longest overdue first.
	ListDue func(ctx context.Context, limit int) ([]T, error)
	// Key tells rows apart.
	Key func(T) string
	// Do claims a row and does its work. Its context is that of Run: what must not
	// be cut off in the middle when the service stops takes another.
	Do func(ctx context.Context, row T)
	// OnError is called when Due fails, or when Due or Do panics, while the service goes
	// on; Report makes one. After a failed look the next one waits longer each time.
	OnError func(ctx context.Context, err error)
	// Interval is how often rows are looked for that others stored or left.
	Interval time.Duration
	// BatchSize is how many rows are read at a time, besides those that rest, AtOnce how many are worked on. A
	// batch is larger, so that it can't consist of what is being worked on alone.
	BatchSize, Concurrency int

	wakeC    chan struct{}
	wakeOnce sync.Once
}

const (
	// fetchTimeout bounds a look, so that a database that is silent does not hold the loop
	// for ever. After looks that failed the pauses double up to longestPause.
	fetchTimeout    = 30 * time.Second
	maxFetchBackoff = 30 * time.Second
	// A row whose work panicked rests: it would panic again. mostResting bounds how many
	// are remembered.
	minPanicBackoff, maxPanicBackoff = time.Minute, time.Hour
	maxBackedOff                     = 1024
)

// panicBackoff is how often the work of a row has panicked, and how long it is left alone.
type panicBackoff struct {
	panics int
	until  time.Time
}

// outcome is how the work of a row ended.
type outcome struct {
	key      string
	panicked bool
}

func (l *Loop[T]) wakeSignal() chan struct{} {
	l.wakeOnce.Do(func() { l.wakeC = make(chan struct{}, 1) })
	return l.wakeC
}

// Wake says that a row was stored. It never waits.
func (l *Loop[T]) Wake() {
	select {
	case l.wakeSignal() <- struct{}{}:
	default: // it will look anyway
	}
}

// Run works until ctx ends, and lets what is under way finish.
func (l *Loop[T]) Run(ctx context.Context) {
	ticker := time.NewTicker(l.Interval)
	defer ticker.Stop()
	var all sync.WaitGroup
	defer all.Wait()
	var (
		busy        = make(map[string]bool)
		backedOff   = make(map[string]panicBackoff)
		ended       = make(chan outcome, l.Concurrency)
		queue       []T
		fetchNeeded = true
		failures    int
		retryAt     time.Time
	)
	for ctx.Err() == nil {
		for len(busy) < l.Concurrency && ctx.Err() == nil {
			if len(queue) == 0 && fetchNeeded {
				var err error
				if queue, fetchNeeded, err = l.fetchDue(ctx, busy, backedOff); err != nil {
					failures++
					retryAt = time.Now().Add(Backoff(failures, l.Interval, max(l.Interval, maxFetchBackoff)))
				} else {
					failures, retryAt = 0, time.Time{}
				}
			}
			if len(queue) == 0 {
				break
			}
			row := queue[0]
			queue = queue[1:]
			key := l.Key(row)
			busy[key] = true
			all.Go(func() {
				done := outcome{key: key}
				defer func() { ended <- done }()
				if err := recoverPanic(func() error { l.Do(ctx, row); return nil }); err != nil {
					done.panicked = true
					l.OnError(ctx, err)
				}
			})
		}
		select {
		case <-ctx.Done():
		case done := <-ended:
			delete(busy, done.key)
			l.recordOutcome(backedOff, done)
		case <-l.wakeSignal():
			fetchNeeded = true
		case <-ticker.C:
			fetchNeeded = fetchNeeded || !time.Now().Before(retryAt)
		}
	}
}

// recordOutcome lets a row rest whose work panicked, the longer the more often it did.
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

// fetchDue returns the rows that nobody here is working on and that do not rest, and
// whether there may be more.
func (l *Loop[T]) fetchDue(ctx context.Context, busy map[string]bool, backedOff map[string]panicBackoff) (rows []T, more bool, err error) {
	fetchCtx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	// Rows that rest are still due and come first, so they must not use up the batch.
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
		if key := l.Key(row); !busy[key] && !now.Before(backedOff[key].until) {
			rows = append(rows, row)
		}
	}
	return rows, len(due) == limit, nil
}

// Backoff is how long to wait after so many attempts that failed: first, then twice
// as long each time, up to longest.
func Backoff(attempts int, first, maximum time.Duration) time.Duration {
	delay := first
	for range attempts - 1 {
		if delay *= 2; delay >= maximum {
			return maximum
		}
	}
	return min(delay, maximum)
}
