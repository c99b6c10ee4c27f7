package check

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dotkontor/dotkontor/internal/cli"
)

// clockSlack is added to every wait to allow for clock differences with the service.
const clockSlack = 50 * time.Millisecond

// pacer sends requests as fast as a service's sliding windows allow. It records the
// time of each response, which is never before the service counted the request, so
// it never exceeds the service's count. Requests of other clients behind the same
// address are known only from the response headers, which take precedence.
type pacer struct {
	now func() time.Time

	mu         sync.Mutex
	windows    []cli.RateWindow
	advertised bool        // windows come from the service's headers
	answered   []time.Time // our counted requests, oldest first
	inFlight   int
	notBefore  time.Time
	usage      map[time.Duration]windowUsage
	changed    chan struct{} // closed at every change, then replaced
}

type windowUsage struct {
	used     int
	resetsAt time.Time // when its oldest request expires
	at       time.Time
}

func newPacer(now func() time.Time) *pacer {
	return &pacer{now: now, windows: cli.ContractWindows, usage: make(map[time.Duration]windowUsage), changed: make(chan struct{})}
}

// wait blocks until one more request may be sent, and counts it as in flight.
func (p *pacer) wait(ctx context.Context) error {
	for {
		p.mu.Lock()
		delay, possible := p.delay()
		if possible && delay <= 0 {
			p.inFlight++
			p.mu.Unlock()
			return nil
		}
		changed := p.changed
		p.mu.Unlock()
		if !possible {
			delay = cli.MaxWindow // a response in flight will change that
		}
		select {
		case <-time.After(delay):
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// delay returns how long the next request has to wait. possible is false while the
// requests in flight fill a window.
func (p *pacer) delay() (delay time.Duration, possible bool) {
	now := p.now()
	delay = p.notBefore.Sub(now)
	for _, w := range p.windows {
		places := w.Limit - p.inFlight
		if places <= 0 {
			return 0, false
		}
		if n := len(p.answered); n >= places {
			delay = max(delay, p.answered[n-places].Add(w.Per+clockSlack).Sub(now))
		}
	}
	return delay, true
}

// limitReport is the content of the rate-limit headers of one response.
type limitReport struct {
	windows []cli.RateWindow // empty if absent
	// per, remaining and reset are those of the tightest window; per is 0 if absent.
	per       time.Duration
	remaining int
	reset     time.Duration
	// retryAfter is set if the request was refused; refused requests are not counted.
	refused    bool
	retryAfter time.Duration
}

// done records the response to a request in flight.
func (p *pacer) done(report limitReport) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	p.inFlight--
	if len(report.windows) > 0 {
		p.windows, p.advertised = report.windows, true
	}
	if report.refused {
		p.notBefore = laterOf(p.notBefore, now.Add(report.retryAfter))
	} else {
		p.answered = append(p.answered, now)
	}
	if report.per > 0 {
		p.recordUsage(report, now)
	}
	p.trim()
	close(p.changed)
	p.changed = make(chan struct{})
}

func (p *pacer) recordUsage(report limitReport, now time.Time) {
	for _, w := range p.windows {
		if w.Per == report.per {
			p.usage[w.Per] = windowUsage{used: w.Limit - report.remaining, resetsAt: now.Add(report.reset), at: now}
		}
	}
	if report.remaining == 0 {
		p.notBefore = laterOf(p.notBefore, now.Add(report.reset))
	}
}

// trim drops responses that no window needs any more.
func (p *pacer) trim() {
	keep := 0
	for _, w := range p.windows {
		keep = max(keep, w.Limit)
	}
	if extra := len(p.answered) - keep; extra > 0 {
		p.answered = slices.Delete(p.answered, 0, extra)
	}
}

func laterOf(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// forecast returns when that many more requests will have been sent, if no other client
// uses our address. Foreign requests reported by the service are assumed to be as
// recent as possible.
func (p *pacer) forecast(requests int) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	at := laterOf(now, p.notBefore)
	ours := append(slices.Clone(p.answered), slices.Repeat([]time.Time{now}, p.inFlight)...)
	histories := make([][]time.Time, len(p.windows))
	for i, w := range p.windows {
		histories[i] = append(p.foreignRequests(w, ours), ours...)
		slices.SortFunc(histories[i], time.Time.Compare)
	}
	for range requests {
		for i, w := range p.windows {
			if n := len(histories[i]); n >= w.Limit {
				at = laterOf(at, histories[i][n-w.Limit].Add(w.Per+clockSlack))
			}
		}
		for i := range histories {
			histories[i] = append(histories[i], at)
		}
	}
	return at
}

// foreignRequests returns the requests in a window that are not ours.
func (p *pacer) foreignRequests(w cli.RateWindow, ours []time.Time) []time.Time {
	usage, known := p.usage[w.Per]
	if !known {
		return nil
	}
	foreign := usage.used
	for _, at := range ours {
		if at.After(usage.at.Add(-w.Per)) && !at.After(usage.at) {
			foreign--
		}
	}
	if foreign <= 0 {
		return nil
	}
	return append([]time.Time{usage.resetsAt.Add(-w.Per)}, slices.Repeat([]time.Time{usage.at}, foreign-1)...)
}

func (p *pacer) limits() (windows []cli.RateWindow, advertised bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.windows), p.advertised
}

func announcement(names int, windows []cli.RateWindow, advertised bool, now, end time.Time) string {
	limits := make([]string, 0, len(windows))
	for _, w := range windows {
		limits = append(limits, fmt.Sprintf("%d per %s", w.Limit, formatWindow(w.Per)))
	}
	label := "rate limit"
	if !advertised {
		label = "assumed rate limit"
	}
	text := fmt.Sprintf("%d names, %s %s: ", names, label, strings.Join(limits, " and "))
	took := end.Sub(now)
	if took < time.Second {
		return text + "no waiting"
	}
	layout := time.TimeOnly
	if took > 12*time.Hour {
		layout = "2006-01-02 15:04"
	}
	return text + fmt.Sprintf("takes about %s, done at %s", formatDuration(took), end.Local().Format(layout))
}

func formatWindow(d time.Duration) string {
	switch {
	case d%time.Hour == 0:
		return fmt.Sprintf("%d h", d/time.Hour)
	case d%time.Minute == 0:
		return fmt.Sprintf("%d min", d/time.Minute)
	default:
		return fmt.Sprintf("%d s", d/time.Second)
	}
}
