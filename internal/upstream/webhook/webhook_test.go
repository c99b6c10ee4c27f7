package webhook

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/webhook"
)

var sentAt = time.Date(2026, 11, 15, 12, 0, 0, 0, time.FixedZone("CET", 3600))

func message(address string) webhook.Message {
	body := []byte(`{"type":"order_create","data":{}}`)
	return webhook.Message{URL: address, ID: "ord_1.1", At: sentAt, Signature: webhook.Sign("whsec", sentAt, body), Body: body}
}

// newLoopbackClient returns a loopback client and the URL of a webhook on this
// machine.
func newLoopbackClient(t *testing.T, handler http.HandlerFunc) (client *Client, address string) {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	client = New(Options{UserAgent: "dotkontor/test", Loopback: true})
	t.Cleanup(client.Close)
	return client, server.URL + "/hook?x=1"
}

func TestSend_DeliversSignedBodyAndHeaders(t *testing.T) {
	t.Parallel()
	arrived := make(chan *http.Request, 1)
	bodies := make(chan string, 1)
	client, address := newLoopbackClient(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		arrived <- r
		bodies <- string(body)
		w.WriteHeader(http.StatusAccepted)
	})
	sent := message(address)
	if err := client.Send(t.Context(), sent); err != nil {
		t.Fatal(err)
	}
	r, body := <-arrived, <-bodies
	for header, want := range map[string]string{
		"Content-Type": "application/json", "User-Agent": "dotkontor/test", "Request-Id": "ord_1.1",
		"Timestamp": "2026-11-15T11:00:00Z", "Merchant-Signature": sent.Signature, "Cookie": "", "Authorization": "",
	} {
		if got := r.Header.Get(header); got != want {
			t.Errorf("%s is %q, want %q", header, got, want)
		}
	}
	if r.Method != http.MethodPost || r.URL.String() != "/hook?x=1" || body != string(sent.Body) || !strings.HasPrefix(sent.Signature, "t=1794740400,v1=") {
		t.Errorf("got %s %s %s %s", r.Method, r.URL, body, sent.Signature)
	}
}

func TestSend_AnyStatusButSuccessIsFault(t *testing.T) {
	t.Parallel()
	var status atomic.Int64
	client, address := newLoopbackClient(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "/elsewhere")
		w.Header().Set("Retry-After", "120")
		w.WriteHeader(int(status.Load()))
		_, _ = w.Write([]byte(strings.Repeat("x", 1<<20))) // more than the client reads
	})
	for code, want := range map[int]registrar.Code{
		200: "", 204: "", 302: registrar.FaultBroken, 307: registrar.FaultBroken, 400: registrar.FaultBroken, 401: registrar.FaultBroken,
		410: registrar.FaultBroken, 429: registrar.FaultThrottled, 500: registrar.FaultBroken, 503: registrar.FaultThrottled,
	} {
		status.Store(int64(code))
		err := client.Send(t.Context(), message(address))
		if registrar.CodeOf(err) != want || err != nil && registrar.KindOf(err) != registrar.KindUpstream {
			t.Errorf("%d: %v", code, err)
		}
		var fault *registrar.Error
		if asked := errors.As(err, &fault) && fault.RetryAfter == 2*time.Minute; asked != (want == registrar.FaultThrottled) {
			t.Errorf("%d: retry delay present: %t", code, asked)
		}
	}
}

func TestSend_FaultNamesHostAndReason(t *testing.T) {
	t.Parallel()
	client, address := newLoopbackClient(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) })
	host := strings.TrimSuffix(strings.TrimPrefix(address, "http://"), "/hook?x=1")
	if got, want := registrar.CauseOf(client.Send(t.Context(), message(address))), "webhook: post at "+host+": server_error (HTTP 502)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	host = closed.Addr().String()
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	if got, want := registrar.CauseOf(client.Send(t.Context(), message("http://"+host+"/canary"))), "webhook: post at "+host+": connection_refused"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestParseRetryAfter_IsBounded(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]time.Duration{
		"": 0, "30": 30 * time.Second, "-1": 0, "x": 0, "99999999999999": 0, "864000": time.Hour, "Wed, 21 Oct 2026 07:28:00 GMT": 0,
	} {
		if got := parseRetryAfter(header); got != want {
			t.Errorf("%q: %s", header, got)
		}
	}
}

// The real dialer is used: the resolved address decides when it is dialled.
func TestSend_PrivateAddressIsNeverCalled(t *testing.T) {
	t.Parallel()
	called := atomic.Bool{}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		if conn, err := listener.Accept(); err == nil {
			called.Store(true)
			_ = conn.Close()
		}
	}()
	client := New(Options{UserAgent: "test"})
	defer client.Close()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	for _, address := range []string{
		"http://" + listener.Addr().String() + "/hook", "https://" + listener.Addr().String() + "/hook", "https://localhost:" + port + "/hook",
		"https://127.0.0.1/hook", "https://[::1]/hook", "https://[::ffff:127.0.0.1]:" + port + "/hook", "https://2130706433:" + port + "/hook",
		"https://169.254.169.254/latest", "https://10.0.0.1/hook", "http://example.com/hook", "ftp://example.com/hook",
		"https://user:password@example.com/hook", "https:///hook", "", "://",
	} {
		err := client.Send(t.Context(), message(address))
		if registrar.CodeOf(err) != registrar.FaultRefused {
			t.Errorf("%s: %v", address, err)
		}
		if text := err.Error(); strings.Contains(text, "/hook") || strings.Contains(text, "password") {
			t.Errorf("the error contains the URL: %s", text)
		}
	}
	if called.Load() {
		t.Error("a private address was called")
	}
}

func TestSend_LoopbackClientCallsLoopbackOnly(t *testing.T) {
	t.Parallel()
	client := New(Options{Loopback: true})
	defer client.Close()
	for _, address := range []string{"https://93.184.216.34/hook", "http://10.0.0.1/hook", "http://169.254.169.254/hook"} {
		if err := client.Send(t.Context(), message(address)); registrar.CodeOf(err) != registrar.FaultRefused {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// A redirect could lead to an address that the SSRF check would refuse, and a
// message is only for the configured URL.
func TestSend_RedirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	var elsewhere atomic.Bool
	client, address := newLoopbackClient(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/elsewhere" {
			elsewhere.Store(true)
			return
		}
		http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
	})
	if err := client.Send(t.Context(), message(address)); registrar.CodeOf(err) != registrar.FaultBroken || elsewhere.Load() {
		t.Errorf("%v, followed %t", err, elsewhere.Load())
	}
}
