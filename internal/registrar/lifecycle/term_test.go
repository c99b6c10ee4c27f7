package lifecycle

import (
	"testing"
	"time"
)

func TestPolicy_NextActionFollowsTable(t *testing.T) {
	t.Parallel()
	for tld, want := range map[string][2]Action{ // of an unpaid and of a held domain
		".com": {ActHold, ActDelete},
		".it":  {ActHold, ActDelete},
		".be":  {ActDelete, ActDelete},
		".de":  {ActHandOver, ActHandOver},
		".at":  {ActDelete, ActDelete}, // with consent
		".eu":  {ActFollow, ActFollow},
		".fr":  {ActWait, ActWait},
	} {
		policy := PolicyOf(tld)
		if got := [2]Action{policy.NextAction(Unpaid), policy.NextAction(Held)}; got != want {
			t.Errorf("%s: %v, want %v", tld, got, want)
		}
	}
}

func TestPolicy_DeletionIsAtLeastEightDaysAfterHold(t *testing.T) {
	t.Parallel()
	end := time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC)
	policy := PolicyOf(".com")
	if got := policy.FirstStep(end); !got.Equal(end.AddDate(0, 0, 10)) {
		t.Errorf("held at %s", got)
	}
	if got := policy.DeletionAt(end, time.Time{}); !got.Equal(end.AddDate(0, 0, 35)) {
		t.Errorf("not held: deleted at %s", got)
	}
	for held, want := range map[int]int{10: 35, 27: 35, 30: 38, 50: 58} { // days after the end
		if got := policy.DeletionAt(end, end.AddDate(0, 0, held)); !got.Equal(end.AddDate(0, 0, want)) {
			t.Errorf("held after %d days: deleted at %s, want %d days", held, got, want)
		}
	}
}

func TestBrakeStatus_RemainingActionsOfDay(t *testing.T) {
	t.Parallel()
	status := BrakeStatus{Day: 7, Actions: 15}
	for name, test := range map[string]struct {
		day     int64
		allowed int
		want    int
	}{"the limit": {7, 0, 5}, "an allowance": {7, 40, 25}, "a smaller allowance": {7, 3, 5}, "the next day": {8, 40, 20}} {
		status.Allowed = test.allowed
		if got := status.remaining(test.day, 20); got != test.want {
			t.Errorf("%s: %d, want %d", name, got, test.want)
		}
	}
}

func TestLastAnniversary_SpreadsFirstReminders(t *testing.T) {
	t.Parallel()
	created := time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC)
	for now, want := range map[string]string{"2024-03-01": "2024-02-29", "2026-11-16": "2026-03-01", "2023-01-01": "2024-02-29"} {
		at, _ := time.Parse(time.DateOnly, now)
		if got := lastAnniversary(created, at).Format(time.DateOnly); got != want {
			t.Errorf("at %s: %s, want %s", now, got, want)
		}
	}
}
