package order_test

import (
	"errors"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

// otherShopper is a second agent that Anna has linked.
var otherShopper = registrar.Actor{Kind: registrar.ActorAgent, Through: "agt_other"}

// slowly makes each charge take that long.
func (w *world) slowly(span time.Duration) {
	w.provider.before = func() { time.Sleep(span) }
}

type completed struct {
	session order.Session
	err     error
	took    time.Duration
}

// twoCompletions completes an order with the first token and, while that is in
// progress, with the second one, at another node.
func (w *world) twoCompletions(id string, second registrar.Actor, tokens [2]string) [2]completed {
	w.t.Helper()
	other := w.start("other node")
	var out [2]completed
	var all sync.WaitGroup
	for i, service := range []*order.Service{w.service, other} {
		who := shopper
		if i == 1 {
			who = second
		}
		all.Go(func() {
			began := time.Now()
			session, err := service.CompleteSession(w.t.Context(), who, id, order.Completion{Token: tokens[i]})
			out[i] = completed{session, err, time.Since(began)}
		})
		synctest.Wait()
	}
	all.Wait()
	return out
}

func TestCompleteSession_SecondOneReturnsResultOfTheFirst(t *testing.T) {
	t.Parallel()
	for name, one := range map[string]struct {
		first   string
		want    order.SessionStatus
		code    registrar.Code
		problem registrar.Code
		charges int
	}{
		"paid":            {"spt_ok_first", order.SessionCompleted, "", "", 1},
		"declined":        {"spt_declined", "", order.PaymentDeclined, "", 0},
		"bank asks human": {"spt_human", order.NotReady, "", order.ProblemHuman, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.slowly(4 * time.Second)
				made := w.opened(order.Register, &carla, "eins")
				for i, got := range w.twoCompletions(made.Order.ID, shopper, [2]string{one.first, "spt_ok_second"}) {
					if code(got.err) != one.code || got.session.Problem != one.problem || one.want != "" && got.session.Status != one.want {
						t.Errorf("completion %d: %s, problem %q, %v", i+1, got.session.Status, got.session.Problem, got.err)
					}
					if got.took < 4*time.Second || got.took > 6*time.Second {
						t.Errorf("completion %d took %s", i+1, got.took)
					}
				}
				if n := w.provider.charges(); n != one.charges {
					t.Errorf("%d charges", n)
				}
				w.books()
			})
		})
	}
}

func TestCompleteSession_TwoLinkedAgentsPayOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.slowly(time.Second)
		w.store.linked = map[string]string{shopper.Through: anna, otherShopper.Through: anna}
		o, _ := w.made(wanted(order.Register, "eins"))
		for i, got := range w.twoCompletions(o.ID, otherShopper, [2]string{"spt_ok_1", "spt_ok_2"}) {
			if got.err != nil || got.session.Status != order.SessionCompleted {
				t.Errorf("agent %d: %s, %v", i+1, got.session.Status, got.err)
			}
		}
		if n := w.provider.charges(); n != 1 {
			t.Errorf("%d charges", n)
		}
		w.books()
	})
}

func TestCompleteSession_WaitingAgentThatIsUnlinkedLearnsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.provider.before = func() {
			time.Sleep(time.Second)
			w.store.mu.Lock()
			defer w.store.mu.Unlock()
			delete(w.store.linked, otherShopper.Through)
		}
		w.store.linked = map[string]string{shopper.Through: anna, otherShopper.Through: anna}
		o, _ := w.made(wanted(order.Register, "eins"))
		got := w.twoCompletions(o.ID, otherShopper, [2]string{"spt_declined", "spt_ok"})
		if code(got[1].err) != order.NoSuchOrder {
			t.Errorf("%s, %v", got[1].session.Status, got[1].err)
		}
		if n := w.provider.charges(); n != 0 {
			t.Errorf("%d charges", n)
		}
		w.books()
	})
}

// The deadline is 15 s; then the caller learns when to ask again.
func TestCompleteSession_UnresolvedAfterDeadlineIsAConflict(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.slowly(25 * time.Second)
		made := w.opened(order.Register, &carla, "eins")
		got := w.twoCompletions(made.Order.ID, shopper, [2]string{"spt_ok_1", "spt_ok_2"})
		if got[0].err != nil || got[0].session.Status != order.SessionCompleted {
			t.Errorf("the first: %s, %v", got[0].session.Status, got[0].err)
		}
		var e *registrar.Error
		if !errors.As(got[1].err, &e) || e.Code != order.PaymentInProgress || e.RetryAfter <= 0 || got[1].session.Status != order.InProgress {
			t.Errorf("the second: %s, %v", got[1].session.Status, got[1].err)
		}
		if got[1].took != 15*time.Second {
			t.Errorf("it waited %s", got[1].took)
		}
		w.books()
	})
}

func TestCompleteSession_ReadThatFailsAfterTheDeadlineIsAConflict(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.slowly(25 * time.Second)
		made := w.opened(order.Register, &carla, "eins")
		began, failed := time.Now(), false
		w.store.reading = func() error {
			if failed || time.Since(began) < order.CompletionWait-2*time.Second {
				return nil
			}
			failed = true // the last read begins before the deadline and fails after it
			time.Sleep(3 * time.Second)
			return errDown
		}
		got := w.twoCompletions(made.Order.ID, shopper, [2]string{"spt_ok_1", "spt_ok_2"})
		if !failed || code(got[1].err) != order.PaymentInProgress || got[1].session.Status != order.InProgress || got[1].session.Order.ID != made.Order.ID {
			t.Errorf("failed %v: %s of %q, %v", failed, got[1].session.Status, got[1].session.Order.ID, got[1].err)
		}
		w.books()
	})
}

