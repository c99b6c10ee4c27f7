package ratelimit

import "time"

// tickLength is the resolution of the log; see the package comment.
const tickLength = 10 * time.Microsecond

// moment is one reading of the clock: the time since the limiter's origin. The origin is one tick
// before its start, so that every moment has a tick of at least 1 and tick 0 can mean "never".
type moment time.Duration

func (m moment) tick() int64 { return int64(m) / int64(tickLength) }

// until returns the time from m to the beginning of a tick.
func (m moment) until(tick int64) time.Duration {
	return time.Duration(tick)*tickLength - time.Duration(m)
}

// rule is a Window in ticks.
type rule struct {
	limit int
	per   int64
}

// rules holds the windows of a limiter in ticks.
type rules struct {
	windows []rule
	// longest is the length of the longest window. Older hits are irrelevant.
	longest int64
	// depth is the largest limit. Hits beyond it are irrelevant.
	depth int
}

func newRules(windows []Window) rules {
	var all rules
	for _, window := range windows {
		per := window.Ticks()
		all.windows = append(all.windows, rule{limit: window.Limit, per: per})
		all.longest = max(all.longest, per)
		all.depth = max(all.depth, window.Limit)
	}
	return all
}

// hits is the log of one key's accepted requests. The zero value is an empty log. No hit in
// it is older than the newest by more than the longest window.
type hits struct {
	newest int64 // the full tick of the last hit, 0 if there is none
	// older holds all hits except the newest. It is nil if there are none, because most
	// keys have one hit and should not pay for a log.
	older *ring
}

func (h hits) count() int {
	if h.newest == 0 {
		return 0
	}
	return 1 + h.older.count()
}

// nth returns the tick of the n-th newest hit, n from 1 to count.
func (h hits) nth(n int) int64 {
	if n == 1 {
		return h.newest
	}
	// Unsigned subtraction is correct across the wrap-around of the low bits.
	return h.newest - int64(uint32(h.newest)-h.older.nth(n-1))
}

// inside reports whether a hit still counts. One in the future, after the clock went back, does.
func (r rule) inside(hit, tick int64) bool { return tick-hit <= r.per }

// opens returns the first tick at which a hit no longer counts.
func (r rule) opens(hit int64) int64 { return hit + r.per + 1 }

// noShareWait is the wait of a request that is larger than a node's share of a limit. The
// nodes usually count together again by then.
const noShareWait = time.Second

// wait returns the time until all windows accept n more hits, 0 if they do now.
func (h hits) wait(now moment, n int, all rules) time.Duration {
	tick, count := h.effectiveTick(now), h.count()
	var wait time.Duration
	for _, window := range all.windows {
		decisive := window.limit - n + 1 // the hit that must have left the window
		if decisive < 1 {
			wait = max(wait, noShareWait)
			continue
		}
		if count < decisive {
			continue
		}
		if hit := h.nth(decisive); window.inside(hit, tick) {
			wait = max(wait, now.until(window.opens(hit)))
		}
	}
	return wait
}

// tightestWindow describes the tightest window. The caller fills in what was decided.
func (h hits) tightestWindow(now moment, all rules) Decision {
	var tightest Decision
	tick, count := h.effectiveTick(now), h.count()
	for i, window := range all.windows {
		used := h.countInside(window, tick, count)
		// Each hit was accepted by this window too, so used never exceeds its limit, even if
		// another window makes the log deeper. A node's share of a limit it may exceed.
		candidate := Decision{Window: i, Remaining: max(0, window.limit-used)}
		if used > 0 {
			candidate.Reset = now.until(window.opens(h.nth(used)))
		}
		if i == 0 || tighter(candidate, tightest) {
			tightest = candidate
		}
	}
	return tightest
}

