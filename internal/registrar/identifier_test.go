package registrar_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

func TestNewID_UniqueAndSortedByTime(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 15, 0, 0, 0, 0, time.UTC)
	var ids []string
	for i := range 1000 {
		ids = append(ids, registrar.NewID("cus_", at.Add(time.Duration(i)*time.Millisecond)))
	}
	if !slices.IsSorted(ids) {
		t.Error("later identifiers do not sort after earlier ones")
	}
	if slices.Sort(ids); len(slices.Compact(ids)) != 1000 {
		t.Error("two identifiers are equal")
	}
	if got := ids[0]; len(got) != len("cus_")+26 || !strings.HasPrefix(got, "cus_") {
		t.Errorf("%q is not a prefix and 26 characters", got)
	}
}
