package check

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/dotkontor/dotkontor/internal/cli"
)

// redrawInterval is fast enough to look alive and slow enough not to flicker.
const redrawInterval = 100 * time.Millisecond

// estimateInterval is how often a costly estimate is repeated.
const estimateInterval = 5 * time.Second

// printer prints results as they arrive. index is the position of a name in the batch.
type printer interface {
	// add takes one result; hidden ones are counted but not printed.
	add(index int, r row, hidden bool) error
	// tick is called regularly while results are pending.
	tick(p progress) error
	// finish prints the remaining results. It is called once.
	finish(p progress) error
}

type progress struct {
	total, done, free, failed int
	// left is the estimated remaining time, negative if unknown.
	left        time.Duration
	took        time.Duration
	interrupted bool
}

func (p progress) exitCode() int {
	switch {
	case p.interrupted:
		return cli.ExitInterrupted
	case p.free > 0:
		return cli.ExitOK
	case p.failed == p.total:
		return cli.ExitError
	default:
		return cli.ExitNoneAvailable
	}
}

func (p progress) line() string {
	text := fmt.Sprintf("%d/%d, %d free", p.done, p.total, p.free)
	if p.failed > 0 {
		text += fmt.Sprintf(", %d failed", p.failed)
	}
	if p.left >= 0 && p.done < p.total {
		text += ", " + formatDuration(p.left) + " left"
	}
	return text
}

// batch looks up many names with bounded concurrency.
type batch struct {
	names []string
	jobs  int
	ask   func(ctx context.Context, name string) row
	// first is the result of the first name, if it is known already.
	first *row
	// estimateEnd estimates when that many more names will be done; nil means extrapolate.
	// It may be costly, so it is not called at every redraw.
	estimateEnd func(names int) time.Time
	endAt       time.Time
	estimatedAt time.Time

	printer  printer
	onlyFree bool
	// progress receives a line that is redrawn in place; nil means none.
	progress       io.Writer
	redrawInterval time.Duration
	now            func() time.Time
}

type indexedRow struct {
	index int
	row   row
}

// run returns when every name has a result, or when ctx ends.
func (b *batch) run(ctx context.Context) (progress, error) {
	began := b.now()
	p := progress{total: len(b.names), left: -1}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	answers := b.start(ctx)
	ticker := time.NewTicker(b.redrawInterval)
	defer ticker.Stop()
	if b.first != nil {
		if err := b.record(&p, indexedRow{0, *b.first}); err != nil {
			return p, err
		}
	}
	for p.done < p.total && !p.interrupted {
		var err error
		select {
		case answer := <-answers:
			err = b.record(&p, answer)
		case <-ticker.C:
			b.estimate(&p, began)
			err = b.redraw(p)
		case <-ctx.Done():
			p.interrupted = true
		}
		if err != nil {
			return p, err
		}
	}
	p.took = b.now().Sub(began)
	if b.progress != nil {
		fmt.Fprint(b.progress, eraseLine)
	}
	return p, b.printer.finish(p)
}

// start starts the workers. They end after the last name or with ctx, which discards
// results in flight.
func (b *batch) start(ctx context.Context) <-chan indexedRow {
	answers := make(chan indexedRow, b.jobs)
	var taken atomic.Int64
	if b.first != nil {
		taken.Store(1)
	}
	take := func() int { return int(taken.Add(1)) - 1 }
	for range b.jobs {
		go func() {
			for i := take(); i < len(b.names) && ctx.Err() == nil; i = take() {
				r := b.ask(ctx, b.names[i])
				if ctx.Err() != nil {
					return // interrupted, so this is not a result
				}
				select {
				case answers <- indexedRow{i, r}:
				case <-ctx.Done():
					return
				}
			}
		}()
	}
	return answers
}

func (b *batch) record(p *progress, a indexedRow) error {
	p.done++
	switch {
	case a.row.free():
		p.free++
	case a.row.failed():
		p.failed++
	}
	return b.printer.add(a.index, a.row, b.onlyFree && !a.row.free())
}

func (b *batch) estimate(p *progress, began time.Time) {
	now, rest := b.now(), p.total-p.done
	switch {
	case b.estimateEnd != nil:
		if now.Sub(b.estimatedAt) >= estimateInterval {
			b.endAt, b.estimatedAt = b.estimateEnd(rest), now
		}
		p.left = max(0, b.endAt.Sub(now))
	case p.done > 0:
		p.left = now.Sub(began) / time.Duration(p.done) * time.Duration(rest)
	}
}

func (b *batch) redraw(p progress) error {
	if b.progress != nil {
		fmt.Fprint(b.progress, eraseLine+p.line())
	}
	return b.printer.tick(p)
}

func formatDuration(d time.Duration) string {
	switch {
	case d < time.Second:
		return "1 s"
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s", (d+time.Second-1)/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%d min", (d+time.Minute-1)/time.Minute)
	default:
		minutes := (d + time.Minute - 1) / time.Minute
		return fmt.Sprintf("%d h %d min", minutes/60, minutes%60)
	}
}
