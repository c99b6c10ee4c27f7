package page

import (
	"sync"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// crowd bounds how many streams and large files are open at one moment, in all and for
// one visitor. Nobody waits for a place: pages reload instead.
type crowd struct {
	most, mostEach int

	mu   sync.Mutex
	all  int
	each map[string]int
}

const (
	// mostStreams is how many a node holds open, where the configuration says nothing.
	mostStreams = 1000
	// mostStreamsEach is for one account or, without one, one network: a page that is
	// not looked at closes its stream, so it is more than anybody has in sight.
	mostStreamsEach = 20
	// crowdedFor is when it may be worth trying again.
	crowdedFor = 30 * time.Second
)

const (
	crowdedOut registrar.Code = "too_many_streams"
	tooManyOwn registrar.Code = "too_many_own_streams"
)

func newCrowd(most int) *crowd {
	if most <= 0 {
		most = mostStreams
	}
	return &crowd{most: most, mostEach: mostStreamsEach, each: make(map[string]int)}
}

// Place takes one among what is open for long, for a visit that takes longer than a page
// may; leave gives it back.
func (v *Visit) Place() (leave func(), err error) { return v.frame.crowd.enter(v.whoever()) }

// enter takes a place, which leave gives back.
func (c *crowd) enter(who string) (leave func(), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.each[who] >= c.mostEach:
		return nil, &registrar.Error{Kind: registrar.KindRateLimited, Code: tooManyOwn, RetryAfter: crowdedFor}
	case c.all >= c.most:
		return nil, &registrar.Error{Kind: registrar.KindRateLimited, Code: crowdedOut, RetryAfter: crowdedFor}
	}
	c.all++
	c.each[who]++
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.all--
		if c.each[who]--; c.each[who] == 0 {
			delete(c.each, who)
		}
	}, nil
}
