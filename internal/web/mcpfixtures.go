//go:build mcpfixtures

package web

import (
	"github.com/dotkontor/dotkontor/internal/web/mcp"
	"github.com/dotkontor/dotkontor/internal/web/mcp/mcpfixtures"
)

func init() {
	mcpExtension = &mcp.Extension{Register: mcpfixtures.Register, Serves: mcpfixtures.Serves}
}
