package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/test/testkit"
)

func TestCountLines_CountsMatchingLines(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(path, []byte("{\"msg\":\"request\"}\n{\"msg\":\"other\"}\n{\"msg\":\"request\"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := countLines(path, `"msg":"request"`); err != nil || got != 2 {
		t.Errorf("got %d, %v, want 2", got, err)
	}
}

func TestBareREST_DecodesBeforeAnswering(t *testing.T) {
	t.Parallel()
	handler, err := bareREST([]byte(`{"yes":true}`))
	if err != nil {
		t.Fatal(err)
	}
	for body, want := range map[string]int{
		`{"domain":"google.com"}`: http.StatusOK,
		`{"domain":`:              http.StatusBadRequest,
		`{}`:                      http.StatusBadRequest,
	} {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(http.MethodPost, checkRoute, strings.NewReader(body)))
		if w.Code != want || (want == http.StatusOK && w.Body.String() != `{"yes":true}`) {
			t.Errorf("%s is answered with %d %s, want %d", body, w.Code, w.Body, want)
		}
	}
}

// The complete client against the complete bare server, in one process.
func TestLoad_CountsResponses(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "answer.json")
	want := []byte(`{"domain":"google.com","available":false}`)
	if err := os.WriteFile(path, want, 0o600); err != nil {
		t.Fatal(err)
	}
	parent, orphan := io.Pipe()
	lines, output := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- serveReference(t.Context(), "bare", path, parent, output) }()
	address, err := testkit.ReadyLine(lines)
	if err != nil {
		t.Fatal(err)
	}
	l, first, err := dial(t.Context(), strings.TrimPrefix(address, "http://"), checkSpec(), 2)
	if err != nil {
		t.Fatal(err)
	}
	defer l.close()
	if !bytes.Equal(first, want) {
		t.Errorf("the first answer is %s, want %s", first, want)
	}
	rate, err := l.run(t.Context(), 50*time.Millisecond)
	if err != nil || rate <= 0 || l.sent.Load() < 2 {
		t.Errorf("%v answers a second, %d in all, %v", rate, l.sent.Load(), err)
	}

	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.run(cancelled, time.Hour); err == nil {
		t.Error("a cancelled run counts as a result")
	}

	if err := orphan.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Errorf("the server without a parent ended with %v", err)
	}
}

func TestDial_RateLimitedResponseIsAnError(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTooManyRequests)
	}))
	defer server.Close()
	_, _, err := dial(t.Context(), server.Listener.Addr().String(), checkSpec(), 1)
	if err == nil || !strings.Contains(err.Error(), "limit") {
		t.Errorf("got %v, want an error about the limit", err)
	}
}
