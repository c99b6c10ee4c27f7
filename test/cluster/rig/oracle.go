package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"
)

// limitWindow, limit and limitPer6Hours are the contract's limits per address.
const (
	limitWindow    = time.Minute
	limit          = 30
	limitPer6Hours = 300
)

const (
	// recoverWithin is how long after a fault requests may fail, resumeWithin how long the
	// work of a dead node may take.
	recoverWithin = 10 * time.Second
	resumeWithin  = time.Minute
	// recoveryOfLimits is how long after an outage of Redis nodes may count on their own:
	// ten seconds for a node that does not return, and some for a busy machine.
	recoveryOfLimits = 15 * time.Second
)

// verdict is the result of one rule.
type verdict struct {
	Pass bool
	// Untested is set if nothing happened that the rule is about.
	Untested bool
	Rule     string
	// Detail has the figures, Evidence the worst cases.
	Detail   string
	Evidence []string
}

// facts are everything that the oracle decides on.
type facts struct {
	records []record
	faults  []fault
}

// maxEvidence bounds the cases that a verdict lists.
const maxEvidence = 10

func newVerdict(rule, detail string, evidence []string) verdict {
	v := verdict{Pass: len(evidence) == 0, Rule: rule, Detail: detail, Evidence: evidence}
	if len(evidence) > maxEvidence {
		v.Evidence = slices.Concat(evidence[:maxEvidence], []string{fmt.Sprintf("and %d more", len(evidence)-maxEvidence)})
	}
	return v
}

// lookupsByClient returns the lookups of each address in the order in which they were sent.
func (f facts) lookupsByClient() map[string][]record {
	clients := make(map[string][]record)
	for _, r := range f.records {
		if r.Kind.isLookup() {
			clients[r.Client] = append(clients[r.Client], r)
		}
	}
	for _, all := range clients {
		slices.SortFunc(all, func(a, b record) int { return a.Sent.Compare(b.Sent) })
	}
	return clients
}

// redisDisturbed reports whether limits may be counted by single nodes between two times.
func (f facts) redisDisturbed(from, to time.Time) bool {
	return slices.ContainsFunc(f.faults, func(one fault) bool {
		return one.Redis && from.Before(one.End.Add(recoveryOfLimits)) && to.After(one.Start)
	})
}

// limits checks that no window admits more than the limit. The moment of an admission is not
// known, only that it was between Sent and Answered. So only those requests count that a node
// answered and that were sent and answered within a window: a violation is certain.
func (f facts) limits() verdict {
	var evidence []string
	clients := f.lookupsByClient()
	mostShared, mostAlone := 0, 0
	for _, client := range slices.Sorted(maps.Keys(clients)) {
		admitted := slices.DeleteFunc(slices.Clone(clients[client]), func(r record) bool { return r.Limited || r.Node == "" })
		if len(admitted) > limitPer6Hours {
			evidence = append(evidence, fmt.Sprintf("%s: %d admitted in the whole run", client, len(admitted)))
		}
		reported := false
		for i, first := range admitted {
			end := first.Sent.Add(limitWindow)
			count := 0
			for _, r := range admitted[i:] {
				if !r.Sent.Before(end) {
					break
				}
				if r.Answered.Before(end) {
					count++
				}
			}
			allowed := limit
			if f.redisDisturbed(first.Sent, end) {
				allowed = 2*limit - 1
				mostAlone = max(mostAlone, count)
			} else {
				mostShared = max(mostShared, count)
			}
			if count > allowed && !reported {
				reported = true
				evidence = append(evidence, fmt.Sprintf("%s: %d admitted in the minute from %s, allowed are %d", client, count, clock(first.Sent), allowed))
			}
		}
	}
	return newVerdict(fmt.Sprintf("no minute admits more than %d lookups of an address, and less than twice as many around an outage of Redis", limit),
		fmt.Sprintf("%d addresses; at most %d, around outages %d", len(clients), mostShared, mostAlone), evidence)
}

// premature counts rejections although there was room for the request: even if every request
// counts that may have been admitted within the last minute.
func (f facts) premature() (rejected, shared, alone int) {
	for _, all := range f.lookupsByClient() {
		for _, r := range all {
			if !r.Limited {
				continue
			}
			rejected++
			since, count := r.Sent.Add(-limitWindow), 0
			for _, other := range all {
				if !other.Limited && other.Answered.After(since) && other.Sent.Before(r.Answered) {
					count++
				}
			}
			switch {
			case count >= limit:
			case f.redisDisturbed(since, r.Answered):
				alone++
			default:
				shared++
			}
		}
	}
	return rejected, shared, alone
}

