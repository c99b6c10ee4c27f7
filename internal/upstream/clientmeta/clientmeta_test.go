package clientmeta

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// The real dialer is used: a name that resolves to a private address is refused
// when it is dialled.
func TestFetchClientMetadata_PrivateAddressIsNeverCalled(t *testing.T) {
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
	client := New("test")
	for _, address := range []string{
		"https://" + listener.Addr().String() + "/client", "https://localhost:" + strings.Split(listener.Addr().String(), ":")[1] + "/client",
		"https://127.0.0.1/client", "https://[::1]/client", "https://[::ffff:127.0.0.1]/client", "https://2130706433/client",
		"https://169.254.169.254/latest", "http://example.com/client",
	} {
		if _, err := client.FetchClientMetadata(t.Context(), address); registrar.KindOf(err) != registrar.KindUpstream {
			t.Errorf("%s: %v", address, err)
		}
	}
	if called.Load() {
		t.Error("a private address was called")
	}
}

// newTestClient returns a client whose calls all go to handler.
func newTestClient(t *testing.T, handler http.HandlerFunc) *Client {
	t.Helper()
	server := httptest.NewTLSServer(handler)
	t.Cleanup(server.Close)
	transport := server.Client().Transport.(*http.Transport).Clone()
	transport.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, server.Listener.Addr().String())
	}
	transport.TLSClientConfig.ServerName = "example.com"
	return newClient("dotkontor/test", transport)
}

const clientID = "https://app.example/client.json"

func writeDocument(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"client_id":%q,"client_name":"App","redirect_uris":["https://app.example/cb"],"logo_uri":"https://x"}`, clientID)
}

func TestFetchClientMetadata_IsFetchedAndCached(t *testing.T) {
	t.Parallel()
	calls := atomic.Int64{}
	client := newTestClient(t, func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		if r.UserAgent() != "dotkontor/test" || r.Method != http.MethodGet || r.Header.Get("Cookie") != "" {
			t.Errorf("User-Agent is %s", r.UserAgent())
		}
		w.Header().Set("Cache-Control", "max-age=120")
		writeDocument(w)
	})
	now := time.Now()
	client.cache.now = func() time.Time { return now }
	for range 3 {
		got, err := client.FetchClientMetadata(t.Context(), clientID)
		if err != nil || got.ClientID != clientID || got.Name != "App" || len(got.RedirectURIs) != 1 {
			t.Fatalf("got %+v, %v", got, err)
		}
	}
	now = now.Add(120 * time.Second)
	if _, err := client.FetchClientMetadata(t.Context(), clientID); err != nil || calls.Load() != 2 {
		t.Errorf("%d calls, %v", calls.Load(), err)
	}
}

func TestFetchClientMetadata_InvalidResponseIsCachedFault(t *testing.T) {
	t.Parallel()
	for name, handler := range map[string]http.HandlerFunc{
		"redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://app.example/other", http.StatusFound)
		},
		"not found": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) },
		"html": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, `{"client_id":"x"}`)
		},
		"broken": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"client_id":`)
		},
		"large": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"client_id":"x","client_name":%q}`, strings.Repeat("a", maxDocumentBytes))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			calls := atomic.Int64{}
			client := newTestClient(t, func(w http.ResponseWriter, r *http.Request) { calls.Add(1); handler(w, r) })
			for range 2 {
				_, err := client.FetchClientMetadata(t.Context(), clientID)
				if !errors.Is(err, &registrar.Error{Kind: registrar.KindUpstream, Code: registrar.FaultBroken}) {
					t.Errorf("got %v", err)
				}
			}
			if calls.Load() != 1 {
				t.Errorf("%d calls: failures are cached and redirects not followed", calls.Load())
			}
		})
	}
}

func TestParseTTL_ClampsMaxAge(t *testing.T) {
	t.Parallel()
	for control, want := range map[string]time.Duration{
		"": defaultTTL, "max-age=300": 5 * time.Minute, "public, max-age=7200": 2 * time.Hour, "max-age=1": minTTL,
		"max-age=99999999": maxTTL, "no-store": minTTL, "max-age=x": minTTL, "max-age=3600, no-cache": minTTL,
	} {
		if got := parseTTL(control); got != want {
			t.Errorf("%q: %v, want %v", control, got, want)
		}
	}
}

func TestCache_SizeIsBounded(t *testing.T) {
	t.Parallel()
	client := newTestClient(t, func(w http.ResponseWriter, _ *http.Request) { writeDocument(w) })
	for i := range maxEntries + 50 {
		client.cache.put(fmt.Sprint(i), client.cache.entries["x"].document, nil, time.Hour)
	}
	if n := len(client.cache.entries); n > maxEntries {
		t.Errorf("%d are cached", n)
	}
}

func TestFetchClientMetadata_RateLimitIsPerHost(t *testing.T) {
	t.Parallel()
	calls := atomic.Int64{}
	client := newTestClient(t, func(w http.ResponseWriter, _ *http.Request) { calls.Add(1); writeDocument(w) })
	now := time.Now()
	client.hostLimit.now = func() time.Time { return now }
	for i := range maxCallsPerMinute + 20 {
		host := []string{"app.example", "APP.example", "app.example."}[i%3]
		_, err := client.FetchClientMetadata(t.Context(), fmt.Sprintf("https://%s/client?%d", host, i))
		if want := i >= maxCallsPerMinute; errors.Is(err, &registrar.Error{Kind: registrar.KindUpstream, Code: registrar.FaultBusy}) != want {
			t.Errorf("call %d: %v", i, err)
		}
	}
	if calls.Load() != maxCallsPerMinute {
		t.Errorf("%d calls", calls.Load())
	}
	if _, err := client.FetchClientMetadata(t.Context(), "https://other.example/client"); err != nil {
		t.Errorf("another host: %v", err)
	}
	now = now.Add(time.Minute)
	if _, err := client.FetchClientMetadata(t.Context(), "https://app.example/later"); err != nil {
		t.Errorf("a minute later: %v", err)
	}
}

func TestHostRateLimit_HostsAreBounded(t *testing.T) {
	t.Parallel()
	now := time.Now()
	d := hostRateLimit{now: func() time.Time { return now }, hosts: make(map[string]callWindow)}
	for i := range maxEntries {
		if !d.allow(fmt.Sprint(i)) {
			t.Fatalf("host %d is refused", i)
		}
	}
	if d.allow("one more") || len(d.hosts) > maxEntries {
		t.Errorf("%d are tracked", len(d.hosts))
	}
	now = now.Add(time.Minute)
	if !d.allow("one more") || len(d.hosts) != 1 {
		t.Errorf("a minute later %d are tracked", len(d.hosts))
	}
}
