package web

import (
	"log/slog"
	"strconv"
	"time"

	"github.com/dotkontor/dotkontor/internal/web/httpjson"
)

// RequestRecord is the log record of one request.
type RequestRecord struct {
	Time              time.Time
	ID, Method, Route string
	Status            int
	Bytes, Micros     int64
	Tool              string // only MCP has one
	// Error is the kind of the error; without it, the fields below are empty.
	Error, Code, Detail, Cause string
}

// RequestLogger is implemented by log handlers that write a record of level INFO
// without a slog.Record, which copies its attributes several times. It returns false if
// it has not.
type RequestLogger interface {
	LogRequest(r RequestRecord) bool
}

func (r *RequestRecord) attrs() []slog.Attr {
	attrs := []slog.Attr{
		slog.String("id", r.ID), slog.String("method", r.Method), slog.String("route", r.Route),
		slog.Int("status", r.Status), slog.Int64("bytes", r.Bytes), slog.Int64("us", r.Micros),
	}
	if r.Tool != "" {
		attrs = append(attrs, slog.String("tool", r.Tool))
	}
	if r.Error != "" {
		attrs = append(attrs, slog.String("error", r.Error), slog.String("code", r.Code))
	}
	if r.Detail != "" {
		attrs = append(attrs, slog.String("detail", r.Detail))
	}
	if r.Cause != "" {
		attrs = append(attrs, slog.String("cause", r.Cause))
	}
	return attrs
}

// AppendJSON appends the line that slog's JSON handler would write. It returns false if
// a string needs escaping.
func (r *RequestRecord) AppendJSON(b []byte) ([]byte, bool) {
	line := requestLine{b: append(b, `{"time":"`...), plain: true}
	line.b = r.Time.AppendFormat(line.b, time.RFC3339Nano)
	line.b = append(line.b, `","level":"INFO","msg":"request"`...)
	line.text(`,"id":`, r.ID)
	line.text(`,"method":`, r.Method)
	line.text(`,"route":`, r.Route)
	line.integer(`,"status":`, int64(r.Status))
	line.integer(`,"bytes":`, r.Bytes)
	line.integer(`,"us":`, r.Micros)
	if r.Tool != "" {
		line.text(`,"tool":`, r.Tool)
	}
	if r.Error != "" {
		line.text(`,"error":`, r.Error)
		line.text(`,"code":`, r.Code)
	}
	if r.Detail != "" {
		line.text(`,"detail":`, r.Detail)
	}
	if r.Cause != "" {
		line.text(`,"cause":`, r.Cause)
	}
	return append(line.b, '}', '\n'), line.plain
}

type requestLine struct {
	b     []byte
	plain bool // no string needed escaping
}

func (l *requestLine) text(key, value string) {
	var ok bool
	l.b, ok = httpjson.AppendPlainString(append(l.b, key...), value)
	l.plain = l.plain && ok
}

func (l *requestLine) integer(key string, value int64) {
	l.b = strconv.AppendInt(append(l.b, key...), value, 10)
}
