package web

import (
	"bytes"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/dotkontor/dotkontor/internal/web/httpjson"
)

// The handler gets the value of {id}, the log only has the pattern, and a path that is
// not clean is not found.
func TestObserver_LogsRoutePatternNotPath(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("/things/{id}/end", func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte(r.PathValue("id")))
	})
	mux.HandleFunc("/", notFound)
	log := &bytes.Buffer{}
	front, err := newObserver(mux, slog.New(slog.NewJSONHandler(log, nil)), prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	if answer := do(front, "GET", "/things/canary/end", ""); answer.Code != http.StatusOK || answer.Body.String() != "canary" {
		t.Errorf("the handler got %q (%d)", answer.Body, answer.Code)
	}
	for _, path := range []string{"/things//end", "/things/canary/../canary/end", "/things/canary/./end", "//things/canary/end"} {
		answer := do(front, "GET", "http://domains.example"+path, "")
		if answer.Code != http.StatusNotFound || answer.Header().Get("Location") != "" {
			t.Errorf("%s: got %d", path, answer.Code)
		}
	}
	if text := log.String(); strings.Contains(text, "canary") || !strings.Contains(text, `"route":"/things/{id}/end"`) {
		t.Errorf("the log says %s", text)
	}
}

// A partial response must not look complete, so its connection is closed; a panic
// before the first byte gets an error response of the protocol.
func TestObserver_PanicAfterFirstByteDropsConnection(t *testing.T) {
	log := &bytes.Buffer{}
	mux := http.NewServeMux()
	mux.HandleFunc("/early", func(http.ResponseWriter, *http.Request) { panic("canary") })
	mux.HandleFunc("/worse", func(http.ResponseWriter, *http.Request) { panic("canary") })
	mux.HandleFunc("/late", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("half"))
		panic("canary")
	})
	front, err := newObserver(mux, slog.New(slog.NewJSONHandler(log, nil)), prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	front.panicHandlers = map[string]func(http.ResponseWriter, *http.Request, error){
		"/early": func(w http.ResponseWriter, _ *http.Request, err error) {
			httpjson.RecordError(w, err)
			http.Error(w, "a page", http.StatusInternalServerError)
		},
		"/worse": func(http.ResponseWriter, *http.Request, error) { panic("canary") },
	}
	if answer := do(front, "GET", "/early", ""); answer.Code != http.StatusInternalServerError || answer.Body.String() != "a page\n" {
		t.Errorf("early: %d %s", answer.Code, answer.Body)
	}
	if answer := do(front, "GET", "/worse", ""); answer.Code != http.StatusInternalServerError || !strings.Contains(answer.Body.String(), `"error"`) {
		t.Errorf("worse: %d %s", answer.Code, answer.Body)
	}
	func() {
		defer func() {
			if recovered := recover(); recovered != http.ErrAbortHandler { //nolint:errorlint // exactly this value
				t.Errorf("late: recovered %v", recovered)
			}
		}()
		do(front, "GET", "/late", "")
	}()
	if text := log.String(); strings.Count(text, `"msg":"panic recovered"`) != 4 || strings.Count(text, `"level":"ERROR","msg":"request"`) != 3 ||
		strings.Contains(text, "canary") {
		t.Errorf("the log says %s", text)
	}
}

// A stream is open for minutes, which would distort the durations of responses.
func TestObserver_StreamIsMeasuredUntilItOpens(t *testing.T) {
	log, registry := &bytes.Buffer{}, prometheus.NewRegistry()
	mux := http.NewServeMux()
	value := func(name string) float64 {
		families, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, family := range families {
			if family.GetName() != name {
				continue
			}
			one := family.GetMetric()[0]
			if histogram := one.GetHistogram(); histogram != nil {
				return histogram.GetSampleSum()
			}
			return one.GetGauge().GetValue()
		}
		return 0
	}
	const open = 300 * time.Millisecond
	mux.HandleFunc("/stream", func(w http.ResponseWriter, _ *http.Request) {
		for range 2 { // the second call changes nothing
			httpjson.MarkStream(w)
			if streams, under := value("dotkontor_http_streams"), value("dotkontor_http_requests_in_flight"); streams != 1 || under != 0 {
				t.Errorf("%v streams, %v requests", streams, under)
			}
		}
		time.Sleep(open)
		_, _ = w.Write([]byte("x"))
	})
	front, err := newObserver(mux, slog.New(slog.NewJSONHandler(log, nil)), registry)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(*testing.T) { do(front, "GET", "/stream", "") })
	if streams, under := value("dotkontor_http_streams"), value("dotkontor_http_requests_in_flight"); streams != 0 || under != 0 {
		t.Errorf("afterwards %v streams, %v requests", streams, under)
	}
	if duration := value("dotkontor_http_request_duration_seconds"); duration != 0 {
		t.Errorf("%v s were recorded", duration)
	}
	if text := log.String(); strings.Count(text, `"msg":"request"`) != 1 || !strings.Contains(text, `"us":300000,`) && !strings.Contains(text, `"us":300000}`) {
		t.Errorf("the log says %s", text)
	}
}
