package ratelimit

import "sync"

const (
	// sweepsPerWindow bounds the sweeps of a full shard per longest window. In a flood of
	// new keys each of them would otherwise cause a walk over all others.
	sweepsPerWindow = 64
	// victimSample is how many keys are examined to evict one. A busy key is evicted only
	// if all of them are at least as busy.
	victimSample = 8
	smallMap     = 64 // the number of keys below which rebuilding the map saves nothing
)

// shard holds part of the keys under one lock.
type shard struct {
	mu   sync.Mutex
	keys map[Key]entry // nil until the first key
	logs *ringTable    // nil until the first key with a second hit
	// deleted counts the keys deleted since the map was made. Go's maps never shrink, and slots of
	// deleted keys can make them grow at constant length, so it triggers a rebuild.
	deleted   int
	nextSweep int64 // the first tick at which a full shard is swept again
	// The padding gives each lock its own cache line, so that cores using neighbouring
	// shards don't slow each other down.
	_ [24]byte
}

// entry is how the map stores hits: without pointers, so that the garbage collector skips
// the map, which has most of a busy service's memory, and with an alignment of 4.
type entry struct {
	newest [2]uint32 // the high and low bits
	log    uint32    // the number of the older hits in the ringTable, 0 if there are none
}

// ringTable holds the logs of a shard's keys; number n is rings[n-1].
type ringTable struct {
	rings  []*ring
	unused []uint32 // numbers without a ring
}

func (t *ringTable) add(r *ring) (number uint32) {
	if last := len(t.unused) - 1; last >= 0 {
		number, t.unused = t.unused[last], t.unused[:last]
		t.rings[number-1] = r
		return number
	}
	t.rings = append(t.rings, r)
	return uint32(len(t.rings))
}

func (t *ringTable) remove(number uint32) {
	t.rings[number-1] = nil
	t.unused = append(t.unused, number)
}

// hits returns what an entry stands for. A nil table has no logs.
func (t *ringTable) hits(e entry) hits {
	known := hits{newest: int64(e.newest[0])<<32 | int64(e.newest[1])}
	if e.log != 0 {
		known.older = t.rings[e.log-1]
	}
	return known
}

// store replaces the hits of key, which had the entry e. A key keeps its ring as long as it
// has older hits.
func (s *shard) store(key Key, e entry, known hits) {
	switch {
	case known.older != nil && e.log == 0:
		if s.logs == nil {
			s.logs = &ringTable{}
		}
		e.log = s.logs.add(known.older)
	case known.older == nil && e.log != 0:
		s.logs.remove(e.log)
		e.log = 0
	}
	if s.keys == nil {
		s.keys = make(map[Key]entry)
	}
	e.newest = [2]uint32{uint32(known.newest >> 32), uint32(known.newest)}
	s.keys[key] = e
}

func (s *shard) allow(key Key, n int, now moment, all rules, maxKeys int) Decision {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, found := s.keys[key]
	if !found && len(s.keys) >= maxKeys {
		s.freeSlot(now, all)
	}
	known := s.logs.hits(e)
	decision := known.allow(now, n, all)
	if decision.Allowed {
		s.store(key, e, known)
	}
	return decision
}

func (s *shard) peek(key Key, now moment, all rules) Decision {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.logs.hits(s.keys[key]).peek(now, all)
}

// record counts n hits that the shared server has accepted.
func (s *shard) record(key Key, n int, tick int64, now moment, all rules, maxKeys int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, found := s.keys[key]
	if !found && len(s.keys) >= maxKeys {
		s.freeSlot(now, all)
	}
	known := s.logs.hits(e)
	for range n {
		known.add(max(tick, known.newest), all)
	}
	s.store(key, e, known)
}

// keyLogs returns the hits of the keys that have one in the given tick or later.
func (s *shard) keyLogs(since int64, now moment, all rules) []KeyLog {
	s.mu.Lock()
	defer s.mu.Unlock()
	var logs []KeyLog
	for key, e := range s.keys {
		known := s.logs.hits(e)
		if known.newest < since || known.stale(now, all) {
			continue
		}
		log := KeyLog{Key: key, Ticks: make([]int64, known.count())}
		for i := range log.Ticks {
			log.Ticks[i] = known.nth(known.count() - i)
		}
		logs = append(logs, log)
	}
	return logs
}

func (s *shard) len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.keys)
}

func (s *shard) sweep(now moment, all rules) (forgotten int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sweepLocked(now, all)
}

func (s *shard) sweepLocked(now moment, all rules) (forgotten int) {
	for key, e := range s.keys {
		known := s.logs.hits(e)
		if known.stale(now, all) {
			s.remove(key)
			forgotten++
			continue
		}
		if known.older != nil {
			known.compact(now, all)
			s.store(key, e, known)
		}
	}
	s.rebuildMap()
	return forgotten
}

func (s *shard) remove(key Key) {
	if log := s.keys[key].log; log != 0 {
		s.logs.remove(log)
	}
	delete(s.keys, key)
	s.deleted++
}

// rebuildMap moves the keys and their logs to a new map once more were deleted than are
// left, so each deletion pays for moving at most one key.
func (s *shard) rebuildMap() {
	if s.deleted <= max(smallMap, len(s.keys)) {
		return
	}
	keys, logs := s.keys, s.logs
	s.keys, s.logs, s.deleted = make(map[Key]entry, len(keys)), nil, 0
	for key, e := range keys {
		s.store(key, entry{}, logs.hits(e))
	}
}

// freeSlot frees at least one slot in a full shard.
func (s *shard) freeSlot(now moment, all rules) {
	if tick := now.tick(); tick >= s.nextSweep {
		s.nextSweep = tick + max(1, all.longest/sweepsPerWindow)
		if s.sweepLocked(now, all) > 0 {
			return
		}
	}
	s.evict(now, all)
}

// evict removes one of a few arbitrary keys: a stale one, or else the one with the fewest
// hits, and among equals the longest unused.
func (s *shard) evict(now moment, all rules) {
	var (
		victim Key
		least  hits
		seen   int
	)
	for key, e := range s.keys {
		known := s.logs.hits(e)
		if known.stale(now, all) {
			victim = key
			break
		}
		if seen == 0 || lessBusy(known, least) {
			victim, least = key, known
		}
		if seen++; seen == victimSample {
			break
		}
	}
	s.remove(victim)
	s.rebuildMap()
}

func lessBusy(a, b hits) bool {
	if a.count() != b.count() {
		return a.count() < b.count()
	}
	return a.newest < b.newest
}
