package jobs

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestDeleteInBatches_StopsWhenEmptyOrOnFirstError(t *testing.T) {
	t.Parallel()
	fault := errors.New("away")
	for name, test := range map[string]struct {
		batches []int
		fault   error
		want    int
	}{
		"nothing":   {batches: []int{0}},
		"some":      {batches: []int{5, 5, 2, 0}, want: 12},
		"a fault":   {batches: []int{5, 1}, fault: fault, want: 6},
		"all at it": {batches: []int{1}, fault: fault, want: 1},
	} {
		calls := 0
		all, err := DeleteInBatches(t.Context(), func(context.Context) (int, error) {
			calls++
			if calls == len(test.batches) {
				return test.batches[calls-1], test.fault
			}
			return test.batches[calls-1], nil
		})
		if all != test.want || !errors.Is(err, test.fault) || calls != len(test.batches) {
			t.Errorf("%s: %d, %v after %d batches", name, all, err, calls)
		}
	}
}

func TestDeleteInBatches_StopsWhenContextEnds(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	all, err := DeleteInBatches(ctx, func(context.Context) (int, error) {
		stop()
		return 1, nil
	})
	if all != 1 || !errors.Is(err, context.Canceled) {
		t.Errorf("%d, %v", all, err)
	}
}

func TestRunEvery_ContinuesAfterError(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithTimeout(t.Context(), time.Hour)
		defer stop()
		done, failed := 0, 0
		RunEvery(ctx, 25*time.Minute, func(context.Context) error {
			done++
			return errors.New("away")
		}, func(context.Context, error) { failed++ })
		if done != 2 || failed != 2 {
			t.Errorf("%d calls, %d errors", done, failed)
		}
	})
}
