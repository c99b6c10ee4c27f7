package contract

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/test/testkit"
)

const (
	mcpPath        = "/api/mcp"
	mcpLoginPath   = "/api/mcp/login"
	whoisPerMinute = 15
	signedInTools  = "list_my_domains start_order get_order_status list_orders cancel_order set_auto_renew list_holders"
)

// message is a JSON-RPC request.
func message(method, params string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":` + params + `}`
}

func toolCall(tool, arguments string) string {
	return message("tools/call", `{"name":"`+tool+`","arguments":`+arguments+`}`)
}

// toolOutcome is a tool result.
type toolOutcome struct {
	Result struct {
		IsError           bool
		StructuredContent map[string]json.RawMessage
		Content           []struct{ Text string }
		Tools             []struct{ Name string }
		ProtocolVersion   string
	}
}

// callMCP sends a message and expects 200 with equal text and structured content.
func (c *caller) callMCP(body string) toolOutcome {
	c.t.Helper()
	got := c.send(request{path: mcpPath, body: body})
	var output toolOutcome
	if err := json.Unmarshal(got.body, &output); err != nil || got.status != http.StatusOK || got.header.Get("Content-Type") != "application/json" {
		c.t.Errorf("%s: got %s", body, got)
		return output
	}
	if text := output.Result.Content; len(text) > 0 {
		var again map[string]json.RawMessage
		if err := json.Unmarshal([]byte(text[0].Text), &again); err != nil || len(again) != len(output.Result.StructuredContent) {
			c.t.Errorf("%s: the text is not the structured content: %s", body, got)
		}
	}
	return output
}