// countInside returns how many hits still count in a window, by binary search.
func (h hits) countInside(window rule, tick int64, count int) int {
	low, high := 0, count
	for low < high {
		middle := (low + high) / 2
		if window.inside(h.nth(middle+1), tick) {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low
}

func tighter(a, b Decision) bool {
	if a.Remaining != b.Remaining {
		return a.Remaining < b.Remaining
	}
	return a.Reset > b.Reset
}

// peek decides without counting.
func (h hits) peek(now moment, all rules) Decision {
	wait := h.wait(now, 1, all)
	decision := h.tightestWindow(now, all)
	decision.Allowed, decision.RetryAfter = wait == 0, wait
	return decision
}

// allow decides and counts n hits if all of them are allowed.
func (h *hits) allow(now moment, n int, all rules) Decision {
	wait := h.wait(now, n, all)
	if wait == 0 {
		tick := h.effectiveTick(now)
		for range n {
			h.add(tick, all)
		}
	}
	decision := h.tightestWindow(now, all)
	decision.Allowed, decision.RetryAfter = wait == 0, wait
	return decision
}

// LogRules decides from the log of a key that another server keeps, as a Limiter does in memory.
type LogRules struct{ all rules }

// NewLogRules returns the rules of these windows.
func NewLogRules(windows []Window) LogRules { return LogRules{newRules(windows)} }

// Decide returns what was decided about n requests at a time of the server's clock, and the tick
// of those that were counted. The log has so many earlier requests; nth returns the tick of the
// n-th newest.
func (r LogRules) Decide(at time.Time, n int, count bool, earlier int, nth func(n int) int64) (d Decision, tick int64) {
	var known hits
	for i := min(earlier, r.all.depth); i > 0; i-- {
		known.add(nth(i), r.all)
	}
	now := moment(at.UnixNano())
	if !count {
		return known.peek(now, r.all), 0
	}
	d = known.allow(now, n, r.all)
	return d, known.newest
}

// effectiveTick is the tick of now, or of the newest hit if the clock is behind it.
func (h hits) effectiveTick(now moment) int64 { return max(now.tick(), h.newest) }

// stale reports whether no hit counts in any window.
func (h hits) stale(now moment, all rules) bool { return now.tick()-h.newest > all.longest }

// add appends a hit that is not older than the newest. The oldest one leaves a log of depth.
func (h *hits) add(tick int64, all rules) {
	if h.newest == 0 || tick-h.newest > all.longest || all.depth == 1 {
		*h = hits{newest: tick}
		return
	}
	h.drop(tick, all)
	if h.older == nil {
		h.older = &ring{}
	}
	h.older.push(uint32(h.newest), all.depth-1)
	h.newest = tick
}

// drop removes the older hits outside every window at the given tick. If they stayed,
// their low bits would eventually look recent again.
func (h *hits) drop(tick int64, all rules) {
	for h.older.count() > 0 && tick-h.nth(h.count()) > all.longest {
		h.older.dropOldest()
	}
}

// compact drops irrelevant hits and shrinks a mostly unused log.
func (h *hits) compact(now moment, all rules) {
	h.drop(h.effectiveTick(now), all)
	switch count := h.older.count(); {
	case count == 0:
		h.older = nil
	case count <= len(h.older.ticks)/4:
		h.older.resize(2 * count)
	}
}

// initialCapacity is the size of a new ring. It doubles as needed.
const initialCapacity = 4

// ring is a FIFO queue of the low bits of ticks. A nil ring is empty.
type ring struct {
	ticks  []uint32
	oldest int32
	used   int32
}

func (r *ring) count() int {
	if r == nil {
		return 0
	}
	return int(r.used)
}

// nth returns the n-th newest element, n from 1 to count.
func (r *ring) nth(n int) uint32 {
	i := int(r.oldest) + int(r.used) - n
	if i >= len(r.ticks) {
		i -= len(r.ticks)
	}
	return r.ticks[i]
}

// push appends an element. At capacity, which must be at least 1, it drops the oldest one.
func (r *ring) push(tick uint32, capacity int) {
	switch {
	case int(r.used) >= capacity:
		r.dropOldest()
	case int(r.used) == len(r.ticks):
		r.resize(min(capacity, max(initialCapacity, 2*len(r.ticks))))
	}
	i := int(r.oldest) + int(r.used)
	if i >= len(r.ticks) {
		i -= len(r.ticks)
	}
	r.ticks[i] = tick
	r.used++
}

func (r *ring) dropOldest() {
	r.oldest++
	if int(r.oldest) == len(r.ticks) {
		r.oldest = 0
	}
	r.used--
}

// resize moves the elements to a slice of the given capacity, which must hold them all.
func (r *ring) resize(capacity int) {
	ticks := make([]uint32, capacity)
	for i := range int(r.used) {
		ticks[i] = r.nth(int(r.used) - i)
	}
	r.ticks, r.oldest = ticks, 0
}
