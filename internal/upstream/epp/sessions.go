package epp

import (
	"context"
	"time"
)

// Sessions divides the connections of an account among the nodes. A node first acquires a
// connection and then opens it, so that the nodes together never exceed the registry's limit.
type Sessions interface {
	// Acquire reports whether this node may open one more connection; Release returns it.
	Acquire(ctx context.Context) bool
	Release()
	// Share is how many connections this node may keep, at least 1, and Nodes how many nodes
	// share the account.
	Share() int
	Nodes() int
}

const (
	// sessionRetry is how long the pool waits after another node had the last connection.
	sessionRetry = 500 * time.Millisecond
	// shareCheck is how often an idle connection is compared with the node's share.
	shareCheck = 2 * time.Second
)

// ShareSessions makes all nodes share the account's connections and rate. newSessions gets the
// limit of the account. It must be called before the first command.
func (c *Client) ShareSessions(newSessions func(limit int) Sessions) {
	c.account.Sessions = newSessions(c.account.MaxConnections)
}

// limit is how many connections this node may have.
func (a *Account) limit() int {
	if a.Sessions == nil {
		return a.MaxConnections
	}
	return min(a.MaxConnections, a.Sessions.Share())
}

// acquireSession reports whether a worker may connect. If other nodes have all connections,
// the worker ends, and its jobs wait for another one.
func (p *pool) acquireSession() bool {
	if p.account.Sessions == nil || p.account.Sessions.Acquire(p.dialCtx) {
		return true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dialing--
	p.workers--
	p.sessionAt = time.Now().Add(sessionRetry)
	p.dispatchAfter(sessionRetry)
	return false
}

func (p *pool) releaseSession() {
	if p.account.Sessions != nil {
		p.account.Sessions.Release()
	}
}

// leaveToOthers makes a worker exit if this node has more connections than its share. The caller
// holds the lock.
func (p *pool) leaveToOthers(w *worker) bool {
	if p.account.Sessions == nil || p.workers-p.leaving <= p.account.limit() {
		return false
	}
	w.leaving = true
	p.leaving++
	return true
}

// idleTime is how long a worker waits for a job before it looks after its connection.
func (a *Account) idleTime() time.Duration {
	if a.Sessions == nil {
		return keepAlive
	}
	return shareCheck
}
