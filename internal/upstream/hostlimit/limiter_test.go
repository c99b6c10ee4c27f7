package hostlimit

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

const server = "rdap.example.net"

func succeed(context.Context) error { return nil }

func failWith(code registrar.Code) func(context.Context) error {
	return func(context.Context) error { return registrar.Fault(code, server, nil) }
}

func throttleFor(retryAfter time.Duration) func(context.Context) error {
	return func(context.Context) error {
		fault := registrar.Fault(registrar.FaultThrottled, server, nil)
		fault.RetryAfter = retryAfter
		return fault
	}
}

// takeTime is a call that takes d.
func takeTime(d time.Duration) func(context.Context) error {
	return func(ctx context.Context) error {
		select {
		case <-time.After(d):
			return nil
		case <-ctx.Done():
			return registrar.Fault(registrar.FaultTimeout, server, ctx.Err())
		}
	}
}

// mustRefuse checks that a call is refused at once without running, and returns its
// RetryAfter.
func mustRefuse(t *testing.T, g *Limiter, ctx context.Context, want registrar.Code) time.Duration { //nolint:revive // t comes first
	t.Helper()
	began := time.Now()
	err := g.Do(ctx, server, func(context.Context) error {
		t.Error("the host was called")
		return nil
	})
	var fault *registrar.Error
	if !errors.As(err, &fault) || fault.Code != want || fault.Kind != registrar.KindUpstream || fault.Detail != server {
		t.Fatalf("got %v, want %s", err, want)
	}
	if took := time.Since(began); took != 0 {
		t.Errorf("the refusal took %s", took)
	}
	return fault.RetryAfter
}

// eventLog records the events of a limiter.
type eventLog struct {
	mu   sync.Mutex
	seen []Event
}

func (d *eventLog) record(_ string, event Event) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.seen = append(d.seen, event)
}

func (d *eventLog) count(event Event) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := 0
	for _, seen := range d.seen {
		if seen == event {
			n++
		}
	}
	return n
}

func mustPass(t *testing.T, g *Limiter) {
	t.Helper()
	if err := g.Do(t.Context(), server, succeed); err != nil {
		t.Fatalf("refused: %v", err)
	}
}

func TestLimiter_NilAdmitsEverything(t *testing.T) {
	t.Parallel()
	var g *Limiter
	asked := false
	err := g.Do(t.Context(), server, func(context.Context) error {
		asked = true
		return context.Canceled
	})
	if !asked || !errors.Is(err, context.Canceled) {
		t.Errorf("asked %v, %v", asked, err)
	}
}

func TestLimiter_MaxConcurrentAndFIFO(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := New(Options{PerSecond: -1, MaxConcurrent: 3})
		var mu sync.Mutex
		underWay, most := 0, 0
		var order []int
		done := make(chan error)
		for i := range 12 {
			go func() {
				done <- g.Do(t.Context(), server, func(ctx context.Context) error {
					mu.Lock()
					order = append(order, i)
					underWay++
					most = max(most, underWay)
					mu.Unlock()
					defer func() {
						mu.Lock()
						underWay--
						mu.Unlock()
					}()
					// Different durations, so that permits are returned one by one.
					return takeTime(time.Second + time.Duration(i)*time.Millisecond)(ctx)
				})
			}()
			synctest.Wait() // fixes the order of arrival
		}
		for range 12 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		if most != 3 {
			t.Errorf("%d were in flight at once", most)
		}
		for place, i := range order {
			if place != i {
				t.Fatalf("the order is %v", order)
			}
		}
	})
}

func TestLimiter_NewCallWaitsBehindQueue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := New(Options{})
		h := g.acquireHost(server)
		first := make(chan struct{}, 1) // its turn has come, but it has not woken up yet
		h.queue.PushBack(first)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := g.Do(ctx, server, succeed); registrar.CodeOf(err) != registrar.FaultBusy {
			t.Errorf("got %v", err)
		}
		if len(first) != 1 {
			t.Error("the first waiter was not woken")
		}
	})
}

func TestLimiter_BeyondMaxWaitingIsRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var events eventLog
		g := New(Options{PerSecond: -1, MaxConcurrent: 1, MaxWaiting: 2, Observe: events.record})
		done := make(chan error)
		for range 3 {
			go func() { done <- g.Do(t.Context(), server, takeTime(time.Second)) }()
		}
		synctest.Wait()
		mustRefuse(t, g, t.Context(), registrar.FaultBusy)
		for range 3 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		mustPass(t, g)
		if events.count(RefusedBusy) != 1 || events.count(Waited) != 2 {
			t.Errorf("observed %v", events.seen)
		}
	})
}

func TestLimiter_WaitEndsWithContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := New(Options{PerSecond: -1, MaxConcurrent: 1})
		first := make(chan error)
		go func() { first <- g.Do(t.Context(), server, takeTime(time.Minute)) }()
		synctest.Wait()

		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		err := g.Do(short, server, succeed)
		if registrar.CodeOf(err) != registrar.FaultBusy || time.Since(began) != time.Second {
			t.Errorf("out of time: %v after %s", err, time.Since(began))
		}
		left, leave := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, leave)
		err = g.Do(left, server, succeed)
		if registrar.CodeOf(err) != registrar.FaultTimeout || !errors.Is(err, context.Canceled) {
			t.Errorf("left: %v", err)
		}
		if err := <-first; err != nil {
			t.Error(err)
		}
		mustPass(t, g)
	})
}

func TestLimiter_PanicReleasesSlot(t *testing.T) {
	t.Parallel()
	g := New(Options{MaxConcurrent: 1})
	func() {
		defer func() { _ = recover() }()
		_ = g.Do(t.Context(), server, func(context.Context) error { panic("a bug") })
	}()
	mustPass(t, g)
}

func TestLimiter_HostsAreIndependent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := New(Options{PerSecond: 1, Burst: 20})
		for range 20 {
			_ = g.Do(t.Context(), server, failWith(registrar.FaultBroken))
		}
		mustRefuse(t, g, t.Context(), registrar.FaultBusy)
		for range 20 {
			if err := g.Do(t.Context(), "rdap.other.example", succeed); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestLimiter_EvictsIdleHostsAtMaxHosts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := New(Options{MaxHosts: 10})
		name := func(i int) string { return fmt.Sprintf("rdap%d.example", i) }
		for i := range 10 {
			if err := g.Do(t.Context(), name(i), succeed); err != nil {
				t.Fatal(err)
			}
		}
		if err := g.Do(t.Context(), name(10), succeed); registrar.CodeOf(err) != registrar.FaultBusy {
			t.Errorf("the eleventh: %v", err)
		}
		// One host is paused and must be kept, the others are evicted.
		_ = g.Do(t.Context(), name(3), throttleFor(5*time.Minute))
		time.Sleep(time.Minute)
		if err := g.Do(t.Context(), name(10), succeed); err != nil {
			t.Errorf("after a quiet minute: %v", err)
		}
		if err := g.Do(t.Context(), name(3), succeed); registrar.CodeOf(err) != registrar.FaultThrottled {
			t.Errorf("the paused host was evicted: %v", err)
		}
		if kept := len(g.hosts); kept != 2 {
			t.Errorf("%d hosts are kept", kept)
		}
	})
}
