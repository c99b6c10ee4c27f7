package lookup

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// memoryCache is a SharedCache in this process.
type memoryCache struct {
	mu     sync.Mutex
	values map[string][]byte
	claims map[string]bool
}

func newMemoryCache() *memoryCache {
	return &memoryCache{values: make(map[string][]byte), claims: make(map[string]bool)}
}

func (c *memoryCache) Find(_ context.Context, kind, name string, _ time.Duration) ([]byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := kind + " " + name
	if value, found := c.values[key]; found {
		return value, false
	}
	if c.claims[key] {
		return nil, false
	}
	c.claims[key] = true
	return nil, true
}

func (c *memoryCache) Store(_ context.Context, kind, name string, value []byte, _ time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := kind + " " + name
	delete(c.claims, key)
	if len(value) > 0 {
		c.values[key] = value
	}
}

func TestSharedCache_NodesQueryOnceAtATime(t *testing.T) {
	t.Parallel()
	cache, rdap := newMemoryCache(), sourceWithState(NotFound)
	engines := [3]*Engine{}
	for i := range engines {
		engines[i] = newEngine(t, Config{RDAP: rdap, DNS: undelegatedDNS, Shared: cache})
	}
	answers := make([]Answer, len(engines))
	var all sync.WaitGroup
	for i, engine := range engines {
		all.Go(func() {
			var err error
			if answers[i], err = engine.Check(t.Context(), "kaffeehaus.de"); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if calls := rdap.calls.Load(); calls != 1 {
		t.Errorf("three nodes made %d queries, want 1", calls)
	}
	for i, answer := range answers {
		if answer.Availability != answers[0].Availability || answer.Domain != "kaffeehaus.de" || !answer.CheckedAt.Equal(answers[0].CheckedAt) {
			t.Errorf("node %d answers %+v, the first %+v", i, answer, answers[0])
		}
	}
	// The answer is kept as long as it would be at the node that asked.
	if stored := cache.values["verdict kaffeehaus.de"]; len(stored) == 0 {
		t.Error("nothing was stored")
	}
}

func TestSharedCache_FailureIsNotSharedAndNextNodeQueries(t *testing.T) {
	t.Parallel()
	cache := newMemoryCache()
	failing, working := sourceWithFault(registrar.FaultTimeout), sourceWithState(Registered)
	if _, err := newEngine(t, Config{RDAP: failing, DNS: failingDNS, Shared: cache}).Check(t.Context(), "kaffeehaus.de"); err == nil {
		t.Fatal("no failure")
	}
	answer, err := newEngine(t, Config{RDAP: working, DNS: undelegatedDNS, Shared: cache}).Check(t.Context(), "kaffeehaus.de")
	if err != nil || answer.Availability != Taken || working.calls.Load() != 1 {
		t.Errorf("%+v, %v after %d queries", answer, err, working.calls.Load())
	}
}

// An answer that was stored long ago, by a node with another setting or clock, is not used.
func TestSharedCache_OutdatedAnswerIsQueriedAgain(t *testing.T) {
	t.Parallel()
	cache, rdap := newMemoryCache(), sourceWithState(Registered)
	cache.values["verdict kaffeehaus.de"] = []byte(`{"a":1,"s":"epp","t":"2020-01-01T00:00:00Z"}`)
	answer, err := newEngine(t, Config{RDAP: rdap, DNS: undelegatedDNS, Shared: cache}).Check(t.Context(), "kaffeehaus.de")
	if err != nil || answer.Availability != Taken {
		t.Errorf("%+v, %v: an outdated answer was used", answer, err)
	}
}
