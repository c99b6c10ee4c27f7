package transferaway

import (
	"testing"
	"time"
)

func day(text string) time.Time {
	at, err := time.Parse(time.DateOnly, text)
	if err != nil {
		panic(err)
	}
	return at
}

func TestLocksOf_SixtyDaysAtGenericExtensions(t *testing.T) {
	t.Parallel()
	registered := map[Event]time.Time{EventRegistration: day("2026-11-01")}
	for _, test := range []struct {
		tld, now string
		locks    int
	}{
		{".com", "2026-11-17", 1}, {".com", "2026-12-30", 1}, {".com", "2026-12-31", 0}, {".de", "2026-11-17", 0}, {".co.uk", "2026-11-17", 0},
	} {
		locks := LocksOf(test.tld, registered, day(test.now))
		if len(locks) != test.locks {
			t.Errorf("%s on %s has %v", test.tld, test.now, locks)
		}
		if len(locks) == 1 && !locks[0].Until.Equal(day("2026-12-31")) {
			t.Errorf("the lock ends on %v", locks[0].Until)
		}
	}
	both := map[Event]time.Time{EventRegistration: day("2026-11-01"), EventRegistrantChange: day("2026-11-10")}
	if locks := LocksOf(".com", both, day("2026-11-17")); len(locks) != 2 || locks[0].Event != EventRegistrantChange {
		t.Errorf("the longest is not first: %v", locks)
	}
}

func TestLockRules_OutsideTheirDatesDontApply(t *testing.T) {
	t.Parallel()
	rules, err := parseLockRules("tld,event,days,from,until,source\n.test,transfer,10,2026-01-01,2026-06-01,x\n.test,transfer,30,2026-06-01,,x\n")
	if err != nil {
		t.Fatal(err)
	}
	for now, days := range map[string]int{"2026-05-31": 10, "2026-06-01": 30} {
		locks := activeLocks(rules, ".test", map[Event]time.Time{EventTransfer: day("2026-05-30")}, day(now))
		if len(locks) != 1 || locks[0].Days != days {
			t.Errorf("on %s: %v, want %d days", now, locks, days)
		}
	}
	for _, bad := range []string{".test,transfer,0,2026-01-01,,x", ".test,moon,10,2026-01-01,,x", ".test,transfer,10,soon,,x", ".test,transfer,10,2026-01-01,,"} {
		if _, err := parseLockRules("tld,event,days,from,until,source\n" + bad + "\n"); err == nil {
			t.Errorf("%s is accepted", bad)
		}
	}
}
