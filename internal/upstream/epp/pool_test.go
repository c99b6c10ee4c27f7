package epp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// newSlowServer responds after a delay, in parallel on all connections.
func newSlowServer(d time.Duration, handle func(*Node) reply) *fakeServer {
	return &fakeServer{parallel: true, handle: func(r *Node) reply {
		answer := handle(r)
		answer.after = d
		return answer
	}}
}

func TestPool_LookupsNeverUseReservedConnections(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newSlowServer(time.Second, respondCheck)
		c := f.client(t, func(a *Account) { a.MaxConnections, a.OrderConnections, a.BatchNames = 3, 1, 1 })
		ended := make(chan time.Duration, 10)
		began := time.Now()
		for i := range 10 {
			go func() {
				_, err := c.CheckDomains(t.Context(), CheckDomains{Names: []string{fmt.Sprintf("n%d.test", i)}, Priority: PriorityLookup})
				if err != nil {
					t.Error(err)
				}
				ended <- time.Since(began)
			}()
		}
		time.Sleep(100 * time.Millisecond)
		before := time.Now()
		if _, err := c.CheckDomains(t.Context(), CheckDomains{Names: []string{"order.test"}}); err != nil {
			t.Error(err)
		}
		if waited := time.Since(before); waited != time.Second {
			t.Errorf("the order waited %s behind lookups", waited)
		}
		for range 10 {
			<-ended
		}
		if took := time.Since(began); took != 5*time.Second {
			t.Errorf("ten lookups over two connections took %s", took)
		}
		if f.count(&f.maxOpen) > 3 {
			t.Errorf("%d connections at once", f.maxOpen)
		}
	})
}

func TestPool_OrdersGoFirstOnSingleConnection(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newSlowServer(time.Second, respondCheck)
		c := f.client(t, func(a *Account) { a.MaxConnections, a.BatchNames = 1, 1 })
		var wait sync.WaitGroup
		for i := range 5 {
			wait.Go(func() {
				_, _ = c.CheckDomains(t.Context(), CheckDomains{Names: []string{fmt.Sprintf("n%d.test", i)}, Priority: PriorityLookup})
			})
		}
		synctest.Wait()
		time.Sleep(100 * time.Millisecond)
		before := time.Now()
		if _, err := c.CheckDomains(t.Context(), CheckDomains{Names: []string{"order.test"}}); err != nil {
			t.Error(err)
		}
		if waited := time.Since(before); waited > 2*time.Second {
			t.Errorf("the order waited %s", waited)
		}
		wait.Wait()
	})
}

func TestPool_RateLimitReservesOrderShare(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var lookups, orders atomic.Int64
		f := &fakeServer{parallel: true, handle: func(r *Node) reply {
			if strings.HasPrefix(objectOf(r).Children[0].Text, "order") {
				orders.Add(1)
			} else {
				lookups.Add(1)
			}
			return respondCheck(r)
		}}
		c := f.client(t, func(a *Account) { a.PerSecond, a.OrderShare, a.BatchNames = 10, 0.4, 1 })
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		var wait sync.WaitGroup
		for class, name := range map[Priority]string{PriorityLookup: "n.test", PriorityOrder: "order.test"} {
			for range 4 {
				wait.Go(func() {
					for ctx.Err() == nil {
						_, err := c.CheckDomains(ctx, CheckDomains{Names: []string{name}, Priority: class})
						if err == nil && class == PriorityOrder {
							time.Sleep(time.Second) // four orders a second
						}
					}
				})
			}
		}
		wait.Wait()
		if all := lookups.Load() + orders.Load(); all > 10+10*10 {
			t.Errorf("%d commands in 10 s at 10 a second", all)
		}
		if got := lookups.Load(); got > 6+6*10 || got < 40 {
			t.Errorf("%d lookups", got)
		}
		if got := orders.Load(); got < 36 {
			t.Errorf("%d of 40 orders", got)
		}
	})
}

