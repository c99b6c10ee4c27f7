package epp

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

// flood queues n commands of a class, which run until the registry has answered
// them.
func flood(t *testing.T, c *Client, priority Priority, n int, done *sync.WaitGroup) {
	t.Helper()
	for i := range n {
		done.Go(func() {
			_, _ = c.InfoDomain(t.Context(), InfoDomain{Name: fmt.Sprintf("n%d.test", i), Priority: priority})
		})
	}
	synctest.Wait()
}

func TestPool_QuotesNeverUseReservedConnections(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newSlowServer(time.Second, respondCheck)
		c := f.client(t, func(a *Account) { a.MaxConnections, a.OrderConnections = 3, 1 })
		var done sync.WaitGroup
		flood(t, c, PriorityQuote, 20, &done)
		before := time.Now()
		if _, err := c.CheckDomains(t.Context(), CheckDomains{Names: []string{"order.test"}}); err != nil {
			t.Error(err)
		}
		if waited := time.Since(before); waited != time.Second {
			t.Errorf("the order waited %s behind quotes", waited)
		}
		done.Wait()
	})
}

func TestCheckAvailability_OnlyPaymentsGoBeforeQuotes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newSlowServer(time.Second, respondPriced)
		c := f.client(t, func(a *Account) { a.MaxConnections, a.OrderConnections = 3, 1 })
		provisioner := NewProvisioner(c, nil)
		for _, purpose := range []registrar.QueryPurpose{registrar.ForPayment, registrar.ForQuote, registrar.ForDisplay} {
			var done sync.WaitGroup
			flood(t, c, PriorityQuote, 20, &done)
			before, asked := time.Now(), queryFor(provision.Register, "free.test")
			asked.Purpose = purpose
			if _, err := provisioner.CheckAvailability(t.Context(), asked); err != nil {
				t.Error(err)
			}
			if waited := time.Since(before); (waited == time.Second) != (purpose == registrar.ForPayment) {
				t.Errorf("purpose %d took %s behind quotes", purpose, waited)
			}
			done.Wait()
		}
	})
}

func TestPool_OrdersGoBeforeQuotesBeforeLookups(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var asked []string
		f := newSlowServer(time.Second, func(r *Node) reply {
			mu.Lock()
			defer mu.Unlock()
			asked = append(asked, strings.TrimSuffix(objectOf(r).Children[0].Text, ".test"))
			return respondCheck(r)
		})
		c := f.client(t, func(a *Account) { a.MaxConnections = 1 })
		var done sync.WaitGroup
		check := func(name string, class Priority) {
			done.Go(func() {
				if _, err := c.CheckDomains(t.Context(), CheckDomains{Names: []string{name + ".test"}, Priority: class}); err != nil {
					t.Error(err)
				}
			})
			time.Sleep(10 * time.Millisecond)
		}
		check("first", PriorityLookup) // on the only connection
		check("lookup", PriorityLookup)
		check("quote", PriorityQuote)
		check("order", PriorityOrder)
		done.Wait()
		if want := []string{"first", "order", "quote", "lookup"}; !slices.Equal(asked, want) {
			t.Errorf("sent in the order %v, want %v", asked, want)
		}
	})
}

func TestPool_FullQueueOfOneClassRefusesNoOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newSlowServer(time.Second, respondCheck)
		c := f.client(t, func(a *Account) { a.MaxConnections, a.OrderConnections, a.MaxWaiting = 2, 1, 5 })
		for _, full := range []Priority{PriorityLookup, PriorityQuote} {
			var done sync.WaitGroup
			flood(t, c, full, 10, &done) // these occupy the connections
			flood(t, c, full, 10, &done) // and these fill the queue
			if _, err := c.InfoDomain(t.Context(), InfoDomain{Name: "more.test", Priority: full}); registrar.CodeOf(err) != registrar.FaultBusy {
				t.Errorf("class %d: one command too many got %v", full, err)
			}
			for class := range full { // higher classes
				if _, err := c.CheckDomains(t.Context(), CheckDomains{Names: []string{"free.test"}, Priority: class}); err != nil {
					t.Errorf("class %d is full, and class %d got %v", full, class, err)
				}
			}
			done.Wait()
		}
	})
}

func TestRateLimit_ReservesOrderShareFromQuotes(t *testing.T) {
	t.Parallel()
	p := newRateLimit(10, 0.4)
	now := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	sent := 0
	for p.wait(now, PriorityQuote) == 0 {
		p.take(PriorityQuote)
		sent++
	}
	if sent != 6 || p.wait(now, PriorityLookup) == 0 || p.wait(now, PriorityOrder) != 0 {
		t.Errorf("%d quotes at once; lookups wait %s, orders %s", sent, p.wait(now, PriorityLookup), p.wait(now, PriorityOrder))
	}
}

func TestBatch_QuotesAreBatchedApartFromLookups(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var sizes []int
		f := &fakeServer{parallel: true, handle: func(r *Node) reply {
			mu.Lock()
			defer mu.Unlock()
			sizes = append(sizes, len(objectOf(r).Children))
			return respondCheck(r)
		}}
		c := f.client(t, nil)
		var done sync.WaitGroup
		for i := range 20 {
			done.Go(func() {
				if _, err := c.CheckDomains(t.Context(), CheckDomains{Names: []string{fmt.Sprintf("n%d.test", i)}, Priority: PriorityQuote}); err != nil {
					t.Error(err)
				}
			})
		}
		done.Go(func() {
			if _, err := c.CheckDomains(t.Context(), CheckDomains{Names: []string{"other.test"}, Priority: PriorityLookup}); err != nil {
				t.Error(err)
			}
		})
		done.Wait()
		slices.Sort(sizes)
		if !slices.Equal(sizes, []int{1, 20}) {
			t.Errorf("checks of %v names", sizes)
		}
	})
}