func TestAgent_ConnectsAndFindsEveryTool(t *testing.T) {
	onBothTargets(t, func(t *testing.T, on *target) {
		agent := newCaller(t, on)
		hello := agent.callMCP(message("initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"a","version":"1"}}`))
		if hello.Result.ProtocolVersion != "2025-06-18" {
			t.Errorf("got %+v", hello)
		}
		var names []string
		for _, tool := range agent.callMCP(message("tools/list", "{}")).Result.Tools {
			names = append(names, tool.Name)
		}
		for _, want := range strings.Fields("domain_check domain_search whois_lookup list_tlds tld_price " + signedInTools) {
			if !strings.Contains(strings.Join(names, " "), want) {
				t.Errorf("%s is not among %v", want, names)
			}
		}
		if len(names) != 12 {
			t.Errorf("%d tools are listed", len(names))
		}
	})
}

func TestAnonymousTools_Results(t *testing.T) {
	onBothTargets(t, func(t *testing.T, on *target) {
		for _, test := range []struct {
			label, tool, arguments string
			failed                 bool
			want                   wantFields
		}{
			{"free", "domain_check", object("domain", marker+"-agent.de"), false, wantFields{"available": "true", "tld": `".de"`, "registerEur": "6.90"}},
			{"taken", "domain_check", object("domain", "google.de"), false, wantFields{"available": "false"}},
			{"not listed", "domain_check", object("domain", marker+".ZZ"), false, wantFields{"domain": `"` + marker + `.ZZ"`, "tld": `".zz"`, "supported": "false"}},
			{"bad name", "domain_check", object("domain", "-"+marker+".de"), true, wantFields{"code": `"invalid_input"`, "retryable": "false"}},
			{"search", "domain_search", object("query", marker+"-agent"), false, wantFields{"sld": `"` + marker + `-agent"`}},
			{"registered", "whois_lookup", object("domain", "google.com"), false, wantFields{"domain": `"google.com"`, "registered": "true"}},
			{"not registered", "whois_lookup", object("domain", marker+"-agent.com"), false, wantFields{"registered": "false", "nameservers": "[]", "registrar": "null"}},
			{"unlisted extension", "whois_lookup", object("domain", marker+".zz"), true, wantFields{"code": `"unsupported_extension"`}},
			{"page", "list_tlds", `{"limit":2}`, false, wantFields{"limit": "2", "offset": "0"}},
			{"price", "tld_price", object("tld", ".de"), false, wantFields{"tld": `".de"`, "registerEur": "6.90", "renewEur": "5.90", "transferEur": "5.90"}},
			{"no price", "tld_price", object("tld", ".zz"), true, wantFields{"code": `"unsupported_extension"`}},
		} {
			output := newCaller(t, on).callMCP(toolCall(test.tool, test.arguments)).Result
			if output.IsError != test.failed {
				t.Errorf("%s: isError is %v: %s", test.label, output.IsError, output.StructuredContent)
			}
			for key, want := range test.want {
				if got := string(output.StructuredContent[key]); got != want {
					t.Errorf("%s: %s is %s, want %s", test.label, key, got, want)
				}
			}
		}
	})
}

func TestSignedInTools_WithoutTokenIs401WithChallenge(t *testing.T) {
	onBothTargets(t, func(t *testing.T, on *target) {
		agent := newCaller(t, on)
		want := `Bearer resource_metadata="` + on.base + `/.well-known/oauth-protected-resource/api/mcp"`
		var all []request
		for _, tool := range strings.Fields(signedInTools) {
			all = append(all, request{path: mcpPath, body: toolCall(tool, "{}")})
		}
		stale := map[string]string{"Authorization": "Bearer " + marker}
		all = append(all,
			request{path: mcpPath, body: toolCall("tld_price", object("tld", ".de")), header: stale},
			request{path: mcpLoginPath, body: message("ping", "{}")},
			request{path: mcpLoginPath, body: message("ping", "{}"), header: stale},
		)
		for _, r := range all {
			r.header = maps.Clone(r.header)
			if r.header == nil {
				r.header = make(map[string]string)
			}
			r.header["Origin"] = on.base
			got := agent.send(r)
			if values := got.header.Values("WWW-Authenticate"); got.status != http.StatusUnauthorized || len(values) != 1 || values[0] != want {
				t.Errorf("%s %s: got %s with %q", r.path, r.body, got, values)
			}
			if !strings.Contains(got.header.Get("Access-Control-Expose-Headers"), "WWW-Authenticate") {
				t.Errorf("%s: pages can't read the header", r.path)
			}
		}
	})
}

func TestRateLimit_SharedByMCPAndRESTButNotWhois(t *testing.T) {
	onBothTargets(t, func(t *testing.T, on *target) {
		client := newCaller(t, on)
		for i := range perMinute {
			if i%2 == 0 {
				client.check(marker + ".zz")
				continue
			}
			if output := client.callMCP(toolCall("tld_price", object("tld", ".de"))); output.Result.IsError {
				t.Errorf("call %d: %s", i, output.Result.StructuredContent)
			}
		}
		output := client.callMCP(toolCall("domain_check", object("domain", marker+".zz"))).Result
		if !output.IsError || string(output.StructuredContent["code"]) != `"rate_limited"` || len(output.StructuredContent["retryAfter"]) == 0 {
			t.Errorf("got %s", output.StructuredContent)
		}
		wantRateLimited(t, "REST", client.check(marker+".zz"), 1, 60)
		client.callMCP(message("tools/list", "{}"))

		for i := range whoisPerMinute {
			if output := client.callMCP(toolCall("whois_lookup", object("domain", "google.com"))); output.Result.IsError {
				t.Errorf("whois %d: %s", i, output.Result.StructuredContent)
			}
		}
		if output := client.callMCP(toolCall("whois_lookup", object("domain", "google.com"))).Result; string(output.StructuredContent["code"]) != `"rate_limited"` {
			t.Errorf("got %s", output.StructuredContent)
		}
	})
}

// The client checks every response for contact data; this test requests many records
// that have some.
func TestWhoisLookup_NeverReturnsContacts(t *testing.T) {
	onBothTargets(t, func(t *testing.T, on *target) {
		for _, label := range []string{"google", "siemens", "wikipedia"} {
			client := newCaller(t, on)
			for _, tld := range []string{".de", ".com", ".eu", ".net", ".org", ".shop", ".io", ".dev", ".at", ".be", ".it", ".ch", ".co.uk"} {
				output := client.callMCP(toolCall("whois_lookup", object("domain", label+tld))).Result
				if output.IsError || string(output.StructuredContent["registered"]) != "true" {
					t.Errorf("%s%s: %s", label, tld, output.StructuredContent)
				}
			}
		}
	})
}

func TestMCP_ErrorsAreJSONRPC(t *testing.T) {
	onBothTargets(t, func(t *testing.T, on *target) {
		client := newCaller(t, on)
		for _, test := range []struct {
			label  string
			r      request
			status int
		}{
			{"GET", request{method: http.MethodGet, path: mcpPath}, 405},
			{"DELETE", request{method: http.MethodDelete, path: mcpPath}, 405},
			{"a batch", request{path: mcpPath, body: "[" + message("ping", "{}") + "]"}, 400},
			{"not JSON", request{path: mcpPath, body: "{"}, 400},
			{"a form", request{path: mcpPath, body: "{}", header: map[string]string{"Content-Type": "text/plain"}}, 415},
			{"a page elsewhere", request{path: mcpPath, body: message("ping", "{}"), header: map[string]string{"Origin": "https://page.example"}}, 403},
			{"65 KiB", request{path: mcpPath, body: message("ping", "{}") + strings.Repeat(" ", 65<<10)}, 413},
		} {
			got := client.send(test.r)
			wantResponse(t, test.label, got, test.status, wantFields{"jsonrpc": `"2.0"`, "id": "null"})
			if test.status == http.StatusMethodNotAllowed && got.header.Get("Allow") != "OPTIONS, POST" {
				t.Errorf("%s: Allow is %q", test.label, got.header.Get("Allow"))
			}
		}
		got := client.send(request{method: http.MethodOptions, path: mcpPath, header: map[string]string{
			"Origin": "https://page.example", "Access-Control-Request-Method": "POST",
		}})
		allowed := got.header.Get("Access-Control-Allow-Headers")
		for _, name := range strings.Fields("Authorization Content-Type Mcp-Protocol-Version Mcp-Method Mcp-Name Mcp-Session-Id Last-Event-ID") {
			if got.status != http.StatusNoContent || !strings.Contains(allowed, name) {
				t.Errorf("%s is not allowed: %d %q", name, got.status, allowed)
			}
		}
	})
}

// tearDown checks that no argument is logged.
func TestLog_NamesToolWithoutArguments(t *testing.T) {
	onBothTargets(t, func(t *testing.T, on *target) {
		client := newCaller(t, on)
		got := client.send(request{path: mcpPath, body: toolCall("domain_check", object("domain", "-"+marker+".de"))})
		client.callMCP(toolCall("domain_search", object("query", marker+"-log")))
		client.send(request{path: mcpPath, body: toolCall(marker, object(marker, marker))})
		testkit.Eventually(t, "log record of the call", func() bool {
			text, err := os.ReadFile(on.log)
			if err != nil {
				t.Fatal(err)
			}
			for _, record := range requestRecords(text)[got.header.Get("X-Request-Id")] {
				return record["tool"] == "domain_check" && record["route"] == mcpPath && record["error"] == "invalid" &&
					!bytes.Contains(text, []byte(marker))
			}
			return false
		})
	})
}
