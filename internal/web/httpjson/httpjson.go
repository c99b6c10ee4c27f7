// Package httpjson holds what all HTTP transports share: routes, JSON responses,
// records for the request log, and the lookup results that REST and MCP both return.
package httpjson

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// WriteJSON encodes before it writes the status line, so that a failed encoding can
// still change the status.
func WriteJSON(w http.ResponseWriter, status int, body any) {
	encoded, err := Encode(body, 512)
	if err != nil { // does not happen with our own types
		RecordError(w, &registrar.Error{Kind: registrar.KindInternal, Code: "encode"})
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	WriteBytes(w, status, typeJSON, encoded)
}

// Encode encodes body by its AppendJSON, if it has one. size is the expected length.
func Encode(body any, size int) ([]byte, error) {
	if known, ok := body.(Appender); ok {
		if encoded, ok := known.AppendJSON(make([]byte, 0, size)); ok {
			return encoded, nil
		}
	}
	return json.Marshal(body)
}

var typeJSON = []string{"application/json"}

// Appender is a body that encodes itself faster than encoding/json, with the same
// result. It returns false if it can't.
type Appender interface {
	AppendJSON(b []byte) ([]byte, bool)
}

// autoContentLength is the length up to which net/http sets Content-Length itself.
// Leaving it to the server keeps a lookup's header at eight fields, up to which a Go
// map needs no second table.
const autoContentLength = 2048

// WriteBytes writes a complete body. contentType is shared and must not be modified.
func WriteBytes(w http.ResponseWriter, status int, contentType []string, body []byte) {
	header := w.Header()
	header["Content-Type"] = contentType
	if len(body) > autoContentLength {
		header["Content-Length"] = []string{strconv.Itoa(len(body))}
	}
	w.WriteHeader(status)
	_, _ = w.Write(body) // a failed write means that the client is gone
}

// plainBytes need no escaping in a JSON string, including HTML escaping.
var plainBytes = func() (plain [256]bool) {
	for c := ' '; c <= '~'; c++ {
		plain[c] = !strings.ContainsRune(`"\<>&`, c)
	}
	return plain
}()

// AppendPlainString appends text as a JSON string if it needs no escaping; otherwise it
// returns false.
func AppendPlainString(b []byte, text string) ([]byte, bool) {
	for i := range len(text) {
		if !plainBytes[text[i]] {
			return b, false
		}
	}
	b = append(b, '"')
	b = append(b, text...)
	return append(b, '"'), true
}

// ErrorInfo is what the request log records about an error. It contains no client data.
type ErrorInfo struct {
	Kind   registrar.Kind
	Code   registrar.Code
	Detail string
	Cause  string // what failed in the database or an upstream; see registrar.Cause
	// Fault means that the service itself failed and an operator has to act. A bad
	// request, a declined card or an unreachable registry is no fault.
	Fault      bool
	ClientGone bool // the client closed the connection first
}

// RecordError records the kind, code, detail and cause of err in the request log. It is
// the only way from an error to the log, which keeps client data out.
func RecordError(w http.ResponseWriter, err error) {
	if rec, ok := w.(interface{ RecordError(info ErrorInfo) }); ok {
		rec.RecordError(errorInfo(err))
	}
}

func errorInfo(err error) ErrorInfo {
	info := ErrorInfo{Kind: registrar.KindInternal}
	if ours, ok := errors.AsType[*registrar.Error](err); ok {
		info.Kind, info.Code, info.Detail = ours.Kind, ours.Code, ours.Detail
	}
	if info.Kind != registrar.KindInternal && info.Kind != registrar.KindUpstream {
		return info
	}
	info.Cause = registrar.CauseOf(err)
	cause, ok := errors.AsType[*registrar.Cause](err)
	stored := ok && cause.Part == registrar.PartDatabase
	info.ClientGone = errors.Is(err, context.Canceled)
	info.Fault = !info.ClientGone && (stored || info.Kind == registrar.KindInternal)
	return info
}

// RecordTool records which MCP tool was called, and counts its outcome. Both must come
// from fixed lists, never from the client.
func RecordTool(w http.ResponseWriter, name, outcome string) {
	if rec, ok := w.(interface{ RecordTool(name, outcome string) }); ok {
		rec.RecordTool(name, outcome)
	}
}

// RequestID returns the id of the request, as in the log and in X-Request-Id. It is
// empty in tests without the server.
func RequestID(w http.ResponseWriter) string {
	if id := w.Header()[RequestIDHeader]; len(id) == 1 {
		return id[0]
	}
	return ""
}

// RequestIDHeader is in canonical form, so that it can index the header map.
const RequestIDHeader = "X-Request-Id"

// MarkStream marks the response as a stream. Its duration says nothing about latency,
// so the measurement stops here.
func MarkStream(w http.ResponseWriter) {
	if rec, ok := w.(interface{ MarkStream() }); ok {
		rec.MarkStream()
	}
}

// Codes that several transports use.
const (
	BodyTooLarge     registrar.Code = "body_too_large"
	NoSuchMethod     registrar.Code = "no_such_method"
	OverBudget       registrar.Code = "over_budget"
	TooManyBadTokens registrar.Code = "too_many_bad_tokens" //nolint:gosec // an error code
)

// Route is one method of one path. Path is a pattern of http.ServeMux without a
// method.
type Route struct {
	Method, Path string
	Handler      http.HandlerFunc
	AnyOrigin    bool // lets scripts of any web page call it, without credentials
}
