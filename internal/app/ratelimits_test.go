package app

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/ratelimit"
)

func newTestBudget(t *testing.T, limits config.Limits, now *time.Time) *nameBudget {
	t.Helper()
	budget, err := newNameBudget(limits, func(_ string, windows ...ratelimit.Window) (*ratelimit.Limiter, error) {
		return ratelimit.New(ratelimit.Config{Windows: windows, Now: func() time.Time { return *now }})
	})
	if err != nil {
		t.Fatal(err)
	}
	return budget
}

func person(id string) registrar.Actor {
	return registrar.Actor{Kind: registrar.ActorPerson, Customer: id}
}

var smallLimits = config.Limits{QuotesPerMinute: 120, QuotesPerHour: 200, AgentQuotesPerMinute: 40, AgentQuotesPerHour: 400}

func TestNameBudget_CountsPerCustomerAcrossActors(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	budget := newTestBudget(t, smallLimits, &now)
	token := registrar.Actor{Kind: registrar.ActorToken, Customer: "cus_1", Through: "tok_1"}
	for call := range 6 { // 120 names, by page, token or application
		actor := person("cus_1")
		if call%2 == 0 {
			actor = token
		}
		if wait := budget.Spend(actor, registrar.ForQuote, 20); wait != 0 {
			t.Fatalf("call %d must wait %v", call, wait)
		}
	}
	for range 3 { // a refused call costs nothing
		if wait := budget.Spend(person("cus_1"), registrar.ForDisplay, 1); wait.Truncate(time.Second) != time.Minute {
			t.Errorf("the 121st name of a minute waits %v", wait)
		}
	}
	if wait := budget.Spend(person("cus_2"), registrar.ForQuote, 20); wait != 0 {
		t.Errorf("another customer waits %v", wait)
	}
	now = now.Add(time.Minute + time.Second)
	for call := range 4 {
		if wait := budget.Spend(person("cus_1"), registrar.ForQuote, 20); wait != 0 {
			t.Fatalf("after the wait, call %d must wait %v", call, wait)
		}
	}
	if wait := budget.Spend(person("cus_1"), registrar.ForQuote, 20); wait.Truncate(time.Second) != time.Hour-61*time.Second {
		t.Errorf("the 201st name of an hour waits %v", wait)
	}
}

func TestNameBudget_QuotesAndPaymentsCountSeparately(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	budget := newTestBudget(t, smallLimits, &now)
	for budget.Spend(person("cus_1"), registrar.ForDisplay, 20) == 0 {
	}
	if wait := budget.Spend(person("cus_1"), registrar.ForPayment, 20); wait != 0 {
		t.Errorf("a customer who looked at too many orders waits %v to pay one", wait)
	}
	for range 5 {
		budget.Spend(person("cus_1"), registrar.ForPayment, 20)
	}
	if wait := budget.Spend(person("cus_1"), registrar.ForPayment, 1); wait.Truncate(time.Second) != time.Minute {
		t.Errorf("attempts to pay are bounded too, and this one waits %v", wait)
	}
}

func TestNameBudget_AgentsCountAcrossBuyers(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	budget := newTestBudget(t, smallLimits, &now)
	agent := func(id, customer string) registrar.Actor {
		return registrar.Actor{Kind: registrar.ActorAgent, Through: id, Customer: customer}
	}
	budget.Spend(agent("agt_1", "cus_1"), registrar.ForQuote, 20)
	budget.Spend(agent("agt_1", "cus_2"), registrar.ForQuote, 20)
	if wait := budget.Spend(agent("agt_1", "cus_3"), registrar.ForQuote, 1); wait.Truncate(time.Second) != time.Minute {
		t.Errorf("the 41st name waits %v", wait)
	}
	for _, other := range []registrar.Actor{agent("agt_2", "cus_1"), person("cus_1"), {Kind: registrar.ActorSystem}, {Kind: registrar.ActorOperator}} {
		if wait := budget.Spend(other, registrar.ForQuote, 20); wait != 0 {
			t.Errorf("%+v waits %v", other, wait)
		}
	}
}

func TestNameBudget_ConcurrentCallsCountAllOrNone(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	budget := newTestBudget(t, smallLimits, &now)
	var admitted atomic.Int64
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			if budget.Spend(person("cus_1"), registrar.ForQuote, 20) == 0 {
				admitted.Add(20)
			}
		})
	}
	all.Wait()
	if n := admitted.Load(); n != 120 {
		t.Errorf("%d names were admitted", n)
	}
}