// The first process dies in the middle and its node starts again: the one that
// waits at another node finds that nothing was charged and pays itself.
func TestCompleteSession_WaiterTakesOverAfterCrashOfTheFirst(t *testing.T) {
	t.Parallel()
	for name, crash := range map[string]struct {
		arrange func(*world)
		charges int
	}{
		"before the charge": {func(w *world) { w.provider.before = func() { w.provider.set(func(p *provider) { p.down = errDown }) } }, 1},
		"after the charge": {func(w *world) {
			w.provider.confirmed = func() { w.provider.set(func(p *provider) { p.down = errDown }) }
		}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				made := w.opened(order.Register, &carla, "eins")
				crash.arrange(w)
				// What a process that dies leaves behind: a lease in its node's name.
				_, _ = w.complete(made.Order.ID, "spt_ok_first")
				w.store.mu.Lock()
				left := w.store.orders[made.Order.ID]
				left.Node, left.DueAt = "node", time.Now().Add(time.Hour)
				w.store.orders[left.ID] = left
				w.store.mu.Unlock()
				w.provider.set(func(p *provider) { p.down, p.before, p.confirmed = nil, nil, nil })

				var all sync.WaitGroup
				all.Go(func() {
					got, err := w.start("other node").CompleteSession(t.Context(), shopper, made.Order.ID, order.Completion{Token: "spt_ok_second"})
					if err != nil || got.Status != order.SessionCompleted {
						t.Errorf("%s, %v", got.Status, err)
					}
				})
				synctest.Wait()
				w.runFor(w.start("node"), 10*time.Second)
				all.Wait()
				if n := w.provider.charges(); n != crash.charges {
					t.Errorf("%d charges", n)
				}
				w.books()
			})
		})
	}
}

func TestCompleteSession_HumanAtThePageIsAnsweredAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.store.linked = map[string]string{shopper.Through: anna}
		o, secret := w.made(wanted(order.Register, "eins"))
		url := w.pay(secret, o.Totals.Gross)
		began := time.Now()
		got, err := w.complete(o.ID, "spt_ok")
		if err != nil || got.Status != order.InProgress || got.Problem != order.ProblemPaying || got.PayURL == "" || time.Since(began) > time.Second {
			t.Fatalf("%s, problem %q, %v after %s", got.Status, got.Problem, err, time.Since(began))
		}
		// The human has paid, and no message of the provider has arrived.
		if !w.provider.pay(url) {
			t.Fatal("the page was closed")
		}
		time.Sleep(time.Second) // the provider is not asked again at once
		if got, err = w.complete(o.ID, "spt_ok"); err != nil || got.Status != order.SessionCompleted {
			t.Fatalf("%s, %v", got.Status, err)
		}
		if n := w.provider.charges(); n != 1 {
			t.Errorf("%d charges", n)
		}
		w.books()
	})
}

func TestCompleteSession_HumanAtThePageIsAnsweredWhileProviderIsAway(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.store.linked = map[string]string{shopper.Through: anna}
	o, secret := w.made(wanted(order.Register, "eins"))
	w.pay(secret, o.Totals.Gross)
	w.provider.set(func(p *provider) { p.down = errDown })
	if got, err := w.complete(o.ID, "spt_ok"); err != nil || got.Problem != order.ProblemPaying {
		t.Errorf("%s, problem %q, %v", got.Status, got.Problem, err)
	}
}

func TestCompleteSession_WaitEndsWithCallerAndNode(t *testing.T) {
	t.Parallel()
	for _, end := range []string{"caller", "node"} {
		t.Run(end, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				ended := make(chan struct{})
				completion := order.Completion{Token: "spt_ok_2"}
				if end == "node" {
					w.closing = ended
				} else {
					completion.Gone = ended
				}
				second := w.start("other node")
				w.slowly(10 * time.Second)
				made := w.opened(order.Register, &carla, "eins")
				var all sync.WaitGroup
				all.Go(func() { _, _ = w.complete(made.Order.ID, "spt_ok_1") })
				synctest.Wait()
				time.AfterFunc(2*time.Second, func() { close(ended) })
				began := time.Now()
				_, err := second.CompleteSession(t.Context(), shopper, made.Order.ID, completion)
				if code(err) != order.PaymentInProgress || time.Since(began) != 2*time.Second {
					t.Errorf("%v after %s", err, time.Since(began))
				}
				all.Wait()
				w.books()
			})
		})
	}
}

func TestCompleteSession_TooManyWaitersAreAnsweredAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.slowly(10 * time.Second)
		made := w.opened(order.Register, &carla, "eins")
		const many = 100
		var (
			all  sync.WaitGroup
			mu   sync.Mutex
			soon int
			seen = map[order.SessionStatus]int{}
		)
		for i := range many {
			all.Go(func() {
				began := time.Now()
				got, err := w.complete(made.Order.ID, "spt_ok_"+strconv.Itoa(i))
				mu.Lock()
				defer mu.Unlock()
				seen[got.Status]++
				if err != nil && time.Since(began) < time.Second {
					soon++
				}
			})
		}
		all.Wait()
		if soon != many-order.MostWaitersPerAgent-1 || seen[order.SessionCompleted] != order.MostWaitersPerAgent+1 {
			t.Errorf("%d answered at once; statuses %v", soon, seen)
		}
		w.books()
	})
}
