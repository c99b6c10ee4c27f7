package admin

import (
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/inbox"
)

func TestBookingTime_IsAfterReportedBalance(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	ahead := now.AddDate(1, 0, 0).Add(500 * time.Millisecond)
	for _, test := range []struct {
		reported, want time.Time
	}{
		{time.Time{}, now}, // no balance is known
		{now.Add(-time.Hour), now},
		{now, now.Add(time.Second)},
		{ahead, now.AddDate(1, 0, 0).Add(time.Second)}, // the clock of the sandbox was advanced
	} {
		if got := bookingTime(now, inbox.QueriedBalance("one", &inbox.Balance{}, test.reported, test.reported)); !got.Equal(test.want) {
			t.Errorf("reported at %v: booked at %v, want %v", test.reported, got, test.want)
		}
	}
}
