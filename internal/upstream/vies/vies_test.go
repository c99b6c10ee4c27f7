package vies

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

type cacheEntry struct {
	valid bool
	at    time.Time
}

// fakeCache is an in-memory Cache that can fail.
type fakeCache struct {
	mu      sync.Mutex
	entries map[string]cacheEntry
	broken  bool
}

func (m *fakeCache) VATCheck(_ context.Context, id string) (bool, time.Time, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.broken {
		return false, time.Time{}, false, errors.New("no database")
	}
	k, found := m.entries[id]
	return k.valid, k.at, found, nil
}

func (m *fakeCache) SetVATCheck(_ context.Context, id string, valid bool, at time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.broken {
		return errors.New("no database")
	}
	m.entries[id] = cacheEntry{valid, at}
	return nil
}

// server returns scripted responses and records the requests.
type server struct {
	*httptest.Server
	mu       sync.Mutex
	answer   func(w http.ResponseWriter)
	requests []string
}

func newServer(t *testing.T) *server {
	t.Helper()
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		s.requests = append(s.requests, fmt.Sprintf("%s %s %s %s", r.Method, r.URL, r.Header.Get("Content-Type"), body))
		answer := s.answer
		s.mu.Unlock()
		answer(w)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *server) respondWith(status int, body string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = func(w http.ResponseWriter) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func (s *server) recordedRequests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests
}

type testEnv struct {
	*Client
	server *server
	cache  *fakeCache
	log    *strings.Builder
	now    time.Time
}

func newEnv(t *testing.T) *testEnv {
	t.Helper()
	w := &testEnv{server: newServer(t), cache: &fakeCache{entries: map[string]cacheEntry{}}, log: &strings.Builder{}, now: time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)}
	client, err := New(Options{
		Address: w.server.URL + "/rest-api", Cache: w.cache, UserAgent: "dotkontor/test",
		Now: func() time.Time { return w.now }, Logger: slog.New(slog.NewTextHandler(w.log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	w.Client = client
	return w
}

const (
	id          = "ATU12345678"
	validBody   = `{"countryCode":"AT","vatNumber":"U12345678","requestDate":"2026-11-15T12:00:00Z","valid":true,"name":"Muster KG","address":"Wien"}`
	invalidBody = `{"countryCode":"AT","vatNumber":"U12345678","requestDate":"2026-11-15T12:00:00Z","valid":false,"name":"---","address":"---"}`
	otherIDBody = `{"countryCode":"AT","vatNumber":"U87654321","valid":true}`
)

func TestValid_AcceptsOnlyAnswersAboutTheID(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		status int
		body   string
		valid  bool
		fault  registrar.Code
	}{
		{"valid", 200, validBody, true, ""},
		{"invalid", 200, invalidBody, false, ""},
		{"impossible format", 400, `{"actionSucceed":false,"errorWrappers":[{"error":"INVALID_INPUT"}]}`, false, ""},
		{"member state unavailable", 200, `{"actionSucceed":false,"errorWrappers":[{"error":"MS_UNAVAILABLE"}]}`, false, registrar.FaultRefused},
		{"member state unavailable, with valid=false", 200, `{"countryCode":"AT","vatNumber":"U12345678","valid":false,"userError":"MS_UNAVAILABLE"}`, false, registrar.FaultRefused},
		{"too many requests", 500, `{"actionSucceed":false,"errorWrappers":[{"error":"MS_MAX_CONCURRENT_REQ"}]}`, false, registrar.FaultThrottled},
		{"too many requests, by status", 429, ``, false, registrar.FaultThrottled},
		{"timeout at the member state", 200, `{"errorWrappers":[{"error":"TIMEOUT"}]}`, false, registrar.FaultTimeout},
		{"an unknown reason", 200, `{"errorWrappers":[{"error":"VAT_BLOCKED"}]}`, false, registrar.FaultRefused},
		{"another id", 200, otherIDBody, false, registrar.FaultBroken},
		{"no result", 200, `{"countryCode":"AT","vatNumber":"U12345678"}`, false, registrar.FaultBroken},
		{"valid with an error status", 503, validBody, false, registrar.FaultBroken},
		{"a web page", 200, `<html>`, false, registrar.FaultBroken},
		{"a flood", 200, strings.Repeat(" ", maxResponseBytes) + validBody, false, registrar.FaultBroken},
		{"elsewhere", 302, ``, false, registrar.FaultBroken},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newEnv(t)
			w.server.respondWith(test.status, test.body)
			valid, err := w.Valid(t.Context(), id)
			if valid != test.valid || registrar.CodeOf(err) != test.fault || (err != nil) != (test.fault != "") {
				t.Errorf("valid %t, %v", valid, err)
			}
			if _, found := w.cache.entries[id]; found != (test.fault == "") {
				t.Errorf("stored: %t", found)
			}
			if strings.Contains(w.log.String(), "12345678") || strings.Contains(w.log.String(), "Muster") || err != nil && strings.Contains(err.Error(), "12345678") {
				t.Errorf("the log or the error contains business data: %s, %v", w.log, err)
			}
		})
	}
}

