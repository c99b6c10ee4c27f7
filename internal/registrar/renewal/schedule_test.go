package renewal

import (
	"testing"
	"time"
)

func TestChargeDay_KeepsLeadAndNoticePeriod(t *testing.T) {
	t.Parallel()
	end := time.Date(2027, 6, 30, 12, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		announced time.Duration // before the end of the term
		charge    time.Duration
		inTime    bool
	}{
		"on time":         {45 * oneDay, 14 * oneDay, true},
		"just in time":    {44 * oneDay, 14 * oneDay, true},
		"late":            {40 * oneDay, 10 * oneDay, true},
		"on the last day": {31 * oneDay, oneDay, true},
		"too late":        {31*oneDay - time.Second, oneDay - time.Second, false},
	} {
		at, inTime := ChargeDay(".com", end, end.Add(-test.announced))
		if got := end.Sub(at); got != test.charge || inTime != test.inTime {
			t.Errorf("%s: charged %s before the end, %t", name, got, inTime)
		}
		window := AnnounceWindow(end.Add(-test.announced))
		if inWindow := !end.Before(window.From) && !end.After(window.Until); inWindow != test.inTime {
			t.Errorf("%s: in the window %t", name, inWindow)
		}
	}
}

func TestNextAttempt_DaysThreeAndSevenWithinTerm(t *testing.T) {
	t.Parallel()
	began := time.Date(2027, 6, 1, 3, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		attempts int
		term     time.Duration // from now to its end
		want     time.Duration
		again    bool
	}{
		"first":               {0, 14 * oneDay, 3 * oneDay, true},
		"second":              {1, 11 * oneDay, 4 * oneDay, true},
		"third":               {2, 7 * oneDay, 0, false},
		"first, term is over": {0, 3 * oneDay, 3 * oneDay, false},
	} {
		next, again := Renewal{Attempts: test.attempts, TermEnd: began.Add(test.term)}.nextAttempt(began)
		if again != test.again || again && next.Sub(began) != test.want {
			t.Errorf("%s: %s, %t", name, next, again)
		}
	}
}
