package redis

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/ratelimit"
	"github.com/dotkontor/dotkontor/test/testkit/limittest"
	"github.com/dotkontor/dotkontor/test/testkit/redistest"
)

var testKey = []byte("0123456789abcdef0123456789abcdef")

func newServer(t *testing.T, redis *redistest.Server) *Server {
	t.Helper()
	server, err := New(Config{URL: redis.URL, Key: testKey})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	return server
}

// node is one process: its own server connection and its own limiter.
type node struct {
	server  *Server
	shared  *ratelimit.Shared
	limiter *ratelimit.Limiter
	stop    context.CancelFunc
}

func startNode(t *testing.T, redis *redistest.Server, nodes int, windows ...ratelimit.Window) *node {
	t.Helper()
	n := &node{server: newServer(t, redis)}
	n.shared = ratelimit.NewShared(n.server, nodes, slog.New(slog.DiscardHandler))
	var err error
	if n.limiter, err = ratelimit.New(ratelimit.Config{Windows: windows, Shared: n.shared, Name: "test"}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var done sync.WaitGroup
	done.Go(func() { n.shared.Run(ctx) })
	n.stop = func() { cancel(); done.Wait() }
	t.Cleanup(n.stop)
	return n
}

func (n *node) waitOnline(t *testing.T, online bool, nodes int) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for {
		status := n.shared.Status()
		if status.Online == online && (nodes == 0 || status.Nodes == nodes) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("status %+v, want online %v with %d nodes", status, online, nodes)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// waitRecovered waits until a node has begun so many times to count with the others.
func (n *node) waitRecovered(t *testing.T, times int64) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for s := n.shared.Status(); !s.Online || s.Recoveries < times; s = n.shared.Status() {
		if time.Now().After(deadline) {
			t.Fatalf("status %+v, want %d recoveries", s, times)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func startNodes(t *testing.T, redis *redistest.Server, count int, windows ...ratelimit.Window) []*node {
	t.Helper()
	nodes := make([]*node, count)
	for i := range nodes {
		nodes[i] = startNode(t, redis, count, windows...)
	}
	for _, n := range nodes {
		n.waitOnline(t, true, count)
	}
	return nodes
}

// clockLog decides with a clock that the test sets, as the server's would be.
type clockLog struct {
	t   *testing.T
	log ratelimit.Log
}

func (c clockLog) Peek(key ratelimit.Key) ratelimit.Decision  { return c.decide(key, false) }
func (c clockLog) Allow(key ratelimit.Key) ratelimit.Decision { return c.decide(key, true) }

func (c clockLog) decide(key ratelimit.Key, count bool) ratelimit.Decision {
	c.t.Helper()
	decision, _, err := c.log.Decide(key, 1, count)
	if err != nil {
		c.t.Fatal(err)
	}
	return decision
}

// The oracle of the limiter in memory: the server's decisions agree in everything.
func TestDecide_AgreesWithExactModel(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	for name, windows := range limittest.Windows {
		t.Run(name, func(t *testing.T) {
			server := newServer(t, redis)
			server.decide = strings.Replace(server.decide, "redis.call('TIME')", "redis.call('LRANGE', 'clock', 0, 1)", 1)
			client, err := server.connected()
			if err != nil {
				t.Fatal(err)
			}
			if err := client.Do(t.Context(), client.B().Flushdb().Build()).Error(); err != nil {
				t.Fatal(err)
			}
			log := server.Log("oracle", windows)
			online(t, server)
			start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			set := func(at time.Duration) {
				now := start.Add(at)
				for _, reply := range client.DoMulti(t.Context(),
					client.B().Del().Key("clock").Build(),
					client.B().Rpush().Key("clock").Element(strconv.FormatInt(now.Unix(), 10), strconv.Itoa(now.Nanosecond()/1000)).Build()) {
					if err := reply.Error(); err != nil {
						t.Fatal(err)
					}
				}
			}
			limittest.Exact(t, clockLog{t, log}, windows, 10_000, set)
		})
	}
}

// online makes a server decide, without the other nodes' consent.
func online(t *testing.T, server *Server) {
	t.Helper()
	generation, err := server.Begin(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	ready, err := server.Seeded(t.Context(), generation, nil)
	if err != nil || !ready {
		t.Fatalf("ready %v, %v", ready, err)
	}
	if err := server.Use(t.Context(), generation); err != nil {
		t.Fatal(err)
	}
}

func TestAllow_ThreeNodesAdmitOneLimit(t *testing.T) {
	t.Parallel()
	nodes := startNodes(t, redistest.Start(t), 3, ratelimit.Window{Limit: 30, Per: time.Minute}, ratelimit.Window{Limit: 300, Per: 6 * time.Hour})
	var mu sync.Mutex
	var admitted int
	var all sync.WaitGroup
	for _, n := range nodes {
		all.Go(func() {
			for range 50 {
				if n.limiter.Allow(limittest.Key(7)).Allowed {
					mu.Lock()
					admitted++
					mu.Unlock()
				}
			}
		})
	}
	all.Wait()
	if admitted != 30 {
		t.Errorf("%d of 150 requests admitted, want 30", admitted)
	}
}

func TestStart_NodeJoinsBeforeItServes(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	window := ratelimit.Window{Limit: 30, Per: time.Minute}
	first := startNode(t, redis, 1, window)
	first.shared.AwaitFirst(t.Context())
	key := limittest.Key(1)
	for range 30 {
		if !first.limiter.Allow(key).Allowed {
			t.Fatal("refused within the limit")
		}
	}
	second := startNode(t, redis, 2, window)
	second.shared.AwaitFirst(t.Context())
	if second.limiter.Allow(key).Allowed {
		t.Error("a node that has just started admits a 31st request")
	}
	redis.Kill()
	alone := startNode(t, redis, 3, window)
	patience, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	alone.shared.AwaitFirst(patience)
	if alone.shared.Status().Online || patience.Err() != nil {
		t.Errorf("without a server: %+v, %v", alone.shared.Status(), patience.Err())
	}
}

func TestAllowN_CountsAllOrNone(t *testing.T) {
	t.Parallel()
	nodes := startNodes(t, redistest.Start(t), 2, ratelimit.Window{Limit: 30, Per: time.Minute})
	if d := nodes[0].limiter.AllowN(limittest.Key(1), 20); !d.Allowed || d.Remaining != 10 {
		t.Fatalf("20 of 30: %+v", d)
	}
	if d := nodes[1].limiter.AllowN(limittest.Key(1), 11); d.Allowed || d.Remaining != 10 || d.RetryAfter <= 0 {
		t.Fatalf("11 of 10: %+v", d)
	}
	if d := nodes[1].limiter.AllowN(limittest.Key(1), 10); !d.Allowed || d.Remaining != 0 {
		t.Fatalf("10 of 10: %+v", d)
	}
}

// A restarted server has lost all logs, or the last ones. What the nodes admitted before still
// counts.
func TestRestart_NodesSeedWhatTheyAdmitted(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{"without data": nil, "with data": {"--appendonly", "yes", "--appendfsync", "no"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			redis := redistest.Start(t, args...)
			nodes := startNodes(t, redis, 3, ratelimit.Window{Limit: 30, Per: time.Minute})
			for i, n := range nodes {
				for range 5 * (i + 1) { // 30 in total, by shares of 5, 10 and 15
					if !n.limiter.Allow(limittest.Key(1)).Allowed {
						t.Fatal("refused within the limit")
					}
				}
				n.limiter.Allow(limittest.Key(2)) // leaves 27
			}
			redis.Kill()
			redis.Run()
			for _, n := range nodes {
				n.waitRecovered(t, 2)
			}
			for i, n := range nodes {
				if d := n.limiter.Allow(limittest.Key(1)); d.Allowed {
					t.Errorf("node %d admits a 31st request: %+v", i, d)
				}
			}
			if d := nodes[1].limiter.Peek(limittest.Key(2)); d.Remaining != 27 {
				t.Errorf("%d left, want 27", d.Remaining)
			}
		})
	}
}

// While the server is down, the nodes' shares add up to the limit; what they admit counts
// afterwards.
func TestOutage_NodesCountTheirShares(t *testing.T) {
	t.Parallel()
	for _, fault := range []struct {
		name       string
		begin, end func(*redistest.Server)
	}{
		{"killed", (*redistest.Server).Kill, (*redistest.Server).Run},
		{"frozen", (*redistest.Server).Freeze, (*redistest.Server).Thaw},
	} {
		t.Run(fault.name, func(t *testing.T) {
			t.Parallel()
			redis := redistest.Start(t)
			nodes := startNodes(t, redis, 3, ratelimit.Window{Limit: 31, Per: time.Minute}, ratelimit.Window{Limit: 2, Per: 30 * time.Second})
			fault.begin(redis)
			for key := range 5 {
				admitted := 0
				for _, n := range nodes {
					for range 4 {
						if n.limiter.Allow(limittest.Key(key)).Allowed {
							admitted++
						}
					}
				}
				if admitted != 2 {
					t.Errorf("key %d: %d admitted without a server, want 2", key, admitted)
				}
			}
			if s := nodes[0].shared.Status(); s.Online || s.Nodes != 3 || s.Since.IsZero() || s.LocalRefused == 0 {
				t.Errorf("%+v, want a node on its own that knows of three", s)
			}
			fault.end(redis)
			for _, n := range nodes {
				n.waitOnline(t, true, 3)
			}
			for key := range 5 {
				if d := nodes[key%3].limiter.Peek(limittest.Key(key)); d.Allowed || d.Window != 1 || d.Remaining != 0 {
					t.Errorf("key %d after the outage: %+v", key, d)
				}
			}
		})
	}
}

// A node that was cut off returns with what it has admitted meanwhile; the others go on.
func TestIsolatedNode_SeedsOnReturn(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	network := newProxy(t, redis.Address)
	window := ratelimit.Window{Limit: 10, Per: time.Minute}
	isolated := startNode(t, &redistest.Server{URL: "redis://" + network.listener.Addr().String()}, 2, window)
	other := startNode(t, redis, 2, window)
	for _, n := range []*node{isolated, other} {
		n.waitOnline(t, true, 2)
	}
	network.cut()
	for range 5 {
		if !isolated.limiter.Allow(limittest.Key(1)).Allowed {
			t.Fatal("an isolated node refuses within its share")
		}
	}
	if isolated.limiter.Allow(limittest.Key(1)).Allowed {
		t.Fatal("an isolated node admits more than its share")
	}
	for range 3 {
		if !other.limiter.Allow(limittest.Key(1)).Allowed {
			t.Fatal("the other node refuses")
		}
	}
	network.mend()
	isolated.waitOnline(t, true, 2)
	if d := other.limiter.Peek(limittest.Key(1)); d.Remaining != 2 {
		t.Errorf("%d left, want 2: %+v", d.Remaining, d)
	}
	if s := other.shared.Status(); s.Recoveries != 1 {
		t.Errorf("the other node began %d times, want once", s.Recoveries)
	}
}

// proxy is a network connection that can be cut.
type proxy struct {
	listener net.Listener
	mu       sync.Mutex
	isCut    bool
	conns    []net.Conn
}

func newProxy(t *testing.T, target string) *proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{listener: listener}
	t.Cleanup(func() { listener.Close(); p.cut() })
	go func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", target)
			if err != nil || !p.add(near, far) {
				near.Close()
				continue
			}
			go func() { _, _ = io.Copy(far, near); far.Close() }()
			go func() { _, _ = io.Copy(near, far); near.Close() }()
		}
	}()
	return p
}

func (p *proxy) add(near, far net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.isCut {
		far.Close()
		return false
	}
	p.conns = append(p.conns, near, far)
	return true
}

func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.isCut = true
	for _, conn := range p.conns {
		conn.Close()
	}
	p.conns = nil
}

