package lookup

import (
	"context"
	"encoding/json"
	"time"
)

// SharedCache holds answers for all nodes, so that a name that was queried by one of them is
// not queried again by the next. It never fails: without its server, nothing is found and
// every node queries on its own.
type SharedCache interface {
	// Find returns the stored value. If there is none, mine reports whether this node must
	// query the sources; otherwise another node is doing so, for up to hold.
	Find(ctx context.Context, kind, name string, hold time.Duration) (value []byte, mine bool)
	// Store ends the query of this node and stores its result; an empty value stores none.
	Store(ctx context.Context, kind, name string, value []byte, ttl time.Duration)
}

const (
	kindVerdict = "verdict"
	kindRecord  = "record"

	// maxSharedWait is how long a node waits for another one's query. After it, there is still
	// time to query.
	maxSharedWait                = 2 * time.Second
	minSharedPoll, maxSharedPoll = 20 * time.Millisecond, 160 * time.Millisecond
)

// loadShared returns the value that another node has loaded or is loading, or loads it for
// all nodes. ttl is how long a value may be kept.
func loadShared[V any](ctx context.Context, cache SharedCache, kind, name string, ttl func(V) time.Duration,
	load func(ctx context.Context) (V, error),
) (V, error) {
	if cache == nil {
		return load(ctx)
	}
	hold := maxSharedWait
	deadline := time.Now().Add(maxSharedWait)
	for poll := minSharedPoll; ; poll = min(2*poll, maxSharedPoll) {
		stored, mine := cache.Find(ctx, kind, name, hold)
		var value V
		if stored != nil && json.Unmarshal(stored, &value) == nil && ttl(value) > time.Millisecond {
			return value, nil
		}
		if mine || stored != nil || !time.Now().Before(deadline) || !sleep(ctx, poll) {
			break
		}
	}
	value, err := load(ctx)
	var encoded []byte
	if err == nil {
		encoded, err = json.Marshal(value)
	}
	cache.Store(ctx, kind, name, encoded, ttl(value))
	return value, err
}

func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// storedVerdict is how a verdict is stored. The name is the key.
type storedVerdict struct {
	Availability Availability `json:"a"`
	Source       Source       `json:"s,omitempty"`
	Reason       Reason       `json:"r,omitempty"`
	Premium      bool         `json:"p,omitempty"`
	Fees         *Fees        `json:"f,omitempty"`
	At           time.Time    `json:"t"`
}

func (v verdict) MarshalJSON() ([]byte, error) {
	return json.Marshal(storedVerdict{v.availability, v.source, v.reason, v.premium, v.fees, v.at})
}

func (v *verdict) UnmarshalJSON(stored []byte) error {
	var s storedVerdict
	if err := json.Unmarshal(stored, &s); err != nil {
		return err
	}
	*v = verdict{availability: s.Availability, source: s.Source, reason: s.Reason, premium: s.Premium, fees: s.Fees, at: s.At}
	return nil
}

// verdictTTL returns how much longer a verdict may be used.
func (cfg *Config) verdictTTL(v verdict) time.Duration {
	switch v.availability {
	case Available:
		return cfg.left(v.at, cfg.FreeTTL)
	case Taken:
		return cfg.left(v.at, cfg.TakenTTL)
	default:
		return cfg.left(v.at, cfg.UnknownTTL)
	}
}

// recordTTL is no longer than that of the verdict.
func (cfg *Config) recordTTL(answer WhoisAnswer) time.Duration {
	if answer.Registered {
		return cfg.left(answer.CheckedAt, min(recordTTL, cfg.TakenTTL))
	}
	return cfg.left(answer.CheckedAt, min(recordTTL, cfg.FreeTTL))
}

// left returns what is left of a ttl, at least a nanosecond. An answer from the future, by
// another node's clock, is as old as one of now.
func (cfg *Config) left(at time.Time, ttl time.Duration) time.Duration {
	return max(1, ttl-max(0, cfg.Now().Sub(at)))
}
