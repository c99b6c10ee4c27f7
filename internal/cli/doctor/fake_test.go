package doctor

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// fakeService conforms to the contract and shares no code with the service. Its documents
// name the URL of the request.
type fakeService struct {
	mu    sync.Mutex
	spent map[string]int
}

func (s *fakeService) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Access-Control-Allow-Origin", "*")
	w.Header().Set("Access-Control-Expose-Headers", "Retry-After, RateLimit, WWW-Authenticate")
	base := "http://" + r.Host
	if r.TLS != nil {
		base = "https://" + r.Host
	}
	posts := slices.Contains([]string{checkPath, searchPath, mcpPath, mcpLoginPath}, r.URL.Path)
	switch {
	case posts && r.Method == http.MethodOptions:
		w.Header().Set("Access-Control-Allow-Methods", "OPTIONS, POST")
		w.Header().Set("Access-Control-Allow-Headers", "Content-Type, Authorization, MCP-Protocol-Version")
		w.WriteHeader(http.StatusNoContent)
	case posts && r.Method != http.MethodPost:
		w.Header().Set("Allow", "OPTIONS, POST")
		sendJSON(w, http.StatusMethodNotAllowed, map[string]any{"error": "Andere Methode."})
	case r.URL.Path == checkPath || r.URL.Path == searchPath:
		s.lookup(w, r, body)
	case r.URL.Path == "/readyz":
		fmt.Fprint(w, "ready\n")
	case r.URL.Path == completionPath:
		sendJSON(w, http.StatusUnauthorized, map[string]any{"type": "invalid_request", "code": "signature_required"})
	case posts:
		s.mcp(w, r, base, body)
	case strings.HasPrefix(r.URL.Path, rdapPath):
		fakeRDAP(w, r)
	default:
		s.document(w, r, base)
	}
}

func fakeRDAP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", rdapMediaType)
	answer := map[string]any{"rdapConformance": []string{"rdap_level_0", responseProfile}, "notices": []any{map[string]any{"title": "Terms of Service"}}}
	if r.URL.Path != rdapPath+"help" {
		w.WriteHeader(http.StatusNotFound)
		answer = map[string]any{"rdapConformance": []string{"rdap_level_0"}, "errorCode": 404}
	}
	fmt.Fprint(w, toJSON(answer))
}

func sendJSON(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprint(w, toJSON(value))
}

// spend counts one request and returns the remaining budget, -1 if it was used up.
func (s *fakeService) spend(r *http.Request) int {
	host, _, _ := net.SplitHostPort(r.RemoteAddr)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.spent[host] == 30 {
		return -1
	}
	s.spent[host]++
	return 30 - s.spent[host]
}

func (s *fakeService) lookup(w http.ResponseWriter, r *http.Request, body []byte) {
	left := s.spend(r)
	w.Header().Set("RateLimit", fmt.Sprintf(`"60s";r=%d;t=60`, max(left, 0)))
	w.Header().Set("RateLimit-Policy", `"60s";q=30;w=60, "21600s";q=300;w=21600`)
	if left < 0 {
		w.Header().Set("Retry-After", "60")
		sendJSON(w, http.StatusTooManyRequests, map[string]any{"error": "Zu viele Anfragen."})
		return
	}
	var question struct{ Domain, Query string }
	if err := json.Unmarshal(body, &question); err != nil {
		sendJSON(w, http.StatusBadRequest, map[string]any{"error": "Kein JSON."})
		return
	}
	if r.URL.Path == checkPath {
		sendJSON(w, http.StatusOK, fakeCheck(question.Domain))
		return
	}
	var results []any
	for _, tld := range searchTLDs {
		results = append(results, map[string]any{
			"domain": question.Query + tld, "tld": tld, "available": true, "priceEur": json.Number("6.90"),
		})
	}
	sendJSON(w, http.StatusOK, map[string]any{"sld": question.Query, "results": results})
}

func fakeCheck(domain string) map[string]any {
	if strings.HasSuffix(domain, ".invalid") {
		return map[string]any{"domain": domain, "tld": ".invalid", "supported": false}
	}
	return map[string]any{
		"domain": domain, "tld": ".com", "available": domain != "google.com",
		"registerEur": json.Number("12.90"), "renewEur": json.Number("12.90"), "transferEur": json.Number("12.90"),
	}
}

