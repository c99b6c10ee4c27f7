package contract

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestRequest_HeaderOver16KiBIsRefused(t *testing.T) {
	onBothTargets(t, func(t *testing.T, on *target) {
		got := newCaller(t, on).send(request{
			path: checkPath, body: object("domain", "google.de"), header: map[string]string{"X-Filler": strings.Repeat("a", 8<<10)},
		})
		wantResponse(t, "8 KiB", got, http.StatusOK, nil)

		conn, err := newCaller(t, on).dial()
		if err != nil {
			t.Fatal(err)
		}
		// The write may fail: a closed connection is a rejection too.
		_, _ = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: a\r\nX-Filler: %s\r\n\r\n", checkPath, strings.Repeat("a", 64<<10))
		received, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			return // closed without a response
		}
		defer received.Body.Close() // only the status matters
		if received.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
			t.Errorf("a header of 64 KiB got %d", received.StatusCode)
		}
	})
}

func TestRequest_HugeBodyIsRefusedUnread(t *testing.T) {
	onBothTargets(t, func(t *testing.T, on *target) {
		conn, err := newCaller(t, on).dial()
		if err != nil {
			t.Fatal(err)
		}
		// Ten megabytes are announced and a fraction is sent: a response before the
		// rest shows that the server does not wait for it.
		if _, err := fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
			checkPath, 10<<20, strings.Repeat(" ", 32<<10)); err != nil {
			t.Fatal(err)
		}
		received, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatalf("no response: %v", err)
		}
		defer received.Body.Close() // only the header matters
		if received.StatusCode != http.StatusBadRequest || !received.Close {
			t.Errorf("status %d, closing %v; want 400 and a closed connection", received.StatusCode, received.Close)
		}
	})
}

func TestServer_SlowSenderIsDisconnected(t *testing.T) {
	t.Parallel()
	on := startOwnServe(t, "impatient", "DOTKONTOR_SERVER_READ_TIMEOUT=1s")
	const head = "POST " + checkPath + " HTTP/1.1\r\nHost: a\r\n"
	inParallel([]struct{ label, start, drop string }{
		{"nothing at all", "", ""},
		{"half a header", head, ""},
		{"an endless header", head, "X-A: b\r\n"},
		{"half a body", head + "Content-Length: 100\r\n\r\n{", ""},
		{"an endless body", head + "Content-Length: 10000\r\n\r\n{", " "},
	}, func(test struct{ label, start, drop string }) {
		conn, err := newCaller(t, on).dial()
		began := time.Now()
		if err == nil {
			_, err = io.WriteString(conn, test.start)
		}
		if err != nil {
			t.Errorf("%s: %v", test.label, err)
			return
		}
		closed := make(chan []byte, 1)
		go func() {
			output, _ := io.ReadAll(conn) // any end will do
			closed <- output
		}()
		for ticker := time.NewTicker(100 * time.Millisecond); ; {
			select {
			case output := <-closed:
				ticker.Stop()
				if took := time.Since(began); took > waitTimeout/2 {
					t.Errorf("%s: the connection was open for %s", test.label, took)
				}
				if len(output) > 0 && !strings.HasPrefix(string(output), "HTTP/1.1 4") {
					t.Errorf("%s: got %.60q", test.label, output)
				}
				return
			case <-ticker.C:
				_, _ = io.WriteString(conn, test.drop) // the reader sees the end
			}
		}
	})
	wantResponse(t, "another client", newCaller(t, on).check("google.de"), http.StatusOK, nil)
}

func TestServer_IdleConnectionsDoNotBlockOthers(t *testing.T) {
	onBothTargets(t, func(t *testing.T, on *target) {
		crowd := newCaller(t, on)
		idle := make([]net.Conn, 200)
		for i := range idle {
			var err error
			if idle[i], err = crowd.dial(); err != nil {
				t.Fatal(err)
			}
		}
		client := newCaller(t, on)
		for range 5 {
			wantResponse(t, "beside 200 idle connections", client.check("google.de"), http.StatusOK, wantFields{"available": "false"})
		}
		// Idle connections are served once they send a request.
		last := idle[len(idle)-1]
		if _, err := io.WriteString(last, "GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		if output, err := io.ReadAll(last); err != nil || !strings.HasPrefix(string(output), "HTTP/1.1 200") {
			t.Errorf("an idle connection that sends a request gets %.60q, %v", output, err)
		}
	})
}