func (p *proxy) mend() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.isCut = false
}

// Random traffic over three nodes with restarts: no minute has more than the limit, except
// those that touch an outage, which have less than twice as many.
func TestRandomOutages_NoWindowExceedsItsLimit(t *testing.T) {
	t.Parallel()
	const limit, per = 20, 2 * time.Second
	redis := redistest.Start(t)
	nodes := startNodes(t, redis, 3, ratelimit.Window{Limit: limit, Per: per})
	type hit struct {
		// The server counted it between these.
		after, before time.Time
		shared        bool
	}
	var mu sync.Mutex
	hits := make(map[int][]hit)
	ctx, cancel := context.WithTimeout(t.Context(), 12*time.Second)
	defer cancel()
	var all sync.WaitGroup
	for i, n := range nodes {
		all.Go(func() {
			random := rand.New(rand.NewPCG(uint64(i), 1))
			for ctx.Err() == nil {
				key := random.IntN(3)
				online, began := n.shared.Status().Online, time.Now()
				if n.limiter.Allow(limittest.Key(key)).Allowed {
					mu.Lock()
					hits[key] = append(hits[key], hit{began, time.Now(), online && n.shared.Status().Online})
					mu.Unlock()
				}
				time.Sleep(time.Duration(random.IntN(20)) * time.Millisecond)
			}
		})
	}
	time.Sleep(3 * time.Second)
	redis.Kill()
	time.Sleep(time.Second)
	redis.Run()
	time.Sleep(4 * time.Second)
	redis.Kill() // and again at once
	redis.Run()
	all.Wait()
	for key, all := range hits {
		for i := range all {
			count, shared := 0, true
			for _, other := range all[i:] {
				if other.before.Sub(all[i].after) < per {
					count++
					shared = shared && other.shared
				}
			}
			if shared && count > limit || count >= 2*limit {
				t.Fatalf("key %d: %d requests in %v, counted together: %v", key, count, per, shared)
			}
		}
		t.Logf("key %d: %d admitted", key, len(all))
	}
	if recoveries := nodes[0].shared.Status().Recoveries; recoveries != 3 {
		t.Errorf("%d recoveries, want the start and two", recoveries)
	}
}

