package contract

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"
)

const (
	mcpPath       = "/api/mcp"
	mcpLoginPath  = "/api/mcp/login"
	whoisAMinute  = 15
	signedInTools = "list_my_domains start_order get_order_status list_orders cancel_order"
)

// message is a JSON-RPC request.
func message(method, params string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":` + params + `}`
}

func toolCall(tool, arguments string) string {
	return message("tools/call", `{"name":"`+tool+`","arguments":`+arguments+`}`)
}

// outcomeOf is what a tool says.
type outcomeOf struct {
	Result struct {
		IsError           bool
		StructuredContent map[string]json.RawMessage
		Content           []struct{ Text string }
		Tools             []struct{ Name string }
		ProtocolVersion   string
	}
}

// tell sends a message, and reads the answer that every good one gets: 200, and
// the same content twice.
func (c *caller) tell(body string) outcomeOf {
	c.t.Helper()
	got := c.send(request{path: mcpPath, body: body})
	var said outcomeOf
	if err := json.Unmarshal(got.body, &said); err != nil || got.status != http.StatusOK || got.header.Get("Content-Type") != "application/json" {
		c.t.Errorf("%s: got %s", body, got)
		return said
	}
	if text := said.Result.Content; len(text) > 0 {
		var again map[string]json.RawMessage
		if err := json.Unmarshal([]byte(text[0].Text), &again); err != nil || len(again) != len(said.Result.StructuredContent) {
			c.t.Errorf("%s: the text is not the structured content: %s", body, got)
		}
	}
	return said
}

