package registrar

import (
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestPageByDeadline_EarliestFirstAcrossPages(t *testing.T) {
	t.Parallel()
	// The number is the deadline; 0 means none.
	of := func(row string) (string, time.Time) {
		_, day, _ := strings.Cut(row, " ")
		if seconds, _ := strconv.ParseInt(day, 10, 64); seconds > 0 {
			return row, time.Unix(seconds, 0)
		}
		return row, time.Time{}
	}
	rows := []string{"e 0", "d 1800000000", "c 300", "b 300", "a 5"}
	var got []string
	after := ""
	for range 10 {
		page, next := PageByDeadline(append([]string(nil), rows...), of, after, 2)
		got = append(got, page...)
		if after == "" {
			rows = rows[:4] // "a", which was first, is handled meanwhile
		}
		if after = next; next == "" {
			break
		}
	}
	if want := "a 5,b 300,c 300,d 1800000000,e 0"; strings.Join(got, ",") != want {
		t.Errorf("%q, want %q", got, want)
	}
	if page, next := PageByDeadline(rows, of, "zzz", 2); len(page) != 0 || next != "" {
		t.Errorf("an unknown position: %q, %q", page, next)
	}
}
