package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

func TestLeaseEnd_OutlivesCallAndWrites(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 16, 0, 0, 0, 1999, time.UTC)
	worker := Worker[string]{Deadline: 20 * time.Second, Clock: func() time.Time { return now }}
	if got, want := worker.LeaseEnd(), time.Date(2026, 11, 16, 0, 1, 40, 1000, time.UTC); !got.Equal(want) {
		t.Errorf("LeaseEnd = %s, want %s", got, want)
	}
}

func TestCallContext_HasGraceAfterShutdown(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ deadline, shutdown, want time.Duration }{
		"deadline":              {deadline: 10 * time.Second, shutdown: time.Hour, want: 10 * time.Second},
		"shutdown":              {deadline: 20 * time.Second, shutdown: 2 * time.Second, want: 7 * time.Second},
		"deadline within grace": {deadline: 4 * time.Second, shutdown: 2 * time.Second, want: 4 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, stop := context.WithTimeout(t.Context(), test.shutdown)
				defer stop()
				began := time.Now()
				call, cancel := (&Worker[string]{Deadline: test.deadline}).CallContext(ctx)
				defer cancel()
				<-call.Done()
				if took := time.Since(began); took != test.want {
					t.Errorf("call context ended after %s, want %s", took, test.want)
				}
			})
		})
	}
}

// leasedRows is a store of due rows that are leased as they are listed.
type leasedRows struct {
	mu    sync.Mutex
	due   map[string]time.Time
	calls []int // the rows of each claim
}

func (s *leasedRows) claim(_ context.Context, now, leaseEnd time.Time, limit int) (claimed []string, _ error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, key := range slices.Sorted(maps.Keys(s.due)) {
		if !s.due[key].After(now) && len(claimed) < limit {
			s.due[key] = leaseEnd
			claimed = append(claimed, key)
		}
	}
	s.calls = append(s.calls, len(claimed))
	return claimed, nil
}

func (s *leasedRows) set(key string, due time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.due[key] = due
}

func (s *leasedRows) worker(concurrency int, handle func(ctx context.Context, key string) (string, error)) *Worker[string] {
	return &Worker[string]{
		Name: "rows", Logger: slog.New(slog.DiscardHandler), ClaimDue: s.claim, Clock: time.Now,
		Key: func(key string) string { return key }, Attempts: func(string) int { return 1 }, Handle: handle,
		Postpone: func(_ context.Context, key string, due time.Time) { s.set(key, due) },
		OnRetry:  func(context.Context, *slog.Logger, string, error) {},
		Deadline: 20 * time.Second, MinBackoff: time.Minute, MaxBackoff: time.Hour, Concurrency: concurrency,
	}
}

func TestWorker_ClaimedBatchEndsWithinLease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rows := &leasedRows{due: map[string]time.Time{}}
		for i := range 12 {
			rows.set(fmt.Sprint("row", 10+i), time.Now())
		}
		ended := map[string]int{}
		var mu sync.Mutex
		worker := rows.worker(2, func(_ context.Context, key string) (string, error) {
			time.Sleep(20*time.Second + 2*storeTimeout) // as long as a call and its writes may take
			mu.Lock()
			defer mu.Unlock()
			ended[key]++
			rows.set(key, time.Now().AddDate(1, 0, 0))
			return key, nil
		})
		ctx, stop := context.WithTimeout(t.Context(), time.Hour)
		defer stop()
		worker.Run(ctx)
		for key, n := range ended {
			if n != 1 {
				t.Errorf("%s was processed %d times", key, n)
			}
		}
		if len(ended) != 12 || !slices.Equal(rows.calls[:3], []int{4, 4, 4}) {
			t.Errorf("%d rows ended, claimed %v", len(ended), rows.calls[:4])
		}
	})
}

func TestWorker_ReleasesRowsNotBegunAtShutdown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rows := &leasedRows{due: map[string]time.Time{}}
		for _, key := range []string{"a", "b"} {
			rows.set(key, time.Now())
		}
		ctx, stop := context.WithTimeout(t.Context(), 2*time.Second)
		defer stop()
		rows.worker(1, func(_ context.Context, key string) (string, error) {
			time.Sleep(10 * time.Second)
			rows.set(key, time.Now().AddDate(1, 0, 0))
			return key, nil
		}).Run(ctx)
		if left := time.Until(rows.due["a"]); left < time.Hour {
			t.Errorf("the row in progress is due in %s", left)
		}
		if rows.due["b"].After(time.Now()) {
			t.Errorf("the row that was not begun is leased for %s", time.Until(rows.due["b"]))
		}
	})
}

// A handler may have stored that its row is due again before the loop learns of its end.
func TestWorker_RowDueAgainAtOnceIsNotLostToItsLease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rows := &leasedRows{due: map[string]time.Time{"a": time.Now()}}
		var worker *Worker[string]
		var times []time.Time
		worker = rows.worker(2, func(_ context.Context, key string) (string, error) {
			times = append(times, time.Now())
			if len(times) == 1 {
				rows.set(key, time.Now())
				worker.Wake()
				time.Sleep(time.Second)
			}
			return key, nil
		})
		ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
		defer stop()
		worker.Run(ctx)
		if len(times) != 2 || times[1].Sub(times[0]) > minFetchGap {
			t.Errorf("processed at %v", times)
		}
	})
}

// A row whose result could not be stored does not wait for the end of its lease.
func TestWorker_UnstoredRowIsDueWhenTheDatabaseWorksAgain(t *testing.T) {
	t.Parallel()
	for name, failure := range map[string]error{
		"by its handler":   ErrUnstored,
		"by a lost commit": Unstored[string]{Row: "row as written"},
		"by a later write": &registrar.Cause{Part: registrar.PartDatabase, Class: "connection_reset"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				rows := &leasedRows{due: map[string]time.Time{"row": time.Now()}}
				began, works := time.Now(), time.Now().Add(8*time.Second)
				var handled []time.Duration
				worker := rows.worker(1, func(_ context.Context, key string) (string, error) {
					handled = append(handled, time.Since(began))
					if time.Now().Before(works) {
						return key, failure
					}
					return key, nil
				})
				postpone := worker.Postpone
				written := "row"
				if lost, ok := errors.AsType[Unstored[string]](failure); ok {
					written = lost.Row // the row is no longer what it was
				}
				worker.Postpone = func(ctx context.Context, row string, due time.Time) {
					if row == written && !time.Now().Before(works) {
						postpone(ctx, "row", due)
					}
				}
				worker.Deadline, worker.MinBackoff, worker.MaxBackoff = 20*time.Second, time.Second, time.Second
				worker.OnRetry = func(context.Context, *slog.Logger, string, error) {}
				ctx, stop := context.WithTimeout(t.Context(), time.Minute)
				defer stop()
				worker.Run(ctx)
				if len(handled) < 2 || handled[1] > 15*time.Second {
					t.Errorf("handled after %v, want again within 15 s: the database worked after 8", handled)
				}
			})
		})
	}
}
