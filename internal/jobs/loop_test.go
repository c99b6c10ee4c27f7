package jobs_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dotkontor/dotkontor/internal/jobs"
)

// memStore holds rows until they are done.
type memStore struct {
	mu         sync.Mutex
	due        []string
	done       []string
	working    int
	maxWorking int
	listCalls  int
	failing    bool
}

func (s *memStore) listDue(_ context.Context, limit int) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listCalls++
	if s.failing {
		return nil, errors.New("broken")
	}
	return slices.Clone(s.due[:min(limit, len(s.due))]), nil
}

func (s *memStore) do(_ context.Context, row string) {
	s.mu.Lock()
	s.working++
	s.maxWorking = max(s.maxWorking, s.working)
	s.mu.Unlock()
	time.Sleep(100 * time.Millisecond)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.working--
	s.due = slices.DeleteFunc(s.due, func(other string) bool { return other == row })
	s.done = append(s.done, row)
}

func (s *memStore) loop() *jobs.Loop[string] {
	return &jobs.Loop[string]{
		ListDue: s.listDue, Do: s.do, Key: func(row string) string { return row }, OnError: func(context.Context, error) {},
		Interval: time.Minute, BatchSize: 8, Concurrency: 3,
	}
}

func TestLoop_ProcessesEachRowOnceWithinConcurrency(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &memStore{}
		for i := range 50 {
			s.due = append(s.due, strconv.Itoa(i))
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			s.loop().Run(ctx)
			close(done)
		}()
		time.Sleep(10 * time.Second) // 50 rows, 3 at a time, 0.1 s each; before the first tick
		cancel()
		<-done
		slices.Sort(s.done)
		if len(s.done) != 50 || len(slices.Compact(s.done)) != 50 || s.maxWorking != 3 {
			t.Errorf("%d done, %d concurrently", len(s.done), s.maxWorking)
		}
	})
}

func TestLoop_WakeProcessesRowImmediately(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &memStore{}
		loop := s.loop()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go loop.Run(ctx)
		synctest.Wait()
		s.mu.Lock()
		s.due = []string{"late"}
		s.mu.Unlock()
		loop.Wake()
		time.Sleep(time.Second)
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(s.done) != 1 {
			t.Error("ListDue was not called")
		}
	})
}

func TestLoop_FinishesRunningWorkOnShutdown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &memStore{due: []string{"a", "b", "c", "d"}}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			s.loop().Run(ctx)
			close(done)
		}()
		synctest.Wait()
		cancel()
		<-done
		if len(s.done) != 3 {
			t.Errorf("done = %v, want the three in flight", s.done)
		}
	})
}

func TestLoop_RetriesFailedFetchAtNextInterval(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &memStore{due: []string{"a"}, failing: true}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go s.loop().Run(ctx)
		time.Sleep(90 * time.Second)
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.listCalls != 2 {
			t.Errorf("%d ListDue calls in 90 s, want one at the start and one after a minute", s.listCalls)
		}
	})
}

func TestBackoff_DoublesUpToMaximum(t *testing.T) {
	t.Parallel()
	for attempts, want := range map[int]time.Duration{0: 10, 1: 10, 2: 20, 3: 40, 4: 50, 100: 50} {
		if got := jobs.Backoff(attempts, 10, 50); got != want {
			t.Errorf("Backoff after %d attempts = %d, want %d", attempts, got, want)
		}
	}
}

func TestLoop_PanickingBatchDoesNotBlockOtherRows(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &memStore{}
		loop := s.loop()
		for i := range 3 * loop.BatchSize {
			s.due = append(s.due, "bad"+strconv.Itoa(i))
		}
		s.due = append(s.due, "good")
		loop.Do = func(ctx context.Context, row string) {
			if row != "good" {
				panic(row)
			}
			s.do(ctx, row)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go loop.Run(ctx)
		time.Sleep(30 * time.Second) // before the first backoff ends
		s.mu.Lock()
		defer s.mu.Unlock()
		if !slices.Equal(s.done, []string{"good"}) {
			t.Errorf("done = %v, want the row behind the panicking ones", s.done)
		}
	})
}
