// Package docs holds the documents for agents that the service also serves, so that
// what a repository's reader sees and what a running service tells are one text.
package docs

import _ "embed" // the documents are part of the program

// Address stands for the service's own address in these documents.
const Address = "https://domains.example"

// Agents is the guide to the MCP endpoint, Checkout the one to agentic checkout.
var (
	//go:embed agents.md
	Agents string
	//go:embed checkout.md
	Checkout string
)
