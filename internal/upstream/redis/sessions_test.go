package redis

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/ratelimit"
	"github.com/dotkontor/dotkontor/test/testkit/redistest"
)

const account = "registry"

func TestSessions_NodesTogetherStayWithinTheAccount(t *testing.T) {
	t.Parallel()
	nodes := startNodes(t, redistest.Start(t), 3, ratelimit.Window{Limit: 1, Per: time.Minute})
	var open, most atomic.Int64
	var all sync.WaitGroup
	shares := 0
	for _, n := range nodes {
		sessions := n.server.Sessions(account, 7)
		shares += sessions.Share()
		for range 8 {
			all.Go(func() {
				for range 20 {
					if !sessions.Acquire(t.Context()) {
						continue
					}
					now := open.Add(1)
					for before := most.Load(); now > before && !most.CompareAndSwap(before, now); before = most.Load() {
					}
					time.Sleep(time.Millisecond)
					open.Add(-1)
					sessions.Release()
				}
			})
		}
	}
	all.Wait()
	if shares != 7 || most.Load() > 7 || most.Load() < 2 {
		t.Errorf("shares of %d and %d connections at a time, want 7 and at most 7", shares, most.Load())
	}
}

// More nodes than connections: each may have one, and the account's limit still holds.
func TestSessions_FewerThanNodes(t *testing.T) {
	t.Parallel()
	nodes := startNodes(t, redistest.Start(t), 3, ratelimit.Window{Limit: 1, Per: time.Minute})
	acquired := 0
	for _, n := range nodes {
		if n.server.Sessions(account, 2).Acquire(t.Context()) {
			acquired++
		}
	}
	if acquired != 2 {
		t.Errorf("%d of 3 nodes have a connection, want 2", acquired)
	}
}

// After a restart of the server, connections that are open still count.
func TestSessions_SurviveRestart(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	nodes := startNodes(t, redis, 2, ratelimit.Window{Limit: 1, Per: time.Minute})
	first, second := nodes[0].server.Sessions(account, 1), nodes[1].server.Sessions(account, 1)
	if !first.Acquire(t.Context()) {
		t.Fatal("no connection for the first node")
	}
	redis.Kill()
	redis.Run()
	for _, n := range nodes {
		n.waitRecovered(t, 2)
	}
	if second.Acquire(t.Context()) {
		t.Error("two nodes have the one connection of the account")
	}
	first.Release()
	if !second.Acquire(t.Context()) {
		t.Error("a connection that was released is not free")
	}
}

// A dead process's connections are free after a few seconds.
func TestSessions_DeadNodeIsReplaced(t *testing.T) {
	t.Parallel()
	nodes := startNodes(t, redistest.Start(t), 2, ratelimit.Window{Limit: 1, Per: time.Minute})
	if !nodes[0].server.Sessions(account, 1).Acquire(t.Context()) {
		t.Fatal("no connection for the first node")
	}
	second := nodes[1].server.Sessions(account, 1)
	if second.Acquire(t.Context()) {
		t.Fatal("the connection of a live node was given away")
	}
	deadline := time.Now().Add(3 * sessionsFor) // nobody renews it here
	for !second.Acquire(t.Context()) {
		if time.Now().After(deadline) {
			t.Fatal("the connection of a dead node is never free")
		}
		time.Sleep(100 * time.Millisecond)
	}
}
