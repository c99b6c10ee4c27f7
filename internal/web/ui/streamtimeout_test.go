package ui

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// singleConnListener is a listener for a single connection.
type singleConnListener struct {
	conn chan net.Conn
	end  context.Context //nolint:containedctx  // while it listens
}

func (l singleConnListener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conn:
		return conn, nil
	case <-l.end.Done():
		return nil, net.ErrClosed
	}
}

func (singleConnListener) Close() error   { return nil }
func (singleConnListener) Addr() net.Addr { return &net.UnixAddr{} }

// servePipe runs a real server over an unbuffered pipe, with the product's timeouts.
func servePipe(t *testing.T, handler http.Handler) net.Conn {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	ours, theirs := net.Pipe()
	l := singleConnListener{conn: make(chan net.Conn, 1), end: ctx}
	l.conn <- theirs
	server := &http.Server{Handler: handler, ReadTimeout: 10 * time.Second, WriteTimeout: 20 * time.Second, IdleTimeout: time.Second}
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() {
		stop()
		_ = ours.Close()
		_ = server.Close()
	})
	if _, err := ours.Write([]byte("GET /thing/events HTTP/1.1\r\nHost: domains.example\r\nFrom: 192.0.2.1\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	return ours
}

func TestStream_OutlivesServerWriteTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, start := newEnv(t, 0), time.Now()
		conn := servePipe(t, p.templates.Stream(func(*Request) (View, error) {
			return testView("a", time.Since(start) > 4*time.Minute), nil
		}))
		reader := bufio.NewReader(conn)
		for {
			line, err := reader.ReadString('\n')
			if err != nil {
				t.Fatalf("after %s: %v", time.Since(start), err)
			}
			if strings.HasPrefix(line, "event: end") {
				break
			}
		}
		if took := time.Since(start); took < 4*time.Minute {
			t.Errorf("it ended after %s", took)
		}
	})
}

func TestStream_StalledReaderIsDropped(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, start := newEnv(t, 0), time.Now()
		ended := make(chan time.Duration, 1)
		servePipe(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			p.templates.Stream(staticView)(w, r)
			ended <- time.Since(start)
		}))
		if took := <-ended; took != eventWriteTimeout {
			t.Errorf("it took %s", took)
		}
	})
}