func TestValid_SendsIDInRequestBody(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	w.server.respondWith(200, `{"countryCode":"EL","vatNumber":"123456789","valid":true}`)
	if _, err := w.Valid(t.Context(), "EL123456789"); err != nil {
		t.Fatal(err)
	}
	if got, want := w.server.recordedRequests()[0], `POST /rest-api/check-vat-number application/json {"countryCode":"EL","vatNumber":"123456789"}`; got != want {
		t.Errorf("sent %s, want %s", got, want)
	}
}

func TestValid_CachesValidForDayInvalidForHour(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, body string
		keep       time.Duration
	}{{"valid", validBody, 24 * time.Hour}, {"invalid", invalidBody, time.Hour}}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newEnv(t)
			w.server.respondWith(200, test.body)
			ask := func(after time.Duration, questions int) {
				t.Helper()
				w.now = w.now.Add(after)
				valid, err := w.Valid(t.Context(), id)
				if err != nil || valid != (test.body == validBody) {
					t.Fatalf("valid %t, %v", valid, err)
				}
				if n := len(w.server.recordedRequests()); n != questions {
					t.Errorf("%d queries, want %d", n, questions)
				}
			}
			ask(0, 1)
			ask(test.keep-time.Second, 1)
			ask(time.Second, 2)
			ask(-time.Minute, 3) // after the clock was set back
		})
	}
}

func TestValid_BrokenCacheFallsBackToVIES(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	w.cache.broken = true
	w.server.respondWith(200, validBody)
	if valid, err := w.Valid(t.Context(), id); err != nil || !valid {
		t.Errorf("valid %t, %v", valid, err)
	}
}

// slowTransport is a member state that takes a second to respond.
type slowTransport struct{ calls atomic.Int64 }

func (l *slowTransport) RoundTrip(*http.Request) (*http.Response, error) {
	l.calls.Add(1)
	time.Sleep(time.Second)
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(validBody))}, nil
}

func TestValid_ConcurrentEqualRequestsShareOneCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client, err := New(Options{Address: "https://vies.example", Cache: &fakeCache{broken: true}})
		if err != nil {
			t.Fatal(err)
		}
		state := &slowTransport{}
		client.http.Transport = state
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() {
				if valid, err := client.Valid(t.Context(), id); err != nil || !valid {
					t.Errorf("%v, %v", valid, err)
				}
			})
		}
		all.Wait()
		if n := state.calls.Load(); n != 1 {
			t.Errorf("%d queries", n)
		}
	})
}

func TestValid_BreakerIsPerMemberState(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	w.server.respondWith(200, `{"errorWrappers":[{"error":"MS_UNAVAILABLE"}]}`)
	for range 5 {
		if _, err := w.Valid(t.Context(), id); registrar.KindOf(err) != registrar.KindUpstream {
			t.Fatal(err)
		}
	}
	if n := len(w.server.recordedRequests()); n != 3 {
		t.Errorf("%d queries, want 3 before the member state is paused", n)
	}
	w.server.respondWith(200, `{"countryCode":"FR","vatNumber":"12345678901","valid":true}`)
	if valid, err := w.Valid(t.Context(), "FR12345678901"); err != nil || !valid {
		t.Errorf("France: valid %t, %v", valid, err)
	}
}

func TestValid_SilentServerTimesOut(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	release := make(chan struct{})
	w.server.mu.Lock()
	w.server.answer = func(http.ResponseWriter) { <-release }
	w.server.mu.Unlock()
	w.options.Timeout = 50 * time.Millisecond
	_, err := w.Valid(t.Context(), id)
	close(release)
	if registrar.CodeOf(err) != registrar.FaultTimeout {
		t.Errorf("got %v", err)
	}
	w.server.Close()
	if _, err := w.Valid(t.Context(), "FR12345678901"); registrar.CodeOf(err) != registrar.FaultRefused {
		t.Errorf("server unreachable: %v", err)
	}
}

func TestNew_RefusesInvalidAddress(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"vies", "ftp://vies.example", "http://"} {
		if _, err := New(Options{Address: address}); err == nil {
			t.Errorf("%q passed", address)
		}
	}
}
