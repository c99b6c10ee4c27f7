package redis

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestBatch_RequestsDuringACallShareTheNext(t *testing.T) {
	t.Parallel()
	var b batch
	began, release := make(chan struct{}), make(chan struct{})
	var calls, most atomic.Int64
	send := func(requests []*request) {
		if calls.Add(1) == 1 {
			close(began)
			<-release
		}
		most.Store(max(most.Load(), int64(len(requests))))
		for _, r := range requests {
			r.tick++
		}
	}
	requests := make([]*request, 2*maxBatch)
	var all sync.WaitGroup
	ask := func(i int) {
		requests[i] = &request{}
		all.Go(func() { b.do(requests[i], send) })
	}
	ask(0)
	<-began
	for i := range requests[1:] {
		ask(i + 1)
	}
	for waiting := 0; waiting < len(requests)-1; time.Sleep(time.Millisecond) {
		b.mu.Lock()
		waiting = len(b.waiting)
		b.mu.Unlock()
	}
	close(release)
	all.Wait()
	for i, r := range requests {
		if r.tick != 1 {
			t.Errorf("request %d was answered %d times", i, r.tick)
		}
	}
	if calls.Load() != 3 || most.Load() != maxBatch { // 1, 64 and 63
		t.Errorf("%d calls with at most %d requests, want 3 with at most %d", calls.Load(), most.Load(), maxBatch)
	}
}

func TestBatch_FailureEndsAllThatWait(t *testing.T) {
	t.Parallel()
	var b batch
	began, release := make(chan struct{}), make(chan struct{})
	broken := errors.New("timeout")
	var calls atomic.Int64
	send := func(requests []*request) {
		if calls.Add(1) == 1 {
			close(began)
			<-release
		}
		for _, r := range requests {
			r.err = broken
		}
	}
	requests := make([]*request, 1000)
	var all sync.WaitGroup
	for i := range requests {
		requests[i] = &request{}
		all.Go(func() { b.do(requests[i], send) })
		if i == 0 {
			<-began
		}
	}
	for waiting := 0; waiting < len(requests)-1; time.Sleep(time.Millisecond) {
		b.mu.Lock()
		waiting = len(b.waiting)
		b.mu.Unlock()
	}
	close(release)
	all.Wait()
	for i, r := range requests {
		if !errors.Is(r.err, broken) {
			t.Fatalf("request %d: %v", i, r.err)
		}
	}
	if calls.Load() != 1 {
		t.Errorf("%d calls, want 1", calls.Load())
	}
}
