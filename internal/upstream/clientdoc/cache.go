package clientdoc

import (
	"maps"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/access"
)

const (
	keepLeast   = time.Minute
	keepMost    = 24 * time.Hour
	keepUnsaid  = 5 * time.Minute
	keepFailure = 10 * time.Second
	mostKept    = 1000
	// perHost is how often one host is called in a minute, whatever the address:
	// strangers choose it, and a host has one document or a few.
	perHost = 30
)

// keepFor reads max-age; no-store and the like mean the least.
func keepFor(control string) time.Duration {
	keep := keepUnsaid
	for directive := range strings.SplitSeq(strings.ToLower(control), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(directive), "=")
		switch name {
		case "no-store", "no-cache":
			return keepLeast
		case "max-age":
			seconds, err := strconv.ParseInt(strings.Trim(value, `"`), 10, 32)
			if err != nil {
				return keepLeast
			}
			keep = time.Duration(seconds) * time.Second
		}
	}
	return min(max(keep, keepLeast), keepMost)
}

type entry struct {
	document access.Document
	err      error
	until    time.Time
}

// cache keeps documents and failures for a while.
type cache struct {
	now func() time.Time

	mu   sync.Mutex
	kept map[string]entry
}

func (c *cache) get(address string) (document access.Document, err error, known bool) { //nolint:revive // err belongs to what is known
	c.mu.Lock()
	defer c.mu.Unlock()
	found, ok := c.kept[address]
	if !ok || !c.now().Before(found.until) {
		return access.Document{}, nil, false
	}
	return found.document, found.err, true
}

func (c *cache) put(address string, document access.Document, err error, keep time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.kept) >= mostKept {
		c.makeRoom()
	}
	c.kept[address] = entry{document, err, c.now().Add(keep)}
}

// makeRoom drops what is over, and if that is nothing, whichever comes first.
func (c *cache) makeRoom() {
	now := c.now()
	for address, old := range c.kept {
		if !now.Before(old.until) {
			delete(c.kept, address)
		}
	}
	for address := range c.kept {
		if len(c.kept) < mostKept {
			return
		}
		delete(c.kept, address)
	}
}

// minute counts the calls to one host since a time.
type minute struct {
	since time.Time
	calls int
}

// doors bounds how often we knock at each.
type doors struct {
	now func() time.Time

	mu    sync.Mutex
	hosts map[string]minute
}

// allow counts one more call. Where too many hosts are remembered it refuses new
// ones until a minute is over: forgetting one would set it free.
func (d *doors) allow(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.now()
	current, known := d.hosts[host]
	if !known && len(d.hosts) >= mostKept {
		maps.DeleteFunc(d.hosts, func(_ string, old minute) bool { return now.Sub(old.since) >= time.Minute })
		if len(d.hosts) >= mostKept {
			return false
		}
	}
	if !known || now.Sub(current.since) >= time.Minute {
		current = minute{since: now}
	}
	current.calls++
	d.hosts[host] = current
	return current.calls <= perHost
}
