package jobs_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dotkontor/dotkontor/internal/jobs"
)

func TestPace_SpreadsRows(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		pace, began := jobs.NewPace(10), time.Now()
		wait := func(want time.Duration) {
			t.Helper()
			if err := pace.Wait(t.Context()); err != nil || time.Since(began) != want {
				t.Errorf("waited until %s, want %s, %v", time.Since(began), want, err)
			}
		}
		wait(0)
		wait(100 * time.Millisecond)
		pace.Add(5)
		wait(700 * time.Millisecond)
		time.Sleep(time.Hour) // what was not used is not saved up
		began = time.Now()
		wait(0)
		wait(100 * time.Millisecond)
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if err := pace.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
}
