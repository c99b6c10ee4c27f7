package main

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/dotkontor/dotkontor/internal/config"
)

const (
	// logEvery bounds how late a record is written. A process that is killed
	// loses at most what it logged in that time.
	logEvery = 100 * time.Millisecond
	// logBytes bounds how much is gathered.
	logBytes = 64 << 10
)

// newLogger writes records in groups, because a system call for each costs more
// than the record. Warnings and errors are written at once, with all that came
// before them. flush writes what is left.
func newLogger(cfg config.Log, out io.Writer) (logger *slog.Logger, flush func()) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(cfg.Level)); err != nil {
		level = slog.LevelInfo // config.Check has refused anything else
	}
	gathered := &logWriter{out: out}
	options := &slog.HandlerOptions{Level: level}
	var handler slog.Handler = slog.NewJSONHandler(gathered, options)
	if cfg.Format == "text" {
		handler = slog.NewTextHandler(gathered, options)
	}
	return slog.New(urgentHandler{Handler: handler, gathered: gathered}), gathered.flush
}

// urgentHandler does not let bad news wait.
type urgentHandler struct {
	slog.Handler
	gathered *logWriter
}

// Handle writes the record, and at once if it is a warning or worse.
func (h urgentHandler) Handle(ctx context.Context, record slog.Record) error {
	err := h.Handler.Handle(ctx, record)
	if record.Level >= slog.LevelWarn {
		h.gathered.flush()
	}
	return err
}

// WithAttrs keeps the urgency.
func (h urgentHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return urgentHandler{Handler: h.Handler.WithAttrs(attrs), gathered: h.gathered}
}

// WithGroup keeps the urgency.
func (h urgentHandler) WithGroup(name string) slog.Handler {
	return urgentHandler{Handler: h.Handler.WithGroup(name), gathered: h.gathered}
}

// logWriter gathers what is written, for a short time and up to a bound. A
// reader that does not keep up slows the service down instead of filling its
// memory.
type logWriter struct {
	out io.Writer

	mu    sync.Mutex
	buf   []byte
	armed bool // a flush is due
}

// Write takes one record.
func (w *logWriter) Write(record []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.buf = append(w.buf, record...)
	switch {
	case len(w.buf) >= logBytes:
		w.writeOut()
	case !w.armed:
		w.armed = true
		time.AfterFunc(logEvery, w.flush)
	}
	return len(record), nil
}

func (w *logWriter) flush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.armed = false
	w.writeOut()
}

func (w *logWriter) writeOut() {
	if len(w.buf) == 0 {
		return
	}
	_, _ = w.out.Write(w.buf) // there is no better place to complain about the log
	w.buf = w.buf[:0]
}
