package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestTheReadyLineIsFoundBehindTheWelcome(t *testing.T) {
	t.Parallel()
	got, err := readyLine(strings.NewReader("welcome\n\n  not ready yet\nready http://127.0.0.1:1\nmore\n"))
	if err != nil || got != "http://127.0.0.1:1" {
		t.Errorf("got %q, %v", got, err)
	}
	if got, err := readyLine(strings.NewReader("dotkontor: port in use\n")); err == nil {
		t.Errorf("a process that ended is taken for ready: %q", got)
	}
}

func TestSettingsOfThePersonDoNotReachTheProduct(t *testing.T) {
	t.Parallel()
	got := withoutOurs([]string{"HOME=/home/me", "DOTKONTOR_LOG_LEVEL=error", "PATH=/bin"})
	if !slices.Equal(got, []string{"HOME=/home/me", "PATH=/bin"}) {
		t.Errorf("kept %v", got)
	}
}

func TestCPUTimeIsReadBehindTheProgramsName(t *testing.T) {
	t.Parallel()
	const line = "42 (a name) with) R 1 42 42 0 -1 4194560 100 0 0 0 150 50 0 0 20 0 8 0 100 0 0"
	if got, ok := parseStat(line); !ok || got != 2*time.Second {
		t.Errorf("got %s, %t, want 2s", got, ok)
	}
	for _, broken := range []string{"", "42 name R 1", "42 (name) R 1 2", "42 (n) R 1 42 42 0 -1 1 1 0 0 0 x 50 0"} {
		if got, ok := parseStat(broken); ok {
			t.Errorf("%q is read as %s", broken, got)
		}
	}
}

func TestMetricsAreFoundByTheirWholeName(t *testing.T) {
	t.Parallel()
	const text = "# HELP a_total x\na_total_more 1\na_total{status=\"200\"} 1.5e+06\na_total 7\n"
	for series, want := range map[string]float64{`a_total{status="200"}`: 1.5e6, "a_total": 7, "a": 0} {
		if got := sample(text, series); got != want {
			t.Errorf("%s is %v, want %v", series, got, want)
		}
	}
}

func TestLogLinesAreCounted(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(path, []byte("{\"msg\":\"request\"}\n{\"msg\":\"other\"}\n{\"msg\":\"request\"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := countLines(path, `"msg":"request"`); err != nil || got != 2 {
		t.Errorf("got %d, %v, want 2", got, err)
	}
}

func TestTheBareServerDecodesBeforeItAnswers(t *testing.T) {
	t.Parallel()
	handler := bareHandler([]byte(`{"yes":true}`))
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

// The whole client against the whole bare server, in one process.
func TestALoadCountsTheAnswersOfAServer(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "answer.json")
	want := []byte(`{"domain":"google.com","available":false}`)
	if err := os.WriteFile(path, want, 0o600); err != nil {
		t.Fatal(err)
	}
	parent, orphan := io.Pipe()
	says, hears := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- serveBare(t.Context(), path, parent, hears) }()
	address, err := readyLine(says)
	if err != nil {
		t.Fatal(err)
	}
	l, first, err := dial(t.Context(), strings.TrimPrefix(address, "http://"), takenName, 2)
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
		t.Error("a cancelled run is taken for a result")
	}

	if err := orphan.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Errorf("the server without a parent ended with %v", err)
	}
}

func TestALimitThatIsHitIsNoResult(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTooManyRequests)
	}))
	defer server.Close()
	_, _, err := dial(t.Context(), server.Listener.Addr().String(), takenName, 1)
	if err == nil || !strings.Contains(err.Error(), "limit") {
		t.Errorf("got %v, want an error about the limit", err)
	}
}
