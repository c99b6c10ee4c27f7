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

// gatedWriter is what the library writes to. It decides about the status at the
// first write, when the library has parsed and the guard has spoken. It has
// neither Flush nor Unwrap, because through them a 200 could slip out early.
type gatedWriter struct {
	out         http.ResponseWriter
	server      *Server
	state       *requestState
	message     []byte // as received
	wroteHeader bool
	// plainStatus is the status of an answer in plain text that waits to be replaced,
	// and swallow says that what follows is not for the client.
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
		w.server.challenge(header, refused)
		header["Content-Type"] = typeJSON
		w.discard = plain // without words of its own the status must do
		w.out.WriteHeader(refused)
	case plain:
		w.plainStatus = status // the text says more
	case strings.HasPrefix(kind, "text/event-stream") && !w.server.isServed(listenMethod):
		// The library opens a stream for this one method before it asks us.
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
		body, err := json.Marshal(newErrorBody(w.requestID(), jsonrpc.CodeInvalidParams, "the parameters can't be read; see the tool's input schema"))
		if err == nil {
			_, err = w.out.Write(body)
		}
		return len(b), err
	}
	return w.out.Write(b)
}

// isParamsError finds the library's error about parameters that do not fit its
// types. It quotes the whole message, searched names and all, several times over.
func isParamsError(b []byte) bool {
	const head = 256 // the error stands at the beginning
	return bytes.Contains(b[:min(len(b), head)], []byte(`"message":"handling '`))
}

// finish answers where the library said nothing at all.
func (w *gatedWriter) finish() {
	if w.plainStatus != 0 {
		w.replace(http.StatusText(w.plainStatus))
	}
}

const listenMethod = "subscriptions/listen"

// The library's words for a method that it does not know.
const notHandled = "JSON RPC not handled"

// replace answers with a JSON-RPC error in place of the library's plain text.
func (w *gatedWriter) replace(text string) {
	status, code := w.plainStatus, int64(jsonrpc.CodeInvalidRequest)
	w.plainStatus, w.discard = 0, true
	text = strings.TrimSpace(text)
	message, _ := jsonrpc.DecodeMessage(w.message)
	request, isRequest := message.(*jsonrpc.Request)
	switch {
	case strings.HasPrefix(text, "malformed payload"): // the rest are names of Go types
		text = "the message is not a JSON-RPC request"
	case strings.HasPrefix(text, notHandled) && isRequest && !request.IsCall():
		w.out.Header().Del("Content-Type")
		w.out.WriteHeader(http.StatusAccepted) // nobody waits for an answer to a notification
		return
	case strings.HasPrefix(text, notHandled):
		status, code, text = http.StatusOK, jsonrpc.CodeMethodNotFound, "this server has no such method"
	case status >= http.StatusInternalServerError:
		code = jsonrpc.CodeInternalError
	}
	writeError(w.out, status, w.requestID(), code, text)
}

// requestID is the id of the call that is answered, null where there is none.
func (w *gatedWriter) requestID() json.RawMessage {
	message, err := jsonrpc.DecodeMessage(w.message)
	if request, ok := message.(*jsonrpc.Request); err == nil && ok && request.IsCall() {
		if raw, err := json.Marshal(request.ID.Raw()); err == nil {
			return raw
		}
	}
	return json.RawMessage("null")
}

// writeError answers with a JSON-RPC error. id is null where no request could be
// made out.
func writeError(w http.ResponseWriter, status int, id json.RawMessage, code int64, text string) {
	writeErrorBody(w, status, newErrorBody(id, code, text))
}

func writeErrorBody(w http.ResponseWriter, status int, body rpcError) {
	w.Header()["Cache-Control"] = noStore
	httpjson.WriteJSON(w, status, body)
}

// rpcError is a JSON-RPC error response.
type rpcError struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Error   rpcErrorDetail  `json:"error"`
}

type rpcErrorDetail struct {
	Code    int64  `json:"code"`
	Message string `json:"message"`

	Data json.RawMessage `json:"data,omitempty"`
}

func newErrorBody(id json.RawMessage, code int64, text string) rpcError {
	if id == nil {
		id = json.RawMessage("null")
	}
	return rpcError{Version: "2.0", ID: id, Error: rpcErrorDetail{Code: code, Message: text}}
}