// Nothing that identifies a caller is stored in clear text.
func TestStoredKeys_HideWhatTheyCount(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	n := startNodes(t, redis, 1, ratelimit.Window{Limit: 5, Per: time.Minute})[0]
	const secret = "kundin@example.org"
	n.limiter.Allow(ratelimit.TextKey(secret))
	n.limiter.Allow(limittest.Key(0x7f000001))
	cache := NewCache(slog.New(slog.DiscardHandler), func(string) {})
	cache.Use(n.server)
	cache.Find(t.Context(), "verdict", "geheim.example", time.Second)
	cache.Store(t.Context(), "verdict", "geheim.example", []byte("ns1.geheim.example"), time.Minute)
	if value, _ := cache.Find(t.Context(), "verdict", "geheim.example", time.Second); string(value) != "ns1.geheim.example" {
		t.Fatalf("found %q", value)
	}
	client, err := n.server.connected()
	if err != nil {
		t.Fatal(err)
	}
	names, err := client.Do(t.Context(), client.B().Keys().Pattern("*").Build()).AsStrSlice()
	if err != nil || len(names) < 5 {
		t.Fatalf("%d keys, %v", len(names), err)
	}
	for _, name := range names {
		value, _ := client.Do(t.Context(), client.B().Dump().Key(name).Build()).ToString()
		for _, hidden := range []string{secret, "geheim", "\x7f\x00\x00\x01", "127.0.0.1"} {
			if strings.Contains(name+value, hidden) {
				t.Errorf("%q is stored in clear text under %q", hidden, name)
			}
		}
	}
}

