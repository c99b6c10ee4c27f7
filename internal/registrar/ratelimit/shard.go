package ratelimit

import (
	"maps"
	"sync"
)

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
	keys map[Key]hits
	// deleted counts the keys deleted since the map was made. Go's maps never shrink, and slots of
	// deleted keys can make them grow at constant length, so it triggers a rebuild.
	deleted   int
	nextSweep int64 // the first tick at which a full shard is swept again
	// The padding gives each lock its own cache line, so that cores using neighbouring
	// shards don't slow each other down.
	_ [32]byte
}

func (s *shard) allow(key Key, now moment, all rules, maxKeys int) Decision {
	s.mu.Lock()
	defer s.mu.Unlock()
	known, found := s.keys[key]
	if !found && len(s.keys) >= maxKeys {
		s.freeSlot(now, all)
	}
	decision := known.allow(now, all)
	if decision.Allowed {
		s.keys[key] = known
	}
	return decision
}

func (s *shard) peek(key Key, now moment, all rules) Decision {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.keys[key].peek(now, all)
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
	for key, known := range s.keys {
		if known.stale(now, all) {
			s.remove(key)
			forgotten++
			continue
		}
		if known.older != nil {
			known.compact(now, all)
			s.keys[key] = known
		}
	}
	s.rebuildMap()
	return forgotten
}

func (s *shard) remove(key Key) {
	delete(s.keys, key)
	s.deleted++
}

// rebuildMap moves the keys to a new map once more were deleted than are left, so each
// deletion pays for moving at most one key.
func (s *shard) rebuildMap() {
	if s.deleted <= max(smallMap, len(s.keys)) {
		return
	}
	keys := make(map[Key]hits, len(s.keys))
	maps.Copy(keys, s.keys)
	s.keys, s.deleted = keys, 0
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
	for key, known := range s.keys {
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
