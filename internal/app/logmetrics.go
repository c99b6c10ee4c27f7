package app

import (
	"context"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// countingHandler counts the warnings, errors and panics that pass. All parts of the
// program log through it, so none has to count by itself.
type countingHandler struct {
	slog.Handler
	warnings, errors, panics prometheus.Counter
}

// countLogRecords returns a logger whose records are counted.
func countLogRecords(logger *slog.Logger, metrics prometheus.Registerer) (*slog.Logger, error) {
	records := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "dotkontor_log_records_total",
		Help: "Records of the log by level: warn and error.",
	}, []string{"level"})
	panics := prometheus.NewCounter(prometheus.CounterOpts{
		Name: "dotkontor_panics_total",
		Help: "Panics that were recovered in requests, tools, lookups and jobs.",
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

// Handle counts the record and hands it on.
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

// WithAttrs goes on counting.
func (h countingHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	h.Handler = h.Handler.WithAttrs(attrs)
	return h
}

// WithGroup goes on counting.
func (h countingHandler) WithGroup(name string) slog.Handler {
	h.Handler = h.Handler.WithGroup(name)
	return h
}
