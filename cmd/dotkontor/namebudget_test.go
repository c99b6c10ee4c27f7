package main

import (
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/quota"
)

func TestTryingOrdersIsNoWayRoundTheLimitOfLookups(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	budget, err := newNameBudget(60, 100, func(windows ...quota.Window) (*quota.Limiter, error) {
		return quota.New(quota.Config{Windows: windows, Now: func() time.Time { return now }})
	})
	if err != nil {
		t.Fatal(err)
	}
	for call := range 6 { // 120 names, whichever of the account's tokens asks
		if wait := budget.spend("cus_1", 20); wait != 0 {
			t.Fatalf("call %d must wait %v", call, wait)
		}
	}
	for range 3 { // and a refused call costs nothing
		if wait := budget.spend("cus_1", 1); wait != time.Minute {
			t.Errorf("the 121st name of a minute waits %v", wait)
		}
	}
	if wait := budget.spend("cus_2", 20); wait != 0 {
		t.Errorf("another account waits %v", wait)
	}
	now = now.Add(time.Minute + time.Second)
	for call := range 4 {
		if wait := budget.spend("cus_1", 20); wait != 0 {
			t.Fatalf("after the wait, call %d must wait %v", call, wait)
		}
	}
	if wait := budget.spend("cus_1", 20); wait != time.Hour {
		t.Errorf("the 201st name of an hour waits %v", wait)
	}
}

func TestTheLargestOrderFitsWhateverIsSet(t *testing.T) {
	t.Parallel()
	for _, calls := range []int{1, 100_000} {
		budget, err := newNameBudget(calls, calls, func(windows ...quota.Window) (*quota.Limiter, error) {
			return quota.New(quota.Config{Windows: windows})
		})
		if err != nil {
			t.Fatal(err)
		}
		if wait := budget.spend("cus_1", orderNames); wait != 0 {
			t.Errorf("with %d calls it waits %v", calls, wait)
		}
	}
}
