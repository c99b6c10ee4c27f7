package ratelimit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Server is what all nodes share. It keeps the logs of all keys and measures time with its
// own clock. Each call is bounded by the implementation.
type Server interface {
	// Log returns the logs of one limiter. The name tells limiters apart.
	Log(name string, windows []Window) Log
	// Join announces this process for a few seconds and returns what the server knows.
	Join(ctx context.Context) (Membership, error)
	// Begin starts a generation after the given one, unless another process has, and returns
	// the current one. No process can decide until it is ready.
	Begin(ctx context.Context, after string) (generation string, err error)
	// Seeded records that this process has seeded all it knows. It reports whether the
	// generation is ready: all the given processes have seeded, or had time enough.
	Seeded(ctx context.Context, generation string, processes []string) (ready bool, err error)
	// Use makes the decisions of this process belong to a generation that is ready.
	Use(ctx context.Context, generation string) error
}

// Log has the accepted requests of all keys of one limiter, by all processes.
type Log interface {
	// Decide counts n requests of key if all windows accept them, or none; without count it
	// only looks. It returns the tick of the requests that it has counted. ErrUnseeded means
	// that the server has lost what it knew.
	Decide(key Key, n int, count bool) (d Decision, tick int64, err error)
	// Seed replaces what the server knows of this process's requests of these keys.
	Seed(ctx context.Context, keys []KeyLog) error
}

// KeyLog has the ticks of the requests of a key that one process has accepted, the oldest
// first. A tick is 10 µs since 1970 by the server's clock.
type KeyLog struct {
	Key   Key
	Ticks []int64
}

// Membership is the server's answer to Join.
type Membership struct {
	Now        time.Time // by the server's clock
	Self       string
	Processes  []string // the names of all processes that have joined in the last seconds
	Generation string   // empty: none
	Ready      bool
}

// ErrUnseeded is returned by a server that has restarted or lost data, and by one whose
// generation is not ready.
var ErrUnseeded error = &registrar.Cause{Part: registrar.PartShared, Operation: "decide", Class: "logs_lost"}

const (
	joinInterval = time.Second
	// retryInterval is how often a process that counts on its own tries to return.
	retryInterval = 250 * time.Millisecond
	// seedMargin is how much older than the first failure a request may be that was decided
	// without the server.
	seedMargin = 5 * time.Second
	// fewKeys is how many keys may be left to seed while all decisions wait.
	fewKeys = 100
	// seedRounds bounds the rounds in which a busy process seeds while it goes on counting.
	seedRounds = 10
)

// Shared makes the limiters of many processes count together, with the exactness of one; see
// the package comment. Its methods are safe for concurrent use.
type Shared struct {
	server Server
	logger *slog.Logger

	// gate is held while a request is decided. Whoever holds it alone knows that no decision
	// is in flight.
	gate   sync.RWMutex
	online atomic.Bool // the server decides
	wake   chan struct{}
	// tried is closed once this process counts with the others for the first time, or can't.
	tried     chan struct{}
	triedOnce sync.Once

	members atomic.Pointer[members]
	clock   atomic.Pointer[reading]

	localAdmitted, localRefused, premature, recoveries atomic.Int64

	mu         sync.Mutex
	limiters   []*Limiter
	names      map[string]bool
	generation string // the last one that this process decided in
	seeded     string // the last one that it has seeded all it knows into
	seededTo   int64  // the tick up to which it has
	unseeded   bool   // the server reported that generation is incomplete
	since      time.Time
}

// members is what a process counting on its own knows about the others.
type members struct {
	names []string // sorted
	rank  int      // the position of this process
}

// reading is one reading of the server's clock.
type reading struct{ server, local time.Time }

// NewShared returns a Shared whose limiters count on their own until Run has reached the
// server. nodes is how many processes are believed to run until then.
func NewShared(server Server, nodes int, logger *slog.Logger) *Shared {
	s := &Shared{server: server, logger: logger, wake: make(chan struct{}, 1), tried: make(chan struct{}), names: make(map[string]bool), since: time.Now()}
	s.members.Store(&members{names: make([]string, max(1, nodes))})
	now := time.Now()
	s.clock.Store(&reading{server: now, local: now})
	return s
}

