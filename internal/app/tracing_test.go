package app

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/tracing"
)

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func newCollector(log io.Writer, metrics prometheus.Registerer, transport roundTripper) *collector {
	return &collector{
		url: "http://collector.example/v1/traces", transport: transport, logger: slog.New(slog.NewTextHandler(log, nil)),
		exported: newCounter(metrics, "spans", "", newLabel("outcome", "ok", "failed")),
	}
}

// In a synctest bubble a span that waited for the collector would be a deadlock, and time
// passes only while everything waits.
func TestTracing_HangingCollectorDelaysNeitherSpansNorShutdown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int32
		to := newCollector(io.Discard, prometheus.NewRegistry(), func(r *http.Request) (*http.Response, error) {
			calls.Add(1)
			<-r.Context().Done()
			return nil, r.Context().Err()
		})
		provider := newTracerProvider(config.Tracing{SamplePercent: 100}, "node", to)
		ctx, began := tracing.New(provider).Context(t.Context()), time.Now()
		for range 10 * spanQueue {
			_, span := tracing.Start(ctx, "lookup", "check")
			span.End(nil)
		}
		if waited := time.Since(began); waited != 0 {
			t.Errorf("the spans waited %s", waited)
		}
		synctest.Wait()
		if calls.Load() != 1 {
			t.Errorf("%d exports at a time", calls.Load())
		}
		began = time.Now()
		stopTracing(t.Context(), provider)
		if took := time.Since(began); took > tracingGrace {
			t.Errorf("the shutdown took %s", took)
		}
		time.Sleep(time.Minute) // the export in flight ends by itself
	})
}

func TestTracing_FailingCollectorIsLoggedOncePerOutage(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	status := 0 // no response
	to := newCollector(&log, prometheus.NewRegistry(), func(*http.Request) (*http.Response, error) {
		if status == 0 {
			return nil, errors.New("dial 192.0.2.1: refused")
		}
		return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader("secret text"))}, nil
	})
	for _, status = range []int{http.StatusOK, 0, http.StatusServiceUnavailable, http.StatusAccepted} {
		if err := to.UploadTraces(t.Context(), nil); err != nil {
			t.Errorf("the library would print %v", err)
		}
	}
	text := log.String()
	if strings.Count(text, "trace export failed") != 1 || strings.Count(text, "trace export works again") != 1 ||
		strings.Contains(text, "192.0.2.1") || strings.Contains(text, "secret text") {
		t.Errorf("logged %s", text)
	}
}

func TestProbeCollector_ReportsWhyItCannotBeUsed(t *testing.T) {
	t.Parallel()
	var status atomic.Int32
	status.Store(http.StatusOK)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/traces" {
			t.Errorf("called %s", r.URL.Path)
		}
		w.WriteHeader(int(status.Load()))
	}))
	for _, endpoint := range []string{server.URL, server.URL + "/", server.URL + "/v1/traces"} {
		if err := ProbeCollector(t.Context(), config.Tracing{Endpoint: endpoint}); err != nil {
			t.Errorf("%s: %v", endpoint, err)
		}
	}
	status.Store(http.StatusForbidden)
	if err := ProbeCollector(t.Context(), config.Tracing{Endpoint: server.URL}); err == nil || !strings.Contains(err.Error(), "login_refused (HTTP 403)") {
		t.Errorf("403: %v", err)
	}
	server.Close()
	if err := ProbeCollector(t.Context(), config.Tracing{Endpoint: server.URL}); err == nil || !strings.Contains(err.Error(), "connection_refused") {
		t.Errorf("closed: %v", err)
	}
}

func TestSampling_ClientCannotForceATrace(t *testing.T) {
	t.Parallel()
	to := newCollector(io.Discard, prometheus.NewRegistry(), func(*http.Request) (*http.Response, error) { return nil, errors.New("unused") })
	provider := newTracerProvider(config.Tracing{SamplePercent: 1}, "node", to)
	defer stopTracing(t.Context(), provider)
	tracer := provider.Tracer("test")
	// A sampled parent with the lowest trace ID, which a ratio by trace ID always samples.
	parent := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{15: 1}, SpanID: trace.SpanID{1}, TraceFlags: trace.FlagsSampled, Remote: true})
	sampled := 0
	const requests = 2000
	for range requests {
		ctx, span := tracer.Start(trace.ContextWithRemoteSpanContext(t.Context(), parent), "request")
		if span.IsRecording() {
			sampled++
		}
		_, child := tracer.Start(ctx, "child")
		if child.IsRecording() != span.IsRecording() {
			t.Error("a child is sampled differently")
		}
	}
	if sampled > requests/10 {
		t.Errorf("%d of %d are sampled", sampled, requests)
	}
}
