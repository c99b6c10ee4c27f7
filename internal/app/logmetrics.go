package app

import (
	"context"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// countingHandler counts warnings, errors and panics. Every part of the program logs
// through it.
type countingHandler struct {
	slog.Handler
	warnings, errors, panics prometheus.Counter
}

// countLogRecords returns a logger whose records are counted.
func countLogRecords(logger *slog.Logger, metrics prometheus.Registerer) (*slog.Logger, error) {
	records := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "dotkontor_log_records_total",
		Help: "Log records by level: warn, error.",
	}, []string{"level"})
	panics := prometheus.NewCounter(prometheus.CounterOpts{
		Name: "dotkontor_panics_total",
		Help: "Panics recovered in requests, tools, lookups and jobs.",
	})
	for _, collector := range []prometheus.Collector{records, panics} {
		if err := metrics.Register(collector); err != nil {
			return nil, err
		}
	}
	return slog.New(countingHandler{
		Handler: logger.Handler(), warnings: records.WithLabelValues("warn"), errors: records.WithLabelValues("error"), panics: panics,
	}), nil
}

// Handle implements slog.Handler.
func (h countingHandler) Handle(ctx context.Context, record slog.Record) error {
	switch {
	case record.Level >= slog.LevelError:
		h.errors.Inc()
		if record.Message == registrar.PanicRecovered {
			h.panics.Inc()
		}
	case record.Level >= slog.LevelWarn:
		h.warnings.Inc()
	}
	return h.Handler.Handle(ctx, record)
}

// WithAttrs implements slog.Handler.
func (h countingHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	h.Handler = h.Handler.WithAttrs(attrs)
	return h
}

// WithGroup implements slog.Handler.
func (h countingHandler) WithGroup(name string) slog.Handler {
	h.Handler = h.Handler.WithGroup(name)
	return h
}
