package clients

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/dotkontor/dotkontor/test/node"
)

// owned is what a client prints that asked for a customer's domains.
type owned struct {
	Structured struct {
		Domains []struct{ Domain, Status string }
	}
	IsError bool
}

func TestStockClientsListTheDemoCustomersDomainsWithTheWelcomeTextsToken(t *testing.T) {
	program := node.Program(t, packages)
	s := startSandboxWithDemo(t)
	endpoint, token := s.endpoint, s.token
	folder := clientFolder(t)
	for _, test := range []struct{ name, script, mode, url string }{
		{"sdk 1", "sdk1.mjs", "", endpoint},
		{"sdk 2 begins with initialize", "sdk2.mjs", "legacy", endpoint},
		{"sdk 2 discovers", "sdk2.mjs", "auto", endpoint},
		{"sdk 1 at the login address", "sdk1.mjs", "", endpoint + "/login"},
	} {
		t.Run(test.name, func(t *testing.T) {
			out, err := run(t, program, filepath.Join(folder, test.script), test.url, test.mode, token)
			if err != nil {
				t.Fatal(err)
			}
			var saw owned
			if err := json.Unmarshal([]byte(out), &saw); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			saw.mustBeTheDemoCustomers(t, out)
		})
	}
	t.Run("a wrong token", func(t *testing.T) {
		if out, err := run(t, program, filepath.Join(folder, "sdk1.mjs"), endpoint, "", token+"x"); err == nil {
			t.Errorf("it was let in: %s", out)
		}
	})
	t.Run("inspector", func(t *testing.T) {
		out, err := run(t, program, node.Module(t, "@modelcontextprotocol/inspector/clients/launcher/build/index.js"),
			"--cli", endpoint, "--transport", "http", "--header", "Authorization: Bearer "+token,
			"--method", "tools/call", "--tool-name", "list_my_domains")
		if err != nil {
			t.Fatal(err)
		}
		var saw struct {
			StructuredContent json.RawMessage
			IsError           bool
		}
		if err := json.Unmarshal([]byte(out), &saw); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		var listed owned
		listed.IsError = saw.IsError
		if err := json.Unmarshal(saw.StructuredContent, &listed.Structured); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		listed.mustBeTheDemoCustomers(t, out)
	})
}

func (o owned) mustBeTheDemoCustomers(t *testing.T, out string) {
	t.Helper()
	states := make(map[string]bool)
	for _, domain := range o.Structured.Domains {
		states[domain.Status] = true
	}
	if o.IsError || len(states) != 6 {
		t.Errorf("it saw %s", out)
	}
}
