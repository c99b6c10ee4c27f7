package jobs

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestLeaseEnd_OutlivesCallAndWrites(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 16, 0, 0, 0, 1999, time.UTC)
	worker := Worker[string]{Deadline: 20 * time.Second, Clock: func() time.Time { return now }}
	if got, want := worker.LeaseEnd(), time.Date(2026, 11, 16, 0, 1, 40, 1000, time.UTC); !got.Equal(want) {
		t.Errorf("LeaseEnd = %s, want %s", got, want)
	}
}

func TestCallContext_HasGraceAfterShutdown(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ deadline, shutdown, want time.Duration }{
		"deadline":              {deadline: 10 * time.Second, shutdown: time.Hour, want: 10 * time.Second},
		"shutdown":              {deadline: 20 * time.Second, shutdown: 2 * time.Second, want: 7 * time.Second},
		"deadline within grace": {deadline: 4 * time.Second, shutdown: 2 * time.Second, want: 4 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, stop := context.WithTimeout(t.Context(), test.shutdown)
				defer stop()
				began := time.Now()
				call, cancel := (&Worker[string]{Deadline: test.deadline}).CallContext(ctx)
				defer cancel()
				<-call.Done()
				if took := time.Since(began); took != test.want {
					t.Errorf("call context ended after %s, want %s", took, test.want)
				}
			})
		})
	}
}
