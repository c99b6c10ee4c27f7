package app

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/web"
)

const (
	// logFlushInterval bounds the delay of a record, and what a killed process loses.
	logFlushInterval = 100 * time.Millisecond
	// logBufferSize bounds the buffered bytes.
	logBufferSize = 64 << 10
)

// NewLogger returns a buffered logger, because a system call per record costs more than
// the record. Warnings and errors flush the buffer at once. flush writes the rest.
func NewLogger(cfg config.Log, out io.Writer) (logger *slog.Logger, flush func()) {
	level := new(slog.LevelVar) // INFO, unless the setting says otherwise; config.Check rejects anything unknown
	_ = level.UnmarshalText([]byte(cfg.Level))
	gathered := &logWriter{out: out}
	options := &slog.HandlerOptions{Level: level}
	handler := &logHandler{buffer: gathered, level: level, plain: cfg.Format == "json"}
	if handler.plain {
		handler.Handler = slog.NewJSONHandler(gathered, options)
	} else {
		handler.Handler = slog.NewTextHandler(gathered, options)
	}
	return slog.New(handler), gathered.flush
}

// logHandler flushes warnings at once, and writes the records of requests itself:
// log/slog's encoder was a fifth of the cost of a request.
type logHandler struct {
	slog.Handler
	buffer *logWriter
	level  *slog.LevelVar // of this handler and all those derived from it
	// plain means JSON format, and no attributes or groups of the logger itself.
	plain bool
}

func (h *logHandler) LogRequest(r web.RequestRecord) bool {
	return h.plain && h.buffer.writeRequest(&r)
}

func (h *logHandler) Handle(ctx context.Context, record slog.Record) error {
	err := h.Handler.Handle(ctx, record)
	if record.Level >= slog.LevelWarn {
		h.buffer.flush()
	}
	return err
}

func (h *logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &logHandler{Handler: h.Handler.WithAttrs(attrs), buffer: h.buffer, level: h.level}
}

func (h *logHandler) WithGroup(name string) slog.Handler {
	return &logHandler{Handler: h.Handler.WithGroup(name), buffer: h.buffer, level: h.level}
}

// logLevelOf returns the level of a logger of NewLogger, counted or not; nil for others.
func logLevelOf(logger *slog.Logger) *slog.LevelVar {
	handler := logger.Handler()
	if counting, ok := handler.(*countingHandler); ok {
		handler = counting.Handler
	}
	if ours, ok := handler.(*logHandler); ok {
		return ours.level
	}
	return nil
}

// logWriter buffers output for a short time and up to a limit. A slow reader slows the
// service down instead of filling its memory.
type logWriter struct {
	out io.Writer

	mu           sync.Mutex
	buf          []byte
	flushPending bool // a flush is scheduled
}

func (w *logWriter) Write(record []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.buf = append(w.buf, record...)
	w.scheduleFlush()
	return len(record), nil
}

// writeRequest encodes a record in place, unless it needs escaping.
func (w *logWriter) writeRequest(r *web.RequestRecord) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	longer, ok := r.AppendJSON(w.buf)
	if ok {
		w.buf = longer
		w.scheduleFlush()
	}
	return ok
}

func (w *logWriter) scheduleFlush() {
	switch {
	case len(w.buf) >= logBufferSize:
		w.writeOut()
	case !w.flushPending:
		w.flushPending = true
		time.AfterFunc(logFlushInterval, w.flush)
	}
}

func (w *logWriter) flush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.flushPending = false
	w.writeOut()
}

func (w *logWriter) writeOut() {
	if len(w.buf) == 0 {
		return
	}
	_, _ = w.out.Write(w.buf) // there is no other place to report it
	w.buf = w.buf[:0]
}

// countingHandler counts warnings, errors and panics. Every part of the program logs through it.
type countingHandler struct {
	slog.Handler
	warnings, errors, panics prometheus.Counter
}

func countLogRecords(logger *slog.Logger, metrics prometheus.Registerer) *slog.Logger {
	records := newCounter(metrics, "dotkontor_log_records_total", "Log records by level: warn, error.", label{name: "level"})
	panics := newCounter(metrics, "dotkontor_panics_total", "Panics recovered in requests, tools, lookups and jobs.")
	return slog.New(&countingHandler{
		Handler: logger.Handler(), warnings: records.WithLabelValues("warn"), errors: records.WithLabelValues("error"),
		panics: panics.WithLabelValues(),
	})
}

// LogRequest does not count, because a record of level INFO is neither.
func (h *countingHandler) LogRequest(r web.RequestRecord) bool {
	next, ok := h.Handler.(web.RequestLogger)
	return ok && next.LogRequest(r)
}

func (h *countingHandler) Handle(ctx context.Context, record slog.Record) error {
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

func (h *countingHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return h.around(h.Handler.WithAttrs(attrs))
}

func (h *countingHandler) WithGroup(name string) slog.Handler {
	return h.around(h.Handler.WithGroup(name))
}

func (h *countingHandler) around(inner slog.Handler) *countingHandler {
	return &countingHandler{Handler: inner, warnings: h.warnings, errors: h.errors, panics: h.panics}
}
