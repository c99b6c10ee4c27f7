package contactcheck

import (
	"testing"
	"time"
)

func TestNewCheck_DaysCountFromRegistration(t *testing.T) {
	t.Parallel()
	now := time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		since, due, reminder time.Time
	}{
		"at once":           {now, now.Add(15 * day), now.Add(5 * day)},
		"a guest, on day 1": {now.Add(-day), now.Add(14 * day), now.Add(4 * day)},
		"after an outage":   {now.Add(-10 * day), now.Add(5 * day), now.Add(2 * day)},
		"unknown":           {time.Time{}, now.Add(15 * day), now.Add(5 * day)},
		"clock set back":    {now.Add(day), now.Add(15 * day), now.Add(5 * day)},
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