func (s *Shared) add(l *Limiter, name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if name == "" || s.names[name] {
		return fmt.Errorf("ratelimit: %q is not a unique name of a shared limiter", name)
	}
	s.names[name] = true
	s.limiters = append(s.limiters, l)
	l.shared, l.log = s, s.server.Log(name, l.windows)
	l.now, l.start = s.now, time.Unix(0, 0).Add(tickLength) // so that its ticks are the server's
	return nil
}

// now estimates the server's time. It does not follow this machine's wall clock.
func (s *Shared) now() time.Time {
	last := s.clock.Load()
	return last.server.Add(time.Since(last.local))
}

// decide asks the server, or counts alone while it does not answer.
func (s *Shared) decide(l *Limiter, key Key, n int, count bool) Decision {
	s.gate.RLock()
	defer s.gate.RUnlock()
	if s.online.Load() {
		decision, tick, err := l.log.Decide(key, n, count)
		if err == nil {
			if count && decision.Allowed {
				l.shardOf(key).record(key, n, tick, l.moment(), l.rules, l.perShard)
			}
			return decision
		}
		s.fail(err)
	}
	return s.decideAlone(l, key, n, count)
}

// decideAlone counts against this process's share of the limits. The shares of all known
// processes add up to the limit, so that they together stay below twice the limit: at most
// the limit before the server was lost, and the shares since.
func (s *Shared) decideAlone(l *Limiter, key Key, n int, count bool) Decision {
	share := s.members.Load().share(l.rules, key)
	now, shard := l.moment(), l.shardOf(key)
	var decision Decision
	if count {
		decision = shard.allow(key, n, now, share, l.perShard)
	} else {
		decision = shard.peek(key, now, share)
	}
	switch {
	case decision.Allowed && count:
		s.localAdmitted.Add(1)
	case !decision.Allowed:
		s.localRefused.Add(1)
		if shard.peek(key, now, l.rules).Allowed {
			s.premature.Add(1)
		}
	}
	return decision
}

// share returns a process's part of the limits for a key. What does not divide evenly goes to
// some of the processes, by the key, so that the parts add up to the limit.
func (m *members) share(all rules, key Key) rules {
	n := len(m.names)
	if n < 2 {
		return all
	}
	windows := make([]rule, len(all.windows))
	turn := (int(key.low^key.high)%n + m.rank) % n
	for i, window := range all.windows {
		part := window.limit / n
		if turn < window.limit%n {
			part++
		}
		windows[i] = rule{limit: part, per: window.per}
	}
	all.windows = windows
	return all
}

// fail makes this process count on its own until Run has seeded the server.
func (s *Shared) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unseeded = s.unseeded || errors.Is(err, ErrUnseeded)
	if !s.online.CompareAndSwap(true, false) {
		return
	}
	s.since = time.Now()
	s.seededTo = tickOf(s.now().Add(-seedMargin))
	logger := s.logger.With("cause", registrar.CauseOf(err), "nodes", len(s.members.Load().names))
	if s.unseeded {
		logger.Warn("rate limits are counted by this node alone until all nodes have seeded the shared server")
	} else {
		logger.Warn("rate limits are counted by this node alone: the shared server failed")
	}
	select {
	case s.wake <- struct{}{}:
	default: // already signalled
	}
}

func tickOf(t time.Time) int64 { return t.UnixNano() / int64(tickLength) }

// Run keeps this process a member until ctx ends.
func (s *Shared) Run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-s.wake:
		}
		wait, err := joinInterval, s.step(ctx)
		if err != nil {
			wait = retryInterval
		}
		if !errors.Is(err, errSeeding) {
			s.triedOnce.Do(func() { close(s.tried) })
		}
		timer.Reset(wait)
	}
}

// AwaitFirst waits until this process counts with the others, or the server can't be reached, or
// ctx ends. A process that serves before it has joined admits its share of each limit in
// addition to what the others admit, because it knows none of their requests.
func (s *Shared) AwaitFirst(ctx context.Context) {
	select {
	case <-s.tried:
	case <-ctx.Done():
	}
}

// errSeeding is the state of a process that waits for others.
var errSeeding = errors.New("ratelimit: other nodes are still seeding the shared server")

