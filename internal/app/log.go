package app

import (
	"context"
	"io"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
)

const (
	// logFlushInterval bounds how late a record is written. A process that is killed
	// loses at most what it logged in that time.
	logFlushInterval = 100 * time.Millisecond
	// logBufferSize bounds how much is gathered.
	logBufferSize = 64 << 10
)

// NewLogger writes records in groups, because a system call for each costs more
// than the record. Warnings and errors are written at once, with all that came
// before them. flush writes what is left.
func NewLogger(cfg config.Log, out io.Writer) (logger *slog.Logger, flush func()) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(cfg.Level)); err != nil {
		level = slog.LevelInfo // config.Check has refused anything else
	}
	gathered := &logWriter{out: out}
	options := &slog.HandlerOptions{Level: level}
	handler := logHandler{buffer: gathered, plain: cfg.Format == "json"}
	if handler.plain {
		handler.Handler = slog.NewJSONHandler(gathered, options)
	} else {
		handler.Handler = slog.NewTextHandler(gathered, options)
	}
	return slog.New(handler), gathered.flush
}

// logHandler does not let bad news wait, and writes the plain records of
// requests itself: log/slog's encoder was a fifth of the cost of a request.
type logHandler struct {
	slog.Handler
	buffer *logWriter
	// plain says that records may be written as plain JSON: no text format, no
	// attributes or groups of the logger's own.
	plain bool
}

// Handle writes the record, and at once if it is a warning or worse.
func (h logHandler) Handle(ctx context.Context, record slog.Record) error {
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

func (h logHandler) flushIfUrgent(level slog.Level) {
	if level >= slog.LevelWarn {
		h.buffer.flush()
	}
}

// WithAttrs keeps the urgency.
func (h logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return logHandler{Handler: h.Handler.WithAttrs(attrs), buffer: h.buffer}
}

// WithGroup keeps the urgency.
func (h logHandler) WithGroup(name string) slog.Handler {
	return logHandler{Handler: h.Handler.WithGroup(name), buffer: h.buffer}
}

// appendPlainRecord writes a record as slog's JSON handler does, if it holds
// nothing but whole numbers and strings that need no escaping.
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

// logWriter gathers what is written, for a short time and up to a bound. A
// reader that does not keep up slows the service down instead of filling its
// memory.
type logWriter struct {
	out io.Writer

	mu           sync.Mutex
	buf          []byte
	flushPending bool // a flush is due
}

// Write takes one record.
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
	_, _ = w.out.Write(w.buf) // there is no better place to complain about the log
	w.buf = w.buf[:0]
}
