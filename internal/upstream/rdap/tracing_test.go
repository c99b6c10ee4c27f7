package rdap

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/dotkontor/dotkontor/internal/tracing"
)

func TestFind_SpanHasNoNameAndRegistryGetsNoTrace(t *testing.T) {
	t.Parallel()
	received := make(chan http.Header, 1)
	c := newClient(t, Options{Hosts: newTestServer(t, func(w http.ResponseWriter, r *http.Request) {
		received <- r.Header
		w.WriteHeader(http.StatusNotFound)
	})})
	recorder := tracetest.NewSpanRecorder()
	tracer := tracing.New(sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder)))
	if _, err := c.Find(tracer.Context(t.Context()), testExtension, queriedName); err != nil {
		t.Fatal(err)
	}
	if header := <-received; header.Get("Traceparent") != "" {
		t.Errorf("sent %v", header)
	}
	spans := recorder.Ended()
	if len(spans) != 1 {
		t.Fatalf("%d spans", len(spans))
	}
	if text := fmt.Sprint(spans[0].Name(), spans[0].Attributes(), spans[0].Events()); !strings.HasPrefix(text, "rdap get") || !strings.Contains(text, "404") ||
		strings.Contains(text, queriedLabel) || strings.Contains(text, "127.0.0.1") {
		t.Errorf("recorded %s", text)
	}
}
