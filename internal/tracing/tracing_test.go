package tracing_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/tracing"
)

func newRecorder(options ...sdktrace.TracerProviderOption) (*tracing.Tracer, *tracetest.SpanRecorder) {
	recorder := tracetest.NewSpanRecorder()
	return tracing.New(sdktrace.NewTracerProvider(append(options, sdktrace.WithSpanProcessor(recorder))...)), recorder
}

// Everything that a request without tracing calls.
func TestSpan_WithoutTracerAllocatesNothing(t *testing.T) {
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/api/domain/check", http.NoBody)
	var off *tracing.Tracer
	failure := &registrar.Error{Kind: registrar.KindUpstream, Code: registrar.FaultTimeout}
	allocated := testing.AllocsPerRun(1000, func() {
		request, root := off.StartRequest(r)
		ctx, span := tracing.Start(off.Context(request.Context()), "lookup", "check")
		_, call := tracing.StartCall(ctx, "stripe", "refund")
		call.SetString(tracing.Source, "epp")
		call.SetInt(tracing.Result, 1000)
		call.EndAs("taken", false)
		span.End(failure)
		tracing.Propagate(request)
		root.EndRequest(http.MethodPost, "/api/domain/check", "abc", "", http.StatusOK)
	})
	if allocated != 0 {
		t.Errorf("%v allocations", allocated)
	}
}

func BenchmarkStart_WithoutTracer(b *testing.B) {
	b.ReportAllocs()
	ctx := context.WithValue(b.Context(), http.ServerContextKey, "a server")
	for b.Loop() {
		_, span := tracing.Start(ctx, "lookup", "check")
		span.End(nil)
	}
}

func TestStartRequest_ContinuesTheClientsTrace(t *testing.T) {
	t.Parallel()
	tracer, recorder := newRecorder(sdktrace.WithSampler(sdktrace.AlwaysSample())) // as this service: whatever the header says
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/domains/secret-name.example", http.NoBody)
	r.Header.Set("Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00")
	r.Header.Set("Tracestate", "vendor=someone@example.com")
	r, root := tracer.StartRequest(r)
	ctx, child := tracing.Start(r.Context(), "lookup", "check")
	out := httptest.NewRequestWithContext(ctx, http.MethodPost, "/", http.NoBody)
	sent := tracing.Propagate(out)
	child.End(nil)
	root.EndRequest(http.MethodGet, "/domains/{name}", "id", "", http.StatusBadGateway)

	spans := recorder.Ended()
	if len(spans) != 2 {
		t.Fatalf("%d spans", len(spans))
	}
	lookup, request := spans[0], spans[1]
	if got := request.SpanContext().TraceID().String(); got != "0af7651916cd43dd8448eb211c80319c" || request.Parent().SpanID().String() != "b7ad6b7169203331" {
		t.Errorf("trace %s, parent %s", got, request.Parent().SpanID())
	}
	if request.Name() != "GET /domains/{name}" || request.Status().Code != codes.Error || request.SpanContext().TraceState().Len() != 0 {
		t.Errorf("%s, %v, state %q", request.Name(), request.Status(), request.SpanContext().TraceState())
	}
	if lookup.Parent().SpanID() != request.SpanContext().SpanID() {
		t.Errorf("the lookup's parent is %s", lookup.Parent().SpanID())
	}
	want := "00-0af7651916cd43dd8448eb211c80319c-" + lookup.SpanContext().SpanID().String() + "-01"
	if got := sent.Header.Get("Traceparent"); got != want || sent.Header.Get("Tracestate") != "" || out.Header.Get("Traceparent") != "" {
		t.Errorf("sent %q, want %q; the original has %q", got, want, out.Header.Get("Traceparent"))
	}
}

func TestStart_BelowUnsampledSpanRecordsNothing(t *testing.T) {
	t.Parallel()
	tracer, recorder := newRecorder(sdktrace.WithSampler(sdktrace.NeverSample()))
	r, root := tracer.StartRequest(httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody))
	_, child := tracing.Start(r.Context(), "lookup", "check")
	child.End(nil)
	root.EndRequest(http.MethodGet, "/", "id", "", http.StatusOK)
	if sent := tracing.Propagate(r); sent != r {
		t.Error("the unsampled span is propagated")
	}
	if n := len(recorder.Ended()); n != 0 {
		t.Errorf("%d spans", n)
	}
}

func TestEnd_OutcomeIsTheCodeNotTheText(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		err     error
		outcome string
		failed  bool
	}{
		"nothing failed":    {nil, "ok", false},
		"another system":    {registrar.Fault(registrar.FaultTimeout, "whois.example", errors.New("someone@example.com")), "timeout", true},
		"the caller":        {registrar.Invalid("bad_name"), "bad_name", false},
		"an unnamed reason": {errors.New("secret-name.example"), "internal", true},
	} {
		tracer, recorder := newRecorder()
		_, span := tracing.Start(tracer.Context(t.Context()), "lookup", "check")
		span.End(test.err)
		ended := recorder.Ended()[0]
		if ended.Name() != "lookup check" || (ended.Status().Code == codes.Error) != test.failed || ended.Status().Description != "" || len(ended.Events()) != 0 {
			t.Errorf("%s: %s, %+v", name, ended.Name(), ended.Status())
		}
		if attributes := ended.Attributes(); len(attributes) != 1 || attributes[0].Value.AsString() != test.outcome {
			t.Errorf("%s: %v", name, attributes)
		}
	}
}
