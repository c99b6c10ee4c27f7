// Package wire holds what every HTTP transport of ours does in the same way:
// write JSON whole or not at all, and leave a note for the request log.
package httpjson

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// WriteJSON encodes before it writes the status line, so that an answer is never
// half of one status and half of another.
func WriteJSON(w http.ResponseWriter, status int, body any) {
	if known, ok := body.(Appender); ok {
		var space [512]byte
		if encoded, ok := known.AppendJSON(space[:0]); ok {
			WriteBytes(w, status, typeJSON, encoded)
			return
		}
	}
	encoded, err := json.Marshal(body)
	if err != nil { // can't happen with our own types; never answer with silence
		RecordError(w, &registrar.Error{Kind: registrar.KindInternal, Code: "encode"})
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	WriteBytes(w, status, typeJSON, encoded)
}

var typeJSON = []string{"application/json"}

// Appender is a body that can write itself faster than encoding/json, with the
// same result. It reports false where it can't.
type Appender interface {
	AppendJSON(b []byte) ([]byte, bool)
}

// autoContentLength is the length up to which net/http finds Content-Length by
// itself. Leaving it to the server keeps a lookup's head at eight fields, the
// number up to which a Go map needs no second table.
const autoContentLength = 2048

// WriteBytes writes a finished body. contentType is shared, not copied: it must
// never be changed.
func WriteBytes(w http.ResponseWriter, status int, contentType []string, body []byte) {
	header := w.Header()
	header["Content-Type"] = contentType
	if len(body) > autoContentLength {
		header["Content-Length"] = []string{strconv.Itoa(len(body))}
	}
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client may be gone; there is nobody to tell
}

// AppendPlainString writes text as a JSON string if it needs no escaping, also
// not for web pages; else it reports false.
func AppendPlainString(b []byte, text string) ([]byte, bool) {
	for i := range len(text) {
		switch c := text[i]; {
		case c < ' ', c > '~', c == '"', c == '\\', c == '<', c == '>', c == '&':
			return b, false
		}
	}
	b = append(b, '"')
	b = append(b, text...)
	return append(b, '"'), true
}

// ErrorInfo is what the request log holds about an error. It has no foreign text.
type ErrorInfo struct {
	Kind   registrar.Kind
	Code   registrar.Code
	Detail string
	// Cause is what failed at the database or a server outside; see registrar.Cause.
	Cause string
	// Fault says that the service itself has failed, so that an operator has to know:
	// a bad request, a refused card or a registry that is away are no faults.
	Fault bool
	// ClientGone says that the client was gone first.
	ClientGone bool
}

// ErrorRecorder is a ResponseWriter that keeps a note for the request log.
type ErrorRecorder interface {
	RecordError(info ErrorInfo)
}

// RecordError leaves the kind, code, detail and cause of err in the request log. It is
// the only way from an error to the log, so that no foreign text gets there.
func RecordError(w http.ResponseWriter, err error) {
	if rec, ok := w.(ErrorRecorder); ok {
		rec.RecordError(errorInfo(err))
	}
}

func errorInfo(err error) ErrorInfo {
	info := ErrorInfo{Kind: registrar.KindInternal}
	var ours *registrar.Error
	if errors.As(err, &ours) {
		info.Kind, info.Code, info.Detail = ours.Kind, ours.Code, ours.Detail
	}
	if info.Kind != registrar.KindInternal && info.Kind != registrar.KindUpstream {
		return info
	}
	info.Cause = registrar.CauseOf(err)
	var cause *registrar.Cause
	stored := errors.As(err, &cause) && cause.Part == registrar.PartDatabase
	info.ClientGone = errors.Is(err, context.Canceled)
	info.Fault = !info.ClientGone && (stored || info.Kind == registrar.KindInternal)
	return info
}

// ToolRecorder is a ResponseWriter that keeps the name of a tool for the request
// log and counts how its calls end.
type ToolRecorder interface {
	RecordTool(name, outcome string)
}

// RecordTool leaves the name of the tool that was called in the request log, and counts
// its outcome. Both must come from our own lists, never from the client.
func RecordTool(w http.ResponseWriter, name, outcome string) {
	if rec, ok := w.(ToolRecorder); ok {
		rec.RecordTool(name, outcome)
	}
}

// RequestID is the id of the request that w answers: the one in the log and in the
// client's X-Request-Id. It is empty outside of the service, as in tests.
func RequestID(w http.ResponseWriter) string {
	if id := w.Header()[RequestIDHeader]; len(id) == 1 {
		return id[0]
	}
	return ""
}

// RequestIDHeader is in its canonical form, so that it can be a key of the header.
const RequestIDHeader = "X-Request-Id"

// StreamMarker is a ResponseWriter that tells streams from other answers.
type StreamMarker interface {
	MarkStream()
}

// MarkStream says that the answer is open for as long as there may be news. How long
// that is says nothing about how fast we are, so the measurements stop here.
func MarkStream(w http.ResponseWriter) {
	if rec, ok := w.(StreamMarker); ok {
		rec.MarkStream()
	}
}
