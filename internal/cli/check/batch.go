package check

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/dotkontor/dotkontor/internal/cli"
)

// redrawInterval is fast enough to look alive and slow enough not to flicker.
const redrawInterval = 100 * time.Millisecond

// estimateInterval is how often a costly estimate is made anew.
const estimateInterval = 5 * time.Second

// printer shows answers as they come. index is the place of a name in the batch.
type printer interface {
	// add takes one answer; hidden ones are counted but not shown.
	add(index int, r row, hidden bool) error
	// tick is called now and then while answers are awaited.
	tick(p progress) error
	// finish prints what is still held back. It is called once.
	finish(p progress) error
}

// progress is how far a batch has come.
type progress struct {
	total, done, free, failed int
	// left is the time that the rest will take, negative if unknown.
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

// line is the progress in one line.
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

// batch asks about many names, so many at one moment.
type batch struct {
	names []string
	jobs  int
	ask   func(ctx context.Context, name string) row
	// first is the answer about the first name, if it is known already.
	first *row
	// estimateEnd estimates when so many more names will be done; nil means by
	// experience. It may be costly, so it is not asked at every redraw.
	estimateEnd func(names int) time.Time
	endAt       time.Time
	estimatedAt time.Time

	printer  printer
	onlyFree bool
	// progress gets a line that is drawn over and over; nil means none.
	progress       io.Writer
	redrawInterval time.Duration // from redraw to redraw
	now            func() time.Time
}

type indexedRow struct {
	index int
	row   row
}

// run ends when every name has its row, or when ctx ends.
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

// start sets the workers to work. Each ends with the last name or with ctx; what
// an answer under way after that says is lost.
func (b *batch) start(ctx context.Context) <-chan indexedRow {
	answers := make(chan indexedRow, b.jobs)
	var mu sync.Mutex
	next := 0
	if b.first != nil {
		next = 1
	}
	take := func() int {
		mu.Lock()
		defer mu.Unlock()
		next++
		return next - 1
	}
	for range b.jobs {
		go func() {
			for i := take(); i < len(b.names) && ctx.Err() == nil; i = take() {
				r := b.ask(ctx, b.names[i])
				if ctx.Err() != nil {
					return // cut off; that is no answer about the name
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

// formatDuration writes a duration as people say it.
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
