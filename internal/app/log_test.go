package app

import (
	"bytes"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dotkontor/dotkontor/internal/config"
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

// Whatever the record, the line is the one that log/slog would write.
func TestLogger_PlainRecordsMatchSlogJSON(t *testing.T) {
	for _, attrs := range [][]any{
		{},
		{"id", "abc", "status", 200, "us", int64(-5)},
		{"text", `quotes " and \ backslashes`},
		{"text", "line\nbreak \x1b[31m and ü and \u2028"},
		{"share", 0.5, "flag", true, "nothing", nil},
		{"odd \" key", 1},
		{"group", slog.GroupValue(slog.Int("a", 1))},
	} {
		var ours, theirs bytes.Buffer
		logger, flush := NewLogger(config.Log{Format: "json", Level: "info"}, &ours)
		for _, message := range []string{"request", `a "quoted" message`, "tab\tand <>&"} {
			record := slog.NewRecord(time.Date(2026, 11, 15, 9, 0, 0, 123456000, time.UTC), slog.LevelInfo, message, 0)
			record.Add(attrs...)
			if err := logger.Handler().Handle(t.Context(), record); err != nil {
				t.Fatal(err)
			}
			if err := slog.NewJSONHandler(&theirs, nil).Handle(t.Context(), record); err != nil {
				t.Fatal(err)
			}
		}
		flush()
		if ours.String() != theirs.String() {
			t.Errorf("ours   %stheirs %s", ours.String(), theirs.String())
		}
	}
}