func TestPool_QueueIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newSlowServer(time.Second, respondOK)
		c := f.client(t, func(a *Account) { a.MaxConnections, a.MaxWaiting = 1, 2 })
		var wait sync.WaitGroup
		var busy atomic.Int64
		for range 6 {
			wait.Go(func() {
				_, err := c.UpdateDomain(t.Context(), UpdateDomain{Name: "a.test"})
				if registrar.CodeOf(err) == registrar.FaultBusy {
					if errors.Is(err, ErrOutcomeUnknown) {
						t.Error("an unsent command is reported as outcome unknown")
					}
					busy.Add(1)
				} else if err != nil {
					t.Error(err)
				}
			})
			synctest.Wait()
		}
		wait.Wait()
		if got := busy.Load(); got != 3 {
			t.Errorf("%d were refused, want 3: one is running, two are queued", got)
		}
	})
}

func TestPool_CancelledQueuedCommandIsNotSent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newSlowServer(time.Minute, respondOK)
		c := f.client(t, func(a *Account) { a.MaxConnections, a.TransformTimeout = 1, time.Hour })
		go func() { _, _ = c.UpdateDomain(t.Context(), UpdateDomain{Name: "first.test"}) }()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := c.UpdateDomain(ctx, UpdateDomain{Name: "second.test"})
		if registrar.CodeOf(err) != registrar.FaultTimeout || errors.Is(err, ErrOutcomeUnknown) {
			t.Errorf("got %v", err)
		}
		// A command whose context never ends fails after MaxQueueTime.
		began := time.Now()
		_, err = c.UpdateDomain(t.Context(), UpdateDomain{Name: "third.test"})
		if registrar.CodeOf(err) != registrar.FaultBusy || time.Since(began) != 30*time.Second {
			t.Errorf("got %v after %s", err, time.Since(began))
		}
		time.Sleep(5 * time.Minute)
		if got := f.verbs(); len(got) != 1 {
			t.Errorf("sent %v", got)
		}
	})
}

func TestPool_IdleConnectionGetsHelloThenLogout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fakeServer{handle: respondOK}
		c := f.client(t, nil)
		if _, err := c.UpdateDomain(t.Context(), UpdateDomain{Name: "a.test"}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(21 * time.Minute)
		if got := f.count(&f.hellos); got != 5 {
			t.Errorf("%d hellos in 21 minutes", got)
		}
		if _, err := c.UpdateDomain(t.Context(), UpdateDomain{Name: "a.test"}); err != nil || f.count(&f.connections) != 1 {
			t.Errorf("%v over %d connections", err, f.connections)
		}
		c.Close(t.Context())
		synctest.Wait() // the server notices the end a moment later
		if logouts, open := f.count(&f.logouts), f.count(&f.open); logouts != 1 || open != 0 {
			t.Errorf("%d logouts, %d open", logouts, open)
		}
		if _, err := c.UpdateDomain(t.Context(), UpdateDomain{Name: "a.test"}); registrar.CodeOf(err) != registrar.FaultBusy {
			t.Errorf("after Close: %v", err)
		}
	})
}

func TestClose_WaitsForRunningCommandsUntilDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newSlowServer(3*time.Second, respondOK)
		c := f.client(t, nil)
		result := make(chan error, 1)
		start := func() {
			_, err := c.UpdateDomain(t.Context(), UpdateDomain{Name: "a.test"})
			result <- err
		}
		go start()
		synctest.Wait()
		c.Close(t.Context())
		if err := <-result; err != nil {
			t.Errorf("the running command: %v", err)
		}

		f = newSlowServer(time.Hour, respondOK)
		c = f.client(t, func(a *Account) { a.TransformTimeout = 24 * time.Hour })
		go start()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		c.Close(ctx)
		if err := <-result; !errors.Is(err, ErrOutcomeUnknown) || time.Since(began) > 2*time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}
	})
}

