package testkit

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// MCP calls tools of the product over HTTP.
type MCP struct {
	Base  string // base URL of the product
	Token string // bearer token; empty for anonymous calls
	// Client is http.DefaultClient if nil.
	Client *http.Client
}

// Call decodes a tool's structured content into result, whether or not the tool reports
// an error. err is for a failed request or a response that is not a tool result.
func (m MCP) Call(ctx context.Context, tool string, arguments, result any) (isError bool, err error) {
	message, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": tool, "arguments": arguments},
	})
	if err != nil {
		return false, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, m.Base+"/api/mcp", bytes.NewReader(message))
	if err != nil {
		return false, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	if m.Token != "" {
		request.Header.Set("Authorization", "Bearer "+m.Token)
	}
	client := m.Client
	if client == nil {
		client = http.DefaultClient
	}
	response, err := client.Do(request)
	if err != nil {
		return false, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil {
		return false, err
	}
	var body struct {
		Result *struct {
			IsError           bool            `json:"isError"`
			StructuredContent json.RawMessage `json:"structuredContent"`
		} `json:"result"`
	}
	if err := json.Unmarshal(text, &body); err != nil || response.StatusCode != http.StatusOK || body.Result == nil {
		return false, fmt.Errorf("testkit: call %s: status %d: %s", tool, response.StatusCode, text)
	}
	return body.Result.IsError, json.Unmarshal(body.Result.StructuredContent, result)
}
