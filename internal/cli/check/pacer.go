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

// clockSlack is added to every wait: the service counts on its own clock.
const clockSlack = 50 * time.Millisecond

// pacer lets requests go as fast as a service's sliding windows allow, and not
// faster. It remembers when each of our answers came, which is never earlier
// than when the service counted the request, so its own count never runs ahead
// of the service's. Requests of others behind the same address show only in what
// the service answers; there the pacer does what it is told.
type pacer struct {
	now func() time.Time

	mu         sync.Mutex
	windows    []cli.RateWindow
	advertised bool        // windows are the service's own words
	answered   []time.Time // our counted requests, oldest first
	inFlight   int
	notBefore  time.Time
	usage      map[time.Duration]windowUsage
	changed    chan struct{} // closed at every change, then replaced
}

// windowUsage is how a window stood in the service's last words.
type windowUsage struct {
	used     int
	resetsAt time.Time // when its oldest request leaves
	at       time.Time
}

func newPacer(now func() time.Time) *pacer {
	return &pacer{now: now, windows: cli.ContractWindows, usage: make(map[time.Duration]windowUsage), changed: make(chan struct{})}
}

// wait returns when one more request may go, and counts it as under way.
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
			delay = cli.MaxWindow // an answer under way will change that
		}
		timer := time.NewTimer(delay)
		select {
		case <-timer.C:
		case <-changed:
		case <-ctx.Done():
		}
		timer.Stop()
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

// delay is how long the next request has to wait. It is impossible to say while
// the requests under way fill a window by themselves.
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

// limitReport is what the headers of one answer say.
type limitReport struct {
	windows []cli.RateWindow // empty: nothing
	// per, remaining and reset are the tightest window's; per 0: nothing.
	per       time.Duration
	remaining int
	reset     time.Duration
	// retryAfter is set if the request was refused, and then it did not count.
	refused    bool
	retryAfter time.Duration
}

// done takes a request that was under way back in, with what its answer said.
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

// trim keeps only as many answers as the largest window can hold.
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

// forecast is when so many more requests will have been sent, if nobody else
// behind our address asks. Requests of others that the service has told us about
// are taken to be as young as they can be.
func (p *pacer) forecast(requests int) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	at := laterOf(now, p.notBefore)
	underWay := make([]time.Time, p.inFlight)
	for i := range underWay {
		underWay[i] = now
	}
	ours := append(slices.Clone(p.answered), underWay...)
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

// foreignRequests are the requests in a window that are not ours.
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
	var list []time.Time
	for i := range max(0, foreign) {
		if i == 0 {
			list = append(list, usage.resetsAt.Add(-w.Per))
			continue
		}
		list = append(list, usage.at)
	}
	return list
}

// limits are the windows in force, and whether the service told them.
func (p *pacer) limits() (windows []cli.RateWindow, advertised bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.windows), p.advertised
}

// announcement says beforehand how long a batch will take, in German and English.
func announcement(names int, windows []cli.RateWindow, advertised bool, now, end time.Time) (german, english string) {
	var germanLimits, englishLimits []string
	for _, w := range windows {
		germanLimits = append(germanLimits, fmt.Sprintf("%d je %s", w.Limit, formatWindow(w.Per)))
		englishLimits = append(englishLimits, fmt.Sprintf("%d per %s", w.Limit, formatWindow(w.Per)))
	}
	germanGuess, englishGuess := "erlaubt sind", "allowed are"
	if !advertised {
		germanGuess, englishGuess = "angenommen werden", "assumed are"
	}
	german = fmt.Sprintf("%d Namen, %s %s: ", names, germanGuess, strings.Join(germanLimits, " und "))
	english = fmt.Sprintf("%d names, %s %s: ", names, englishGuess, strings.Join(englishLimits, " and "))
	took := end.Sub(now)
	if took < time.Second {
		return german + "ohne Warten.", english + "no waiting."
	}
	layout := time.TimeOnly
	if took > 12*time.Hour {
		layout = "2006-01-02 15:04"
	}
	german += fmt.Sprintf("dauert etwa %s, fertig um %s.", formatDuration(took), end.Local().Format(layout))
	return german, english + fmt.Sprintf("takes about %s, done at %s.", formatDuration(took), end.Local().Format(layout))
}

// formatWindow writes the length of a window.
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
