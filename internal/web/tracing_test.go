package web

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/dotkontor/dotkontor/internal/tracing"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
)

func TestObserver_SpanHasRouteAndIDButNothingOfTheClient(t *testing.T) {
	t.Parallel()
	recorder := tracetest.NewSpanRecorder()
	mux := http.NewServeMux()
	mux.HandleFunc("/domains/{name}", func(w http.ResponseWriter, r *http.Request) {
		_, span := tracing.Start(r.Context(), "lookup", "check")
		span.End(nil)
		w.WriteHeader(http.StatusTeapot)
	})
	mux.HandleFunc("/broken", func(http.ResponseWriter, *http.Request) { panic("canary") })
	front, err := newObserver(mux, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	front.tracer = tracing.New(sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder)))
	r := httptest.NewRequestWithContext(t.Context(), "CANARY", "http://canary.example/domains/canary?q=canary", http.NoBody)
	r.Header.Set("User-Agent", "canary")
	r.RemoteAddr = "192.0.2.99:1"
	answer := httptest.NewRecorder()
	front.ServeHTTP(answer, r)
	front.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/broken", http.NoBody))

	var all []string
	for _, span := range recorder.Ended() {
		all = append(all, fmt.Sprint(span.Name(), span.Attributes(), span.Status()))
	}
	text := strings.Join(all, "\n")
	for _, want := range []string{"other /domains/{name}", "418", answer.Header().Get(httpjson.RequestIDHeader), "lookup check", "GET /broken", "500"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in %s", want, text)
		}
	}
	if strings.Contains(strings.ToLower(text), "canary") || strings.Contains(text, "192.0.2.99") || len(all) != 3 {
		t.Errorf("%d spans: %s", len(all), text)
	}
}
