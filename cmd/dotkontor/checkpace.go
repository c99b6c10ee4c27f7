package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// window is one limit of a service: so many requests in any stretch of that
// length.
type window struct {
	limit int
	per   time.Duration
}

// contractWindows are what a service allows that does not say what it allows.
var contractWindows = []window{{30, time.Minute}, {300, 6 * time.Hour}}

// safety is added to every wait: the service counts on its own clock.
const safety = 50 * time.Millisecond

const (
	maxLimit = 1_000_000
	maxPer   = 31 * 24 * time.Hour
)

// pacer lets requests go as fast as a service's sliding windows allow, and not
// faster. It remembers when each of our answers came, which is never earlier
// than when the service counted the request, so its own count never runs ahead
// of the service's. Requests of others behind the same address show only in what
// the service answers; there the pacer does what it is told.
type pacer struct {
	now func() time.Time

	mu        sync.Mutex
	windows   []window
	told      bool        // windows are the service's own words
	answered  []time.Time // our counted requests, oldest first
	underWay  int
	notBefore time.Time
	spent     map[time.Duration]standing
	changed   chan struct{} // closed at every change, then replaced
}

// standing is how a window stood in the service's last words.
type standing struct {
	used  int
	opens time.Time // when its oldest request leaves
	at    time.Time
}

func newPacer(now func() time.Time) *pacer {
	return &pacer{now: now, windows: contractWindows, spent: make(map[time.Duration]standing), changed: make(chan struct{})}
}

// wait returns when one more request may go, and counts it as under way.
func (p *pacer) wait(ctx context.Context) error {
	for {
		p.mu.Lock()
		pause, possible := p.pause()
		if possible && pause <= 0 {
			p.underWay++
			p.mu.Unlock()
			return nil
		}
		changed := p.changed
		p.mu.Unlock()
		if !possible {
			pause = maxPer // an answer under way will change that
		}
		timer := time.NewTimer(pause)
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

// pause is how long the next request has to wait. It is impossible to say while
// the requests under way fill a window by themselves.
func (p *pacer) pause() (pause time.Duration, possible bool) {
	now := p.now()
	pause = p.notBefore.Sub(now)
	for _, w := range p.windows {
		places := w.limit - p.underWay
		if places <= 0 {
			return 0, false
		}
		if n := len(p.answered); n >= places {
			pause = max(pause, p.answered[n-places].Add(w.per+safety).Sub(now))
		}
	}
	return pause, true
}

// limitReport is what the headers of one answer say.
type limitReport struct {
	windows []window // empty: nothing
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
	p.underWay--
	if len(report.windows) > 0 {
		p.windows, p.told = report.windows, true
	}
	if report.refused {
		p.notBefore = later(p.notBefore, now.Add(report.retryAfter))
	} else {
		p.answered = append(p.answered, now)
	}
	if report.per > 0 {
		p.note(report, now)
	}
	p.forget()
	close(p.changed)
	p.changed = make(chan struct{})
}

func (p *pacer) note(report limitReport, now time.Time) {
	for _, w := range p.windows {
		if w.per == report.per {
			p.spent[w.per] = standing{used: w.limit - report.remaining, opens: now.Add(report.reset), at: now}
		}
	}
	if report.remaining == 0 {
		p.notBefore = later(p.notBefore, now.Add(report.reset))
	}
}

// forget keeps only as many answers as the largest window can hold.
func (p *pacer) forget() {
	keep := 0
	for _, w := range p.windows {
		keep = max(keep, w.limit)
	}
	if extra := len(p.answered) - keep; extra > 0 {
		p.answered = slices.Delete(p.answered, 0, extra)
	}
}

func later(a, b time.Time) time.Time {
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
	at := later(now, p.notBefore)
	underWay := make([]time.Time, p.underWay)
	for i := range underWay {
		underWay[i] = now
	}
	ours := append(slices.Clone(p.answered), underWay...)
	histories := make([][]time.Time, len(p.windows))
	for i, w := range p.windows {
		histories[i] = append(p.others(w, ours), ours...)
		slices.SortFunc(histories[i], time.Time.Compare)
	}
	for range requests {
		for i, w := range p.windows {
			if n := len(histories[i]); n >= w.limit {
				at = later(at, histories[i][n-w.limit].Add(w.per+safety))
			}
		}
		for i := range histories {
			histories[i] = append(histories[i], at)
		}
	}
	return at
}

// others are the requests in a window that are not ours.
func (p *pacer) others(w window, ours []time.Time) []time.Time {
	told, known := p.spent[w.per]
	if !known {
		return nil
	}
	foreign := told.used
	for _, at := range ours {
		if at.After(told.at.Add(-w.per)) && !at.After(told.at) {
			foreign--
		}
	}
	var list []time.Time
	for i := range max(0, foreign) {
		if i == 0 {
			list = append(list, told.opens.Add(-w.per))
			continue
		}
		list = append(list, told.at)
	}
	return list
}

// limits are the windows in force, and whether the service told them.
func (p *pacer) limits() (windows []window, told bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.windows), p.told
}

// readPolicy reads RateLimit-Policy of the IETF draft: "60s";q=30;w=60, …
func readPolicy(header string) []window {
	var windows []window
	for item := range strings.SplitSeq(header, ",") {
		limit, okLimit := parameter(item, "q")
		per, okPer := parameter(item, "w")
		if okLimit && okPer && limit > 0 && limit <= maxLimit && per > 0 && time.Duration(per) <= maxPer/time.Second {
			windows = append(windows, window{limit, time.Duration(per) * time.Second})
		}
	}
	return windows
}

// parameter reads one whole number of an item of a structured header.
func parameter(item, name string) (int, bool) {
	for part := range strings.SplitSeq(item, ";") {
		if text, found := strings.CutPrefix(strings.TrimSpace(part), name+"="); found {
			value, err := strconv.Atoi(text)
			return value, err == nil && value >= 0
		}
	}
	return 0, false
}

// announce says beforehand how long a batch will take, in German and English.
func announce(names int, windows []window, told bool, now, end time.Time) (german, english string) {
	var germanLimits, englishLimits []string
	for _, w := range windows {
		germanLimits = append(germanLimits, fmt.Sprintf("%d je %s", w.limit, span(w.per)))
		englishLimits = append(englishLimits, fmt.Sprintf("%d per %s", w.limit, span(w.per)))
	}
	germanGuess, englishGuess := "erlaubt sind", "allowed are"
	if !told {
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
	german += fmt.Sprintf("dauert etwa %s, fertig um %s.", roughly(took), end.Local().Format(layout))
	return german, english + fmt.Sprintf("takes about %s, done at %s.", roughly(took), end.Local().Format(layout))
}

// span writes the length of a window.
func span(d time.Duration) string {
	switch {
	case d%time.Hour == 0:
		return fmt.Sprintf("%d h", d/time.Hour)
	case d%time.Minute == 0:
		return fmt.Sprintf("%d min", d/time.Minute)
	default:
		return fmt.Sprintf("%d s", d/time.Second)
	}
}
