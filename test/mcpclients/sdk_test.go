package mcpclients

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/test/testkit/nodejs"
)

// tools are the tools of the contract, sorted.
var tools = []string{
	"cancel_order", "domain_check", "domain_search", "get_order_status", "list_holders", "list_my_domains",
	"list_orders", "list_tlds", "set_auto_renew", "start_order", "tld_price", "whois_lookup",
}

// sdkOutput is what walk.mjs prints.
type sdkOutput struct {
	Protocol string
	Tools    []string
	Results  map[string]struct {
		Structured map[string]any
		Text       string
		IsError    bool
	}
	Refusals map[string]struct {
		Answered any
		Error    string
		Status   any
	}
	Still int
}

func TestStockClients_CheckNamesKnowingOnlyTheURL(t *testing.T) {
	t.Parallel()
	program := nodejs.Program(t, packages)
	endpoint := startSandbox(t, product)
	folder := sdkFolder(t)
	for _, test := range []struct{ name, script, mode, protocol string }{
		{"sdk 1", "sdk1.mjs", "", "2025-11-25"},
		{"sdk 2 begins with initialize", "sdk2.mjs", "legacy", "2025-11-25"},
		{"sdk 2 discovers", "sdk2.mjs", "auto", "2026-07-28"},
	} {
		t.Run(test.name, func(t *testing.T) {
			out, err := runClient(t, program, filepath.Join(folder, test.script), endpoint, test.mode)
			if err != nil {
				t.Fatal(err)
			}
			var output sdkOutput
			if err := json.Unmarshal([]byte(out), &output); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if output.Protocol != test.protocol {
				t.Errorf("protocol %q, want %q", output.Protocol, test.protocol)
			}
			slices.Sort(output.Tools)
			if !slices.Equal(output.Tools, tools) || output.Still != len(tools) {
				t.Errorf("listed %q, and %d at the end", output.Tools, output.Still)
			}
			checkResults(t, output)
			checkRefusals(t, output)
		})
	}
	t.Run("inspector", func(t *testing.T) { checkInspector(t, program, endpoint) })
	t.Run("conformance without fixtures", func(t *testing.T) { checkReleasedConformance(t, program, endpoint) })
}

func sdkFolder(t *testing.T) string {
	t.Helper()
	return nodejs.ScriptDir(t, "walk.mjs", "sdk1.mjs", "sdk2.mjs")
}

func checkResults(t *testing.T, output sdkOutput) {
	t.Helper()
	for _, want := range []struct {
		call, field string
		value       any
	}{
		{"taken", "domain", "google.com"},
		{"taken", "tld", ".com"},
		{"taken", "available", false},
		{"free", "available", true},
		{"search", "sld", "nobody-has-this-name"},
		{"whois", "registered", true},
		{"tlds", "limit", 3.0},
		{"tlds", "offset", 0.0},
		{"price", "tld", ".de"},
		{"nonsense", "code", "invalid_input"},
	} {
		if got := output.Results[want.call].Structured[want.field]; got != want.value {
			t.Errorf("%s: %s is %v, want %v (%s)", want.call, want.field, got, want.value, output.Results[want.call].Text)
		}
	}
	for call, result := range output.Results {
		if result.IsError != (call == "nonsense") {
			t.Errorf("%s: isError is %t: %s", call, result.IsError, result.Text)
		}
		var same map[string]any
		if err := json.Unmarshal([]byte(result.Text), &same); err != nil || len(same) != len(result.Structured) {
			t.Errorf("%s: the text is not the structured content: %s", call, result.Text)
		}
	}
	if list, _ := output.Results["tlds"].Structured["tlds"].([]any); len(list) != 3 {
		t.Errorf("want three extensions: %v", list)
	}
	if list, _ := output.Results["search"].Structured["results"].([]any); len(list) == 0 {
		t.Error("no search results")
	}
	for _, field := range []string{"registerEur", "renewEur", "transferEur"} {
		for _, call := range []string{"free", "price"} {
			if price, _ := output.Results[call].Structured[field].(float64); price <= 0 {
				t.Errorf("%s: %s is %v", call, field, price)
			}
		}
	}
}

func checkRefusals(t *testing.T, output sdkOutput) {
	t.Helper()
	if len(output.Refusals) != 7 {
		t.Errorf("seven tools need a token: %v", output.Refusals)
	}
	for tool, refusal := range output.Refusals {
		if refusal.Answered != nil || refusal.Status != 401.0 && refusal.Error != "UnauthorizedError" {
			t.Errorf("%s without a token: %+v, want 401", tool, refusal)
		}
	}
}

// checkInspector runs the command line of the inspector.
func checkInspector(t *testing.T, program, endpoint string) {
	t.Helper()
	inspector := func(args ...string) string {
		out, warnings, err := nodejs.RunWithStderr(t, clientTimeout, program, append([]string{
			nodejs.ModulePath(t, "@modelcontextprotocol/inspector/clients/launcher/build/index.js"),
			"--cli", endpoint, "--transport", "http",
		}, args...)...)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(strings.ToLower(warnings), "warn") || strings.Contains(out, "schemaWarnings") {
			t.Errorf("inspector %v warns: %s", args, warnings)
		}
		return out
	}
	var listed struct{ Tools []struct{ Name string } }
	// --strict reports schemas that some clients can't read.
	if err := json.Unmarshal([]byte(inspector("--method", "tools/list", "--strict")), &listed); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range listed.Tools {
		names = append(names, tool.Name)
	}
	slices.Sort(names)
	if !slices.Equal(names, tools) {
		t.Errorf("listed %q", names)
	}
	out := inspector("--method", "tools/call", "--tool-name", "domain_check", "--tool-arg", "domain=google.com")
	var result struct {
		StructuredContent struct {
			Domain    string
			Available *bool
		}
	}
	if err := json.Unmarshal([]byte(out), &result); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	got := result.StructuredContent
	if got.Domain != "google.com" || got.Available == nil || *got.Available {
		t.Errorf("got %s", strings.TrimSpace(out))
	}
}