func TestProbe_NamesWhatIsWrong(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		args   []string
		url    func(address string) string
		class  string
		evicts bool
	}{
		"works":          {url: func(a string) string { return "redis://" + a }},
		"evicts":         {args: []string{"--maxmemory", "64mb", "--maxmemory-policy", "allkeys-lru"}, url: func(a string) string { return "redis://" + a }, evicts: true},
		"no password":    {args: []string{"--requirepass", "geheim"}, url: func(a string) string { return "redis://" + a }, class: "login_refused"},
		"wrong password": {args: []string{"--requirepass", "geheim"}, url: func(a string) string { return "redis://:falsch@" + a }, class: "login_refused"},
		"right password": {args: []string{"--requirepass", "geheim"}, url: func(a string) string { return "redis://:geheim@" + a }},
		"no server":      {url: func(string) string { return "redis://127.0.0.1:1" }, class: "connection_refused"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, err := New(Config{URL: test.url(redistest.Start(t, test.args...).Address), Key: testKey})
			if err != nil {
				t.Fatal(err)
			}
			defer server.Close()
			evicts, err := server.Probe(t.Context())
			cause := &registrar.Cause{}
			if errors.As(err, &cause); cause.Class != test.class || evicts != test.evicts || (err == nil) != (test.class == "") {
				t.Errorf("evicts %v, %v with class %q; want %v, %q", evicts, err, cause.Class, test.evicts, test.class)
			}
			if err != nil && strings.Contains(registrar.CauseOf(err)+err.Error(), "falsch") {
				t.Errorf("%v names the password", err)
			}
		})
	}
}
