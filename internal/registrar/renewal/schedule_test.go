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
		"on time":         {45 * day, 14 * day, true},
		"just in time":    {44 * day, 14 * day, true},
		"late":            {40 * day, 10 * day, true},
		"on the last day": {31 * day, day, true},
		"too late":        {31*day - time.Second, day - time.Second, false},
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
		"first":               {0, 14 * day, 3 * day, true},
		"second":              {1, 11 * day, 4 * day, true},
		"third":               {2, 7 * day, 0, false},
		"first, term is over": {0, 3 * day, 3 * day, false},
	} {
		next, again := Renewal{Attempts: test.attempts, TermEnd: began.Add(test.term)}.nextAttempt(began)
		if again != test.again || again && next.Sub(began) != test.want {
			t.Errorf("%s: %s, %t", name, next, again)
		}
	}
}
