package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
)

func TestReconcile_ReadsAllPages(t *testing.T) {
	t.Parallel()
	all := make([]string, 2*reconcilePageSize+1)
	for i := range all {
		all[i] = fmt.Sprintf("%05d", i+1)
	}
	asked := 0
	next := func(_ context.Context, after string, limit int) ([]string, error) {
		asked++
		first, _ := slices.BinarySearch(all, after+"\x00")
		return all[first:min(first+limit, len(all))], nil
	}
	same := func(text string) string { return text }
	var read []string
	for one, err := range pages(t.Context(), next, same) {
		if err != nil {
			t.Fatal(err)
		}
		read = append(read, one)
	}
	if !slices.Equal(read, all) || asked != 3 {
		t.Errorf("%d rows in %d pages, want %d in 3", len(read), asked, len(all))
	}
	cut := errors.New("cut off")
	for _, err := range pages(t.Context(), func(context.Context, string, int) ([]string, error) { return nil, cut }, same) {
		if !errors.Is(err, cut) {
			t.Errorf("got %v", err)
		}
	}
}
