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

// slowCharges makes each charge take that long.
func (env *testEnv) slowCharges(span time.Duration) {
	env.provider.beforeCharge = func() { time.Sleep(span) }
}

type completionResult struct {
	session order.Session
	err     error
	took    time.Duration
}

// twoCompletions completes an order with the first token and, while that is in
// progress, with the second one on another node.
func (env *testEnv) twoCompletions(id string, second registrar.Actor, tokens [2]string) [2]completionResult {
	env.t.Helper()
	other := env.startNode("other node")
	var out [2]completionResult
	var all sync.WaitGroup
	for i, service := range []*order.Service{env.service, other} {
		who := shopper
		if i == 1 {
			who = second
		}
		all.Go(func() {
			began := time.Now()
			session, err := service.CompleteSession(env.t.Context(), who, id, order.Completion{Token: tokens[i]})
			out[i] = completionResult{session, err, time.Since(began)}
		})
		synctest.Wait()
	}
	all.Wait()
	return out
}

func TestCompleteSession_ConcurrentCallReturnsFirstResult(t *testing.T) {
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
				env := newEnv(t)
				env.slowCharges(4 * time.Second)
				made := env.createSession(order.Register, &carla, "eins")
				for i, got := range env.twoCompletions(made.Order.ID, shopper, [2]string{one.first, "spt_ok_second"}) {
					if code(got.err) != one.code || got.session.Problem != one.problem || one.want != "" && got.session.Status != one.want {
						t.Errorf("completion %d: %s, problem %q, %v", i+1, got.session.Status, got.session.Problem, got.err)
					}
					if got.took < 4*time.Second || got.took > 6*time.Second {
						t.Errorf("completion %d took %s", i+1, got.took)
					}
				}
				if n := env.provider.charges(); n != one.charges {
					t.Errorf("%d charges", n)
				}
				env.checkInvariants()
			})
		})
	}
}

func TestCompleteSession_TwoLinkedAgentsPayOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		env := newEnv(t)
		env.slowCharges(time.Second)
		env.store.linked = map[string]string{shopper.Through: anna, otherShopper.Through: anna}
		o, _ := env.createOrder(newRequest(order.Register, "eins"))
		for i, got := range env.twoCompletions(o.ID, otherShopper, [2]string{"spt_ok_1", "spt_ok_2"}) {
			if got.err != nil || got.session.Status != order.SessionCompleted {
				t.Errorf("agent %d: %s, %v", i+1, got.session.Status, got.err)
			}
		}
		if n := env.provider.charges(); n != 1 {
			t.Errorf("%d charges", n)
		}
		env.checkInvariants()
	})
}

func TestCompleteSession_UnlinkedWaiterLearnsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		env := newEnv(t)
		env.provider.beforeCharge = func() {
			time.Sleep(time.Second)
			env.store.mu.Lock()
			defer env.store.mu.Unlock()
			delete(env.store.linked, otherShopper.Through)
		}
		env.store.linked = map[string]string{shopper.Through: anna, otherShopper.Through: anna}
		o, _ := env.createOrder(newRequest(order.Register, "eins"))
		got := env.twoCompletions(o.ID, otherShopper, [2]string{"spt_declined", "spt_ok"})
		if code(got[1].err) != order.NoSuchOrder {
			t.Errorf("%s, %v", got[1].session.Status, got[1].err)
		}
		if n := env.provider.charges(); n != 0 {
			t.Errorf("%d charges", n)
		}
		env.checkInvariants()
	})
}

// The wait ends after 15 s with a Retry-After.
func TestCompleteSession_UnresolvedAfterDeadlineIsConflict(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		env := newEnv(t)
		env.slowCharges(25 * time.Second)
		made := env.createSession(order.Register, &carla, "eins")
		got := env.twoCompletions(made.Order.ID, shopper, [2]string{"spt_ok_1", "spt_ok_2"})
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
		env.checkInvariants()
	})
}

func TestCompleteSession_FailedReadAfterDeadlineIsConflict(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		env := newEnv(t)
		env.slowCharges(25 * time.Second)
		made := env.createSession(order.Register, &carla, "eins")
		began, failed := time.Now(), false
		env.store.onRead = func() error {
			if failed || time.Since(began) < order.CompletionWait-2*time.Second {
				return nil
			}
			failed = true // the last read starts before the deadline and fails after it
			time.Sleep(3 * time.Second)
			return errDown
		}
		got := env.twoCompletions(made.Order.ID, shopper, [2]string{"spt_ok_1", "spt_ok_2"})
		if !failed || code(got[1].err) != order.PaymentInProgress || got[1].session.Status != order.InProgress || got[1].session.Order.ID != made.Order.ID {
			t.Errorf("failed %v: %s of %q, %v", failed, got[1].session.Status, got[1].session.Order.ID, got[1].err)
		}
		env.checkInvariants()
	})
}

