//go:build !mcpfixtures

package mcp

import sdk "github.com/modelcontextprotocol/go-sdk/mcp"

func registerFixtures(*sdk.Server) {}

func servedForFixtures(string) bool { return false }
