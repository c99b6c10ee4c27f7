package app

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/tracing"
)

const (
	// A span that ends while spanQueue others wait is dropped: a slow collector costs spans,
	// never the time of a request.
	spanQueue     = 4096
	spanBatch     = 512
	spanInterval  = 2 * time.Second // between exports of incomplete batches
	exportTimeout = 5 * time.Second
	// tracingGrace bounds the last export, so that a collector can't delay a shutdown.
	tracingGrace     = 2 * time.Second
	maxExportReply   = 64 << 10
	defaultTracePath = "/v1/traces"
)

// startTracing sets the tracer if a collector is configured.
func (p *App) startTracing(ctx context.Context) error {
	exported := newCounter(p.metrics, "dotkontor_trace_spans_total",
		"Spans sent to the collector, by outcome: ok, failed. Those that did not fit into the queue are missing.", newLabel("outcome", "ok", "failed"))
	if p.cfg.Tracing.Endpoint == "" {
		return nil
	}
	to, err := openCollector(p.cfg.Tracing)
	if err != nil {
		return err
	}
	to.logger, to.exported = p.logger, exported
	provider := newTracerProvider(p.cfg.Tracing, p.node, to)
	p.tracer = tracing.New(provider)
	p.closers = append(p.closers, func() { stopTracing(context.WithoutCancel(ctx), provider) })
	return nil
}

// ProbeCollector sends no spans to the configured collector.
func ProbeCollector(ctx context.Context, cfg config.Tracing) error {
	to, err := openCollector(cfg)
	if err != nil {
		return err
	}
	return to.send(ctx, nil)
}

func openCollector(cfg config.Tracing) (*collector, error) {
	endpoint, err := url.Parse(cfg.Endpoint)
	if err != nil {
		return nil, fmt.Errorf("tracing.endpoint: %w", err)
	}
	if endpoint.Path == "" || endpoint.Path == "/" {
		endpoint.Path = defaultTracePath
	}
	// One export at a time, so one connection is enough.
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, MaxConnsPerHost: 1, IdleConnTimeout: time.Minute}
	return &collector{url: endpoint.String(), transport: transport}, nil
}

func newTracerProvider(cfg config.Tracing, node string, to *collector) *sdktrace.TracerProvider {
	sampler := share(cfg.SamplePercent)
	return sdktrace.NewTracerProvider(
		sdktrace.WithResource(resource.NewSchemaless(
			attribute.String("service.name", "dotkontor"), attribute.String("service.version", Version), attribute.String("service.instance.id", node))),
		sdktrace.WithSampler(sdktrace.ParentBased(sampler,
			sdktrace.WithRemoteParentSampled(sampler), sdktrace.WithRemoteParentNotSampled(sampler))),
		sdktrace.WithBatcher(otlptrace.NewUnstarted(to), sdktrace.WithMaxQueueSize(spanQueue), sdktrace.WithMaxExportBatchSize(spanBatch),
			sdktrace.WithBatchTimeout(spanInterval), sdktrace.WithExportTimeout(exportTimeout)))
}

// stopTracing exports what is queued, as far as the collector takes it in time.
func stopTracing(ctx context.Context, provider *sdktrace.TracerProvider) {
	ctx, cancel := context.WithTimeout(ctx, tracingGrace)
	defer cancel()
	_ = provider.Shutdown(ctx) // the collector has logged why
}

// share samples so many of 100 traces. OpenTelemetry's own sampler derives the decision from
// the trace ID, which a client chooses with its traceparent header.
type share int

func (s share) ShouldSample(sdktrace.SamplingParameters) sdktrace.SamplingResult {
	if rand.IntN(100) < int(s) { //nolint:gosec // need not be unpredictable
		return sdktrace.SamplingResult{Decision: sdktrace.RecordAndSample}
	}
	return sdktrace.SamplingResult{Decision: sdktrace.Drop}
}

func (s share) Description() string { return fmt.Sprintf("%d %%", int(s)) }

// collector sends spans as OTLP over HTTP. OpenTelemetry's client for it would add gRPC to the
// binary. A batch that fails is dropped: the next one is more interesting.
type collector struct {
	url       string
	transport http.RoundTripper
	logger    *slog.Logger
	exported  *prometheus.CounterVec
	failing   atomic.Bool // and logged
}

var _ otlptrace.Client = (*collector)(nil)

func (*collector) Start(context.Context) error { return nil }

func (*collector) Stop(context.Context) error { return nil }

// UploadTraces never fails, because the library would print the error to standard error, each
// time and with the address.
func (c *collector) UploadTraces(ctx context.Context, batch []*tracepb.ResourceSpans) error {
	spans := 0
	for _, resource := range batch {
		for _, scope := range resource.GetScopeSpans() {
			spans += len(scope.GetSpans())
		}
	}
	err := c.send(ctx, batch)
	if err != nil {
		c.exported.WithLabelValues("failed").Add(float64(spans))
		if !c.failing.Swap(true) {
			c.logger.WarnContext(ctx, "trace export failed, spans are dropped until it works", "cause", registrar.CauseOf(err))
		}
		return nil
	}
	c.exported.WithLabelValues("ok").Add(float64(spans))
	if c.failing.Swap(false) {
		c.logger.InfoContext(ctx, "trace export works again")
	}
	return nil
}

// send posts an ExportTraceServiceRequest, whose only field is that of TracesData.
func (c *collector) send(ctx context.Context, batch []*tracepb.ResourceSpans) error {
	body, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: batch})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, exportTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/x-protobuf")
	request.Header.Set("User-Agent", "dotkontor/"+Version)
	failure := &registrar.Cause{Part: "collector", Operation: "export", Target: request.URL.Host}
	response, err := c.transport.RoundTrip(request)
	if err != nil {
		failure.Class, failure.Err = cmp.Or(registrar.NetworkClass(err), "unreadable_answer"), err
		return failure
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, maxExportReply)) // so that the connection can be reused
	if response.StatusCode/100 != 2 {
		failure.Class, failure.Code = registrar.HTTPClass(response.StatusCode), "HTTP "+strconv.Itoa(response.StatusCode)
		return failure
	}
	return nil
}
