// Package mcpfixtures holds the tools, prompts and resources that the MCP
// conformance suite calls by name. Only a binary built with the tag mcpfixtures,
// as test/mcpclients builds it, registers them; released binaries do not.
//
//nolint:staticcheck // the suite still uses sampling, roots and logging, which are deprecated
package mcpfixtures

import (
	"bytes"
	"context"
	"encoding/json"
	"image"
	"image/png"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// anyObject is the input schema of tools that ignore their input.
var anyObject = json.RawMessage(`{"type":"object"}`)

const (
	plainText     = "text/plain"
	templateStart = "test://template/"
	templateEnd   = "/data"
)

// Register adds the fixtures to server.
func Register(server *sdk.Server) {
	dot := onePixel()
	picture := &sdk.ImageContent{Data: dot, MIMEType: "image/png"}
	document := &sdk.EmbeddedResource{Resource: &sdk.ResourceContents{
		URI: "test://embedded-resource", MIMEType: plainText, Text: "An embedded document.",
	}}
	for name, content := range map[string][]sdk.Content{
		"test_simple_text":            {text("Plain text.")},
		"test_image_content":          {picture},
		"test_audio_content":          {&sdk.AudioContent{Data: silence(), MIMEType: "audio/wav"}},
		"test_embedded_resource":      {document},
		"test_multiple_content_types": {text("Three kinds of content."), picture, document},
		"test_streaming_elicitation":  {text("One result without a request.")},
	} {
		addFixture(server, name, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return &sdk.CallToolResult{Content: content}, nil
		})
	}
	addFixture(server, "test_error_handling", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{text("This tool fails, as it should.")}}, nil
	})
	addNotifying(server)
	addAsking(server)
	addPrompts(server, picture)
	addResources(server, dot)
	server.AddReceivingMiddleware(declareLittle)
}

// Serves reports whether the suite may call method, in addition to the methods of
// the product. The change stream is excluded: nothing ever changes here.
func Serves(method string) bool { return method != "subscriptions/listen" }

func addFixture(server *sdk.Server, name string, handler sdk.ToolHandler) {
	server.AddTool(&sdk.Tool{Name: name, Description: "For the conformance suite.", InputSchema: anyObject}, handler)
}

func text(s string) *sdk.TextContent { return &sdk.TextContent{Text: s} }

func said(s string) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{text(s)}}
}

// addNotifying adds tools that send notifications before their result. The endpoint
// responds with one JSON body, so notifications can't be delivered and their errors
// are ignored; the baseline lists the checks that fail for this reason.
func addNotifying(server *sdk.Server) {
	addFixture(server, "test_tool_with_progress", func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		for _, percent := range []float64{0, 50, 100} {
			_ = r.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{
				ProgressToken: r.Params.GetProgressToken(), Progress: percent, Total: 100,
			})
		}
		return said("done"), nil
	})
	for _, name := range []string{"test_tool_with_logging", "test_logging_tool"} {
		addFixture(server, name, func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			for _, line := range []string{"started", "in progress", "done"} {
				_ = r.Session.Log(ctx, &sdk.LoggingMessageParams{Level: "info", Data: line})
			}
			return said("done"), nil
		})
	}
}

func addPrompts(server *sdk.Server, picture sdk.Content) {
	server.AddPrompt(&sdk.Prompt{Name: "test_simple_prompt", Description: "Without arguments."},
		prompt("Simple.", text("Say hello.")))
	server.AddPrompt(&sdk.Prompt{Name: "test_prompt_with_image", Description: "With an image."},
		prompt("A picture.", picture, text("What does it show?")))
	server.AddPrompt(&sdk.Prompt{
		Name: "test_prompt_with_arguments", Description: "With two arguments.",
		Arguments: []*sdk.PromptArgument{{Name: "arg1", Required: true}, {Name: "arg2", Required: true}},
	}, func(ctx context.Context, r *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		given := r.Params.Arguments
		return prompt("", text("arg1="+given["arg1"]+" arg2="+given["arg2"]))(ctx, r)
	})
	server.AddPrompt(&sdk.Prompt{
		Name: "test_prompt_with_embedded_resource", Description: "With a document.",
		Arguments: []*sdk.PromptArgument{{Name: "resourceUri", Required: true}},
	}, func(ctx context.Context, r *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		return prompt("", &sdk.EmbeddedResource{Resource: &sdk.ResourceContents{
			URI: r.Params.Arguments["resourceUri"], MIMEType: plainText, Text: "The document.",
		}}, text("Read it."))(ctx, r)
	})
}

func prompt(description string, content ...sdk.Content) sdk.PromptHandler {
	return func(context.Context, *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		result := &sdk.GetPromptResult{Description: description}
		for _, c := range content {
			result.Messages = append(result.Messages, &sdk.PromptMessage{Role: "user", Content: c})
		}
		return result, nil
	}
}

func addResources(server *sdk.Server, dot []byte) {
	for _, c := range []sdk.ResourceContents{
		{URI: "test://static-text", MIMEType: plainText, Text: "A text that does not change."},
		{URI: "test://static-binary", MIMEType: "image/png", Blob: dot},
		{URI: "test://watched-resource", MIMEType: plainText, Text: "Changes are not announced."},
	} {
		server.AddResource(&sdk.Resource{Name: c.URI, URI: c.URI, MIMEType: c.MIMEType, Description: "For the conformance suite."},
			func(context.Context, *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
				return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{&c}}, nil
			})
	}
	server.AddResourceTemplate(&sdk.ResourceTemplate{
		Name: "template", URITemplate: templateStart + "{id}" + templateEnd, MIMEType: "application/json",
	}, func(_ context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		id := strings.TrimSuffix(strings.TrimPrefix(r.Params.URI, templateStart), templateEnd)
		body, err := json.Marshal(map[string]any{"id": id, "templateTest": true, "data": "about " + id})
		if err != nil {
			return nil, err
		}
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{
			{URI: r.Params.URI, MIMEType: "application/json", Text: string(body)},
		}}, nil
	})
}

// declareLittle keeps the SDK from declaring listChanged for prompts and resources.
// It answers completion/complete, which the product does not handle, with an empty
// list.
func declareLittle(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
		if method == "completion/complete" {
			return &sdk.CompleteResult{Completion: sdk.CompletionResultDetails{Values: []string{}}}, nil
		}
		result, err := next(ctx, method, r)
		var declared *sdk.ServerCapabilities
		switch result := result.(type) {
		case *sdk.InitializeResult:
			declared = result.Capabilities
		case *sdk.DiscoverResult:
			declared = result.Capabilities
		}
		if err == nil && declared != nil {
			declared.Prompts = &sdk.PromptCapabilities{}
			declared.Resources = &sdk.ResourceCapabilities{}
		}
		return result, err
	}
}

// onePixel is a PNG of one pixel.
func onePixel() []byte {
	var out bytes.Buffer
	if err := png.Encode(&out, image.NewGray(image.Rect(0, 0, 1, 1))); err != nil {
		return nil // encoding to memory does not fail
	}
	return out.Bytes()
}

// silence is a WAV file of one silent sample: 8 kHz, 8 bit, mono.
func silence() []byte {
	return []byte("RIFF\x26\x00\x00\x00WAVE" +
		"fmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x40\x1f\x00\x00\x01\x00\x08\x00" +
		"data\x01\x00\x00\x00\x80\x00")
}