// step renews the membership and, if this process counts on its own, tries to return.
func (s *Shared) step(ctx context.Context) error {
	asked := time.Now()
	known, err := s.server.Join(ctx)
	if err != nil {
		s.fail(err)
		return err
	}
	// The server read its clock later, so the estimate is never behind, and a request counted
	// here never leaves its window too early.
	s.clock.Store(&reading{server: known.Now, local: asked})
	s.mu.Lock()
	current := s.generation
	s.mu.Unlock()
	if s.online.Load() {
		if known.Generation != current {
			s.fail(ErrUnseeded)
			return s.recover(ctx, known)
		}
		s.members.Store(newMembers(known.Self, known.Processes))
		return nil
	}
	return s.recover(ctx, known)
}

func newMembers(self string, processes []string) *members {
	names := slices.Clone(processes)
	slices.Sort(names)
	names = slices.Compact(names)
	return &members{names: names, rank: max(0, slices.Index(names, self))}
}

// recover seeds the server with what this process has accepted and the server may not know,
// and then lets it decide again.
func (s *Shared) recover(ctx context.Context, known Membership) error {
	// A server that was restarted knows only those who have joined since.
	others := slices.DeleteFunc(slices.Clone(s.members.Load().names), func(name string) bool { return name == "" })
	all := newMembers(known.Self, append(others, known.Processes...))
	s.members.Store(all)

	s.mu.Lock()
	generation, complete := known.Generation, known.Ready
	begin := generation == "" || s.unseeded && generation == s.generation
	last := s.generation
	s.mu.Unlock()
	if begin {
		var err error
		if generation, err = s.server.Begin(ctx, last); err != nil {
			return err
		}
		complete = false
	}
	// Decisions in flight may have been counted by the server but not here.
	s.gate.Lock()
	s.gate.Unlock() //nolint:gocritic,staticcheck // a barrier
	s.mu.Lock()
	if generation != s.generation && generation != s.seeded {
		s.seededTo = 0
	}
	s.seeded = generation
	s.mu.Unlock()
	if err := s.seedInRounds(ctx); err != nil {
		return err
	}
	if !complete {
		ready, err := s.server.Seeded(ctx, generation, all.names)
		if err != nil {
			return err
		}
		if !ready {
			return errSeeding
		}
	}
	if err := s.server.Use(ctx, generation); err != nil {
		return err
	}
	return s.goOnline(ctx, generation)
}

// seedInRounds seeds until little is left; requests are counted alone meanwhile.
func (s *Shared) seedInRounds(ctx context.Context) error {
	for range seedRounds {
		count, err := s.seed(ctx)
		if err != nil || count <= fewKeys {
			return err
		}
	}
	return nil
}

// goOnline seeds the rest while no request is decided.
func (s *Shared) goOnline(ctx context.Context, generation string) error {
	s.gate.Lock()
	defer s.gate.Unlock()
	if _, err := s.seed(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.generation, s.unseeded = generation, false
	s.recoveries.Add(1)
	s.logger.InfoContext(ctx, "rate limits are counted by all nodes together", "nodes", len(s.members.Load().names),
		"after", time.Since(s.since).Round(time.Millisecond).String())
	s.since = time.Time{}
	s.online.Store(true)
	return nil
}

// seed sends the keys with requests since the last seed, and returns their number.
func (s *Shared) seed(ctx context.Context) (keys int, err error) {
	s.mu.Lock()
	from, limiters := s.seededTo, s.limiters
	s.mu.Unlock()
	to := tickOf(s.now())
	for _, l := range limiters {
		for i := range l.shards {
			logs := l.shards[i].keyLogs(from, l.moment(), l.rules)
			if len(logs) == 0 {
				continue
			}
			if err := l.log.Seed(ctx, logs); err != nil {
				return keys, err
			}
			keys += len(logs)
		}
	}
	s.mu.Lock()
	s.seededTo = to
	s.mu.Unlock()
	return keys, nil
}

// Status is the state of a Shared for operators.
type Status struct {
	Online bool
	Nodes  int       // the processes that were last seen
	Since  time.Time // when this process began to count on its own; zero if Online
	// LocalAdmitted and LocalRefused count the decisions without the server. Premature are
	// the refusals that this process alone would have accepted with the whole limit.
	LocalAdmitted, LocalRefused, Premature int64
	Recoveries                             int64
}

// Status returns the current state.
func (s *Shared) Status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Status{
		Online: s.online.Load(), Nodes: cmp.Or(len(s.members.Load().names), 1), Since: s.since,
		LocalAdmitted: s.localAdmitted.Load(), LocalRefused: s.localRefused.Load(), Premature: s.premature.Load(), Recoveries: s.recoveries.Load(),
	}
}
