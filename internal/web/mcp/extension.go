package mcp

import (
	"context"
	"encoding/json"
	"errors"
)

// Extension adds to what a server offers. The product has none; test/mcpclients/fixtures
// has one for the conformance suite.
type Extension struct {
	// Tools are added to tools/list.
	Tools []json.RawMessage
	// Capabilities are declared in addition to tools, as JSON.
	Capabilities map[string]json.RawMessage
	// Methods serve calls that the product does not: other methods, and tools/call for
	// tools that are not the product's. The result is a JSON object.
	Methods map[string]func(ctx context.Context, call ExtensionCall) (result any, err error)
}

// ExtensionCall is a call of an extension's method.
type ExtensionCall struct {
	Params json.RawMessage
	// Stateless means that the call follows revision 2026-07-28 or a later one.
	Stateless bool
	// Notify sends a notification to the caller before the result, if the caller reads
	// event streams.
	Notify func(method string, params any) error
}

// InputRequired is a result that requests input from the caller before the actual one.
type InputRequired struct {
	Requests any    `json:"inputRequests"`
	State    string `json:"requestState,omitempty"`
}

var errNoStream = errors.New("mcp: the caller does not accept an event stream")

// extend answers with the extension's method.
func (x *exchange) extend() {
	call := ExtensionCall{Params: json.RawMessage(x.params), Stateless: x.stateless, Notify: func(method string, params any) error {
		if !x.acceptsStream() {
			return errNoStream
		}
		return x.stream.notify(method, params)
	}}
	result, err := x.server.cfg.Extension.Methods[x.method](x.r.Context(), call)
	_, isInput := result.(InputRequired)
	var text []byte
	if err == nil {
		text, err = json.Marshal(result)
	}
	var rpc *RPCError
	switch {
	case errors.As(err, &rpc):
		x.fail(rpc)
	case err != nil:
		x.fail(&RPCError{Code: codeInternal, Message: err.Error()})
	case !isObject(text):
		x.fail(&RPCError{Code: codeInternal, Message: "the result is not an object"})
	case isInput && !x.stateless:
		x.fail(&RPCError{Code: codeInternal, Message: "input can be requested only since revision " + stateless})
	case isInput:
		x.replyAs(inputRequired, text[1:len(text)-1])
	default:
		x.reply(text[1 : len(text)-1])
	}
}
