package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/dotkontor/dotkontor/test/testkit"
)

// resources are the resources that the product holds.
type resources struct {
	goroutines, files, heap float64
}

// Permitted growth: the scrape itself has a connection and its goroutines, and the heap
// size varies.
const (
	spareGoroutines = 4
	spareFiles      = 2
	spareHeap       = 4 << 20
	spareTime       = 500 * time.Millisecond
)

// sampleIdle lets the product idle and then measures. The minimum of several samples
// counts, because uncollected garbage is no leak.
func sampleIdle(ctx context.Context, product *testkit.Product, alone time.Duration) (resources, error) {
	select {
	case <-ctx.Done():
		return resources{}, ctx.Err()
	case <-time.After(alone):
	}
	var least resources
	for look := range 10 {
		metrics, err := product.Metrics(ctx)
		if err != nil {
			return resources{}, err
		}
		now := resources{
			goroutines: metrics.Sample("go_goroutines"),
			files:      metrics.Sample("process_open_fds"),
			heap:       metrics.Sample("go_memstats_heap_alloc_bytes"),
		}
		if look == 0 {
			least = now
		}
		least = resources{min(least.goroutines, now.goroutines), min(least.files, now.files), min(least.heap, now.heap)}
		time.Sleep(100 * time.Millisecond)
	}
	return least, nil
}

// limiterBytes is what the limiter stores of the requests by design: four bytes each
// for six hours, in logs that double when they are full.
func limiterBytes(requests int) float64 {
	each := 1
	for each < requests/addresses {
		each *= 2
	}
	return float64(4 * each * addresses)
}

// checklist prints checks and records whether all passed.
type checklist struct {
	out    io.Writer
	failed bool
}

func (t *checklist) check(ok bool, format string, args ...any) {
	verdict := "ok"
	if !ok {
		verdict, t.failed = "BROKEN", true
	}
	fmt.Fprintf(t.out, "%-7s"+format+"\n", append([]any{verdict}, args...)...)
}

// report prints the outcome and reports whether every check passed.
func report(out io.Writer, s settings, seen outcome, before, after resources) bool {
	fmt.Fprintf(out, "%s: %d answers in %s:", s.scenario.name, len(seen.took), s.duration)
	for _, kind := range slices.Sorted(maps.Keys(seen.answers)) {
		fmt.Fprintf(out, " %s %d", kind, seen.answers[kind])
	}
	fmt.Fprintln(out)
	t := &checklist{out: out}
	s.scenario.check(t, seen)
	p50, p99, worst := seen.percentile(0.5), seen.percentile(0.99), seen.percentile(1)
	t.check(len(seen.wrong) == 0, "wrong answers: %d %.300q", len(seen.wrong), seen.wrong)
	t.check(p99 <= responseDeadline, "p99 %s (p50 %s), wanted at most %s", p99, p50, responseDeadline)
	t.check(worst <= responseDeadline+spareTime, "longest %s, wanted at most %s and %s for a busy machine", worst, responseDeadline, spareTime)
	t.check(after.goroutines <= before.goroutines+spareGoroutines, "goroutines: %.0f before, %.0f after", before.goroutines, after.goroutines)
	t.check(after.files <= before.files+spareFiles, "open files and connections: %.0f before, %.0f after", before.files, after.files)
	limiter := limiterBytes(len(seen.took))
	t.check(after.heap <= before.heap+spareHeap+limiter, "heap: %.1f MB before, %.1f MB after, of which the limiter may remember %.1f MB",
		before.heap/1e6, after.heap/1e6, limiter/1e6)
	return !t.failed
}

// checkHostile requires definite answers in spite of the faults.
func checkHostile(t *checklist, seen outcome) {
	decided := seen.answers["free"] + seen.answers["taken"]
	t.check(2*decided >= len(seen.took) && seen.answers["free"] > 0 && seen.answers["taken"] > 0,
		"answers that decide: %d of %d, wanted half, of both kinds", decided, len(seen.took))
}