func (s *fakeService) document(w http.ResponseWriter, r *http.Request, base string) {
	text, found := fakeDocuments(base)[r.URL.Path]
	if !found {
		sendJSON(w, http.StatusNotFound, map[string]any{"error": "Diese Adresse gibt es nicht."})
		return
	}
	const etag = `"one"`
	w.Header().Set("ETag", etag)
	if r.Header.Get("If-None-Match") == etag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	kind := "application/json"
	switch r.URL.Path {
	case apiCatalogPath:
		kind = catalogueMediaType + `; profile="` + catalogueProfile + `"`
		w.Header().Set("Link", "<"+base+apiCatalogPath+`>; rel="api-catalog"`)
	case authTextPath:
		kind = "text/markdown; charset=utf-8"
	}
	w.Header().Set("Content-Type", kind)
	fmt.Fprint(w, text)
}

func fakeDocuments(base string) map[string]string {
	scopes := []string{"mcp:read", "mcp:write"}
	resource := toJSON(map[string]any{"resource": base + mcpPath, "authorization_servers": []string{base}, "scopes_supported": scopes})
	return map[string]string{
		resourcePath:     resource,
		rootResourcePath: resource,
		authorizationPath: toJSON(map[string]any{
			"issuer":                                base,
			"authorization_endpoint":                base + "/oauth/authorize/",
			"token_endpoint":                        base + "/oauth/token/",
			"registration_endpoint":                 base + "/oauth/register/",
			"revocation_endpoint":                   base + "/oauth/revoke/",
			"response_types_supported":              []string{"code"},
			"grant_types_supported":                 []string{"authorization_code", "refresh_token"},
			"code_challenge_methods_supported":      []string{"S256"},
			"token_endpoint_auth_methods_supported": []string{"none", "client_secret_post"},
			"scopes_supported":                      scopes,
		}),
		serverCardPath: toJSON(map[string]any{
			"name": "example.domains/shop", "version": "1.0.0", "description": "Domains.",
			"remotes": []any{map[string]any{"type": "streamable-http", "url": base + mcpPath}},
		}),
		apiCatalogPath: toJSON(map[string]any{"linkset": []any{map[string]any{
			"anchor": base, "service-desc": []any{map[string]any{"href": base + openAPIPath}},
		}}}),
		acpPath:      toJSON(map[string]any{"request_signing": map[string]any{"algorithm": "HMAC-SHA256"}}),
		authTextPath: "# auth.md: how to get in\n",
		openAPIPath: toJSON(map[string]any{
			"openapi": "3.1.0", "info": map[string]any{"version": "1.0.0"},
			"servers": []any{map[string]any{"url": base}},
			"paths":   map[string]any{checkPath: map[string]any{"post": map[string]any{}}, searchPath: map[string]any{"post": map[string]any{}}},
		}),
	}
}

