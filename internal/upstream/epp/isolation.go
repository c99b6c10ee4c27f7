package epp

import "time"

const (
	maxIsolated  = 1000
	isolationTTL = 5 * time.Minute
	// After so many failures of isolated names in a row the registry is at fault, not a name:
	// checks are shared again for a while, so that an outage does not multiply the commands.
	maxAloneFailures = 5
	isolationPause   = time.Minute
)

// isolation remembers the names of shared checks that timed out or broke. Each is sent alone the
// next time, so that a name that the registry can't handle fails alone. The lock of batches
// guards it.
type isolation struct {
	until         map[string]time.Time
	aloneFailures int // in a row
	pausedUntil   time.Time
}

// has reports whether a name is to be sent alone.
func (s *isolation) has(name string, now time.Time) bool {
	until, found := s.until[name]
	if found && !now.Before(until) {
		delete(s.until, name)
		return false
	}
	return found
}

// failed notes that a batch got no usable response. One that was not sent says nothing about its
// names.
func (s *isolation) failed(one *batch, now time.Time) {
	if one.trid == "" || one.noted {
		return
	}
	one.noted = true
	if one.key.alone != "" {
		if s.aloneFailures++; s.aloneFailures >= maxAloneFailures {
			*s = isolation{pausedUntil: now.Add(isolationPause)}
		}
		return
	}
	if len(one.names) < 2 || now.Before(s.pausedUntil) {
		return
	}
	for name, until := range s.until {
		if !now.Before(until) {
			delete(s.until, name)
		}
	}
	if s.until == nil {
		s.until = make(map[string]time.Time)
	}
	for _, name := range one.names {
		if len(s.until) < maxIsolated {
			s.until[name] = now.Add(isolationTTL)
		}
	}
}

// answered notes that the registry responded to a batch.
func (s *isolation) answered(one *batch) {
	if one.key.alone != "" {
		s.aloneFailures = 0
		delete(s.until, one.key.alone)
	}
}
