package discovery

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/dotkontor/dotkontor/internal/registrar/signing"
)

const base = "https://domains.example"

// render returns the documents by path.
func render(t *testing.T, facts Facts) map[string]http.HandlerFunc {
	t.Helper()
	routes, err := Routes(facts)
	if err != nil {
		t.Fatal(err)
	}
	documents := make(map[string]http.HandlerFunc)
	for _, r := range routes {
		documents[r.Path] = r.Handler
	}
	return documents
}

func get(serve http.HandlerFunc) *httptest.ResponseRecorder {
	answer := httptest.NewRecorder()
	serve(answer, httptest.NewRequest(http.MethodGet, "/", nil))
	return answer
}

// getObject fetches a document that is a JSON object.
func getObject(t *testing.T, serve http.HandlerFunc) map[string]any {
	t.Helper()
	var got map[string]any
	if err := json.Unmarshal(get(serve).Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	return got
}

// wantFields compares the named fields; want is JSON.
func wantFields(t *testing.T, got map[string]any, want string) {
	t.Helper()
	var fields map[string]any
	if err := json.Unmarshal([]byte(want), &fields); err != nil {
		t.Fatal(err)
	}
	for key, value := range fields {
		if !reflect.DeepEqual(got[key], value) {
			t.Errorf("%s is %v, want %v", key, got[key], value)
		}
	}
}

func TestDocuments_KeepNoPlaceholder(t *testing.T) {
	t.Parallel()
	placeholder := regexp.MustCompile(`\{(base_url|version|host|(lookup|whois|token)_[a-z0-9_]+)\}`)
	for name, serve := range render(t, Facts{BaseURL: base + "/", LookupPerMinute: 31, LookupPer6Hours: 301}) {
		body := get(serve).Body.String()
		if found := placeholder.FindString(body); found != "" || body == "" {
			t.Errorf("%s: %q is left, in %d bytes", name, found, len(body))
		}
		if strings.Contains(body, base+"//") {
			t.Errorf("%s: the slash of the base URL is doubled", name)
		}
	}
}

func TestDocuments_StateRateLimits(t *testing.T) {
	t.Parallel()
	documents := render(t, Facts{
		BaseURL: base, LookupPerMinute: 31, LookupPer6Hours: 301, WhoisPerMinute: 16, WhoisPer6Hours: 151,
		TokenPerMinute: 61, TokenPerHour: 1001,
	})
	for name, serve := range map[string]http.HandlerFunc{"openapi": documents["/openapi.json"], "auth": documents["/auth.md"], "llms": documents["/llms.txt"]} {
		if body := get(serve).Body.String(); !strings.Contains(body, "31 requests per minute") || !strings.Contains(body, "301 ") {
			t.Errorf("%s does not list the limits", name)
		}
	}
	if body := get(documents["/auth.md"]).Body.String(); !strings.Contains(body, "16 per minute and 151 per 6 hours") {
		t.Error("the limits of whois_lookup are missing")
	}
	for name, serve := range map[string]http.HandlerFunc{"auth": documents["/auth.md"], "llms": documents["/llms.txt"]} {
		if body := get(serve).Body.String(); !strings.Contains(body, "61 calls per minute and 1001 per hour") {
			t.Errorf("%s does not list the limits of a token", name)
		}
	}
}

func TestDocuments_RevalidateByETag(t *testing.T) {
	t.Parallel()
	for name, serve := range render(t, Facts{BaseURL: base}) {
		etag := get(serve).Header().Get("ETag")
		for header, want := range map[string]int{etag: 304, "W/" + etag: 304, `"x", ` + etag: 304, "*": 304, `"x"`: 200, "": 200} {
			request := httptest.NewRequest(http.MethodGet, "/", nil)
			request.Header.Set("If-None-Match", header)
			answer := httptest.NewRecorder()
			serve(answer, request)
			if answer.Code != want {
				t.Errorf("%s: If-None-Match %s: %d, want %d", name, header, answer.Code, want)
			}
		}
	}
}

func TestDocuments_BaseURLIsEscaped(t *testing.T) {
	t.Parallel()
	for name, serve := range render(t, Facts{BaseURL: `https://x.example/"},{"evil`}) {
		answer := get(serve)
		if strings.Contains(answer.Header().Get("Content-Type"), "json") && !json.Valid(answer.Body.Bytes()) {
			t.Errorf("%s is no longer JSON", name)
		}
	}
	for address, want := range map[string]string{
		"https://domains.example": "domains.example", "http://[::1]:8080": "--1", "http://127.0.0.1:1": "127.0.0.1", "\x00": "localhost",
	} {
		if got := urnHost(address); got != want {
			t.Errorf("the host of %q is %q, want %q", address, got, want)
		}
	}
}

func TestOAuthMetadata_Fields(t *testing.T) {
	t.Parallel()
	documents := render(t, Facts{BaseURL: base + "/"})
	wantFields(t, getObject(t, documents["/.well-known/oauth-protected-resource"]), `{
		"resource": "https://domains.example/api/mcp", "authorization_servers": ["https://domains.example"],
		"scopes_supported": ["mcp:read", "mcp:write"], "bearer_methods_supported": ["header"]}`)
	wantFields(t, getObject(t, documents["/.well-known/oauth-authorization-server"]), `{
		"issuer": "https://domains.example",
		"authorization_endpoint": "https://domains.example/oauth/authorize/",
		"token_endpoint": "https://domains.example/oauth/token/",
		"registration_endpoint": "https://domains.example/oauth/register/",
		"revocation_endpoint": "https://domains.example/oauth/revoke/",
		"response_types_supported": ["code"], "response_modes_supported": ["query"],
		"grant_types_supported": ["authorization_code", "refresh_token"],
		"code_challenge_methods_supported": ["S256"],
		"token_endpoint_auth_methods_supported": ["none", "client_secret_post"],
		"revocation_endpoint_auth_methods_supported": ["none", "client_secret_post"],
		"scopes_supported": ["mcp:read", "mcp:write"],
		"authorization_response_iss_parameter_supported": true}`)
}

func TestServerCard_MatchesSEP2127AndPredecessor(t *testing.T) {
	t.Parallel()
	documents := render(t, Facts{BaseURL: base, Version: "1.2.3-dev"})
	card := getObject(t, documents["/.well-known/mcp/server-card.json"])
	for field, pattern := range map[string]string{
		"$schema": `^https://static\.modelcontextprotocol\.io/schemas/v1/server-card\.schema\.json$`,
		"name":    `^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$`, "version": `^1\.2\.3-dev$`, "description": `^.{1,100}$`, "title": `^.{1,100}$`,
	} {
		text, _ := card[field].(string)
		if !utf8.ValidString(text) || !regexp.MustCompile(pattern).MatchString(text) {
			t.Errorf("%s is %q", field, text)
		}
	}
	wantFields(t, card, `{
		"serverInfo": {"name": "dotkontor", "title": "dotkontor domains", "version": "1.2.3-dev"},
		"capabilities": {"tools": {}},
		"transport": {"type": "streamable-http", "endpoint": "/api/mcp", "url": "https://domains.example/api/mcp"},
		"remotes": [{"type": "streamable-http", "url": "https://domains.example/api/mcp",
			"supportedProtocolVersions": ["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"]}]}`)
	if !reflect.DeepEqual(card, getObject(t, documents["/api/mcp/server-card"])) {
		t.Error("the two cards differ")
	}
}

func TestACPDocument_TestVectorVerifies(t *testing.T) {
	t.Parallel()
	var document struct {
		Signing struct {
			Headers   struct{ Timestamp, Signature string }
			Tolerance int
			Vector    struct{ Secret, Timestamp, Body, Signature string } `json:"test_vector"`
		} `json:"request_signing"`
	}
	if err := json.Unmarshal(get(render(t, Facts{BaseURL: base})["/.well-known/acp.json"]).Body.Bytes(), &document); err != nil {
		t.Fatal(err)
	}
	published := document.Signing
	if got := signing.Compute(published.Vector.Secret, published.Vector.Timestamp, []byte(published.Vector.Body)); got != published.Vector.Signature {
		t.Errorf("the vector's signature is %s, we compute %s", published.Vector.Signature, got)
	}
	if published.Tolerance != int(signing.Tolerance.Seconds()) || published.Headers.Timestamp != signing.TimestampHeader ||
		published.Headers.Signature != signing.SignatureHeader {
		t.Errorf("the document has %+v", published)
	}
}

func TestAuthDocument_ListsAccessMethods(t *testing.T) {
	t.Parallel()
	text := get(render(t, Facts{BaseURL: base})["/auth.md"]).Body.String()
	heading, _, _ := strings.Cut(text, "\n")
	if !strings.HasPrefix(heading, "# ") || !strings.Contains(heading, "auth.md") {
		t.Errorf("the heading is %q", heading)
	}
	for _, sentence := range []string{
		"Audience:", "## 1. Anonymous", "## 2. OAuth 2.1", "## 3. Personal access token", "Agents can't register themselves",
		"no agent identity endpoint", "no `agent_auth` block", "`dotkontor_live_`",
		`WWW-Authenticate: Bearer resource_metadata="https://domains.example/.well-known/oauth-protected-resource/api/mcp"`,
		"https://domains.example/oauth/revoke/",
	} {
		if !strings.Contains(text, sentence) {
			t.Errorf("%q is missing", sentence)
		}
	}
}

func TestOpenAPI_CompletionHasPaymentInfo(t *testing.T) {
	t.Parallel()
	var document struct {
		Paths map[string]map[string]struct {
			Payment   map[string]any `json:"x-payment-info"`
			Responses map[string]any
		}
	}
	if err := json.Unmarshal(get(render(t, Facts{BaseURL: base})["/openapi.json"]).Body.Bytes(), &document); err != nil {
		t.Fatal(err)
	}
	complete := document.Paths["/api/acp/checkout_sessions/{id}/complete"]["post"]
	want := map[string]any{"intent": "charge", "method": "stripe", "currency": "eur", "amount": nil}
	if !reflect.DeepEqual(complete.Payment, want) {
		t.Errorf("x-payment-info is %v", complete.Payment)
	}
	for _, status := range []string{"200", "401", "402", "404", "422"} {
		if _, found := complete.Responses[status]; !found {
			t.Errorf("%s is missing", status)
		}
	}
}
