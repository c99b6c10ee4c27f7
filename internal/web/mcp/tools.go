package mcp

import (
	"context"
	"encoding/json"
	"fmt"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/ratelimit"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
)

// tool is one entry of tools.json with its implementation.
type tool struct {
	server   *Server
	position int // in tools.json
	name     string
	signedIn bool
	// budget is spent before the arguments are parsed; signed-in tools have none and
	// spend the token's.
	budget Budget
	run    func(ctx context.Context, state *requestState, args arguments) (any, error)
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
func (s *Server) addTools(server *sdk.Server) error {
	code := map[string]tool{
		"domain_check":     {budget: s.cfg.Budget, run: s.domainCheck},
		"domain_search":    {budget: s.cfg.Budget, run: s.domainSearch},
		"whois_lookup":     {budget: s.cfg.WhoisBudget, run: s.whoisLookup},
		"list_tlds":        {budget: s.cfg.Budget, run: s.listTLDs},
		"tld_price":        {budget: s.cfg.Budget, run: s.tldPrice},
		"list_my_domains":  {run: s.listMyDomains},
		"start_order":      {run: s.startOrder},
		"get_order_status": {run: s.getOrderStatus},
		"list_orders":      {run: s.listOrders},
		"cancel_order":     {run: s.cancelOrder},
	}
	listing, err := readListing(s.cfg.Limits)
	if err != nil {
		return err
	}
	if len(listing) != len(code) {
		return fmt.Errorf("mcp: tools.json lists %d tools, %d are implemented", len(listing), len(code))
	}
	for place, entry := range listing {
		t, ok := code[entry.Name]
		if !ok {
			return fmt.Errorf("mcp: listed tool %s is not implemented", entry.Name)
		}
		t.server, t.position, t.name, t.signedIn = s, place, entry.Name, entry.SignedIn
		if t.signedIn != (t.budget == nil) {
			return fmt.Errorf("mcp: tool %s has the wrong budget", t.name)
		}
		described, err := entry.tool()
		if err != nil {
			return err
		}
		s.tools[entry.Name] = &t
		server.AddTool(described, t.call)
	}
	return nil
}

// call is shared by all tools: authorization once more, the budget, the arguments, the
// result.
func (t *tool) call(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	state := stateOf(ctx)
	body, err := t.answer(ctx, state, req.Params.Arguments)
	if err != nil {
		return t.server.fail(state, err)
	}
	return encode(body, false)
}

func (t *tool) answer(ctx context.Context, state *requestState, raw json.RawMessage) (any, error) {
	if t.signedIn {
		if status := state.signedInStatus(); status != 0 {
			state.refuse(status)
			return nil, &registrar.Error{Kind: registrar.KindInternal, Code: "gate"}
		}
	}
	if decision, code := t.spend(state); !decision.Allowed {
		return nil, &registrar.Error{Kind: registrar.KindRateLimited, Code: code, RetryAfter: decision.RetryAfter}
	}
	args, err := readArguments(raw)
	if err != nil {
		return nil, err
	}
	return t.run(ctx, state, args)
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

// encode encodes body once; it is sent as structured content and as text, because some
// clients support only one of them.
func encode(body any, failed bool) (*sdk.CallToolResult, error) {
	var text []byte
	if known, ok := body.(httpjson.Appender); ok {
		if text, ok = known.AppendJSON(make([]byte, 0, 256)); !ok {
			text = nil
		}
	}
	if text == nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return nil, err
		}
	}
	return &sdk.CallToolResult{
		Content:           []sdk.Content{&sdk.TextContent{Text: string(text)}},
		StructuredContent: json.RawMessage(text),
		IsError:           failed,
	}, nil
}
