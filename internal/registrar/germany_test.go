package registrar

import (
	"testing"
	"time"
)

func TestLastFullDay_IsTheDayBeforeTheEndInGermany(t *testing.T) {
	t.Parallel()
	for end, want := range map[string]string{
		"2028-01-23T17:48:00Z": "2028-01-22",
		"2028-01-22T23:00:00Z": "2028-01-22", // midnight in Germany
		"2028-01-22T22:59:59Z": "2028-01-21",
		"2028-07-01T22:30:00Z": "2028-07-01", // summer time
	} {
		at, err := time.Parse(time.RFC3339, end)
		if err != nil {
			t.Fatal(err)
		}
		if got := LastFullDay(at).Format(time.DateOnly); got != want {
			t.Errorf("%s: got %s, want %s", end, got, want)
		}
	}
	if !LastFullDay(time.Time{}).IsZero() {
		t.Error("an unknown end has a last day")
	}
}
