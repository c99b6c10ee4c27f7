package contract

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
)

const (
	kindJSON     = "application/json"
	kindMarkdown = "text/markdown; charset=utf-8"
	kindPlain    = "text/plain; charset=utf-8"
)

// documents are the public documents and their types.
var documents = map[string]string{
	"/.well-known/oauth-protected-resource/api/mcp":       kindJSON,
	"/.well-known/oauth-protected-resource/api/mcp/login": kindJSON,
	"/.well-known/oauth-protected-resource":               kindJSON,
	"/.well-known/oauth-authorization-server":             kindJSON,
	"/.well-known/mcp/server-card.json":                   kindJSON,
	"/api/mcp/server-card":                                "application/mcp-server-card+json",
	"/.well-known/api-catalog":                            `application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"`,
	"/.well-known/acp.json":                               kindJSON,
	"/.well-known/auth.md":                                kindMarkdown,
	"/auth.md":                                            kindMarkdown,
	"/agents.md":                                          kindMarkdown,
	"/checkout.md":                                        kindMarkdown,
	openAPIPath:                                           kindJSON,
	"/.well-known/ai-catalog.json":                        "application/ai-catalog+json",
	"/llms.txt":                                           kindPlain,
	"/robots.txt":                                         kindPlain,
}

func TestDocuments_ServedWithCachingHeaders(t *testing.T) {
	onBothTargets(t, func(t *testing.T, on *target) {
		client := newCaller(t, on)
		for path, kind := range documents {
			whole := client.get(path)
			if whole.status != http.StatusOK || len(whole.body) == 0 {
				t.Errorf("%s: got %s", path, whole)
				continue
			}
			tag := whole.header.Get("ETag")
			for key, want := range map[string]string{
				"Content-Type": kind, "Cache-Control": "public, max-age=3600", "Access-Control-Allow-Origin": "*",
				"Content-Length": fmt.Sprint(len(whole.body)),
			} {
				if got := whole.header.Get(key); got != want {
					t.Errorf("%s: %s is %q, want %q", path, key, got, want)
				}
			}
			if strings.Contains(kind, "json") && !json.Valid(whole.body) {
				t.Errorf("%s is not JSON: %s", path, whole.body)
			}
			if text := string(whole.body); strings.Contains(text, "{base_url}") || path != "/robots.txt" && !strings.Contains(text, on.base) {
				t.Errorf("%s does not contain the base URL", path)
			}
			head := client.send(request{method: http.MethodHead, path: path})
			if head.status != http.StatusOK || len(head.body) != 0 {
				t.Errorf("HEAD %s: got %s", path, head)
			}
			for _, header := range []http.Header{head.header, whole.header} {
				header.Del("X-Request-Id")
				header.Del("Date")
			}
			if !maps.EqualFunc(head.header, whole.header, slices.Equal) {
				t.Errorf("HEAD %s has the headers %v, GET %v", path, head.header, whole.header)
			}
			again := client.send(request{method: http.MethodGet, path: path, header: map[string]string{"If-None-Match": tag}})
			if tag == "" || again.status != http.StatusNotModified || len(again.body) != 0 || again.header.Get("ETag") != tag {
				t.Errorf("%s with ETag %q again: got %s", path, tag, again)
			}
			refused := client.send(request{path: path, body: "{}"})
			wantErrorResponse(t, "POST "+path, refused, http.StatusMethodNotAllowed)
		}
	})
}

func TestAPICatalog_LinkHeader(t *testing.T) {
	onBothTargets(t, func(t *testing.T, on *target) {
		for _, path := range []string{"/.well-known/api-catalog", "/"} {
			got := newCaller(t, on).send(request{method: http.MethodHead, path: path})
			if want := "<" + on.base + `/.well-known/api-catalog>; rel="api-catalog"`; got.header.Get("Link") != want {
				t.Errorf("%s: Link is %q, want %q", path, got.header.Get("Link"), want)
			}
		}
	})
}

// Clients probe many paths; HTML or a redirect would mislead them.
func TestWellKnown_UnknownPathIs404(t *testing.T) {
	onBothTargets(t, func(t *testing.T, on *target) {
		for _, path := range []string{
			"/.well-known", "/.well-known/", "/.well-known/openid-configuration", "/.well-known/mcp.json", "/.well-known/mcp",
			"/.well-known/oauth-authorization-server/api/mcp", "/.well-known/oauth-authorization-server/",
			"/.well-known/oauth-protected-resource/", "/.well-known/oauth-protected-resource/other", "/.well-known/agent.json",
			"/.well-known/acp.json/", "/.well-known//acp.json",
		} {
			wantErrorResponse(t, path, newCaller(t, on).get(path), http.StatusNotFound)
		}
	})
}

func TestCheckout_UnsignedRequestIs401(t *testing.T) {
	onBothTargets(t, func(t *testing.T, on *target) {
		for _, test := range []struct{ method, path string }{
			{http.MethodPost, "/api/acp/checkout_sessions"},
			{http.MethodGet, "/api/acp/checkout_sessions/cs_1"},
			{http.MethodPost, "/api/acp/checkout_sessions/cs_1"},
			{http.MethodPost, "/api/acp/checkout_sessions/cs_1/cancel"},
		} {
			got := newCaller(t, on).send(request{method: test.method, path: test.path, invalid: true})
			wantResponse(t, test.path, got, http.StatusUnauthorized, wantFields{"type": `"invalid_request"`, "code": `"signature_required"`})
			wantOnlyFields(t, test.path, got.fields, "type", "code", "message")
			other := newCaller(t, on).send(request{method: http.MethodDelete, path: test.path})
			wantResponse(t, "DELETE "+test.path, other, http.StatusMethodNotAllowed, wantFields{"type": `"invalid_request"`})
			if other.header.Get("Allow") == "" || other.header.Get("Location") != "" {
				t.Errorf("DELETE %s: headers %v", test.path, other.header)
			}
		}
	})
}

const completePath = "/api/acp/checkout_sessions/cs_1/complete"

func TestComplete_InvalidSignatureIs401(t *testing.T) {
	onBothTargets(t, func(t *testing.T, on *target) {
		// The published test vector, which is public.
		const vector = "HqZMqZcKcGOmY_QgWoj85aIC7mfF38wLxV14Gs6ZOC8"
		for _, test := range []struct{ label, timestamp, signature, code string }{
			{"unsigned", "", "", "signature_required"},
			{"without a time", "", vector, "signature_required"},
			{"old", "2020-01-01T00:00:00Z", vector, "stale_timestamp"},
			{"no time", "yesterday", vector, "invalid_signature"},
		} {
			got := newCaller(t, on).send(request{
				path: completePath, body: `{"payment_data":{"token":"spt_123","provider":"stripe"}}`,
				header: map[string]string{"Timestamp": test.timestamp, "Signature": test.signature}, invalid: true,
			})
			wantResponse(t, test.label, got, http.StatusUnauthorized, wantFields{"type": `"invalid_request"`, "code": `"` + test.code + `"`})
			wantOnlyFields(t, test.label, got.fields, "type", "code", "message")
		}
	})
}
