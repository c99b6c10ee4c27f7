package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/dotkontor/dotkontor/internal/sandbox/registry"
)

// sandboxInfo is what the welcome text says, for scripts.
type sandboxInfo struct {
	BaseURL string `json:"base_url"`
	// Listen is the product's own address, behind whatever BaseURL names; empty
	// where only the world runs.
	Listen string `json:"listen,omitempty"`
	// Config is the configuration file for a product in another process.
	Config   string       `json:"config,omitempty"`
	MCPURL   string       `json:"mcp_url"`
	Registry registryInfo `json:"registry"`
}

// registryInfo is where the simulated registries are. RDAP and WHOIS answer for
// every extension here, so that a stranger's client needs one address only.
type registryInfo struct {
	RDAP  string `json:"rdap"`
	WHOIS string `json:"whois"`
	DNS   string `json:"dns"`
}

func newSandboxInfo(baseURL, listen string, world *registry.Registry) sandboxInfo {
	return sandboxInfo{
		BaseURL:  baseURL,
		Listen:   listen,
		MCPURL:   baseURL + "/api/mcp",
		Registry: registryInfo{RDAP: world.RDAP(), WHOIS: world.WHOIS(), DNS: world.DNS()},
	}
}

func (i sandboxInfo) write(path string) error {
	text, err := json.MarshalIndent(i, "", "  ")
	if err != nil {
		return err
	}
	// A script that waits for the file must not read half of it.
	draft := path + ".new"
	if err := os.WriteFile(draft, append(text, '\n'), 0o600); err != nil {
		return fmt.Errorf("--info: %w", err)
	}
	return os.Rename(draft, path)
}

const welcomeText = `dotkontor sandbox

  Produkt / product      %s
  lauscht auf / listens  %s
  MCP                    %s
  Daten / data           %s
  Protokoll / log        %s
  RDAP                   %s
  WHOIS                  %s
  DNS                    %s

Zum Ausprobieren / try:

  curl -s --json '{"domain":"kaffeehaus-am-see.de"}' %s/api/domain/check
  curl -s --json '{"query":"google"}' %s/api/domain/search
  whois -h %s -p %s google.com

Beenden / stop: Ctrl-C

ready %s
`
