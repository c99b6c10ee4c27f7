package rdap

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
	"github.com/dotkontor/dotkontor/internal/upstream/hostlimit"
	"github.com/dotkontor/dotkontor/internal/upstream/hostmap"
)

// notFoundAfter is a registry without records that responds after d.
func notFoundAfter(d time.Duration) roundTrip {
	return func(r *http.Request) (*http.Response, error) {
		select {
		case <-time.After(d):
			return &http.Response{StatusCode: http.StatusNotFound, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(""))}, nil
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
}

func TestFind_LimiterWaitDoesNotCountAsTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newClient(t, Options{
			Transport: notFoundAfter(900 * time.Millisecond), Timeout: time.Second,
			Limiter: hostlimit.New(hostlimit.Options{PerSecond: 1, Burst: 1}),
		})
		began := time.Now()
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				if finding, err := c.Find(t.Context(), testExtension, queriedName); err != nil || finding.State != lookup.NotFound {
					t.Errorf("%+v, %v", finding, err)
				}
			})
		}
		all.Wait()
		if took := time.Since(began); took != 3900*time.Millisecond {
			t.Errorf("four queries at one per second, took %s", took)
		}
	})
}

func TestFind_ThrottlingRegistryIsPaused(t *testing.T) {
	t.Parallel()
	var requests atomic.Int32
	c := newClient(t, Options{
		Limiter: hostlimit.New(hostlimit.Options{}),
		Hosts: newTestServer(t, func(w http.ResponseWriter, _ *http.Request) {
			requests.Add(1)
			w.Header().Set("Retry-After", "300")
			w.WriteHeader(http.StatusTooManyRequests)
		}),
	})
	for range 5 {
		_, err := c.Find(t.Context(), testExtension, queriedName)
		var fault *registrar.Error
		if !errors.As(err, &fault) || fault.Code != registrar.FaultThrottled || fault.RetryAfter <= 200*time.Second ||
			fault.Detail != "rdap.example.net" {
			t.Fatalf("got %v", err)
		}
	}
	if got := requests.Load(); got != 1 {
		t.Errorf("the registry got %d queries", got)
	}
}

func TestFetchBootstrap_UsesLimiter(t *testing.T) {
	t.Parallel()
	var requests atomic.Int32
	table := newTestServer(t, func(w http.ResponseWriter, _ *http.Request) {
		requests.Add(1)
		w.Header().Set("Retry-After", "300")
		w.WriteHeader(http.StatusTooManyRequests)
	})
	c := newClient(t, Options{
		Limiter: hostlimit.New(hostlimit.Options{}), BootstrapURL: "https://rdap.example.net/dns.json", Hosts: table,
	})
	for range 3 {
		if err := c.Refresh(t.Context()); registrar.CodeOf(err) != registrar.FaultThrottled {
			t.Fatalf("got %v", err)
		}
	}
	if got := requests.Load(); got != 1 {
		t.Errorf("the list was fetched %d times", got)
	}
}

func TestFind_TLSQueriesShareOneHTTP2Connection(t *testing.T) {
	t.Parallel()
	var protocols sync.Map
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		protocols.Store(r.Proto, true)
		w.WriteHeader(http.StatusNotFound)
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	transport := newTransport(8)
	transport.Proxy = nil
	transport.TLSClientConfig = &tls.Config{RootCAs: roots, ServerName: "example.com", MinVersion: tls.VersionTLS12}
	c := newClient(t, Options{Hosts: hostmap.Table{"rdap.example.net:443": server.URL}, Transport: transport})

	var opened atomic.Int32
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
		GotConn: func(info httptrace.GotConnInfo) {
			if !info.Reused {
				opened.Add(1)
			}
		},
	})
	ask := func(ctx context.Context) {
		if finding, err := c.Find(ctx, testExtension, queriedName); err != nil || finding.State != lookup.NotFound {
			t.Errorf("%+v, %v", finding, err)
		}
	}
	ask(ctx)
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() { ask(ctx) })
	}
	all.Wait()
	if _, h2 := protocols.Load("HTTP/2.0"); !h2 || opened.Load() != 1 {
		t.Errorf("HTTP/2 %v, %d connections", h2, opened.Load())
	}
}

func TestFind_ConnectionsAreReused(t *testing.T) {
	t.Parallel()
	const burst = 40
	var arrived sync.WaitGroup
	table := newTestServer(t, func(w http.ResponseWriter, _ *http.Request) {
		arrived.Done()
		arrived.Wait() // all at the same time, so that each needs a connection
		w.WriteHeader(http.StatusNotFound)
	})
	c := newClient(t, Options{Hosts: table, MaxConnsPerHost: burst})
	var opened atomic.Int32
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
		GotConn: func(info httptrace.GotConnInfo) {
			if !info.Reused {
				opened.Add(1)
			}
		},
	})
	for range 3 {
		arrived.Add(burst)
		var all sync.WaitGroup
		for range burst {
			all.Go(func() {
				if _, err := c.Find(ctx, testExtension, queriedName); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	}
	if got := opened.Load(); got < burst || got >= 2*burst {
		t.Errorf("three bursts of %d opened %d connections", burst, got)
	}
}
