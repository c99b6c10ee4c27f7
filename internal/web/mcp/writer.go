package mcp

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/dotkontor/dotkontor/internal/web/httpjson"
)

var (
	typeJSON = []string{"application/json"}
	noStore  = []string{"no-store"}
)

// gatedWriter is the ResponseWriter of the SDK. It decides about the status at the
// first write, after parsing and authorization. It has neither Flush nor Unwrap,
// through which a 200 could be sent early.
type gatedWriter struct {
	out         http.ResponseWriter
	server      *Server
	state       *requestState
	message     []byte // as received
	wroteHeader bool
	// plainStatus is the status of a plain text response to be replaced; discard drops
	// the rest of the body.
	plainStatus int
	discard     bool
}

func (w *gatedWriter) Header() http.Header { return w.out.Header() }

func (w *gatedWriter) WriteHeader(status int) {
	if w.wroteHeader {
		return
	}
	w.wroteHeader = true
	header := w.out.Header()
	header["Cache-Control"] = noStore
	kind := header.Get("Content-Type")
	plain := status >= http.StatusBadRequest && strings.HasPrefix(kind, "text/plain")
	switch refused := w.state.refusedWith(); {
	case refused != 0:
		header["Www-Authenticate"] = w.server.refusals[refused].challenge
		header["Content-Type"] = typeJSON
		w.discard = plain // the SDK wrote plain text, so the status has to do
		w.out.WriteHeader(refused)
	case plain:
		w.plainStatus = status // replaced when the text arrives
	case strings.HasPrefix(kind, "text/event-stream") && !w.server.isServed(listenMethod):
		// The SDK opens a stream for this method before it calls the middleware.
		header.Del("Connection")
		w.plainStatus = status
		w.replace(notHandled)
	default:
		w.out.WriteHeader(status)
	}
}

func (w *gatedWriter) Write(b []byte) (int, error) {
	if !w.wroteHeader {
		w.WriteHeader(http.StatusOK)
	}
	if w.plainStatus != 0 {
		w.replace(string(b))
	}
	if w.discard {
		return len(b), nil
	}
	if isParamsError(b) {
		w.discard = true
		body, err := json.Marshal(newErrorBody(w.requestID(), &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the parameters can't be read; see the tool's input schema"}))
		if err == nil {
			_, err = w.out.Write(body)
		}
		return len(b), err
	}
	return w.out.Write(b)
}

// isParamsError detects the SDK's error about invalid parameters. It quotes the whole
// message several times, including searched names.
func isParamsError(b []byte) bool {
	const head = 256 // the error is at the beginning
	return bytes.Contains(b[:min(len(b), head)], []byte(`"message":"handling '`))
}

// finish responds if the SDK wrote nothing.
func (w *gatedWriter) finish() {
	if w.plainStatus != 0 {
		w.replace(http.StatusText(w.plainStatus))
	}
}

const listenMethod = "subscriptions/listen"

// notHandled is the SDK's text for an unknown method.
const notHandled = "JSON RPC not handled"

// replace writes a JSON-RPC error instead of the SDK's plain text.
func (w *gatedWriter) replace(text string) {
	status, code := w.plainStatus, int64(jsonrpc.CodeInvalidRequest)
	w.plainStatus, w.discard = 0, true
	text = strings.TrimSpace(text)
	message, _ := jsonrpc.DecodeMessage(w.message)
	request, isRequest := message.(*jsonrpc.Request)
	switch {
	case strings.HasPrefix(text, "malformed payload"): // the rest names Go types
		text = "the message is not a JSON-RPC request"
	case strings.HasPrefix(text, notHandled) && isRequest && !request.IsCall():
		w.out.Header().Del("Content-Type")
		w.out.WriteHeader(http.StatusAccepted) // notifications have no response
		return
	case strings.HasPrefix(text, notHandled):
		status, code, text = http.StatusOK, jsonrpc.CodeMethodNotFound, "this server has no such method"
	case status >= http.StatusInternalServerError:
		code = jsonrpc.CodeInternalError
	}
	writeError(w.out, status, w.requestID(), code, text)
}

// requestID returns the id of the call; null if there is none.
func (w *gatedWriter) requestID() json.RawMessage {
	message, err := jsonrpc.DecodeMessage(w.message)
	if request, ok := message.(*jsonrpc.Request); err == nil && ok && request.IsCall() {
		if raw, err := json.Marshal(request.ID.Raw()); err == nil {
			return raw
		}
	}
	return nil
}

// writeError writes a JSON-RPC error. id is nil if no request could be parsed.
func writeError(w http.ResponseWriter, status int, id json.RawMessage, code int64, text string) {
	writeRPCError(w, status, id, &jsonrpc.Error{Code: code, Message: text})
}

func writeRPCError(w http.ResponseWriter, status int, id json.RawMessage, err *jsonrpc.Error) {
	w.Header()["Cache-Control"] = noStore
	httpjson.WriteJSON(w, status, newErrorBody(id, err))
}

// errorBody is a JSON-RPC error response.
type errorBody struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"` // nil is written as null
	Error   *jsonrpc.Error  `json:"error"`
}

func newErrorBody(id json.RawMessage, err *jsonrpc.Error) errorBody {
	return errorBody{Version: "2.0", ID: id, Error: err}
}
