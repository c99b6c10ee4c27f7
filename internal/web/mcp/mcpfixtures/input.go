//nolint:staticcheck // the suite still uses sampling, roots and logging, which are deprecated
package mcpfixtures

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// round is one set of input requests to the caller. A call that carries the round's
// state and a response to each request proceeds to the next round.
type round struct {
	state string
	asks  sdk.InputRequestMap
}

// form requests one field from the user.
func form(field, kind string) *sdk.ElicitParams {
	return &sdk.ElicitParams{Message: "Please fill in: " + field, RequestedSchema: map[string]any{
		"type":       "object",
		"properties": map[string]any{field: map[string]any{"type": kind}},
		"required":   []string{field},
	}}
}

// completion requests a message from the caller's model.
func completion(question string) *sdk.CreateMessageParams {
	return &sdk.CreateMessageParams{MaxTokens: 50, Messages: []*sdk.SamplingMessage{{Role: "user", Content: text(question)}}}
}

// addAsking adds the tools and the prompt that require input before their result.
func addAsking(server *sdk.Server) {
	one := func(state, key string, ask sdk.InputRequest) []round {
		return []round{{state: state, asks: sdk.InputRequestMap{key: ask}}}
	}
	for name, rounds := range map[string][]round{
		"elicitation":    one("", "user_name", form("name", "string")),
		"sampling":       one("", "capital", completion("Which city is the capital?")),
		"list_roots":     one("", "client_roots", &sdk.ListRootsParams{}),
		"request_state":  one("asked", "confirm", form("ok", "boolean")),
		"tampered_state": one("asked", "confirm", form("ok", "boolean")),
		"multiple_inputs": {{state: "asked", asks: sdk.InputRequestMap{
			"user_name": form("name", "string"), "greeting": completion("Greet them."), "client_roots": &sdk.ListRootsParams{},
		}}},
		"multi_round": {
			{state: "first", asks: sdk.InputRequestMap{"step1": form("name", "string")}},
			{state: "second", asks: sdk.InputRequestMap{"step2": form("color", "string")}},
		},
	} {
		addFixture(server, "test_input_required_result_"+name, func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			next, err := nextRound(rounds, r.Params.RequestState, r.Params.InputResponses)
			if err != nil || next == nil {
				return said("state-ok"), err
			}
			return &sdk.CallToolResult{InputRequests: next.asks, RequestState: next.state}, nil
		})
	}
	addFixture(server, "test_input_required_result_capabilities", askWhatTheClientCan)
	addFixture(server, "test_missing_capability", refuseWithoutSampling)
	addCallingBack(server)

	contextRounds := one("", "user_context", form("context", "string"))
	server.AddPrompt(&sdk.Prompt{Name: "test_input_required_result_prompt", Description: "Asks for context."}, func(ctx context.Context, r *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		next, err := nextRound(contextRounds, r.Params.RequestState, r.Params.InputResponses)
		if err != nil {
			return nil, err
		}
		if next == nil {
			return prompt("", text("Thank you for the context."))(ctx, r)
		}
		return &sdk.GetPromptResult{InputRequests: next.asks, RequestState: next.state}, nil
	})
}

// addCallingBack adds tools that send requests through the session, as revisions
// before 2026-07-28 do. A stateless server can't, so each call fails; the baseline
// lists them.
func addCallingBack(server *sdk.Server) {
	addFixture(server, "test_elicitation", func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		if _, err := r.Session.Elicit(ctx, form("username", "string")); err != nil {
			return nil, err
		}
		return said("asked"), nil
	})
	addFixture(server, "test_sampling", func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		if _, err := r.Session.CreateMessage(ctx, completion("Greet them.")); err != nil {
			return nil, err
		}
		return said("asked"), nil
	})
}

// nextRound returns the next round of requests, or nil if all are answered. A state
// that this server has not issued is an error.
func nextRound(rounds []round, state string, answers sdk.InputResponseMap) (*round, error) {
	for i := range rounds {
		if rounds[i].state != state {
			continue
		}
		if !answered(rounds[i].asks, answers) {
			return &rounds[i], nil
		}
		if i+1 == len(rounds) {
			return nil, nil
		}
		return &rounds[i+1], nil
	}
	if state == "" {
		return &rounds[0], nil
	}
	return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "requestState was not issued by this server"}
}

// answered reports whether each request has a response of its type.
func answered(asks sdk.InputRequestMap, answers sdk.InputResponseMap) bool {
	for key, ask := range asks {
		var ok bool
		switch answer := answers[key].(type) {
		case *sdk.ElicitResult:
			params, isForm := ask.(*sdk.ElicitParams)
			ok = isForm && answer.Action == "accept" && fills(params, answer.Content)
		case *sdk.CreateMessageWithToolsResult:
			_, ok = ask.(*sdk.CreateMessageParams)
		case *sdk.ListRootsResult:
			_, ok = ask.(*sdk.ListRootsParams)
		}
		if !ok {
			return false
		}
	}
	return true
}

// fills reports whether the form's one field has a value of its type.
func fills(asked *sdk.ElicitParams, content map[string]any) bool {
	schema, _ := asked.RequestedSchema.(map[string]any)
	fields, _ := schema["properties"].(map[string]any)
	for field := range fields {
		switch content[field].(type) {
		case string, bool:
		default:
			return false
		}
	}
	return true
}

// askWhatTheClientCan uses only the capabilities that the client has declared.
func askWhatTheClientCan(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	asks := sdk.InputRequestMap{}
	if can := r.ClientCapabilities(); can != nil {
		if can.Elicitation != nil {
			asks["user_name"] = form("name", "string")
		}
		if can.Sampling != nil {
			asks["greeting"] = completion("Greet them.")
		}
	}
	if len(asks) == 0 || len(r.Params.InputResponses) > 0 {
		return said("nothing to ask"), nil
	}
	return &sdk.CallToolResult{InputRequests: asks}, nil
}

// refuseWithoutSampling works only for a client that can sample.
func refuseWithoutSampling(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	if can := r.ClientCapabilities(); can != nil && can.Sampling != nil {
		return said("the client can sample"), nil
	}
	data, err := json.Marshal(sdk.MissingRequiredClientCapabilityData{
		RequiredCapabilities: &sdk.ClientCapabilities{Sampling: &sdk.SamplingCapabilities{}},
	})
	if err != nil {
		return nil, err
	}
	return nil, &jsonrpc.Error{
		Code: sdk.CodeMissingRequiredClientCapabilities, Message: "this tool requires the sampling capability", Data: data,
	}
}