func TestPool_BacksOffWhenServerIsDown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fakeServer{handle: respondOK, greet: &reply{drop: true}}
		c := f.client(t, nil)
		for range 600 { // ten minutes
			_, err := c.UpdateDomain(t.Context(), UpdateDomain{Name: "a.test"})
			var fault *registrar.Error
			if !errors.As(err, &fault) || fault.Code != registrar.FaultRefused || fault.RetryAfter > 30*time.Second || fault.RetryAfter <= 0 {
				t.Fatalf("got %v", err)
			}
			time.Sleep(time.Second)
		}
		if got := f.count(&f.connections); got < 15 || got > 40 {
			t.Errorf("%d connections in ten minutes", got)
		}
		f.greet = nil // the server works again
		time.Sleep(31 * time.Second)
		if _, err := c.UpdateDomain(t.Context(), UpdateDomain{Name: "a.test"}); err != nil {
			t.Error(err)
		}
	})
}

func TestPool_RefusedConnectionsKeepOthersWorking(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fakeServer{handleAll: true, parallel: true}
		f.handle = func(r *Node) reply {
			if verbOf(r) == "login" && f.count(&f.open) > 1 {
				return reply{xml: responseXML(2502, tridOf(r), "", ""), drop: true}
			}
			answer := respondOK(r)
			answer.after = 100 * time.Millisecond
			return answer
		}
		c := f.client(t, nil)
		if _, err := c.UpdateDomain(t.Context(), UpdateDomain{Name: "a.test"}); err != nil {
			t.Fatal(err)
		}
		var wait sync.WaitGroup
		for range 50 {
			wait.Go(func() {
				if _, err := c.UpdateDomain(t.Context(), UpdateDomain{Name: "a.test"}); err != nil {
					t.Error(err)
				}
			})
		}
		wait.Wait()
		if got := f.count(&f.connections); got > 8 {
			t.Errorf("%d connections within five seconds", got)
		}
	})
}

func TestPool_ClosedConnectionIsNotReused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fakeServer{}
		f.handle = func(r *Node) reply { return reply{xml: respondOK(r).xml, drop: true} }
		c := f.client(t, func(a *Account) { a.MaxConnections = 1 })
		for range 5 {
			if _, err := c.UpdateDomain(t.Context(), UpdateDomain{Name: "a.test"}); err != nil {
				t.Error(err)
			}
			synctest.Wait()
		}
		if got := f.count(&f.connections); got != 5 {
			t.Errorf("%d connections", got)
		}
	})
}

func TestPool_DroppedConnectionsLeakNothing(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	f := &fakeServer{parallel: true, handle: func(r *Node) reply {
		answer := respondCheck(r)
		answer.drop = calls.Add(1)%7 == 0
		if calls.Load()%11 == 0 {
			return reply{drop: true}
		}
		return answer
	}}
	c := f.client(t, func(a *Account) { a.BatchNames = 5; a.BatchDelay = -1 })
	var wait sync.WaitGroup
	var wrong, failed atomic.Int64
	for i := range 1000 {
		wait.Go(func() {
			name := fmt.Sprintf("free%d.test", i)
			if i%2 == 0 {
				name = fmt.Sprintf("taken%d.test", i)
			}
			got, err := c.CheckDomains(t.Context(), CheckDomains{Names: []string{name}, Priority: Priority(i % 3 / 2)})
			switch {
			case err != nil:
				failed.Add(1)
			case got[0].Name != name || got[0].Available != (i%2 == 1):
				wrong.Add(1)
			}
		})
	}
	wait.Wait()
	if wrong.Load() > 0 || failed.Load() > 300 {
		t.Errorf("%d wrong, %d failed of 1000", wrong.Load(), failed.Load())
	}
	c.Close(t.Context())
	f.served.Wait()
	if f.maxOpen > 4 {
		t.Errorf("%d connections at once", f.maxOpen)
	}
}

func TestClose_DoesNotWaitForDialing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fakeServer{handle: respondOK, greet: &reply{xml: greetingXML(""), after: 9 * time.Second}}
		c := f.client(t, nil)
		result := make(chan error, 1)
		go func() {
			_, err := c.UpdateDomain(t.Context(), UpdateDomain{Name: "a.test"})
			result <- err
		}()
		synctest.Wait()
		began := time.Now()
		c.Close(t.Context())
		if err := <-result; registrar.CodeOf(err) != registrar.FaultBusy || time.Since(began) != 0 {
			t.Errorf("%v after %s", err, time.Since(began))
		}
	})
}
