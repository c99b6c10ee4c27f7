package start

import (
	"net/netip"
	"net/url"
	"strings"

	"github.com/dotkontor/dotkontor/internal/web/page"
)

// client is a program that speaks MCP, with what its owner copies.
type client struct {
	ID, Name string
	// How is the key of where the text goes.
	How string
	// Text is what is copied; empty where the address alone is typed in.
	Text string
}

// clients are the common ones. docs/agents.md tells the same to those who write
// agents, and a test holds both together.
var clients = []client{
	{"claude-code", "Claude Code", "client.shell", "claude mcp add --transport http dotkontor {mcp}"},
	{"claude", "claude.ai, Claude Desktop", "client.claude", ""},
	{"chatgpt", "ChatGPT", "client.chatgpt", ""},
	{"vscode", "VS Code", "client.vscode", `{ "servers": { "dotkontor": { "type": "http", "url": "{mcp}" } } }`},
	{"cursor", "Cursor", "client.cursor", `{ "mcpServers": { "dotkontor": { "url": "{mcp}" } } }`},
	{"inspector", "MCP Inspector", "client.shell", "npx @modelcontextprotocol/inspector --cli {mcp} --transport http --method tools/list"},
	{"curl", "curl", "client.curl", `curl -s --json '{"jsonrpc":"2.0","id":1,"method":"tools/call",
  "params":{"name":"domain_check","arguments":{"domain":"kaffeehaus-am-see.de"}}}' {mcp}`},
}

// assistant shows how to connect one.
func (h *Handler) assistant(v *page.Visit) error {
	mcp := h.Frame.Address("/api/mcp")
	list := make([]client, len(clients))
	for i, c := range clients {
		c.Text = strings.ReplaceAll(c.Text, "{mcp}", mcp)
		list[i] = c
	}
	section := page.AssistantPath
	if v.Language == page.English {
		section = page.EnglishAssistantPath
	}
	return h.views.Render(v, page.View{
		Name: "assistant", Title: "assistant.title", Section: section, Public: "assistant.description", Data: struct {
			Address client
			Local   bool
			Clients []client
		}{client{ID: "mcp", Name: "MCP", Text: mcp}, local(mcp), list},
	})
}

// local says that only programs on this machine reach an address.
func local(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() == "localhost" || err == nil && ip.IsLoopback()
}