func (s *fakeService) mcp(w http.ResponseWriter, r *http.Request, base string, body []byte) {
	refuse := func(status, code int) {
		sendJSON(w, status, map[string]any{"jsonrpc": "2.0", "id": nil, "error": map[string]any{"code": code, "message": "no"}})
	}
	unauthorized := func() {
		w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+base+resourcePath+`"`)
		refuse(http.StatusUnauthorized, -32001)
	}
	origin := r.Header.Get("Origin")
	if strings.HasPrefix(r.Host, "127.0.0.1") && origin != "" && origin != base {
		refuse(http.StatusForbidden, -32000)
		return
	}
	var call struct {
		Method string
		Params struct {
			Name      string
			Arguments struct{ Domain string }
		}
	}
	if err := json.Unmarshal(body, &call); err != nil || r.Header.Get("Content-Type") != "application/json" {
		refuse(http.StatusBadRequest, -32700)
		return
	}
	known := r.Header.Get("Authorization") == "Bearer "+fakeToken
	if r.Header.Get("Authorization") != "" && !known || r.URL.Path == mcpLoginPath && !known || r.URL.Query().Has("access_token") {
		unauthorized()
		return
	}
	succeed := func(result any) {
		sendJSON(w, http.StatusOK, map[string]any{"jsonrpc": "2.0", "id": 1, "result": result})
	}
	switch call.Method {
	case "initialize":
		succeed(map[string]any{
			"protocolVersion": mcpProtocolVersion, "capabilities": map[string]any{"tools": map[string]any{}},
			"serverInfo": map[string]any{"name": "fake", "version": "1"},
		})
	case "tools/list":
		succeed(map[string]any{"tools": fakeTools()})
	case "tools/call":
		if call.Params.Name == "list_my_domains" && known {
			succeed(map[string]any{"structuredContent": map[string]any{"domains": []any{
				map[string]any{"domain": "private-name.de", "tld": ".de", "status": "active", "expiresAt": "2027-01-01T00:00:00Z", "autoRenew": true, "manageUrl": base + "/portal/domains/1"},
				map[string]any{"domain": "private-name.com", "tld": ".com", "status": "pending", "expiresAt": nil, "autoRenew": false, "manageUrl": base + "/portal/domains/2"},
			}, "total": 2, "limit": 100, "offset": 0}})
			return
		}
		if call.Params.Name == "list_orders" && known {
			succeed(map[string]any{"structuredContent": map[string]any{"orders": []any{
				map[string]any{"orderId": "private-order", "status": "completed", "items": []any{map[string]any{"domain": "private-name.de"}}},
			}, "total": 1, "limit": 20, "offset": 0}})
			return
		}
		if call.Params.Name != "domain_check" {
			unauthorized()
			return
		}
		if s.spend(r) < 0 {
			succeed(map[string]any{"isError": true, "structuredContent": map[string]any{"code": "rate_limited", "retryAfter": 60}})
			return
		}
		answer := fakeCheck(call.Params.Arguments.Domain)
		succeed(map[string]any{"structuredContent": answer, "content": []any{map[string]any{"type": "text", "text": toJSON(answer)}}})
	default:
		refuse(http.StatusBadRequest, methodNotFound)
	}
}

const fakeToken = "token-of-a-customer"

func fakeTools() []any {
	var list []any
	for _, t := range contractTools {
		properties := map[string]any{}
		for _, argument := range t.arguments {
			properties[argument] = map[string]any{}
		}
		scheme := map[string]any{"type": "noauth"}
		if t.protected {
			scheme = map[string]any{"type": "oauth2", "scopes": []string{"mcp:write"}}
		}
		list = append(list, map[string]any{
			"name": t.name, "description": "A tool.",
			"inputSchema":  map[string]any{"type": "object", "properties": properties},
			"outputSchema": map[string]any{"type": "object"},
			"_meta":        map[string]any{"securitySchemes": []any{scheme}},
		})
	}
	return list
}

// proxied is a request and its response in the proxy.
type proxied struct {
	request     *http.Request
	requestBody string
	status      int
	header      http.Header
	body        string
}

// edit changes the JSON of the response.
func (p *proxied) edit(change func(object map[string]any)) {
	if object := objectOf([]byte(p.body)); object != nil {
		change(object)
		p.body = toJSON(object)
	}
}

// path reports whether the request has this path and a method with a response body.
func (p *proxied) path(path string) bool { return p.request.URL.Path == path }

// isCall reports whether the request calls this JSON-RPC method or tool.
func (p *proxied) isCall(word string) bool {
	return p.path(mcpPath) && strings.Contains(p.requestBody, `"`+word+`"`)
}

// proxy applies a fault to the request or to the response.
func proxy(service http.Handler, before, after func(*proxied)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		question, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		p := &proxied{request: r, requestBody: string(question)}
		if before != nil {
			before(p)
		}
		r.Body = io.NopCloser(bytes.NewReader(question))
		recorder := httptest.NewRecorder()
		service.ServeHTTP(recorder, r)
		p.status, p.header, p.body = recorder.Code, recorder.Header(), recorder.Body.String()
		if after != nil {
			after(p)
		}
		for name, values := range p.header {
			w.Header()[name] = values
		}
		w.WriteHeader(p.status)
		fmt.Fprint(w, p.body)
	})
}

func newFake() *fakeService { return &fakeService{spent: make(map[string]int)} }

// serveFake runs a service for one test.
func serveFake(t *testing.T, handler http.Handler) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}
