package redis

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/redis/rueidis"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
)

var _ lookup.SharedCache = (*Cache)(nil)

const (
	// cacheTimeout bounds the wait for the cache. It is part of the time for an answer.
	cacheTimeout = 100 * time.Millisecond
	// cachePause is how long a cache that failed is not used, so that an answer waits for it
	// at most once a second.
	cachePause = time.Second
)

var (
	findScript  = rueidis.NewLuaScript(readScript("find"))
	storeScript = rueidis.NewLuaScript(readScript("store"))
)

// Cache holds lookups of all nodes. Until Use, and while its server is down, it is empty.
type Cache struct {
	server   atomic.Pointer[Server]
	logger   *slog.Logger
	paused   atomic.Int64 // until then, in ns since 1970
	observe  func(outcome string)
	wasError atomic.Bool
}

// Outcomes of a cache, as NewCache's observe gets them.
const (
	CacheHit     = "hit"
	CacheMiss    = "miss"    // this node queries
	CacheWaiting = "waiting" // another node queries
	CacheDown    = "down"
)

// NewCache returns a Cache. observe is called for every outcome.
func NewCache(logger *slog.Logger, observe func(outcome string)) *Cache {
	return &Cache{logger: logger, observe: observe}
}

// Use connects the cache with a server.
func (c *Cache) Use(server *Server) { c.server.Store(server) }

// Find returns a stored value or claims its query.
func (c *Cache) Find(ctx context.Context, kind, name string, hold time.Duration) (value []byte, mine bool) {
	server, keys := c.keys(kind, name)
	if server == nil {
		return nil, true
	}
	ctx, cancel := context.WithTimeout(ctx, cacheTimeout)
	defer cancel()
	reply, err := server.exec(ctx, "find answer", findScript, keys, server.process, strconv.FormatInt(hold.Milliseconds(), 10))
	if err == nil {
		if claimed, numeric := reply.ToInt64(); numeric == nil {
			c.succeeded()
			if claimed == 1 {
				c.observe(CacheMiss)
			} else {
				c.observe(CacheWaiting)
			}
			return nil, claimed == 1
		}
		var sealed string
		if sealed, err = reply.ToString(); err == nil {
			value, err = server.cipher.open(keys[0], sealed)
		}
	}
	if err != nil {
		c.failed(ctx, err)
		return nil, true
	}
	c.succeeded()
	c.observe(CacheHit)
	return value, false
}

// Store stores a value and ends the claim.
func (c *Cache) Store(ctx context.Context, kind, name string, value []byte, ttl time.Duration) {
	server, keys := c.keys(kind, name)
	if server == nil {
		return
	}
	// The answer is complete, so the end of the caller's time does not matter.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cacheTimeout)
	defer cancel()
	sealed := ""
	if len(value) > 0 && ttl >= time.Millisecond {
		sealed = server.cipher.seal(keys[0], value)
	}
	if _, err := server.exec(ctx, "store answer", storeScript, keys, server.process, sealed, strconv.FormatInt(ttl.Milliseconds(), 10)); err != nil {
		c.failed(ctx, err)
	}
}

// keys returns the keys of the value and of the claim, and the server unless it is paused.
func (c *Cache) keys(kind, name string) (*Server, []string) {
	server := c.server.Load()
	if server == nil || time.Now().UnixNano() < c.paused.Load() {
		return nil, nil
	}
	hidden, tag := server.hide("answer", kind, []byte(name))
	slot := fmt.Sprintf("dk:{%02d}:", int(tag)%tags)
	return server, []string{slot + "c:" + hidden, slot + "q:" + hidden}
}

func (c *Cache) failed(ctx context.Context, err error) {
	c.observe(CacheDown)
	c.paused.Store(time.Now().Add(cachePause).UnixNano())
	if !c.wasError.Swap(true) {
		c.logger.WarnContext(ctx, "lookups are not shared with other nodes: the shared server failed", registrar.LogFailure(err))
	}
}

func (c *Cache) succeeded() {
	if c.wasError.Load() && c.wasError.Swap(false) {
		c.logger.Info("lookups are shared with other nodes again")
	}
}
