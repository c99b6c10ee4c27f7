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
package duty

import (
	"context"
	"sync"
	"time"
)

// Loop does what is due. Its fields are set before Run and not changed after.
type Loop[T any] struct {
	// Due returns up to limit rows whose time has come, the longest overdue first.
	Due func(ctx context.Context, limit int) ([]T, error)
	// Key tells rows apart.
	Key func(T) string
	// Do claims a row and does its work. Its context is that of Run: what must not
	// be cut off in the middle when the service stops takes another.
	Do func(ctx context.Context, row T)
	// Failed is called when Due fails, or when Due or Do panics, while the service goes
	// on; Report makes one. After a failed look the next one waits longer each time.
	Failed func(ctx context.Context, err error)
	// Every is how often rows are looked for that others stored or left.
	Every time.Duration
	// Batch is how many rows are read at a time, besides those that rest, AtOnce how many are worked on. A
	// batch is larger, so that it can't consist of what is being worked on alone.
	Batch, AtOnce int

	awake chan struct{}
	once  sync.Once
}

const (
	// lookWithin bounds a look, so that a database that is silent does not hold the loop
	// for ever. After looks that failed the pauses double up to longestPause.
	lookWithin   = 30 * time.Second
	longestPause = 30 * time.Second
	// A row whose work panicked rests: it would panic again. mostResting bounds how many
	// are remembered.
	firstRest, longestRest = time.Minute, time.Hour
	mostResting            = 1024
)

// rest is how often the work of a row has panicked, and how long it is left alone.
type rest struct {
	panics int
	until  time.Time
}

// ending is how the work of a row ended.
type ending struct {
	key      string
	panicked bool
}

func (l *Loop[T]) bell() chan struct{} {
	l.once.Do(func() { l.awake = make(chan struct{}, 1) })
	return l.awake
}

// Wake says that a row was stored. It never waits.
func (l *Loop[T]) Wake() {
	select {
	case l.bell() <- struct{}{}:
	default: // it will look anyway
	}
}

// Run works until ctx ends, and lets what is under way finish.
func (l *Loop[T]) Run(ctx context.Context) {
	ticker := time.NewTicker(l.Every)
	defer ticker.Stop()
	var all sync.WaitGroup
	defer all.Wait()
	var (
		busy     = make(map[string]bool)
		resting  = make(map[string]rest)
		ended    = make(chan ending, l.AtOnce)
		queue    []T
		look     = true
		failures int
		resume   time.Time
	)
	for ctx.Err() == nil {
		for len(busy) < l.AtOnce && ctx.Err() == nil {
			if len(queue) == 0 && look {
				var err error
				if queue, look, err = l.look(ctx, busy, resting); err != nil {
					failures++
					resume = time.Now().Add(Pause(failures, l.Every, max(l.Every, longestPause)))
				} else {
					failures, resume = 0, time.Time{}
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
				done := ending{key: key}
				defer func() { ended <- done }()
				if err := guarded(func() error { l.Do(ctx, row); return nil }); err != nil {
					done.panicked = true
					l.Failed(ctx, err)
				}
			})
		}
		select {
		case <-ctx.Done():
		case done := <-ended:
			delete(busy, done.key)
			l.settle(resting, done)
		case <-l.bell():
			look = true
		case <-ticker.C:
			look = look || !time.Now().Before(resume)
		}
	}
}

// settle lets a row rest whose work panicked, the longer the more often it did.
func (l *Loop[T]) settle(resting map[string]rest, done ending) {
	if !done.panicked {
		delete(resting, done.key)
		return
	}
	if len(resting) >= mostResting {
		clear(resting)
	}
	r := resting[done.key]
	r.panics++
	r.until = time.Now().Add(Pause(r.panics, firstRest, longestRest))
	resting[done.key] = r
}

// look returns the rows that nobody here is working on and that do not rest, and
// whether there may be more.
func (l *Loop[T]) look(ctx context.Context, busy map[string]bool, resting map[string]rest) (rows []T, more bool, err error) {
	looking, cancel := context.WithTimeout(ctx, lookWithin)
	defer cancel()
	// Rows that rest are still due and come first, so they must not use up the batch.
	now, limit := time.Now(), l.Batch
	for _, r := range resting {
		if now.Before(r.until) {
			limit++
		}
	}
	var due []T
	err = guarded(func() (err error) {
		due, err = l.Due(looking, limit)
		return err
	})
	if err != nil {
		if ctx.Err() == nil {
			l.Failed(ctx, err)
		}
		return nil, false, err
	}
	for _, row := range due {
		if key := l.Key(row); !busy[key] && !now.Before(resting[key].until) {
			rows = append(rows, row)
		}
	}
	return rows, len(due) == limit, nil
}

// Pause is how long to wait after so many attempts that failed: first, then twice
// as long each time, up to longest.
func Pause(attempts int, first, longest time.Duration) time.Duration {
	wait := first
	for range attempts - 1 {
		if wait *= 2; wait >= longest {
			return longest
		}
	}
	return min(wait, longest)
}
