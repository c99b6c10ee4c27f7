package clientmeta

import (
	"maps"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/oauth"
)

const (
	minTTL     = time.Minute
	maxTTL     = 24 * time.Hour
	defaultTTL = 5 * time.Minute
	failureTTL = 10 * time.Second
	maxEntries = 1000
	// maxCallsPerMinute limits the calls to one host, whatever the path: clients
	// choose the URL, and a host has few documents.
	maxCallsPerMinute = 30
)

// parseTTL reads max-age; no-store and the like mean the minimum.
func parseTTL(control string) time.Duration {
	keep := defaultTTL
	for directive := range strings.SplitSeq(strings.ToLower(control), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(directive), "=")
		switch name {
		case "no-store", "no-cache":
			return minTTL
		case "max-age":
			seconds, err := strconv.ParseInt(strings.Trim(value, `"`), 10, 32)
			if err != nil {
				return minTTL
			}
			keep = time.Duration(seconds) * time.Second
		}
	}
	return min(max(keep, minTTL), maxTTL)
}

type entry struct {
	document oauth.ClientMetadata
	err      error
	until    time.Time
}

type cache struct {
	now func() time.Time

	mu      sync.Mutex
	entries map[string]entry
}

func (c *cache) get(address string) (document oauth.ClientMetadata, err error, known bool) { //nolint:revive // err is the cached error
	c.mu.Lock()
	defer c.mu.Unlock()
	found, ok := c.entries[address]
	if !ok || !c.now().Before(found.until) {
		return oauth.ClientMetadata{}, nil, false
	}
	return found.document, found.err, true
}

func (c *cache) put(address string, document oauth.ClientMetadata, err error, ttl time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.entries) >= maxEntries {
		c.evict()
	}
	c.entries[address] = entry{document, err, c.now().Add(ttl)}
}

// evict removes expired entries or, if there are none, any one.
func (c *cache) evict() {
	now := c.now()
	maps.DeleteFunc(c.entries, func(_ string, old entry) bool { return !now.Before(old.until) })
	for address := range c.entries {
		if len(c.entries) < maxEntries {
			return
		}
		delete(c.entries, address)
	}
}

type callWindow struct {
	since time.Time
	calls int
}

type hostRateLimit struct {
	now func() time.Time

	mu    sync.Mutex
	hosts map[string]callWindow
}

// allow counts one more call. When the table is full it refuses new hosts until the
// window ends: evicting one would lift its limit.
func (d *hostRateLimit) allow(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.now()
	current, known := d.hosts[host]
	if !known && len(d.hosts) >= maxEntries {
		maps.DeleteFunc(d.hosts, func(_ string, old callWindow) bool { return now.Sub(old.since) >= time.Minute })
		if len(d.hosts) >= maxEntries {
			return false
		}
	}
	if !known || now.Sub(current.since) >= time.Minute {
		current = callWindow{since: now}
	}
	current.calls++
	d.hosts[host] = current
	return current.calls <= maxCallsPerMinute
}
