//go:build mcpfixtures

//nolint:staticcheck // the suite still asks for sampling, roots and logging, which are deprecated
package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"image"
	"image/png"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// The conformance suite asks a server to carry tools, prompts and resources
// with names and answers of its own. They exist only in a binary built with the
// tag mcpfixtures, which test/mcpclients builds, so that the suite can look at
// this endpoint's transport, its gate and its errors. No released binary has
// them.

// anyObject is an input schema for tools that do not look at their input.
var anyObject = json.RawMessage(`{"type":"object"}`)

const (
	plainText     = "text/plain"
	templateStart = "test://template/"
	templateEnd   = "/data"
)

// registerFixtures adds what the suite calls.
func registerFixtures(server *sdk.Server) {
	dot := onePixel()
	picture := &sdk.ImageContent{Data: dot, MIMEType: "image/png"}
	document := &sdk.EmbeddedResource{Resource: &sdk.ResourceContents{
		URI: "test://embedded-resource", MIMEType: plainText, Text: "An embedded document.",
	}}
	for name, content := range map[string][]sdk.Content{
		"test_simple_text":            {text("Plain words and nothing else.")},
		"test_image_content":          {picture},
		"test_audio_content":          {&sdk.AudioContent{Data: silence(), MIMEType: "audio/wav"}},
		"test_embedded_resource":      {document},
		"test_multiple_content_types": {text("Three kinds of content."), picture, document},
		"test_streaming_elicitation":  {text("One answer, and no request beside it.")},
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

// servedForFixtures opens the rest of the protocol for the suite, but for the
// stream of changes: nothing ever changes here.
func servedForFixtures(method string) bool { return method != "subscriptions/listen" }

func addFixture(server *sdk.Server, name string, handler sdk.ToolHandler) {
	server.AddTool(&sdk.Tool{Name: name, Description: "For the conformance suite.", InputSchema: anyObject}, handler)
}

func text(s string) *sdk.TextContent { return &sdk.TextContent{Text: s} }

func said(s string) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{text(s)}}
}

// addNotifying adds tools that say something before they answer. This endpoint
// answers with one JSON body, so none of it can arrive, and the errors that say
// so are not looked at: the baseline lists what follows from it.
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
			for _, line := range []string{"begun", "under way", "done"} {
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
		{URI: "test://watched-resource", MIMEType: plainText, Text: "Nobody is told of changes."},
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

// declareLittle keeps the library from declaring, now that there are prompts and
// resources, that their lists change. It answers completion/complete, which the
// product has no handler for, as a server that knows no completion.
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

// onePixel is the smallest picture.
func onePixel() []byte {
	var out bytes.Buffer
	if err := png.Encode(&out, image.NewGray(image.Rect(0, 0, 1, 1))); err != nil {
		return nil // a picture in memory can be written to memory
	}
	return out.Bytes()
}

// silence is the shortest recording: one sample of nothing, 8 kHz, 8 bit, mono.
func silence() []byte {
	return []byte("RIFF\x26\x00\x00\x00WAVE" +
		"fmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x40\x1f\x00\x00\x01\x00\x08\x00" +
		"data\x01\x00\x00\x00\x80\x00")
}
