package sqldb

import (
	"slices"
	"testing"
)

func TestSortByReferences_CycleIsAnError(t *testing.T) {
	t.Parallel()
	if _, err := sortByReferences([]string{"a", "b"}, map[string][]string{"a": {"b"}, "b": {"a"}}); err == nil {
		t.Error("a cycle was accepted")
	}
	got, err := sortByReferences([]string{"a", "b", "c"}, map[string][]string{"a": {"c", "a"}, "c": {"b"}})
	if err != nil || !slices.Equal(got, []string{"b", "c", "a"}) {
		t.Errorf("got %v, %v", got, err)
	}
}
