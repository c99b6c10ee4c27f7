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
// It knows nobody and nothing of what the rows mean.
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
	// Failed is told when Due fails while the service goes on.
	Failed func(ctx context.Context, err error)
	// Every is how often rows are looked for that others stored or left.
	Every time.Duration
	// Batch is how many rows are read at a time, AtOnce how many are worked on. A
	// batch is larger, so that it can't consist of what is being worked on alone.
	Batch, AtOnce int

	awake chan struct{}
	once  sync.Once
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
		busy  = make(map[string]bool)
		ended = make(chan string, l.AtOnce)
		queue []T
		look  = true
	)
	for ctx.Err() == nil {
		for len(busy) < l.AtOnce && ctx.Err() == nil {
			if len(queue) == 0 && look {
				queue, look = l.look(ctx, busy)
			}
			if len(queue) == 0 {
				break
			}
			row := queue[0]
			queue = queue[1:]
			key := l.Key(row)
			busy[key] = true
			all.Go(func() {
				defer func() { ended <- key }()
				l.Do(ctx, row)
			})
		}
		select {
		case <-ctx.Done():
		case key := <-ended:
			delete(busy, key)
		case <-l.bell():
			look = true
		case <-ticker.C:
			look = true
		}
	}
}

// look returns the rows that nobody here is working on, and whether there may be
// more.
func (l *Loop[T]) look(ctx context.Context, busy map[string]bool) (rows []T, more bool) {
	due, err := l.Due(ctx, l.Batch)
	if err != nil {
		if ctx.Err() == nil {
			l.Failed(ctx, err)
		}
		return nil, false
	}
	for _, row := range due {
		if !busy[l.Key(row)] {
			rows = append(rows, row)
		}
	}
	return rows, len(due) == l.Batch
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