func TestAgent_ConnectsAndFindsEveryTool(t *testing.T) {
	onBoth(t, func(t *testing.T, on *target) {
		agent := from(t, on)
		hello := agent.tell(message("initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"a","version":"1"}}`))
		if hello.Result.ProtocolVersion != "2025-06-18" {
			t.Errorf("got %+v", hello)
		}
		var names []string
		for _, tool := range agent.tell(message("tools/list", "{}")).Result.Tools {
			names = append(names, tool.Name)
		}
		for _, want := range strings.Fields("domain_check domain_search whois_lookup list_tlds tld_price " + signedInTools) {
			if !strings.Contains(strings.Join(names, " "), want) {
				t.Errorf("%s is not among %v", want, names)
			}
		}
		if len(names) != 10 {
			t.Errorf("%d tools are listed", len(names))
		}
	})
}

func TestEveryAnonymousToolAnswers(t *testing.T) {
	onBoth(t, func(t *testing.T, on *target) {
		for _, test := range []struct {
			label, tool, arguments string
			failed                 bool
			want                   fields
		}{
			{"free", "domain_check", object("domain", secret+"-agent.de"), false, fields{"available": "true", "tld": `".de"`, "registerEur": "6.90"}},
			{"taken", "domain_check", object("domain", "google.de"), false, fields{"available": "false"}},
			{"not carried", "domain_check", object("domain", secret+".ZZ"), false, fields{"domain": `"` + secret + `.ZZ"`, "tld": `".zz"`, "supported": "false"}},
			{"bad name", "domain_check", object("domain", "-"+secret+".de"), true, fields{"code": `"invalid_input"`, "retryable": "false"}},
			{"search", "domain_search", object("query", secret+"-agent"), false, fields{"sld": `"` + secret + `-agent"`}},
			{"registered", "whois_lookup", object("domain", "google.com"), false, fields{"domain": `"google.com"`, "registered": "true"}},
			{"not registered", "whois_lookup", object("domain", secret+"-agent.com"), false, fields{"registered": "false", "nameservers": "[]", "registrar": "null"}},
			{"no extension of ours", "whois_lookup", object("domain", secret+".zz"), true, fields{"code": `"unsupported_extension"`}},
			{"page", "list_tlds", `{"limit":2}`, false, fields{"limit": "2", "offset": "0"}},
			{"price", "tld_price", object("tld", ".de"), false, fields{"tld": `".de"`, "registerEur": "6.90", "renewEur": "5.90", "transferEur": "5.90"}},
			{"no price", "tld_price", object("tld", ".zz"), true, fields{"code": `"unsupported_extension"`}},
		} {
			said := from(t, on).tell(toolCall(test.tool, test.arguments)).Result
			if said.IsError != test.failed {
				t.Errorf("%s: isError is %v: %s", test.label, said.IsError, said.StructuredContent)
			}
			for key, want := range test.want {
				if got := string(said.StructuredContent[key]); got != want {
					t.Errorf("%s: %s is %s, want %s", test.label, key, got, want)
				}
			}
		}
	})
}

func TestASignedInToolIs401WithExactlyThisHeader(t *testing.T) {
	onBoth(t, func(t *testing.T, on *target) {
		agent := from(t, on)
		want := `Bearer resource_metadata="` + on.base + `/.well-known/oauth-protected-resource/api/mcp"`
		var all []request
		for _, tool := range strings.Fields(signedInTools) {
			all = append(all, request{path: mcpPath, body: toolCall(tool, "{}")})
		}
		stale := map[string]string{"Authorization": "Bearer " + secret}
		all = append(all,
			request{path: mcpPath, body: toolCall("tld_price", object("tld", ".de")), header: stale},
			request{path: mcpLoginPath, body: message("ping", "{}")},
			request{path: mcpLoginPath, body: message("ping", "{}"), header: stale},
		)
		for _, r := range all {
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

func TestAgentsAndRESTSpendOneBudgetAndWhoisItsOwn(t *testing.T) {
	onBoth(t, func(t *testing.T, on *target) {
		client := from(t, on)
		for i := range perMinute {
			if i%2 == 0 {
				client.check(secret + ".zz")
				continue
			}
			if said := client.tell(toolCall("tld_price", object("tld", ".de"))); said.Result.IsError {
				t.Errorf("call %d: %s", i, said.Result.StructuredContent)
			}
		}
		said := client.tell(toolCall("domain_check", object("domain", secret+".zz"))).Result
		if !said.IsError || string(said.StructuredContent["code"]) != `"rate_limited"` || len(said.StructuredContent["retryAfter"]) == 0 {
			t.Errorf("got %s", said.StructuredContent)
		}
		mustBeOver(t, "REST", client.check(secret+".zz"), 1, 60)
		client.tell(message("tools/list", "{}"))

		for i := range whoisAMinute {
			if said := client.tell(toolCall("whois_lookup", object("domain", "google.com"))); said.Result.IsError {
				t.Errorf("whois %d: %s", i, said.Result.StructuredContent)
			}
		}
		if said := client.tell(toolCall("whois_lookup", object("domain", "google.com"))).Result; string(said.StructuredContent["code"]) != `"rate_limited"` {
			t.Errorf("got %s", said.StructuredContent)
		}
	})
}

// The client looks for contact words in every answer; this test asks for many
// records that have some.
func TestContactsNeverComeOutOfWhoisLookup(t *testing.T) {
	onBoth(t, func(t *testing.T, on *target) {
		for _, label := range []string{"google", "siemens", "wikipedia"} {
			client := from(t, on)
			for _, tld := range []string{".de", ".com", ".eu", ".net", ".org", ".shop", ".io", ".dev", ".at", ".be", ".it", ".ch", ".co.uk"} {
				said := client.tell(toolCall("whois_lookup", object("domain", label+tld))).Result
				if said.IsError || string(said.StructuredContent["registered"]) != "true" {
					t.Errorf("%s%s: %s", label, tld, said.StructuredContent)
				}
			}
		}
	})
}

func TestTheMCPEndpointRefusesInItsOwnWords(t *testing.T) {
	onBoth(t, func(t *testing.T, on *target) {
		client := from(t, on)
		for _, test := range []struct {
			label  string
			r      request
			status int
		}{
			{"GET", request{method: http.MethodGet, path: mcpPath}, 405},
			{"DELETE", request{method: http.MethodDelete, path: mcpPath}, 405},
			{"a batch", request{path: mcpPath, body: "[" + message("ping", "{}") + "]"}, 400},
			{"no JSON", request{path: mcpPath, body: "{"}, 400},
			{"a form", request{path: mcpPath, body: "{}", header: map[string]string{"Content-Type": "text/plain"}}, 415},
			{"a page elsewhere", request{path: mcpPath, body: message("ping", "{}"), header: map[string]string{"Origin": "https://page.example"}}, 403},
			{"65 KiB", request{path: mcpPath, body: message("ping", "{}") + strings.Repeat(" ", 65<<10)}, 413},
		} {
			got := client.send(test.r)
			mustBe(t, test.label, got, test.status, fields{"jsonrpc": `"2.0"`, "id": "null"})
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

// That no argument gets there is looked at when all tests have run.
func TestTheLogNamesTheTool(t *testing.T) {
	onBoth(t, func(t *testing.T, on *target) {
		client := from(t, on)
		got := client.send(request{path: mcpPath, body: toolCall("domain_check", object("domain", "-"+secret+".de"))})
		client.tell(toolCall("domain_search", object("query", secret+"-log")))
		client.send(request{path: mcpPath, body: toolCall(secret, object(secret, secret))})
		eventually(t, "the record of the call", func() bool {
			text, err := os.ReadFile(on.log)
			if err != nil {
				t.Fatal(err)
			}
			for _, record := range requestRecords(text)[got.header.Get("X-Request-Id")] {
				return record["tool"] == "domain_check" && record["route"] == mcpPath && record["error"] == "invalid" &&
					!bytes.Contains(text, []byte(secret))
			}
			return false
		})
	})
}
