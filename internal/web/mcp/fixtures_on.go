//go:build mcpfixtures

package mcp

import (
	"context"
	"encoding/json"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// registerFixtures adds the tools that the protocol's conformance suite asks
// for. They are in no binary that is meant for use.
func registerFixtures(server *sdk.Server) {
	server.AddTool(&sdk.Tool{
		Name:        "echo",
		Description: "Returns its arguments.",
		InputSchema: json.RawMessage(`{"type":"object"}`),
	}, func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: string(req.Params.Arguments)}}}, nil
	})
}

// servedForFixtures opens the rest of the protocol for the suite.
func servedForFixtures(string) bool { return true }
