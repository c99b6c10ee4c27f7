package jobs

import (
	"errors"
	"testing"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/tracing"
)

func TestRowSpan_HasTheOutcomeOfItsRow(t *testing.T) {
	t.Parallel()
	for want, end := range map[string]func(*rowSpan){
		"ok":      func(s *rowSpan) { s.handled(nil) },
		"settled": func(s *rowSpan) { s.handled(ErrSettled) },
		"again":   func(s *rowSpan) { s.handled(Again(time.Second)) },
		"timeout": func(s *rowSpan) { s.handled(registrar.Fault(registrar.FaultTimeout, "host", nil)) },
		"failed":  func(s *rowSpan) { s.handled(errors.New("name.example")) },
		"panic":   func(*rowSpan) {},
	} {
		recorder := tracetest.NewSpanRecorder()
		tracer := tracing.New(sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder)))
		_, span := startSpan(tracer.Context(t.Context()), "orders")
		end(span)
		span.end()
		ended := recorder.Ended()[0]
		got := make(map[string]string)
		for _, attribute := range ended.Attributes() {
			got[string(attribute.Key)] = attribute.Value.AsString()
		}
		if ended.Name() != "job orders" || got["dotkontor.job"] != "orders" || got["dotkontor.outcome"] != want {
			t.Errorf("%s: %s %v", want, ended.Name(), got)
		}
	}
}
