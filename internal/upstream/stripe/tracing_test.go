package stripe

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/dotkontor/dotkontor/internal/tracing"
)

type headerTransport struct{ sent []http.Header }

func (s *headerTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	s.sent = append(s.sent, r.Header)
	return nil, errors.New("connection reset, person@example.org")
}

func TestCall_OneSpanForAllAttemptsIsPropagated(t *testing.T) {
	t.Parallel()
	synctest.Test(t, testPropagation) // in which delays between attempts take no time
}

func testPropagation(t *testing.T) {
	t.Helper()
	recorder := tracetest.NewSpanRecorder()
	tracer := tracing.New(sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder)))
	for name, traced := range map[string]bool{"traced": true, "not traced": false} {
		transport := &headerTransport{}
		c := newClient(Options{Key: secretKey}, transport)
		ctx := t.Context()
		if traced {
			ctx = tracer.Context(ctx)
		}
		if _, err := c.ClosePage(ctx, "cs_test_1"); err == nil {
			t.Fatal("no error")
		}
		if len(transport.sent) != maxAttempts {
			t.Fatalf("%s: %d attempts", name, len(transport.sent))
		}
		for _, header := range transport.sent {
			if parent := header.Get("Traceparent"); (parent != "") != traced ||
				traced && !strings.Contains(parent, recorder.Ended()[0].SpanContext().SpanID().String()) {
				t.Errorf("%s: traceparent %q", name, parent)
			}
		}
	}
	spans := recorder.Ended()
	if len(spans) != 1 || spans[0].Status().Code != codes.Error || spans[0].Status().Description != "" || len(spans[0].Events()) != 0 {
		t.Errorf("recorded %+v", spans)
	}
}
