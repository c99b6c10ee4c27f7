package contract

import (
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// bearer returns an Authorization header.
func bearer(token string) map[string]string {
	return map[string]string{"Authorization": "Bearer " + token}
}

func (c *caller) listMyDomains(token string) apiResponse {
	c.t.Helper()
	return c.send(request{path: mcpPath, body: toolCall("list_my_domains", "{}"), header: bearer(token)})
}

// outputSchema returns the published output schema of a tool.
func (c *caller) outputSchema(tool string) *jsonschema.Schema {
	c.t.Helper()
	got := c.send(request{path: mcpPath, body: message("tools/list", "{}")})
	var listed struct {
		Result struct {
			Tools []struct {
				Name         string
				OutputSchema any
			}
		}
	}
	if err := json.Unmarshal(got.body, &listed); err != nil {
		c.t.Fatal(err)
	}
	for _, entry := range listed.Result.Tools {
		if entry.Name != tool {
			continue
		}
		compiler := jsonschema.NewCompiler()
		compiler.AssertFormat()
		if err := compiler.AddResource("schema.json", entry.OutputSchema); err != nil {
			c.t.Fatal(err)
		}
		schema, err := compiler.Compile("schema.json")
		if err != nil {
			c.t.Fatal(err)
		}
		return schema
	}
	c.t.Fatalf("%s is not listed", tool)
	return nil
}

type listedDomain struct {
	Domain, TLD, Status string
	ExpiresAt           *time.Time
	AutoRenew           *bool
}

func TestListMyDomains_EveryStateInPublishedSchema(t *testing.T) {
	onBothTargets(t, func(t *testing.T, on *target) {
		client := newCaller(t, on)
		got := client.listMyDomains(on.demo.Token)
		var output struct {
			Result struct {
				IsError           bool
				StructuredContent json.RawMessage
				Content           []struct{ Text string }
			}
		}
		if err := json.Unmarshal(got.body, &output); err != nil || got.status != http.StatusOK || output.Result.IsError {
			t.Fatalf("got %s", got)
		}
		if len(output.Result.Content) != 1 || output.Result.Content[0].Text != string(output.Result.StructuredContent) {
			t.Errorf("the text is not the structured content: %s", got)
		}
		var shape any
		var list struct{ Domains []listedDomain }
		if err := json.Unmarshal(output.Result.StructuredContent, &shape); err != nil {
			t.Fatal(err)
		}
		if err := client.outputSchema("list_my_domains").Validate(shape); err != nil {
			t.Errorf("the result violates its schema: %v", err)
		}
		if err := json.Unmarshal(output.Result.StructuredContent, &list); err != nil {
			t.Fatal(err)
		}
		var names, states []string
		for _, domain := range list.Domains {
			names, states = append(names, domain.Domain), append(states, domain.Status)
			if !strings.HasSuffix(domain.Domain, domain.TLD) || domain.AutoRenew == nil || domain.ExpiresAt == nil && domain.Status != "pending" {
				t.Errorf("got %+v", domain)
			}
			if domain.Status == "active" || domain.Status == "transferred_out" {
				wantResponse(t, domain.Status, client.check(domain.Domain), http.StatusOK, wantFields{"available": "false"})
			}
		}
		slices.Sort(states)
		want := []string{"active", "expired", "pending", "redemption", "transferred_out", "transit"}
		if got := slices.Compact(states); !slices.Equal(got, want) || !slices.IsSorted(names) {
			t.Errorf("got %v in the states %v", names, got)
		}
	})
}

func TestToken_InvalidIs401WithChallenge(t *testing.T) {
	onBothTargets(t, func(t *testing.T, on *target) {
		client := newCaller(t, on)
		want := `Bearer resource_metadata="` + on.base + `/.well-known/oauth-protected-resource/api/mcp"`
		token := on.demo.Token
		last := "0"
		if strings.HasSuffix(token, last) {
			last = "1"
		}
		mine, anyones := toolCall("list_my_domains", "{}"), toolCall("tld_price", object("tld", ".de"))
		var all []request
		for _, body := range []string{mine, anyones, message("tools/list", "{}")} {
			for _, wrong := range []string{
				token[:len(token)-1] + last, token[:len(token)-1], token + "x", "dotkontor_live_", "x", strings.ToUpper(token),
				strings.Replace(token, "_live_", "_access_", 1),
			} {
				all = append(all, request{path: mcpPath, body: body, header: bearer(wrong)})
			}
			all = append(all,
				request{path: mcpPath + "?access_token=" + token, body: body},
				request{path: mcpPath + "?access_token=" + token, body: body, header: bearer(token)},
				request{path: mcpPath + "?key=" + token, body: body},
				request{path: mcpLoginPath + "?key=" + token, body: body, header: bearer(token)},
				request{path: mcpPath, body: body, header: map[string]string{"Authorization": "Bearer: " + token}},
			)
		}
		all = append(all, request{path: mcpPath, body: mine, header: map[string]string{"Authorization": "Basic " + token}})
		for i, r := range all {
			got := client.send(r)
			if values := got.header.Values("WWW-Authenticate"); got.status != http.StatusUnauthorized || len(values) != 1 || values[0] != want {
				t.Errorf("request %d, %s: got %s with %q", i, r.body, got, values)
			}
		}
		if got := client.listMyDomains(token); got.status != http.StatusOK {
			t.Errorf("the token itself: got %s", got)
		}
	})
}

// Has its own sandbox, because it uses up a token's budget and revokes one.
func TestToken_RateLimitedAfterSixtyCallsAndRevocationIsImmediate(t *testing.T) {
	t.Parallel()
	on, err := startSandbox("sandbox-with-a-busy-token")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := on.process.stop(); err != nil {
			t.Error(err)
		}
	})
	client := newCaller(t, on)
	for i := range 60 {
		if got := client.listMyDomains(on.demo.Token); got.status != http.StatusOK || strings.Contains(string(got.body), "rate_limited") {
			t.Fatalf("call %d: got %s", i+1, got)
		}
	}
	over := client.send(request{path: mcpPath, body: toolCall("list_my_domains", "{}"), header: bearer(on.demo.Token)})
	var output toolOutcome
	if err := json.Unmarshal(over.body, &output); err != nil || over.status != http.StatusOK || !output.Result.IsError ||
		string(output.Result.StructuredContent["code"]) != `"rate_limited"` || len(output.Result.StructuredContent["retryAfter"]) == 0 {
		t.Errorf("call 61: got %s", over)
	}
	if got := client.check("a.zz"); remaining(got) != perMinute-1 {
		t.Errorf("the budget of the address was spent, too: %q", got.header.Get("RateLimit"))
	}

	config := filepath.Join(on.data, "serve.toml")
	listed := runCLI(t, "tokens", "list", on.demo.Email, "--json", "--config", config)
	var tokens []struct{ ID string }
	if err := json.Unmarshal([]byte(listed.out), &tokens); err != nil || len(tokens) != 1 {
		t.Fatalf("tokens list: %+v (%v)", listed, err)
	}
	if strings.Contains(listed.out, on.demo.Token) {
		t.Error("the list shows the token itself")
	}
	if done := runCLI(t, "tokens", "revoke", tokens[0].ID, "--config", config); done.code != 0 {
		t.Fatalf("tokens revoke: %+v", done)
	}
	for _, tool := range []string{toolCall("list_my_domains", "{}"), toolCall("tld_price", object("tld", ".de"))} {
		if got := client.send(request{path: mcpPath, body: tool, header: bearer(on.demo.Token)}); got.status != http.StatusUnauthorized {
			t.Errorf("after the revocation: got %s", got)
		}
	}
}

// No file of the product except the --info file contains the token: neither log nor
// database.
func TestToken_NotInLogOrDatabase(t *testing.T) {
	onBothTargets(t, func(t *testing.T, on *target) {
		client := newCaller(t, on)
		client.listMyDomains(on.demo.Token)
		client.send(request{path: mcpPath + "?access_token=" + on.demo.Token, body: toolCall("list_my_domains", "{}")})
		for _, file := range readFiles(t, on.data) {
			name := filepath.Base(file.path)
			if name == "demo.json" {
				continue
			}
			if strings.Contains(file.text, on.demo.Token) {
				t.Errorf("the token is in %s", name)
			}
		}
	})
}

type textFile struct{ path, text string }

func readFiles(t *testing.T, folder string) []textFile {
	t.Helper()
	var all []textFile
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) { // a journal that was just removed
			return nil
		}
		all = append(all, textFile{path, string(text)})
		return err
	})
	if err != nil || len(all) == 0 {
		t.Fatalf("%d files: %v", len(all), err)
	}
	return all
}
