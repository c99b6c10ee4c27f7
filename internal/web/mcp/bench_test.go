package mcp

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// BenchmarkDomainCheck compares the endpoint with the SDK alone, whose one tool returns
// the same bytes.
func BenchmarkDomainCheck(b *testing.B) {
	s, _ := newServer(b, nil)
	const body = `{"domain":"a.de","tld":".de","available":true,"registerEur":6.90,"renewEur":9.90,"transferEur":0.00}`
	bare := sdk.NewServer(&sdk.Implementation{Name: "bare", Version: "1"}, nil)
	bare.AddTool(&sdk.Tool{Name: "domain_check", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: body}}, StructuredContent: json.RawMessage(body)}, nil
		})
	library := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return bare },
		&sdk.StreamableHTTPOptions{Stateless: true, JSONResponse: true})
	for name, handler := range map[string]http.HandlerFunc{"ours": s.Serve, "library": library.ServeHTTP} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			message := call("domain_check", `{"domain":"a.de"}`)
			for b.Loop() {
				r := httptest.NewRequest(http.MethodPost, base+Path, strings.NewReader(message))
				r.Header.Set("Content-Type", "application/json")
				r.Header.Set("Accept", "application/json, text/event-stream")
				got := httptest.NewRecorder()
				handler(got, r)
				if got.Code != http.StatusOK {
					b.Fatalf("got %d %s", got.Code, got.Body)
				}
			}
		})
	}
}
