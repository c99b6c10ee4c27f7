package duty_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dotkontor/dotkontor/internal/duty"
)

// shelf holds rows until they are done.
type shelf struct {
	mu      sync.Mutex
	waiting []string
	done    []string
	working int
	most    int
	asked   int
	broken  bool
}

func (s *shelf) due(_ context.Context, limit int) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	if s.broken {
		return nil, errors.New("broken")
	}
	return slices.Clone(s.waiting[:min(limit, len(s.waiting))]), nil
}

func (s *shelf) do(_ context.Context, row string) {
	s.mu.Lock()
	s.working++
	s.most = max(s.most, s.working)
	s.mu.Unlock()
	time.Sleep(100 * time.Millisecond)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.working--
	s.waiting = slices.DeleteFunc(s.waiting, func(other string) bool { return other == row })
	s.done = append(s.done, row)
}

func (s *shelf) loop() *duty.Loop[string] {
	return &duty.Loop[string]{
		Due: s.due, Do: s.do, Key: func(row string) string { return row }, Failed: func(context.Context, error) {},
		Every: time.Minute, Batch: 8, AtOnce: 3,
	}
}

func TestEveryRowIsDoneOnceAndNeverTooManyAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{}
		for i := range 50 {
			s.waiting = append(s.waiting, strconv.Itoa(i))
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			s.loop().Run(ctx)
			close(done)
		}()
		time.Sleep(10 * time.Second) // 50 rows, 3 at a time, 0.1 s each; the ticker has not come
		cancel()
		<-done
		slices.Sort(s.done)
		if len(s.done) != 50 || len(slices.Compact(s.done)) != 50 || s.most != 3 {
			t.Errorf("%d done, %d at once", len(s.done), s.most)
		}
	})
}

func TestARowIsDoneAtOnceWhenTheLoopIsWoken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{}
		loop := s.loop()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go loop.Run(ctx)
		synctest.Wait()
		s.mu.Lock()
		s.waiting = []string{"late"}
		s.mu.Unlock()
		loop.Wake()
		time.Sleep(time.Second)
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(s.done) != 1 {
			t.Error("nobody looked")
		}
	})
}

func TestWhatIsUnderWayIsFinishedAtTheEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{waiting: []string{"a", "b", "c", "d"}}
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
			t.Errorf("%v are done, want the three that had begun", s.done)
		}
	})
}

func TestAFailedLookIsFollowedByAnotherOneLater(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{waiting: []string{"a"}, broken: true}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go s.loop().Run(ctx)
		time.Sleep(90 * time.Second)
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.asked != 2 {
			t.Errorf("asked %d times in 90 s, want at the start and after a minute", s.asked)
		}
	})
}

func TestPausesDoubleUpToTheLongest(t *testing.T) {
	t.Parallel()
	for attempts, want := range map[int]time.Duration{0: 10, 1: 10, 2: 20, 3: 40, 4: 50, 100: 50} {
		if got := duty.Pause(attempts, 10, 50); got != want {
			t.Errorf("after %d attempts %d, want %d", attempts, got, want)
		}
	}
}

func TestLoop_BatchOfPanickingRowsDoesNotHoldUpOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{}
		loop := s.loop()
		for i := range 3 * loop.Batch {
			s.waiting = append(s.waiting, "bad"+strconv.Itoa(i))
		}
		s.waiting = append(s.waiting, "good")
		loop.Do = func(ctx context.Context, row string) {
			if row != "good" {
				panic(row)
			}
			s.do(ctx, row)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go loop.Run(ctx)
		time.Sleep(30 * time.Second) // before the first rest ends
		s.mu.Lock()
		defer s.mu.Unlock()
		if !slices.Equal(s.done, []string{"good"}) {
			t.Errorf("done: %v, want the row behind those that panic", s.done)
		}
	})
}