// The first process dies and its node restarts: the completion waiting on another node
// finds nothing charged and pays itself.
func TestCompleteSession_WaiterTakesOverAfterCrash(t *testing.T) {
	t.Parallel()
	for name, crash := range map[string]struct {
		arrange func(*testEnv)
		charges int
	}{
		"before the charge": {func(env *testEnv) {
			env.provider.beforeCharge = func() { env.provider.set(func(p *fakeProvider) { p.down = errDown }) }
		}, 1},
		"after the charge": {func(env *testEnv) {
			env.provider.afterCharge = func() { env.provider.set(func(p *fakeProvider) { p.down = errDown }) }
		}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				env := newEnv(t)
				made := env.createSession(order.Register, &carla, "eins")
				crash.arrange(env)
				// A process that dies leaves a lease of its node.
				_, _ = env.complete(made.Order.ID, "spt_ok_first")
				env.store.mu.Lock()
				left := env.store.orders[made.Order.ID]
				left.Node, left.DueAt = "node", time.Now().Add(time.Hour)
				env.store.orders[left.ID] = left
				env.store.mu.Unlock()
				env.provider.set(func(p *fakeProvider) { p.down, p.beforeCharge, p.afterCharge = nil, nil, nil })

				var all sync.WaitGroup
				all.Go(func() {
					got, err := env.startNode("other node").CompleteSession(t.Context(), shopper, made.Order.ID, order.Completion{Token: "spt_ok_second"})
					if err != nil || got.Status != order.SessionCompleted {
						t.Errorf("%s, %v", got.Status, err)
					}
				})
				synctest.Wait()
				env.runFor(env.startNode("node"), 10*time.Second)
				all.Wait()
				if n := env.provider.charges(); n != crash.charges {
					t.Errorf("%d charges", n)
				}
				env.checkInvariants()
			})
		})
	}
}

func TestCompleteSession_HumanAtPageReturnsAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		env := newEnv(t)
		env.store.linked = map[string]string{shopper.Through: anna}
		o, secret := env.createOrder(newRequest(order.Register, "eins"))
		url := env.pay(secret, o.Totals.Gross)
		began := time.Now()
		got, err := env.complete(o.ID, "spt_ok")
		if err != nil || got.Status != order.InProgress || got.Problem != order.ProblemPaying || got.PayURL == "" || time.Since(began) > time.Second {
			t.Fatalf("%s, problem %q, %v after %s", got.Status, got.Problem, err, time.Since(began))
		}
		// The customer has paid, and no webhook has arrived.
		if !env.provider.pay(url) {
			t.Fatal("the page was closed")
		}
		time.Sleep(time.Second) // beyond RecheckInterval
		if got, err = env.complete(o.ID, "spt_ok"); err != nil || got.Status != order.SessionCompleted {
			t.Fatalf("%s, %v", got.Status, err)
		}
		if n := env.provider.charges(); n != 1 {
			t.Errorf("%d charges", n)
		}
		env.checkInvariants()
	})
}

func TestCompleteSession_HumanAtPageReturnsWhileProviderIsDown(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	env.store.linked = map[string]string{shopper.Through: anna}
	o, secret := env.createOrder(newRequest(order.Register, "eins"))
	env.pay(secret, o.Totals.Gross)
	env.provider.set(func(p *fakeProvider) { p.down = errDown })
	if got, err := env.complete(o.ID, "spt_ok"); err != nil || got.Problem != order.ProblemPaying {
		t.Errorf("%s, problem %q, %v", got.Status, got.Problem, err)
	}
}

func TestCompleteSession_WaitEndsWithCallerAndNode(t *testing.T) {
	t.Parallel()
	for _, end := range []string{"caller", "node"} {
		t.Run(end, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				env := newEnv(t)
				ended := make(chan struct{})
				completion := order.Completion{Token: "spt_ok_2"}
				if end == "node" {
					env.draining = ended
				} else {
					completion.CallerGone = ended
				}
				second := env.startNode("other node")
				env.slowCharges(10 * time.Second)
				made := env.createSession(order.Register, &carla, "eins")
				var all sync.WaitGroup
				all.Go(func() { _, _ = env.complete(made.Order.ID, "spt_ok_1") })
				synctest.Wait()
				time.AfterFunc(2*time.Second, func() { close(ended) })
				began := time.Now()
				_, err := second.CompleteSession(t.Context(), shopper, made.Order.ID, completion)
				if code(err) != order.PaymentInProgress || time.Since(began) != 2*time.Second {
					t.Errorf("%v after %s", err, time.Since(began))
				}
				all.Wait()
				env.checkInvariants()
			})
		})
	}
}

func TestCompleteSession_ExcessWaitersReturnAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		env := newEnv(t)
		env.slowCharges(10 * time.Second)
		made := env.createSession(order.Register, &carla, "eins")
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
				got, err := env.complete(made.Order.ID, "spt_ok_"+strconv.Itoa(i))
				mu.Lock()
				defer mu.Unlock()
				seen[got.Status]++
				if err != nil && time.Since(began) < time.Second {
					soon++
				}
			})
		}
		all.Wait()
		if soon != many-order.MaxWaitersPerAgent-1 || seen[order.SessionCompleted] != order.MaxWaitersPerAgent+1 {
			t.Errorf("%d returned at once; statuses %v", soon, seen)
		}
		env.checkInvariants()
	})
}
