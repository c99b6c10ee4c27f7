// Package tracing records spans: how long a request, a job or a call to another system took,
// and which of them belong together.
//
// The tracer is a value of the context. Without one, which is the default, Start returns its
// context and a Span that does nothing, and neither allocates. So callers don't ask whether
// tracing is on, and nothing is configured globally.
//
// Spans leave the company's network more easily than logs. Their attributes are the constants
// below, with values from closed lists: routes, codes, accounts of the configuration. Domain
// names, addresses, paths, hosts and IDs of customers have no attribute, and errors are
// recorded by code, never by text.
//
// Only this package and internal/app import OpenTelemetry.
package tracing

import (
	"cmp"
	"context"
	"net/http"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Key is the name of an attribute.
type Key string

// All attributes. The names with http are those of OpenTelemetry's semantic conventions.
const (
	Method    Key = "http.request.method"
	Route     Key = "http.route"
	Status    Key = "http.response.status_code"
	RequestID Key = "dotkontor.request_id"
	Tool      Key = "dotkontor.mcp_tool"
	Outcome   Key = "dotkontor.outcome"   // ok or an error code
	Source    Key = "dotkontor.source"    // of a lookup
	Extension Key = "dotkontor.extension" // as in the price list
	Job       Key = "dotkontor.job"
	Attempts  Key = "dotkontor.attempts"
	Account   Key = "dotkontor.account" // at a registry
	Command   Key = "epp.command"
	Object    Key = "epp.object" // domain, contact or host
	Result    Key = "epp.result_code"
	Call      Key = "stripe.call"
)

// OK is the Outcome of what did not fail.
const OK = "ok"

const (
	scope             = "github.com/dotkontor/dotkontor"
	traceparentHeader = "traceparent"
)

// Tracer starts spans. A nil Tracer starts none.
type Tracer struct{ tracer trace.Tracer }

// New returns a Tracer whose spans go to a provider.
func New(provider trace.TracerProvider) *Tracer { return &Tracer{provider.Tracer(scope)} }

type tracerKey struct{}

// Context returns a context in which Start records spans.
func (t *Tracer) Context(ctx context.Context) context.Context {
	if t == nil {
		return ctx
	}
	return context.WithValue(ctx, tracerKey{}, t)
}

// StartRequest starts the span of a received request, as a child of the span in its
// traceparent header. The flags of the header are ignored, because any client can set them,
// and so is tracestate, because it is free text.
func (t *Tracer) StartRequest(r *http.Request) (*http.Request, Span) {
	if t == nil {
		return r, Span{}
	}
	ctx := t.Context(r.Context())
	if parent := r.Header.Get(traceparentHeader); parent != "" {
		ctx = propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{traceparentHeader: parent})
	}
	// The route is known later; see EndRequest.
	ctx, span := t.start(ctx, "request", trace.WithSpanKind(trace.SpanKindServer))
	return r.WithContext(ctx), span
}

// Start starts a span, as a child of the one in ctx or as the first of a trace. Its name is
// kind and name, which must be constants or from the configuration.
func Start(ctx context.Context, kind, name string) (context.Context, Span) {
	t, _ := ctx.Value(tracerKey{}).(*Tracer)
	if t == nil {
		return ctx, Span{}
	}
	return t.start(ctx, kind+" "+name)
}

// StartCall is Start for a call to another system.
func StartCall(ctx context.Context, kind, name string) (context.Context, Span) {
	t, _ := ctx.Value(tracerKey{}).(*Tracer)
	if t == nil {
		return ctx, Span{}
	}
	return t.start(ctx, kind+" "+name, trace.WithSpanKind(trace.SpanKindClient))
}

func (t *Tracer) start(ctx context.Context, name string, options ...trace.SpanStartOption) (context.Context, Span) {
	ctx, span := t.tracer.Start(ctx, name, options...)
	if !span.IsRecording() { // not sampled, so nothing below it is either
		return context.WithValue(ctx, tracerKey{}, (*Tracer)(nil)), Span{}
	}
	return ctx, Span{span}
}

// Propagate returns r, or a copy of it that names the span of its context in a traceparent
// header. Registries are strangers and don't get one.
func Propagate(r *http.Request) *http.Request {
	ctx := r.Context()
	if t, _ := ctx.Value(tracerKey{}).(*Tracer); t == nil {
		return r
	}
	r = r.Clone(ctx)
	propagation.TraceContext{}.Inject(ctx, propagation.HeaderCarrier(r.Header))
	return r
}

// Span is a piece of work. The zero Span does nothing.
type Span struct{ span trace.Span }

// SetString sets an attribute whose value is from a closed list.
func (s Span) SetString(key Key, value string) {
	if s.span != nil && value != "" {
		s.span.SetAttributes(attribute.String(string(key), value))
	}
}

// SetInt sets an attribute.
func (s Span) SetInt(key Key, value int) {
	if s.span != nil {
		s.span.SetAttributes(attribute.Int(string(key), value))
	}
}

// End ends the span with the outcome of err: ok, or its code. Only failures of this service or
// of another system mark the span as failed; that a name is taken is a result.
func (s Span) End(err error) {
	if s.span == nil {
		return
	}
	outcome, failed := OK, false
	if err != nil {
		kind := registrar.KindOf(err)
		outcome = cmp.Or(string(registrar.CodeOf(err)), kind.String())
		failed = kind == registrar.KindUpstream || kind == registrar.KindInternal
	}
	s.EndAs(outcome, failed)
}

// EndAs ends the span with an outcome.
func (s Span) EndAs(outcome string, failed bool) {
	if s.span == nil {
		return
	}
	s.SetString(Outcome, outcome)
	s.finish(failed)
}

// EndRequest ends the span of a request, whose route is known only after it was handled.
func (s Span) EndRequest(method, route, id, tool string, status int) {
	if s.span == nil {
		return
	}
	s.span.SetName(method + " " + route)
	s.SetString(Method, method)
	s.SetString(Route, route)
	s.SetString(RequestID, id)
	s.SetString(Tool, tool)
	s.SetInt(Status, status)
	s.finish(status >= http.StatusInternalServerError)
}

func (s Span) finish(failed bool) {
	if failed {
		s.span.SetStatus(codes.Error, "")
	}
	s.span.End()
}
