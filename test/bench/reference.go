package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/dotkontor/dotkontor/test/testkit"
)

// The reference servers.
const (
	refBareREST    = "bare"
	refBareRPC     = "bare-rpc"
	refMinimalTool = "minimal-tool"
)

// references returns the handler of each server, which gives one fixed response to
// every valid request: the given one or, for those with a database, that the caller is
// authorized.
var references = map[string]func(answer []byte) (http.Handler, error){
	refBareREST:    bareREST,
	refBareRPC:     bareRPC,
	refMinimalTool: minimalTool,
	refBearer:      bearerCheck,
	refSelect:      selectCheck,
}

// bareREST is the minimum of a check: decode, respond.
func bareREST(answer []byte) (http.Handler, error) {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var question struct {
			Domain string `json:"domain"`
		}
		if err := json.NewDecoder(r.Body).Decode(&question); err != nil || question.Domain == "" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		writeJSON(w, answer)
	}), nil
}

// bareRPC is the minimum of a tool call without any library.
func bareRPC(answer []byte) (http.Handler, error) {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var message struct {
			Version string          `json:"jsonrpc"`
			ID      json.RawMessage `json:"id"`
			Method  string          `json:"method"`
			Params  json.RawMessage `json:"params"`
		}
		if err := json.NewDecoder(r.Body).Decode(&message); err != nil || message.Method != "tools/call" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		writeJSON(w, answer)
	}), nil
}

func writeJSON(w http.ResponseWriter, answer []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(answer)))
	_, _ = w.Write(answer) // the client may be gone
}

// minimalTool is the minimum of a tool call on the product's library: one tool that
// returns the same prepared result each time.
func minimalTool(answer []byte) (http.Handler, error) {
	content, err := parseToolResult(answer)
	if err != nil {
		return nil, err
	}
	server := sdk.NewServer(&sdk.Implementation{Name: "minimal", Version: "1"}, nil)
	server.AddTool(
		&sdk.Tool{Name: checkTool, InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return &sdk.CallToolResult{
				Content:           []sdk.Content{&sdk.TextContent{Text: content.text}},
				StructuredContent: content.structured,
			}, nil
		})
	return sdk.NewStreamableHTTPHandler(
		func(*http.Request) *sdk.Server { return server },
		&sdk.StreamableHTTPOptions{Stateless: true, JSONResponse: true}), nil
}

// toolResult is the result of a tool.
type toolResult struct {
	text       string
	structured json.RawMessage
}

// parseToolResult extracts a tool's result from its message, and rejects a message that
// reports a failure.
func parseToolResult(message []byte) (toolResult, error) {
	var read struct {
		Error  json.RawMessage `json:"error"`
		Result struct {
			Content []struct {
				Text string `json:"text"`
			} `json:"content"`
			Structured json.RawMessage `json:"structuredContent"`
			IsError    bool            `json:"isError"`
		} `json:"result"`
	}
	if err := json.Unmarshal(message, &read); err != nil {
		return toolResult{}, fmt.Errorf("the answer to a call: %w", err)
	}
	if read.Error != nil || read.Result.IsError || len(read.Result.Content) != 1 || read.Result.Structured == nil {
		return toolResult{}, fmt.Errorf("the call did not work: %s", message)
	}
	return toolResult{text: read.Result.Content[0].Text, structured: read.Result.Structured}, nil
}

// startReference runs this program again as the named server.
func startReference(ctx context.Context, b bench, name string, answer []byte, environment ...string) (*testkit.Process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	path := filepath.Join(b.folder, name+"-answer.json")
	if err := os.WriteFile(path, answer, 0o600); err != nil {
		return nil, err
	}
	return testkit.Start(ctx, testkit.Command{
		Path: self, Args: []string{"-reference", name, "-answer", path}, Environment: environment,
	})
}

// serveReference answers every request with the content of a file. It ends with ctx, or
// at the end of in, which means that its parent has died.
func serveReference(ctx context.Context, name, path string, in io.Reader, out io.Writer) error {
	build, known := references[name]
	if !known {
		return fmt.Errorf("there is no server %q to compare with", name)
	}
	answer, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	handler, err := build(answer)
	if err != nil {
		return err
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second}
	ctx, orphaned := context.WithCancel(ctx)
	defer orphaned()
	go func() {
		_, _ = io.Copy(io.Discard, in)
		orphaned()
	}()
	context.AfterFunc(ctx, func() { _ = server.Close() })
	fmt.Fprintf(out, "ready http://%s\n", listener.Addr())
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
