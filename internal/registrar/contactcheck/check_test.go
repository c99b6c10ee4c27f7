package contactcheck

import (
	"testing"
	"time"
)

func TestNewCheck_DaysCountFromRegistration(t *testing.T) {
	t.Parallel()
	now := time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC)
	midnight := time.Date(2027, 3, 1, 23, 0, 0, 0, time.UTC) // in Germany
	for name, test := range map[string]struct {
		since, due, reminder time.Time
	}{
		"at once":           {now, midnight.Add(15 * day), now.Add(5 * day)},
		"a guest, on day 1": {now.Add(-day), midnight.Add(14 * day), now.Add(4 * day)},
		"after an outage":   {now.Add(-10 * day), midnight.Add(5 * day), now.Add(2 * day)},
		"unknown":           {time.Time{}, midnight.Add(15 * day), now.Add(5 * day)},
		"clock set back":    {now.Add(day), midnight.Add(15 * day), now.Add(5 * day)},
	} {
		check := newCheck(Domain{Since: test.since}, now)
		if !check.DueAt.Equal(test.due) || !check.StepAt.Equal(test.reminder) {
			t.Errorf("%s: due %s, reminder %s; want %s and %s", name, check.DueAt, check.StepAt, test.due, test.reminder)
		}
		last := check.reminded(check.StepAt)
		last = last.reminded(last.StepAt)
		if last.DueAt.Before(test.due) || last.DueAt.Sub(last.StepAt) != 0 || last.DueAt.Sub(check.StepAt.Add(minGap)) < lastWarning {
			t.Errorf("%s: suspended on %s", name, last.DueAt)
		}
	}
}

// Mails and pages name the last day; a suspension must not begin before it is over in Germany.
func TestCheck_SuspensionBeginsAfterTheLastDayInGermany(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ since, lastDay, due string }{
		{"2026-11-29T08:15:00Z", "2026-12-14", "2026-12-14T23:00:00Z"},
		{"2026-11-28T23:30:00Z", "2026-12-14", "2026-12-14T23:00:00Z"}, // the 29th in Germany
		{"2026-07-01T21:59:00Z", "2026-07-16", "2026-07-16T22:00:00Z"},
		{"2026-03-20T12:00:00Z", "2026-04-04", "2026-04-04T22:00:00Z"}, // summer time has begun
	} {
		since, err := time.Parse(time.RFC3339, test.since)
		if err != nil {
			t.Fatal(err)
		}
		check := newCheck(Domain{Since: since}, since)
		for check.Notices < LastNotice {
			if day := check.LastDay().Format(time.DateOnly); day != test.lastDay {
				t.Errorf("%s: mail %d names %s, want %s", test.since, check.Notices, day, test.lastDay)
			}
			check = check.reminded(check.StepAt)
		}
		if due := check.DueAt.Format(time.RFC3339); due != test.due || !check.StepAt.Equal(check.DueAt) || check.LastDay().Format(time.DateOnly) != test.lastDay {
			t.Errorf("%s: suspended at %s, step %s, last day %s", test.since, due, check.StepAt, check.LastDay())
		}
	}
}

// An earlier release stored the moment 15 days later and named its day.
func TestCheck_LastDayOfAnEarlierReleaseStays(t *testing.T) {
	t.Parallel()
	stored := Check{DueAt: time.Date(2026, 12, 14, 9, 15, 0, 0, time.UTC)}
	if day := stored.LastDay().Format(time.DateOnly); day != "2026-12-14" {
		t.Error(day)
	}
}
