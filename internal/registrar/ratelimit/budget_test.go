package ratelimit

import (
	"context"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"
)

func TestBudget_MostSpecificNetworkLimitApplies(t *testing.T) {
	window := func(limit int) []Window { return []Window{{Limit: limit, Per: time.Minute}} }
	budget, err := NewBudget(Config{Windows: window(1)}, []NetworkLimit{
		{Network: netip.MustParsePrefix("198.51.100.0/24"), Windows: window(2)},
		{Network: netip.MustParsePrefix("198.51.100.64/26"), Windows: window(3)},
		{Network: netip.MustParsePrefix("2001:db8::/32"), Windows: window(4)},
	})
	if err != nil {
		t.Fatal(err)
	}
	for address, want := range map[string]int{
		"192.0.2.1": 1, "198.51.100.1": 2, "198.51.100.2": 2, "198.51.100.65": 3, "::ffff:198.51.100.3": 2, "2001:db8::1": 4,
		"2001:db8:0:1::1%eth0": 4,
	} {
		addr := netip.MustParseAddr(address)
		for i := range want + 1 {
			decision, windows := budget.Spend(addr)
			if decision.Allowed != (i < want) || windows[0].Limit != want {
				t.Errorf("%s, request %d: allowed %v in windows %v", address, i+1, decision.Allowed, windows)
			}
		}
	}
	if budget.Len() != 7 {
		t.Errorf("Len = %d, want 7", budget.Len())
	}
}

func TestBudgetRun_SweepsUntilStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		windows := []Window{{Limit: 30, Per: time.Minute}}
		budget, err := NewBudget(Config{Windows: windows}, []NetworkLimit{{Network: netip.MustParsePrefix("192.0.2.0/24"), Windows: windows}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		go budget.Run(ctx)
		budget.Spend(netip.MustParseAddr("192.0.2.1"))
		budget.Spend(netip.MustParseAddr("203.0.113.1"))
		time.Sleep(3 * time.Minute)
		synctest.Wait()
		if budget.Len() != 0 {
			t.Errorf("Len = %d, want 0", budget.Len())
		}
		stop()
	})
}

func TestNewBudget_RejectsInvalidWindows(t *testing.T) {
	good := Config{Windows: []Window{{Limit: 1, Per: time.Minute}}}
	if _, err := NewBudget(Config{}, nil); err == nil {
		t.Error("a budget without windows was accepted")
	}
	if _, err := NewBudget(good, []NetworkLimit{{Network: netip.MustParsePrefix("192.0.2.0/24")}}); err == nil {
		t.Error("a network without windows was accepted")
	}
}

func TestSpendToken_CountsTokenOnlyInListedNetworks(t *testing.T) {
	budget, err := NewBudget(Config{Windows: []Window{{Limit: 2, Per: time.Minute}}}, []NetworkLimit{
		{Network: netip.MustParsePrefix("198.51.100.0/24"), Windows: []Window{{Limit: 1, Per: time.Minute}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	shared, own := netip.MustParseAddr("198.51.100.1"), netip.MustParseAddr("192.0.2.1")
	for i, step := range []struct {
		addr  netip.Addr
		token string
		want  bool
	}{
		{shared, "", true},
		{shared, "", false}, // the shared address's own budget
		{shared, "a", true},
		{shared, "a", true},
		{shared, "a", false},
		{shared, "b", true},
		{own, "b", true},
		{own, "c", true},
		{own, "d", false},
		{own, "", false}, // tokens don't bypass the limit
		{shared, "b", true},
		{shared, "b", false},
	} {
		spend := func() (Decision, []Window) { return budget.SpendToken(step.addr, step.token) }
		if step.token == "" {
			spend = func() (Decision, []Window) { return budget.Spend(step.addr) }
		}
		decision, windows := spend()
		if decision.Allowed != step.want || len(windows) != 1 {
			t.Errorf("step %d: allowed %v in windows %v, want %v", i, decision.Allowed, windows, step.want)
		}
	}
}
