package mcp

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/dotkontor/dotkontor/internal/web/httpjson"
)

// Error codes of JSON-RPC and of MCP.
const (
	codeParseError         = -32700
	codeInvalidRequest     = -32600
	codeMethodNotFound     = -32601
	codeInvalidParams      = -32602
	codeInternal           = -32603
	codeHeaderMismatch     = -32020
	codeMissingCapability  = -32021
	codeUnsupportedVersion = -32022
	// codeNoAccess is the code of 401 and 403, from the server-defined range.
	codeNoAccess = -32001
)

// Revisions of the protocol in which something changed for the server.
const (
	// stateless is the first revision without initialize: each call states its revision
	// and its client's capabilities, in headers and body.
	stateless = "2026-07-28"
	// latestWithInitialize is what initialize offers to a client of an unknown revision.
	latestWithInitialize = "2025-11-25"
)

// versions are the supported protocol revisions, newest first. The oldest one had
// batches, which this server refuses in every revision.
var versions = []string{stateless, latestWithInitialize, "2025-06-18", "2025-03-26"}

// metaPrefix is the namespace of the protocol in _meta.
const metaPrefix = "io.modelcontextprotocol/"

// The methods of the product.
const (
	initializeMethod = "initialize"
	pingMethod       = "ping"
	listMethod       = "tools/list"
	callMethod       = "tools/call"
	discoverMethod   = "server/discover"
)

// RPCError is the error of a JSON-RPC response.
type RPCError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`

	// status is the HTTP status in every revision; 0 means that the revision decides.
	status int
}

func (e *RPCError) Error() string { return e.Message }

var (
	errUnknownMethod = &RPCError{Code: codeMethodNotFound, Message: "this server has no such method"}
	errBadParams     = &RPCError{Code: codeInvalidParams, Message: "the parameters can't be read; see the tool's input schema"}
)

// exchange is one HTTP request with its message.
type exchange struct {
	server *Server
	w      http.ResponseWriter
	r      *http.Request
	state  *requestState
	message
	// stateless means that the message follows revision 2026-07-28 or a later one.
	stateless bool
	stream    stream
}

// checkVersion rejects revisions before 2026-07-28 that are not supported. A later one
// gets an error with the supported ones, which needs the message's id.
func checkVersion(header http.Header) *RPCError {
	version := header.Get("Mcp-Protocol-Version")
	if version == "" || version >= stateless || slices.Contains(versions, version) {
		return nil
	}
	return &RPCError{
		Code: codeInvalidRequest, Message: "Unsupported protocol version (supported versions: " + strings.Join(versions, ",") + ")",
		status: http.StatusBadRequest,
	}
}

// dispatch answers a message. What must be refused is refused before a tool runs.
func (x *exchange) dispatch() {
	if x.method == "" { // a response; this server has no requests of its own
		x.accept()
		return
	}
	if err := x.check(); err != nil {
		x.fail(err)
		return
	}
	if x.id == nil {
		x.accept()
		return
	}
	switch x.method {
	case callMethod:
		x.callTool()
	case initializeMethod:
		x.initialize()
	case pingMethod:
		x.reply(nil)
	case discoverMethod:
		x.reply(x.server.discovery)
	case listMethod:
		if cursor, isText := stringOf(x.cursor); x.cursor != nil && (!isText || cursor != "") {
			x.fail(&RPCError{Code: codeInvalidParams, Message: "the list has one page; leave cursor out"})
			return
		}
		x.reply(x.server.listing)
	default:
		x.extend()
	}
}

// check validates a request: its method, its parameters and, since 2026-07-28, that its
// headers and _meta agree with it.
func (x *exchange) check() *RPCError {
	served := x.server.serves(x.method)
	switch {
	case x.id == nil && served:
		return &RPCError{Code: codeInvalidRequest, Message: "the id is missing", status: http.StatusBadRequest}
	case x.id != nil && strings.HasPrefix(x.method, "notifications/"):
		return &RPCError{Code: codeInvalidRequest, Message: "a notification has no id", status: http.StatusBadRequest}
	case x.id != nil && !served:
		return errUnknownMethod
	case x.params == nil && (x.method == callMethod || x.method == initializeMethod):
		return &RPCError{Code: codeInvalidRequest, Message: "the parameters are missing", status: http.StatusBadRequest}
	}
	if err := x.checkHeaders(); err != nil {
		return err
	}
	if x.id == nil {
		return nil
	}
	if x.params != nil && !isObject(x.params) && (string(x.params) != "null" || x.method == callMethod || x.method == initializeMethod) {
		return errBadParams
	}
	if x.meta != nil && !isObject(x.meta) {
		return errBadParams
	}
	if !x.stateless {
		if x.method == discoverMethod {
			return errUnknownMethod
		}
		return nil
	}
	return x.checkStateless()
}

// checkHeaders compares the headers with the body, since proxies route by the headers.
func (x *exchange) checkHeaders() *RPCError {
	header := x.r.Header.Get("Mcp-Protocol-Version")
	inBody, _ := stringOf(x.metaVersion)
	switch {
	case inBody == "" && x.stateless && x.id != nil:
		return &RPCError{Code: codeInvalidParams, Message: "_meta has no " + metaPrefix + "protocolVersion"}
	case inBody != "" && inBody != header:
		return newHeaderMismatch("Mcp-Protocol-Version")
	case !x.stateless:
		return nil
	}
	if x.r.Header.Get("Mcp-Method") != x.method {
		return newHeaderMismatch("Mcp-Method")
	}
	if x.id != nil && x.method == callMethod {
		sent := x.r.Header.Get("Mcp-Name")
		if name, isText := stringOf(x.name); sent == "" || isText && sent != name {
			return newHeaderMismatch("Mcp-Name")
		}
	}
	return nil
}

func newHeaderMismatch(header string) *RPCError {
	return &RPCError{
		Code: codeHeaderMismatch, Message: "header mismatch: " + header + " is missing or does not say what the body says",
		status: http.StatusBadRequest,
	}
}

// checkStateless validates what each call carries since 2026-07-28.
func (x *exchange) checkStateless() *RPCError {
	version, _ := stringOf(x.metaVersion)
	switch {
	case x.metaClientInfo != nil && !isObject(x.metaClientInfo):
		return &RPCError{Code: codeInvalidParams, Message: "_meta has an invalid " + metaPrefix + "clientInfo"}
	case !isObject(x.metaCapabilities):
		return &RPCError{Code: codeInvalidParams, Message: "_meta has no valid " + metaPrefix + "clientCapabilities"}
	case !slices.Contains(versions, version):
		data, _ := json.Marshal(struct { // strings can be encoded
			Supported []string `json:"supported"`
			Requested string   `json:"requested"`
		}{versions, version})
		return &RPCError{Code: codeUnsupportedVersion, Message: "unsupported protocol version", Data: data}
	case x.method == initializeMethod || x.method == pingMethod:
		return errUnknownMethod
	}
	return nil
}

// serves reports whether a request may call method.
func (s *Server) serves(method string) bool {
	switch method {
	case callMethod, initializeMethod, pingMethod, listMethod, discoverMethod:
		return true
	default:
		return s.cfg.Extension.Methods[method] != nil
	}
}

// initialize negotiates the revision: the client's if it is supported, else the newest
// that has this method.
func (x *exchange) initialize() {
	asked, isText := stringOf(x.protocolVersion)
	for _, object := range [][]byte{x.capabilities, x.clientInfo} {
		if object != nil && !isObject(object) {
			x.fail(errBadParams)
			return
		}
	}
	if x.protocolVersion != nil && !isText {
		x.fail(errBadParams)
		return
	}
	if asked >= stateless || !slices.Contains(versions, asked) {
		asked = latestWithInitialize
	}
	x.reply(fmt.Appendf(nil, `"protocolVersion":%q,%s`, asked, x.server.introduction))
}

// accept answers a message that has no response.
func (x *exchange) accept() {
	x.w.Header()["Cache-Control"] = noStore
	x.w.WriteHeader(http.StatusAccepted)
}

// Result types since 2026-07-28.
const (
	complete      = "complete"
	inputRequired = "input_required"
)

// reply sends a result; fields are the members of its object.
func (x *exchange) reply(fields []byte) { x.replyAs(complete, fields) }

func (x *exchange) replyAs(resultType string, fields []byte) {
	b := x.appendResult(make([]byte, 0, len(fields)+512), resultType)
	if x.stateless && len(fields) > 0 {
		b = append(b, ',')
	}
	b = append(b, fields...)
	x.send(append(b, "}}"...))
}

// appendResult appends the beginning of a response with a result.
func (x *exchange) appendResult(b []byte, resultType string) []byte {
	b = append(b, `{"jsonrpc":"2.0","id":`...)
	b = append(b, x.id...)
	b = append(b, `,"result":{`...)
	if x.stateless {
		b = append(b, `"resultType":"`...)
		b = append(b, resultType...)
		b = append(b, `",`...)
		b = append(b, x.server.serverMeta...)
	}
	return b
}

