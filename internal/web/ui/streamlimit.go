package ui

import (
	"sync"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// streamLimiter bounds how many streams and large files are open at one moment, in all and for
// one visitor. Nobody waits for a place: pages reload instead.
type streamLimiter struct {
	limit, clientLimit int

	mu           sync.Mutex
	open         int
	openByClient map[string]int
}

const (
	// defaultMaxStreams is how many a node holds open, where the configuration says nothing.
	defaultMaxStreams = 1000
	// maxStreamsPerClient is for one account or, without one, one network: a page that is
	// not looked at closes its stream, so it is more than anybody has in sight.
	maxStreamsPerClient = 20
	// streamRetryAfter is when it may be worth trying again.
	streamRetryAfter = 30 * time.Second
)

const (
	tooManyStreams    registrar.Code = "too_many_streams"
	tooManyOwnStreams registrar.Code = "too_many_own_streams"
)

func newStreamLimiter(limit int) *streamLimiter {
	if limit <= 0 {
		limit = defaultMaxStreams
	}
	return &streamLimiter{limit: limit, clientLimit: maxStreamsPerClient, openByClient: make(map[string]int)}
}

// AcquireStream takes one among what is open for long, for a visit that takes longer than a page
// may; leave gives it back.
func (req *Request) AcquireStream() (release func(), err error) {
	return req.frame.streamLimiter.acquire(req.streamClient())
}

// acquire takes a place, which leave gives back.
func (c *streamLimiter) acquire(client string) (release func(), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.openByClient[client] >= c.clientLimit:
		return nil, &registrar.Error{Kind: registrar.KindRateLimited, Code: tooManyOwnStreams, RetryAfter: streamRetryAfter}
	case c.open >= c.limit:
		return nil, &registrar.Error{Kind: registrar.KindRateLimited, Code: tooManyStreams, RetryAfter: streamRetryAfter}
	}
	c.open++
	c.openByClient[client]++
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.open--
		if c.openByClient[client]--; c.openByClient[client] == 0 {
			delete(c.openByClient, client)
		}
	}, nil
}
