package app

import (
	"bytes"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/web"
)

// lineCounter counts what was written so far; the log is written from a timer, too.
type lineCounter struct {
	mu sync.Mutex
	n  int
}

func (l *lineCounter) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.n += bytes.Count(text, []byte("\n"))
	return len(text), nil
}

func (l *lineCounter) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.n
}

func TestLogger_BuffersInfoFlushesWarnings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out lineCounter
		logger, flush := NewLogger(config.Log{Format: "json", Level: "info"}, &out)
		logger.Info("one")
		if out.count() != 0 {
			t.Error("a record was written at once")
		}
		time.Sleep(logFlushInterval + time.Millisecond)
		synctest.Wait()
		if n := out.count(); n != 1 {
			t.Errorf("%d records after a while, want 1", n)
		}
		logger.Info("two")
		logger.With("a", 1).WithGroup("g").Warn("three")
		if n := out.count(); n != 3 {
			t.Errorf("%d records after a warning, want 3", n)
		}
		logger.Debug("below the level")
		logger.Info("four")
		flush()
		if n := out.count(); n != 4 {
			t.Errorf("%d records after the flush, want 4", n)
		}
		time.Sleep(time.Second)
	})
}

func TestLogWriter_FlushesWhenFull(t *testing.T) {
	var out bytes.Buffer
	w := &logWriter{out: &out, flushPending: true}
	for range 3 {
		if _, err := w.Write(make([]byte, logBufferSize/2)); err != nil {
			t.Fatal(err)
		}
	}
	if out.Len() != logBufferSize || len(w.buf) != logBufferSize/2 {
		t.Errorf("%d bytes written and %d gathered", out.Len(), len(w.buf))
	}
}

func TestLogger_WritesRequestsDirectlyOnlyAsPlainJSON(t *testing.T) {
	request := web.RequestRecord{Time: time.Date(2026, 11, 15, 9, 0, 0, 0, time.UTC), ID: "abc"}
	escaped := request
	escaped.Detail = "line\nbreak"
	for name, test := range map[string]struct {
		format string
		with   []any
		record web.RequestRecord
		direct bool
	}{
		"JSON":                   {"json", nil, request, true},
		"escaping":               {"json", nil, escaped, false},
		"text":                   {"text", nil, request, false},
		"logger's own attribute": {"json", []any{"a", 1}, request, false},
	} {
		var out bytes.Buffer
		logger, flush := NewLogger(config.Log{Format: test.format, Level: "info"}, &out)
		handler, ok := countLogRecords(logger, prometheus.NewRegistry()).With(test.with...).Handler().(web.RequestLogger)
		if !ok || handler.LogRequest(test.record) != test.direct {
			t.Errorf("%s: written directly: %v", name, !test.direct)
		}
		if flush(); (out.Len() > 0) != test.direct {
			t.Errorf("%s: wrote %q", name, out.String())
		}
	}
}
