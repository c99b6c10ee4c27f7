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

// tool is one of those in tools.json.
type tool struct {
	server   *Server
	position int // in tools.json
	name     string
	signedIn bool
	// One of the budgets is spent before the arguments are looked at: that of
	// the token by signed-in tools, the other one by lookups.
	budget      Budget
	tokenBudget TokenBudget
	run         func(ctx context.Context, state *requestState, args arguments) (any, error)
}

// ToolNames are the tools of the listing.
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

// addTools gives the library every tool of the listing, and its code.
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
		return fmt.Errorf("%d tools are listed, %d exist", len(listing), len(code))
	}
	for place, entry := range listing {
		t, ok := code[entry.Name]
		if !ok {
			return fmt.Errorf("the listed tool %s does not exist", entry.Name)
		}
		t.server, t.position, t.name, t.signedIn, t.tokenBudget = s, place, entry.Name, entry.SignedIn, s.cfg.TokenBudget
		if t.signedIn != (t.budget == nil) {
			return fmt.Errorf("the tool %s counts by what it should not", t.name)
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

// call does what all tools have in common: the gate once more, the budget, the
// arguments, the answer.
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

// The budgets, as the reason of a refusal names them.
const (
	codeOverBudget      registrar.Code = "over_budget"
	codeOverTokenBudget registrar.Code = "over_token_budget"
)

// spend counts one call: a signed-in tool's by its token, a lookup by its
// address, or by its token where the network is a shared one.
func (t *tool) spend(state *requestState) (decision ratelimit.Decision, code registrar.Code) {
	switch {
	case t.signedIn:
		return t.tokenBudget.Allow(ratelimit.TextKey(state.caller.TokenID)), codeOverTokenBudget
	case state.caller != nil:
		decision, _ = t.budget.SpendToken(state.address, state.caller.TokenID)
	default:
		decision, _ = t.budget.Spend(state.address)
	}
	return decision, codeOverBudget
}

// encode writes body once; it goes out as structured content and as text, for
// clients that know only the one or the other.
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
