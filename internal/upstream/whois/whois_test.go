package whois

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
	"github.com/dotkontor/dotkontor/internal/upstream/hostmap"
)

const queriedLabel = "kranich-canary-47"

func queriedName(tld string) registrar.Name { return registrar.NewName(queriedLabel, tld) }

// serve handles every connection on its own port with handle.
func serve(t *testing.T, handle func(net.Conn)) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			handle(conn)
			_ = conn.Close()
		}
	}()
	t.Cleanup(func() {
		_ = listener.Close()
		<-done
	})
	return listener.Addr().String()
}

// reply reads one line and sends text.
func reply(text string) func(net.Conn) {
	return func(conn net.Conn) {
		_, _ = bufio.NewReader(conn).ReadString('\n')
		_, _ = io.WriteString(conn, text)
	}
}

func newClient(t *testing.T, o Options) *Client {
	t.Helper()
	if o.Timeout == 0 {
		o.Timeout = 10 * time.Second
	}
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestFind_NoServerIsErrNoSource(t *testing.T) {
	t.Parallel()
	_, err := newClient(t, Options{}).Find(t.Context(), registrar.Extension{TLD: ".dev"}, queriedName(".dev"))
	if !errors.Is(err, lookup.ErrNoSource) {
		t.Errorf("got %v", err)
	}
}

func TestNew_RefusesInvalidHostTable(t *testing.T) {
	t.Parallel()
	if _, err := New(Options{Hosts: hostmap.Table{"whois.example:43": "nowhere"}}); err == nil {
		t.Error("accepted")
	}
}

func TestFind_UsesServerSpecificQueryFormat(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]string{
		"whois.example.net":      queriedLabel + ".example",
		"whois.denic.de":         "-T dn,ace " + queriedLabel + ".example",
		"WHOIS.Denic.de":         "-T dn,ace " + queriedLabel + ".example",
		"whois.verisign-grs.com": "domain " + queriedLabel + ".example",
		"whois.punktum.dk":       "--charset=utf-8 " + queriedLabel + ".example",
	} {
		received := make(chan string, 1)
		address := serve(t, func(conn net.Conn) {
			question, _ := bufio.NewReader(conn).ReadString('\n')
			received <- question
			_, _ = io.WriteString(conn, "Domain not found.\r\n")
		})
		c := newClient(t, Options{Hosts: hostmap.Table{strings.ToLower(host) + ":43": address}})
		finding, err := c.Find(t.Context(), registrar.Extension{TLD: ".example", WHOIS: host}, queriedName(".example"))
		if err != nil || finding.State != lookup.Free {
			t.Errorf("%s: %+v, %v", host, finding, err)
			continue
		}
		if got := <-received; got != want+"\r\n" {
			t.Errorf("%s got the query %q, want %q", host, got, want)
		}
	}
}

func TestFind_UsesPortFromCatalog(t *testing.T) {
	t.Parallel()
	address := serve(t, reply("Domain: "+queriedLabel+".example\nStatus: active\nRegistrar: X\n"))
	c := newClient(t, Options{Hosts: hostmap.Table{"whois.example.net:4343": address}})
	finding, err := c.Find(t.Context(), registrar.Extension{TLD: ".example", WHOIS: "whois.example.net:4343"}, queriedName(".example"))
	if err != nil || finding.State != lookup.Registered {
		t.Errorf("%+v, %v", finding, err)
	}
}

// serverFailures are server failures and their fault codes.
var serverFailures = map[string]struct {
	handle func(net.Conn)
	want   registrar.Code
}{
	"closes at once": {func(conn net.Conn) {
		_, _ = bufio.NewReader(conn).ReadString('\n')
	}, registrar.FaultBroken},
	"resets after half an answer": {func(conn net.Conn) {
		_, _ = bufio.NewReader(conn).ReadString('\n')
		_, _ = io.WriteString(conn, "Domain not found.\r\n")
		_ = conn.(*net.TCPConn).SetLinger(0)
	}, registrar.FaultRefused},
	"sends too much": {func(conn net.Conn) {
		_, _ = bufio.NewReader(conn).ReadString('\n')
		_, _ = io.WriteString(conn, "Domain not found.\r\n"+strings.Repeat("filler\r\n", maxAnswerBytes/8+1))
	}, registrar.FaultBroken},
	"sends junk":  {reply("\x00\x01\x02"), registrar.FaultBroken},
	"says slower": {reply("Query limit exceeded for " + queriedLabel + ".example\r\n"), registrar.FaultThrottled},
}

func TestFind_FaultsOmitTheName(t *testing.T) {
	t.Parallel()
	for rule, c := range serverFailures {
		t.Run(rule, func(t *testing.T) {
			t.Parallel()
			var log bytes.Buffer
			client := newClient(t, Options{
				Hosts:  hostmap.Table{"whois.example.net:43": serve(t, c.handle)},
				Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
			})
			finding, err := client.Find(t.Context(), registrar.Extension{TLD: ".example", WHOIS: "whois.example.net"}, queriedName(".example"))
			checkFault(t, finding, err, c.want, log.String())
		})
	}
}

func checkFault(t *testing.T, finding lookup.Finding, err error, want registrar.Code, log string) {
	t.Helper()
	if registrar.CodeOf(err) != want || registrar.KindOf(err) != registrar.KindUpstream {
		t.Errorf("fault %v, want %s", err, want)
	}
	if finding != (lookup.Finding{}) {
		t.Errorf("a fault came with %+v", finding)
	}
	if !strings.Contains(log, string(want)) || !strings.Contains(log, "whois.example.net") {
		t.Errorf("the log does not name fault and host: %q", log)
	}
	if strings.Contains(log+err.Error(), queriedLabel) {
		t.Errorf("the searched name leaked: %q %q", log, err)
	}
}

func TestFind_ClosedPortIsRefused(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	_ = listener.Close()
	var log bytes.Buffer
	c := newClient(t, Options{
		Hosts:  hostmap.Table{"whois.example.net:43": address},
		Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	finding, err := c.Find(t.Context(), registrar.Extension{WHOIS: "whois.example.net"}, queriedName(".example"))
	checkFault(t, finding, err, registrar.FaultRefused, log.String())
}

// silentDialer connects to a server that accepts the query and never ends its
// response.
func silentDialer(context.Context, string, string) (net.Conn, error) {
	near, far := net.Pipe()
	go func() {
		_, _ = far.Read(make([]byte, 512))
		_, _ = io.WriteString(far, "Domain not found.\r\n")
		_, _ = far.Read(make([]byte, 1)) // until the client closes
		_ = far.Close()
	}()
	return near, nil
}

func TestFind_SilentServerTimesOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		c := newClient(t, Options{
			Dialer: silentDialer, Timeout: defaultTimeout,
			Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		})
		start := time.Now()
		finding, err := c.Find(t.Context(), registrar.Extension{WHOIS: "whois.example.net"}, queriedName(".example"))
		checkFault(t, finding, err, registrar.FaultTimeout, log.String())
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Error("the cause is not the deadline")
		}
		if took := time.Since(start); took != defaultTimeout {
			t.Errorf("took %s", took)
		}
	})
}

func TestFind_CancellationReturnsAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newClient(t, Options{Dialer: silentDialer})
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(100*time.Millisecond, cancel)
		start := time.Now()
		_, err := c.Find(ctx, registrar.Extension{WHOIS: "whois.example.net"}, queriedName(".example"))
		if registrar.CodeOf(err) != registrar.FaultTimeout || !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		if took := time.Since(start); took != 100*time.Millisecond {
			t.Errorf("took %s", took)
		}
	})
}
