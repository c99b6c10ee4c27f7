package jobs_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dotkontor/dotkontor/internal/jobs"
	"github.com/dotkontor/dotkontor/internal/registrar"
)

func TestLoop_PanickingRowBacksOffOthersContinue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log := &bytes.Buffer{}
		var panics, done atomic.Int64
		loop := &jobs.Loop[string]{
			ListDue: func(context.Context, int) ([]string, error) { return []string{"bad", "good"}, nil },
			Key:     func(row string) string { return row },
			Do: func(_ context.Context, row string) {
				if row == "bad" {
					panics.Add(1)
					panic("canary")
				}
				done.Add(1)
			},
			OnError:  jobs.ErrorLogger(slog.New(slog.NewTextHandler(log, nil)), "mail"),
			Interval: time.Second, BatchSize: 8, Concurrency: 2,
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		loop.Run(ctx)
		// After 1, 2 and 4 minutes, of ten.
		if panics.Load() != 4 || done.Load() < 500 {
			t.Errorf("%d panics, %d done", panics.Load(), done.Load())
		}
		if text := log.String(); strings.Count(text, `msg="panic recovered"`) != 4 || !strings.Contains(text, "job=mail") ||
			!strings.Contains(text, "supervise_test.go") || strings.Contains(text, "canary") {
			t.Errorf("log: %s", text)
		}
	})
}

func TestLoop_FailedFetchBacksOffAndOutagesAreNotLogged(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		err    error
		logged bool
	}{
		"outage": {&registrar.Cause{Part: "database", Operation: "connect", Class: "connection_refused", Outage: true}, false},
		"other":  {fmt.Errorf("canary: %w", &registrar.Cause{Part: "database", Operation: "ListDueMails", Class: "deadlock", Err: errors.New("canary")}), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				log := &bytes.Buffer{}
				fetches := 0
				loop := &jobs.Loop[string]{
					ListDue: func(context.Context, int) ([]string, error) { fetches++; return nil, test.err },
					Key:     func(row string) string { return row }, Do: func(context.Context, string) {},
					OnError:  jobs.ErrorLogger(slog.New(slog.NewTextHandler(log, nil)), "mail"),
					Interval: time.Second, BatchSize: 8, Concurrency: 2,
				}
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
				defer cancel()
				loop.Run(ctx)
				if fetches < 10 || fetches > 16 { // 1, 2, 4, 8, 16 and then every 30 s
					t.Errorf("%d ListDue calls in five minutes", fetches)
				}
				if text := log.String(); strings.Contains(text, "canary") || strings.Contains(text, `cause="database: ListDueMails: deadlock"`) != test.logged || (text != "") != test.logged {
					t.Errorf("log: %s", text)
				}
			})
		})
	}
}

func TestLoop_HangingFetchTimesOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var failed []error
		loop := &jobs.Loop[string]{
			ListDue: func(ctx context.Context, _ int) ([]string, error) { <-ctx.Done(); return nil, ctx.Err() },
			Key:     func(row string) string { return row }, Do: func(context.Context, string) {},
			OnError:  func(_ context.Context, err error) { failed = append(failed, err) },
			Interval: time.Minute, BatchSize: 8, Concurrency: 2,
		}
		ctx, cancel := context.WithTimeout(t.Context(), 45*time.Second)
		defer cancel()
		loop.Run(ctx)
		if len(failed) != 1 || !errors.Is(failed[0], context.DeadlineExceeded) {
			t.Errorf("failed: %v", failed)
		}
	})
}

func TestSupervise_RestartsPanickingWorkWithBackoff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log := &bytes.Buffer{}
		runs := 0
		jobs.Supervise(t.Context(), jobs.ErrorLogger(slog.New(slog.NewTextHandler(log, nil)), "background"), func(context.Context) {
			if runs++; runs < 4 {
				panic("canary")
			}
		})
		if text := log.String(); runs != 4 || strings.Count(text, "panic recovered") != 3 || strings.Contains(text, "canary") {
			t.Errorf("%d runs; log: %s", runs, text)
		}
	})
}
