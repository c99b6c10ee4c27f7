package mcp

import (
	"context"
	"fmt"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/ratelimit"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
)

// tool is one entry of tools.json with its implementation.
type tool struct {
	server   *Server
	name     string
	signedIn bool
	// budget is spent before the arguments are parsed; signed-in tools have none and
	// spend the token's.
	budget Budget
	answer func(ctx context.Context, state *requestState, args arguments) (any, error)
}

// ToolNames lists the names in tools.json.
func ToolNames() ([]string, error) {
	listing, err := readListing(Limits{})
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(listing))
	for _, entry := range listing {
		names = append(names, entry.Name)
	}
	return names, nil
}

// addTools registers every listed tool with its implementation.
func (s *Server) addTools() error {
	code := map[string]tool{
		"domain_check":     {budget: s.cfg.Budget, answer: s.domainCheck},
		"domain_search":    {budget: s.cfg.Budget, answer: s.domainSearch},
		"whois_lookup":     {budget: s.cfg.WhoisBudget, answer: s.whoisLookup},
		"list_tlds":        {budget: s.cfg.Budget, answer: s.listTLDs},
		"tld_price":        {budget: s.cfg.Budget, answer: s.tldPrice},
		"list_my_domains":  {answer: s.listMyDomains},
		"start_order":      {answer: s.startOrder},
		"get_order_status": {answer: s.getOrderStatus},
		"list_orders":      {answer: s.listOrders},
		"cancel_order":     {answer: s.cancelOrder},
		"set_auto_renew":   {answer: s.setAutoRenew},
		"list_holders":     {answer: s.listHolders},
	}
	listing, err := readListing(s.cfg.Limits)
	if err != nil {
		return err
	}
	if len(listing) != len(code) {
		return fmt.Errorf("mcp: tools.json lists %d tools, %d are implemented", len(listing), len(code))
	}
	for _, entry := range listing {
		t, ok := code[entry.Name]
		if !ok {
			return fmt.Errorf("mcp: listed tool %s is not implemented", entry.Name)
		}
		t.server, t.name, t.signedIn = s, entry.Name, entry.SignedIn
		if t.signedIn != (t.budget == nil) {
			return fmt.Errorf("mcp: tool %s has the wrong budget", t.name)
		}
		s.tools[entry.Name] = &t
	}
	return nil
}

// callTool answers tools/call.
func (x *exchange) callTool() {
	name, isText := stringOf(x.name)
	if !isText || x.requestState != nil && x.requestState[0] != '"' || x.inputResponses != nil && !isObject(x.inputResponses) {
		x.fail(errBadParams)
		return
	}
	t, ok := x.server.tools[name]
	switch {
	case ok:
	case x.server.cfg.Extension.Methods[callMethod] != nil:
		x.extend()
		return
	default:
		x.fail(&RPCError{Code: codeInvalidParams, Message: "unknown tool " + quoteShort(name)})
		return
	}
	x.state.tool = t.name
	if t.signedIn {
		// A token that could not be verified is not refused: the tool fails, because models
		// read failed calls and clients retry them.
		status := x.state.signedInStatus()
		if refusal, refused := x.server.refusals[status]; refused {
			x.state.refusedStatus = status
			x.w.Header()["Www-Authenticate"] = refusal.challenge
			x.fail(refusal.err)
			return
		}
	}
	if t.signedIn {
		// An order may take longer than the time in which a request has to arrive, after
		// which net/http would cancel it.
		_ = http.NewResponseController(x.w).SetReadDeadline(time.Time{}) // test recorders have none
	}
	body, err := t.run(x)
	if err != nil {
		x.sendToolResult(x.server.failureFor(x.state, err), true)
		return
	}
	x.sendToolResult(body, false)
}

// run authorizes once more, spends the budget, reads the arguments and runs the tool. A
// panic is a failed call; its text may quote the arguments, so only the stack is logged.
func (t *tool) run(x *exchange) (body any, err error) {
	defer func() {
		if problem := recover(); problem != nil {
			t.server.cfg.Logger.ErrorContext(x.r.Context(), registrar.PanicRecovered,
				"where", "tool", "id", x.state.id, "tool", t.name, "stack", string(debug.Stack()))
			body, err = nil, &registrar.Error{Kind: registrar.KindInternal, Code: "panic"}
		}
	}()
	state := x.state
	if t.signedIn {
		switch status := state.signedInStatus(); status {
		case 0:
		case http.StatusServiceUnavailable:
			return nil, &registrar.Error{Kind: registrar.KindInternal, Code: codeTokenUnchecked, Err: state.verifyErr}
		default:
			state.refusedStatus = status
			return nil, &registrar.Error{Kind: registrar.KindInternal, Code: "gate"}
		}
	}
	if decision, code := t.spend(state); !decision.Allowed {
		return nil, &registrar.Error{Kind: registrar.KindRateLimited, Code: code, RetryAfter: decision.RetryAfter}
	}
	args, err := readArguments(x.arguments)
	if err != nil {
		return nil, err
	}
	state.report = x.reporter()
	return t.answer(x.r.Context(), state, args)
}

const codeOverTokenBudget registrar.Code = "over_token_budget"

// spend counts one call: a signed-in tool by its token; a lookup by its address, or by
// its token in shared networks.
func (t *tool) spend(state *requestState) (decision ratelimit.Decision, code registrar.Code) {
	switch {
	case t.signedIn:
		return t.server.cfg.TokenBudget.Allow(ratelimit.TextKey(state.caller.Through)), codeOverTokenBudget
	case state.caller != nil:
		decision, _ = t.budget.SpendToken(state.address, state.caller.Through)
	default:
		decision, _ = t.budget.Spend(state.address)
	}
	return decision, httpjson.OverBudget
}

// sendToolResult encodes body once; it is sent as structured content and as text,
// because some clients support only one of them.
func (x *exchange) sendToolResult(body any, failed bool) {
	text, err := httpjson.Encode(body, 512)
	if err != nil { // does not happen with our own types
		x.state.recordError(&registrar.Error{Kind: registrar.KindInternal, Code: "encode"})
		x.state.failureCode = internalFailure
		x.fail(&RPCError{Code: codeInternal, Message: messageInternal})
		return
	}
	b := x.appendResult(make([]byte, 0, 2*len(text)+len(text)/4+512), complete)
	if x.stateless {
		b = append(b, ',')
	}
	b = append(b, `"content":[{"type":"text","text":`...)
	b = appendQuoted(b, text)
	b = append(b, `}],"structuredContent":`...)
	b = append(b, text...)
	if failed {
		b = append(b, `,"isError":true`...)
	}
	x.send(append(b, "}}"...))
}

// appendQuoted appends JSON text as a JSON string. Such text has no control characters.
func appendQuoted(b, text []byte) []byte {
	b = append(b, '"')
	begin := 0
	for i, c := range text {
		if c == '"' || c == '\\' {
			b = append(append(b, text[begin:i]...), '\\')
			begin = i
		}
	}
	return append(append(b, text[begin:]...), '"')
}
