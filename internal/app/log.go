package app

import (
	"context"
	"io"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
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
	var level slog.Level
	if err := level.UnmarshalText([]byte(cfg.Level)); err != nil {
		level = slog.LevelInfo // config.Check rejects anything else
	}
	gathered := &logWriter{out: out}
	options := &slog.HandlerOptions{Level: level}
	handler := &logHandler{buffer: gathered, plain: cfg.Format == "json"}
	if handler.plain {
		handler.Handler = slog.NewJSONHandler(gathered, options)
	} else {
		handler.Handler = slog.NewTextHandler(gathered, options)
	}
	return slog.New(handler), gathered.flush
}

// logHandler flushes warnings at once, and encodes the plain records of requests
// itself: log/slog's encoder was a fifth of the cost of a request.
type logHandler struct {
	slog.Handler
	buffer *logWriter
	// plain allows the fast path: JSON format, and no attributes or groups of the logger itself.
	plain bool
}

func (h *logHandler) Handle(ctx context.Context, record slog.Record) error {
	if h.plain {
		var space [512]byte
		if line, ok := appendPlainRecord(space[:0], record); ok {
			_, err := h.buffer.Write(line)
			h.flushIfUrgent(record.Level)
			return err
		}
	}
	err := h.Handler.Handle(ctx, record)
	h.flushIfUrgent(record.Level)
	return err
}

func (h *logHandler) flushIfUrgent(level slog.Level) {
	if level >= slog.LevelWarn {
		h.buffer.flush()
	}
}

func (h *logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &logHandler{Handler: h.Handler.WithAttrs(attrs), buffer: h.buffer}
}

func (h *logHandler) WithGroup(name string) slog.Handler {
	return &logHandler{Handler: h.Handler.WithGroup(name), buffer: h.buffer}
}

// appendPlainRecord encodes a record like slog's JSON handler, if it has only integers
// and strings that need no escaping.
func appendPlainRecord(line []byte, record slog.Record) ([]byte, bool) {
	line = append(line, `{"time":"`...)
	line = record.Time.Round(0).AppendFormat(line, time.RFC3339Nano)
	line = append(line, `","level":"`...)
	line = append(line, record.Level.String()...)
	line = append(line, `","msg":`...)
	line, ok := httpjson.AppendPlainString(line, record.Message)
	if !ok {
		return nil, false
	}
	record.Attrs(func(attr slog.Attr) bool {
		line = append(line, ',')
		if line, ok = httpjson.AppendPlainString(line, attr.Key); !ok {
			return false
		}
		line = append(line, ':')
		switch attr.Value.Kind() {
		case slog.KindString:
			line, ok = httpjson.AppendPlainString(line, attr.Value.String())
		case slog.KindInt64:
			line = strconv.AppendInt(line, attr.Value.Int64(), 10)
		default:
			ok = false
		}
		return ok
	})
	return append(line, '}', '\n'), ok
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
	switch {
	case len(w.buf) >= logBufferSize:
		w.writeOut()
	case !w.flushPending:
		w.flushPending = true
		time.AfterFunc(logFlushInterval, w.flush)
	}
	return len(record), nil
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
