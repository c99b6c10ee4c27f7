package ui

import (
	"sync"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// streamLimiter limits the open streams and large downloads, in total and per client.
// Requests beyond the limit fail at once: pages reload instead.
type streamLimiter struct {
	limit, clientLimit int

	mu           sync.Mutex
	open         int
	openByClient map[string]int
}

const (
	// defaultMaxStreams applies if the configuration sets no limit.
	defaultMaxStreams = 1000
	// maxStreamsPerClient applies per account or, without one, per network. Hidden
	// pages close their stream, so it exceeds what one person has visible.
	maxStreamsPerClient = 20
	// streamRetryAfter is the Retry-After of a refused stream.
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

// AcquireStream counts this request as a stream, because it takes longer than a page
// may; release ends that.
func (req *Request) AcquireStream() (release func(), err error) {
	return req.frame.streamLimiter.acquire(req.streamClient())
}

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
