package jobs

import (
	"cmp"
	"context"
	"errors"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/tracing"
)

// rowSpan is the span of one row's processing. Until handled is called, its outcome is panic.
type rowSpan struct {
	tracing.Span
	outcome string
	failed  bool
}

func startSpan(ctx context.Context, job string) (context.Context, *rowSpan) {
	ctx, span := tracing.Start(ctx, "job", job)
	span.SetString(tracing.Job, job)
	return ctx, &rowSpan{Span: span, outcome: "panic", failed: true}
}

func (s *rowSpan) handled(err error) {
	var again Again
	switch {
	case err == nil:
		s.outcome, s.failed = tracing.OK, false
	case errors.Is(err, ErrSettled):
		s.outcome, s.failed = "settled", false
	case errors.As(err, &again):
		s.outcome, s.failed = "again", false
	default:
		s.outcome = cmp.Or(string(registrar.CodeOf(err)), "failed")
	}
}

func (s *rowSpan) end() { s.EndAs(s.outcome, s.failed) }
