package sandbox

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/dotkontor/dotkontor/internal/app"
)

// connectionInfo has the contents of the welcome text, for scripts.
type connectionInfo struct {
	BaseURL string `json:"base_url"`
	// Listen is the address that the service listens on, which may be behind the tunnel or
	// proxy of BaseURL; empty with --world-only.
	Listen string `json:"listen,omitempty"`
	// Config is the configuration file for operator commands and for 'dotkontor serve'.
	Config string `json:"config"`
	MCPURL string `json:"mcp_url"`
	// Portal is where customers sign in. Inbox is the page with all mail; append
	// "api/mails?to=…" for the same as JSON.
	Portal string      `json:"portal"`
	Inbox  string      `json:"inbox"`
	Demo   credentials `json:"demo"`
	// Agent is a checkout agent that is linked to the demo customer.
	Agent    demoAgent    `json:"agent"`
	Registry registryInfo `json:"registry"`
	// Payment is the payment provider, VIES the service that validates VAT IDs.
	Payment paymentInfo `json:"payment"`
	VIES    string      `json:"vies"`
	// Transfers are names that can be transferred from another registrar.
	Transfers []transferInfo `json:"transfers"`
}

// registryInfo has the addresses of the simulated registry. RDAP and WHOIS serve every
// extension, so that any client needs only one address.
type registryInfo struct {
	RDAP  string `json:"rdap"`
	WHOIS string `json:"whois"`
	DNS   string `json:"dns"`
	// EPP is the address of the EPP server (TLS), EPPCA the PEM file of its certificate
	// authority. The service's account is in the configuration file.
	EPP   string `json:"epp"`
	EPPCA string `json:"epp_ca"`
}

func newConnectionInfo(baseURL, listen, configPath string, sim simulation) connectionInfo {
	world, demo, control := sim.registry, sim.demo, sim.stripe.Control()
	return connectionInfo{
		BaseURL: baseURL,
		Listen:  listen,
		Config:  configPath,
		MCPURL:  baseURL + "/api/mcp",
		Portal:  baseURL + "/portal",
		Inbox:   sim.mailbox.PageURL(),
		Demo:    demo.credentials,
		Agent:   demo.Agent,
		Registry: registryInfo{
			RDAP: world.RDAP(), WHOIS: world.WHOIS(), DNS: world.DNS(), EPP: world.EPP(), EPPCA: world.EPPCAFile(),
		},
		Payment: paymentInfo{API: sim.stripe.API(), Control: control.Address, ControlSecret: control.Secret, Cards: testCards},
		VIES:    sim.vies.Address(), Transfers: transfers,
	}
}

// writeJSON replaces a file at once: a script that waits for it must not read half of it.
func writeJSON(path string, value any) error {
	return app.WriteFileAtomic(path, func(out io.Writer) error {
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(value)
	})
}

func (c Command) writeInfo(info connectionInfo) error {
	if c.Info == "" {
		return nil
	}
	if err := writeJSON(c.Info, info); err != nil {
		return fmt.Errorf("--info: %w", err)
	}
	return nil
}

const welcomeText = `dotkontor sandbox

  service   %s
  listen    %s
  MCP       %s
  portal    %s
  mail      %s
  data      %s
  log       %s
  RDAP      %s
  WHOIS     %s
  DNS       %s
  EPP       %s
  payments  %s
  VIES      %s

Demo customer:

  email     %s
  password  %s
  token     %s

Checkout agent, linked to the demo customer:

  key       %s
  secret    %s

Test cards  4242 4242 4242 4242  succeeds
            4000 0025 0000 3155  requires authentication
            4000 0000 0000 0002  declined
Transfer    transfer-kaffeefahrt.com, auth code auth-transfer-kaffeefahrt

Try:

  curl -s --json '{"domain":"kaffeehaus-am-see.de"}' %s/api/domain/check
  curl -s --json '{"query":"google"}' %s/api/domain/search
  whois -h %s -p %s google.com
  curl -s -H 'Authorization: Bearer %s' -H 'Accept: application/json, text/event-stream' \
    --json '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_my_domains","arguments":{}}}' %s
  dotkontor domains register mein-erster-name.de --customer %s --manual-payment R-1 --wait --config %s

Stop with Ctrl-C.

ready %s
`
