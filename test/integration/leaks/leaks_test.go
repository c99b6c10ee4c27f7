// Package leaks sends many queries to hostile servers, cancels most of them early,
// and then checks for leaked goroutines, server-side connections and file
// descriptors. It is a package of its own, because other tests would be counted
// too.
package leaks

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
	"github.com/dotkontor/dotkontor/internal/upstream/dns"
	"github.com/dotkontor/dotkontor/internal/upstream/hostlimit"
	"github.com/dotkontor/dotkontor/internal/upstream/hostmap"
	"github.com/dotkontor/dotkontor/internal/upstream/rdap"
	"github.com/dotkontor/dotkontor/internal/upstream/whois"
)

const (
	concurrentCallers = 24
	rounds            = 16
	// settleTimeout is how long released resources may take to disappear. Only a
	// failure takes that long.
	settleTimeout = 20 * time.Second
)

// hostileResponses are the responses of a hostile server, in rotation. Empty text
// means silence; cut means that it closes the connection afterwards.
var hostileResponses = []struct {
	text string
	cut  bool
}{
	{"", true},
	{"", false},
	{"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", false},
	{"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n{\"objectClassName\":", false},
	{"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n{\"objectClassName\":", true},
	{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"obj\r\nzz", false},
	{"HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 70000\r\n\r\nmoved", false},
	{"HTTP/1.1 100 Continue\r\n\r\n", false},
	{"HTTP/1.1 500 No\r\nContent-Length: 2\r\n\r\nno", false},
	{"\x00\x01\x02 half a li", false},
	{"Domain not found.\r\n", true},
	{strings.Repeat("filler\r\n", 100_000), true},
}

// hostileServer gives a different hostile response to each query and notices when
// clients leave.
type hostileServer struct {
	listener net.Listener
	open     atomic.Int64
	served   atomic.Int64
	conns    sync.WaitGroup
}

func startHostileServer(t *testing.T) *hostileServer {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h := &hostileServer{listener: listener}
	h.conns.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			h.open.Add(1)
			h.conns.Go(func() {
				defer h.open.Add(-1)
				defer conn.Close()
				h.serve(conn)
			})
		}
	})
	return h
}

func (h *hostileServer) serve(conn net.Conn) {
	lines := bufio.NewReader(conn)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		for strings.HasPrefix(line, "GET ") { // the request header ends with an empty line
			if more, err := lines.ReadString('\n'); err != nil {
				return
			} else if more == "\r\n" {
				break
			}
		}
		mood := hostileResponses[int(h.served.Add(1))%len(hostileResponses)]
		if _, err := io.WriteString(conn, mood.text); err != nil || mood.cut {
			return
		}
	}
}

func (h *hostileServer) address() string { return h.listener.Addr().String() }

func (h *hostileServer) close() {
	_ = h.listener.Close()
	h.conns.Wait()
}

// startJunkDNS answers every third query with junk and drops the others.
func startJunkDNS(t *testing.T) net.PacketConn {
	t.Helper()
	packets, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		buffer := make([]byte, 2048)
		for received := 0; ; received++ {
			n, from, err := packets.ReadFrom(buffer)
			if err != nil {
				return
			}
			if received%3 == 0 {
				_, _ = packets.WriteTo(append(buffer[:2:2], buffer[n/2:n]...), from)
			}
		}
	}()
	return packets
}

type catalogue struct{}

func (catalogue) Extension(tld string) (registrar.Extension, bool) {
	return registrar.Extension{TLD: tld, RDAP: "https://rdap.example.net/", WHOIS: "whois.example.net"}, true
}

func TestLookups_CanceledAndFailedLeakNothing(t *testing.T) {
	goroutines, files := runtime.NumGoroutine(), openFiles(t)

	web, port43, resolver := startHostileServer(t), startHostileServer(t), startJunkDNS(t)
	table := hostmap.Table{"rdap.example.net:443": "http://" + web.address(), "whois.example.net:43": port43.address()}
	// The breaker is disabled, because it would stop the queries.
	limiter := hostlimit.New(hostlimit.Options{
		PerSecond: 2000, MaxConcurrent: 32, MaxWaiting: 64, Breaker: hostlimit.Breaker{MinCalls: -1},
	})
	registryData, err := rdap.New(rdap.Options{Hosts: table, Limiter: limiter, Timeout: 50 * time.Millisecond, MaxConnsPerHost: 32})
	if err != nil {
		t.Fatal(err)
	}
	records, err := whois.New(whois.Options{Hosts: table, Limiter: limiter, Timeout: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	delegations, err := dns.New(dns.Options{
		Servers: []string{resolver.LocalAddr().String()}, Timeout: 60 * time.Millisecond, AttemptTimeout: 20 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	engine, err := lookup.New(lookup.Config{
		Catalog: catalogue{}, RDAP: registryData, WHOIS: records, DNS: delegations,
		Deadline: 200 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}

	ext, _ := catalogue{}.Extension(".example")
	var askers sync.WaitGroup
	for asker := range concurrentCallers {
		askers.Go(func() {
			for round := range rounds {
				name := registrar.NewName(fmt.Sprintf("kranich-%d-%d", asker, round), ".example")
				// The results do not matter here.
				for _, ask := range []func(context.Context){
					func(ctx context.Context) { _, _ = registryData.Find(ctx, ext, name) },
					func(ctx context.Context) { _, _ = records.Find(ctx, ext, name) },
					func(ctx context.Context) { _, _ = delegations.IsDelegated(ctx, name) },
					func(ctx context.Context) { _, _ = engine.Check(ctx, fmt.Sprintf("kranich-%d-%d.com", asker, round)) },
				} {
					callMaybeCanceled(t.Context(), round%2 == 0, ask)
				}
			}
		})
	}
	askers.Wait()
	if web.served.Load() < concurrentCallers || port43.served.Load() < concurrentCallers {
		t.Fatalf("only %d and %d queries arrived, so nothing was tested", web.served.Load(), port43.served.Load())
	}

	// Lookups continue without their callers and end with the engine's deadline.
	eventuallyAtMost(t, "WHOIS connections", func() int { return int(port43.open.Load()) }, 0)
	// Complete responses leave a reusable connection, which Close drops.
	eventuallyAtMost(t, "RDAP connections", func() int {
		registryData.Close()
		return int(web.open.Load())
	}, 0)
	engine.Close()
	web.close()
	port43.close()
	_ = resolver.Close()
	eventuallyAtMost(t, "goroutines", runtime.NumGoroutine, goroutines)
	eventuallyAtMost(t, "files", func() int { return openFiles(t) }, files)
}

// callMaybeCanceled calls ask; if early is true, it cancels after a random short
// time.
func callMaybeCanceled(ctx context.Context, early bool, ask func(context.Context)) {
	if early {
		limited, cancel := context.WithCancel(ctx)
		defer cancel()
		defer time.AfterFunc(time.Duration(rand.Int64N(int64(20*time.Millisecond))), cancel).Stop()
		ctx = limited
	}
	ask(ctx)
}

// eventuallyAtMost waits until count is at most want.
func eventuallyAtMost(t *testing.T, what string, count func() int, want int) {
	t.Helper()
	var got int
	for deadline := time.Now().Add(settleTimeout); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if got = count(); got <= want {
			return
		}
	}
	stacks := make([]byte, 1<<16)
	t.Fatalf("%d %s are left, want %d\n%s", got, what, want, stacks[:runtime.Stack(stacks, true)])
}

// openFiles counts this process's file descriptors, plus the one for counting.
func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("no /proc on this system: open files can't be counted (run the test on Linux)")
	}
	return len(entries)
}