// following returns the time from the start of a fault to that of the next one. Requests that
// end in between are attributed to the fault.
func (f facts) following(i int) (from, to time.Time) {
	from = f.faults[i].Start
	if i+1 < len(f.faults) {
		return from, f.faults[i+1].Start
	}
	return from, from.Add(24 * time.Hour)
}

// recovery checks that after each fault new requests are served soon: lookups and pages after
// it begins, orders after what they need is back.
func (f facts) recovery() (verdict, []time.Duration) {
	var evidence []string
	worst := make([]time.Duration, len(f.faults))
	for i, one := range f.faults {
		from, to := f.following(i)
		for _, r := range f.records {
			if !r.failed() || r.Answered.Before(from) || !r.Answered.Before(to) {
				continue
			}
			since := one.Start
			if r.Kind.isOrder() && one.Orders {
				since = one.End
			}
			worst[i] = max(worst[i], r.Sent.Sub(since))
		}
		if worst[i] > recoverWithin {
			evidence = append(evidence, fmt.Sprintf("%s at %s: a request sent %s later failed", one, clock(one.Start), worst[i].Round(time.Second/10)))
		}
	}
	slowest := time.Duration(0)
	if len(worst) > 0 {
		slowest = slices.Max(worst)
	}
	return newVerdict(fmt.Sprintf("new requests are served within %s after each fault", recoverWithin),
		fmt.Sprintf("the last failing request was sent %s after a fault", slowest.Round(time.Second/10)), evidence), worst
}

// resumption checks that other nodes finish the orders of a killed one.
func (f facts) resumption() verdict {
	var evidence []string
	kills, interrupted, slowest := 0, 0, time.Duration(0)
	for _, one := range f.faults {
		if one.Name != "kill" {
			continue
		}
		kills++
		interrupted += one.Interrupted
		slowest = max(slowest, one.Resumed)
		if one.Resumed > resumeWithin {
			evidence = append(evidence, fmt.Sprintf("%s at %s: %d orders in progress, the last one ended after %s. %s",
				one, clock(one.Start), one.Interrupted, one.Resumed.Round(time.Second/10), one.Note))
		}
	}
	v := newVerdict(fmt.Sprintf("the work of a dead node is resumed within %s", resumeWithin),
		fmt.Sprintf("%d kills, %d orders in progress, the slowest took %s", kills, interrupted, slowest.Round(time.Second/10)), evidence)
	v.Untested = interrupted == 0
	return v
}

// withoutDatabase checks that lookups are answered while PostgreSQL is stopped, at the latest
// when they are repeated.
func (f facts) withoutDatabase() verdict {
	var evidence []string
	sent, failedOnce := 0, 0
	for _, one := range f.faults {
		if !one.Database {
			continue
		}
		for _, r := range f.records {
			if !r.Kind.isLookup() || r.Sent.Before(one.Start) || r.Sent.After(one.End) {
				continue
			}
			sent++
			if !r.failed() {
				continue
			}
			failedOnce++
			if r.Try > 1 {
				evidence = append(evidence, describe(r)+" during "+one.String())
			}
		}
	}
	v := newVerdict("lookups work while PostgreSQL is stopped or a node does not reach it", fmt.Sprintf("%d lookups, %d of them failed at first", sent, failedOnce), evidence)
	v.Untested = sent == 0
	return v
}

// retries checks that one repetition is enough. Orders wait for their database and payment provider instead.
func (f facts) retries() verdict {
	var evidence []string
	first, second := 0, 0
	for _, r := range f.records {
		if !r.failed() {
			continue
		}
		if r.Try == 1 {
			first++
			continue
		}
		down := slices.ContainsFunc(f.faults, func(one fault) bool {
			return one.Orders && r.Answered.After(one.Start) && r.Sent.Before(one.End.Add(recoverWithin))
		})
		if r.Kind.isOrder() && down {
			continue
		}
		second++
		evidence = append(evidence, describe(r))
	}
	return newVerdict("one repetition is enough for every failed request",
		fmt.Sprintf("%d of %d requests failed, %d repetitions failed", first, len(f.records), second), evidence)
}

func describe(r record) string {
	return fmt.Sprintf("%s at %s: status %d from %q after %s, try %d %s", r.Kind, clock(r.Sent), r.Status, cmp.Or(r.Node, "no node"),
		r.Answered.Sub(r.Sent).Round(time.Millisecond), r.Try, r.Order)
}

func clock(at time.Time) string { return at.UTC().Format("15:04:05.0") }