// send writes a response, as an event if the stream has begun.
func (x *exchange) send(response []byte) {
	if x.stream.begun {
		_ = x.stream.write(response) // fails if the client is gone
		return
	}
	x.w.Header()["Cache-Control"] = noStore
	httpjson.WriteBytes(x.w, http.StatusOK, typeJSON, response)
}

// fail sends an error. Since 2026-07-28 its code determines the HTTP status.
func (x *exchange) fail(err *RPCError) {
	status := err.status
	if status == 0 {
		status = http.StatusOK
		if x.stateless {
			switch err.Code {
			case codeMethodNotFound:
				status = http.StatusNotFound
			case codeInvalidParams, codeUnsupportedVersion, codeMissingCapability:
				status = http.StatusBadRequest
			}
		}
	}
	if x.stream.begun {
		_ = x.stream.write(encodeError(x.id, err))
		return
	}
	writeError(x.w, status, x.id, err)
}

// writeError writes a JSON-RPC error. id is nil if no request could be parsed.
func writeError(w http.ResponseWriter, status int, id []byte, err *RPCError) {
	w.Header()["Cache-Control"] = noStore
	httpjson.WriteBytes(w, status, typeJSON, encodeError(id, err))
}

func encodeError(id []byte, err *RPCError) []byte {
	if id == nil {
		id = []byte("null")
	}
	detail, encodeErr := json.Marshal(err)
	if encodeErr != nil { // does not happen: Data is valid JSON
		detail = []byte(`{"code":-32603,"message":"internal error"}`)
	}
	return slices.Concat([]byte(`{"jsonrpc":"2.0","id":`), id, []byte(`,"error":`), detail, []byte("}"))
}

var (
	typeJSON = []string{"application/json"}
	noStore  = []string{"no-store"}
)
