package epp

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// ledger is one account whose connections two nodes share.
type ledger struct {
	mu          sync.Mutex
	limit       int
	held, share [2]int
	most        int
}

type ledgerSide struct {
	*ledger
	node int
}

func (l ledgerSide) Acquire(context.Context) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held[0]+l.held[1] >= l.limit || l.held[l.node] >= l.share[l.node] {
		return false
	}
	l.held[l.node]++
	l.most = max(l.most, l.held[0]+l.held[1])
	return true
}

func (l ledgerSide) Release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held[l.node]--
}

func (l ledgerSide) Share() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.share[l.node]
}

func (l ledgerSide) Nodes() int { return 2 }

func (l *ledger) set(first, second int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.share = [2]int{first, second}
}

func (l *ledger) counts() [2]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.held
}

// checkMany sends so many commands at a time and returns when all have been answered.
func checkMany(t *testing.T, c *Client, count int) {
	t.Helper()
	var all sync.WaitGroup
	for i := range count {
		all.Go(func() {
			if _, err := c.CheckDomains(t.Context(), CheckDomains{Names: []string{fmt.Sprintf("n%d.test", i)}}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// A node that was alone gives connections back as soon as another one has a share of them, and
// the nodes together never have more than the account allows.
func TestSessions_SecondNodeGetsItsShare(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := &ledger{limit: 4, share: [2]int{4, 0}}
		var clients [2]*Client
		for node := range clients {
			f := newSlowServer(100*time.Millisecond, respondCheck)
			clients[node] = f.client(t, func(a *Account) {
				a.MaxConnections, a.OrderConnections, a.BatchNames, a.Sessions = 4, -1, 1, ledgerSide{l, node}
			})
		}
		checkMany(t, clients[0], 8)
		if held := l.counts(); held != [2]int{4, 0} {
			t.Fatalf("connections %v, want all at the first node", held)
		}
		l.set(2, 2)
		checkMany(t, clients[1], 4) // waits until the first node has closed two
		if held := l.counts(); held[0] != 2 || held[1] == 0 || held[1] > 2 {
			t.Errorf("connections %v, want at most two each", held)
		}
		if l.most > 4 {
			t.Errorf("%d connections at a time, the account has 4", l.most)
		}
	})
}

func TestSessions_RateIsDividedByNodes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := &ledger{limit: 4, share: [2]int{2, 2}}
		c := (&fakeServer{handle: respondCheck}).client(t, func(a *Account) {
			a.MaxConnections, a.OrderConnections, a.PerSecond, a.BatchNames, a.Sessions = 4, -1, 20, 1, ledgerSide{l, 0}
		})
		began := time.Now()
		checkMany(t, c, 30) // a burst of 10, then 10 a second instead of 20
		if took := time.Since(began); took < 1900*time.Millisecond || took > 2100*time.Millisecond {
			t.Errorf("30 commands took %s, want 2 s", took)
		}
	})
}
