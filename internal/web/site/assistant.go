package site

import (
	"net/netip"
	"net/url"
	"strings"

	"github.com/dotkontor/dotkontor/internal/web/ui"
)

type mcpClient struct {
	ID, Name string
	HowKey   string // the text key of the instructions
	Text     string // what is copied; empty if only the address is entered
}

// mcpClients are common clients. docs/agents.md has the same settings, which a test
// compares.
var mcpClients = []mcpClient{
	{"claude-code", "Claude Code", "client.shell", "claude mcp add --transport http dotkontor {mcp}"},
	{"claude", "claude.ai, Claude Desktop", "client.claude", ""},
	{"chatgpt", "ChatGPT", "client.chatgpt", ""},
	{"vscode", "VS Code", "client.vscode", `{ "servers": { "dotkontor": { "type": "http", "url": "{mcp}" } } }`},
	{"cursor", "Cursor", "client.cursor", `{ "mcpServers": { "dotkontor": { "url": "{mcp}" } } }`},
	{"inspector", "MCP Inspector", "client.shell", "npx @modelcontextprotocol/inspector --cli {mcp} --transport http --method tools/list"},
	{"curl", "curl", "client.curl", `curl -s --json '{"jsonrpc":"2.0","id":1,"method":"tools/call",
  "params":{"name":"domain_check","arguments":{"domain":"kaffeehaus-am-see.de"}}}' {mcp}`},
}

func (h *Handler) assistant(req *ui.Request) error {
	mcp := h.Frame.URL("/api/mcp")
	list := make([]mcpClient, len(mcpClients))
	for i, c := range mcpClients {
		c.Text = strings.ReplaceAll(c.Text, "{mcp}", mcp)
		list[i] = c
	}
	return h.templates.Render(req, ui.View{
		Name: "assistant", Title: "assistant.title", Section: ui.InLanguage(req.Language, ui.AssistantPath, ui.EnglishAssistantPath),
		Public: "assistant.description", Data: struct {
			Address mcpClient
			Local   bool
			Clients []mcpClient
		}{mcpClient{ID: "mcp", Name: "MCP", Text: mcp}, isLocal(mcp), list},
	})
}

// isLocal reports whether only programs on this machine can reach an address.
func isLocal(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() == "localhost" || err == nil && ip.IsLoopback()
}
