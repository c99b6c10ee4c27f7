package doctor

import (
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/cli"
)

// setField returns a fault that changes one field of a document.
func setField(path, name string, value any) func(*proxied) {
	return func(p *proxied) {
		if p.path(path) {
			p.edit(func(document map[string]any) { document[name] = value })
		}
	}
}

// changeTool returns a fault that changes one tool of the list.
func changeTool(name, key string, value any) func(*proxied) {
	return func(p *proxied) {
		if !p.isCall("tools/list") {
			return
		}
		p.edit(func(reply map[string]any) {
			result, _ := reply["result"].(map[string]any)
			list, _ := result["tools"].([]any)
			for _, entry := range list {
				if described, _ := entry.(map[string]any); described["name"] == name {
					described[key] = value
				}
			}
		})
	}
}

// replaceHeader returns a fault that replaces a header of responses with this status.
func replaceHeader(path string, status int, name, value string) func(*proxied) {
	return func(p *proxied) {
		if p.path(path) && p.status == status {
			p.header.Del(name)
			if value != "" {
				p.header.Set(name, value)
			}
		}
	}
}

func TestDoctor_FindsExactlyTheInjectedFault(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		fault, found  string
		before, after func(*proxied)
	}{
		{fault: "token in the query is accepted", found: "a token in the address is 401", before: func(p *proxied) {
			p.request.URL.RawQuery = ""
		}},
		{fault: "clock an hour late", found: "clock", after: func(p *proxied) {
			p.header.Set("Date", time.Now().Add(-time.Hour).UTC().Format(http.TimeFormat))
		}},
		{fault: "disk full", found: "readiness", after: func(p *proxied) {
			if p.path("/readyz") {
				p.body += "degraded database disk_full since 2026-01-02T03:04:05Z\n"
			}
		}},
		{fault: "no ETag", found: "GET " + serverCardPath, after: replaceHeader(serverCardPath, 200, "ETag", "")},
		{fault: "never 304", found: "GET " + acpPath, before: func(p *proxied) {
			if p.path(acpPath) {
				p.request.Header.Del("If-None-Match")
			}
		}},
		{fault: "wrong media type", found: "GET " + authTextPath, after: replaceHeader(authTextPath, 200, "Content-Type", "text/plain")},
		{fault: "no CORS on a document", found: "GET " + openAPIPath, after: replaceHeader(openAPIPath, 200, "Access-Control-Allow-Origin", "")},
		{fault: "document is missing", found: "GET " + rootResourcePath, after: func(p *proxied) {
			if p.path(rootResourcePath) {
				p.status = http.StatusNotFound
			}
		}},
		{fault: "document is not JSON", found: "GET " + acpPath, after: func(p *proxied) {
			if p.path(acpPath) && p.status == 200 {
				p.body += "}"
			}
		}},
		{fault: "resource with a slash", found: "resource is the MCP address", after: func(p *proxied) {
			setField(resourcePath, "resource", "http://"+p.request.Host+mcpPath+"/")(p)
		}},
		{fault: "foreign root resource", found: "the root form is the same", after: setField(rootResourcePath, "resource", "https://elsewhere.example/api/mcp")},
		{fault: "issuer with a slash", found: "issuer is the address", after: func(p *proxied) {
			setField(authorizationPath, "issuer", "http://"+p.request.Host+"/")(p)
		}},
		{fault: "endpoint without a slash", found: "OAuth endpoints end with a slash", after: func(p *proxied) {
			setField(authorizationPath, "token_endpoint", "http://"+p.request.Host+"/oauth/token")(p)
		}},
		{fault: "plain PKCE", found: "OAuth capabilities", after: setField(authorizationPath, "code_challenge_methods_supported", []string{"plain"})},
		{fault: "card without a remote", found: "server card", after: setField(serverCardPath, "remotes", []any{})},
		{fault: "long description", found: "server card", after: setField(serverCardPath, "description", strings.Repeat("x", 101))},
		{fault: "empty catalogue", found: "API catalogue", after: setField(apiCatalogPath, "linkset", []any{})},
		{fault: "catalogue without profile", found: "API catalogue", after: func(p *proxied) {
			if p.request.Method == http.MethodGet {
				replaceHeader(apiCatalogPath, 200, "Content-Type", catalogueMediaType)(p)
			}
		}},
		{fault: "no Link", found: "API catalogue by HEAD", after: replaceHeader(apiCatalogPath, 200, "Link", "")},
		{fault: "another relation", found: "API catalogue by HEAD", after: replaceHeader(apiCatalogPath, 200, "Link", "<https://x.example/.well-known/api-catalog>; rel=\"item\"")},
		{fault: "signing undescribed", found: "request signing", after: setField(acpPath, "request_signing", nil)},
		{fault: "title without the name", found: "auth.md names itself", after: func(p *proxied) {
			p.body = strings.Replace(p.body, "# auth.md", "# Access", 1)
		}},
		{fault: "page for every unknown document", found: "unknown ones are 404 in JSON", after: func(p *proxied) {
			if strings.HasPrefix(p.request.URL.Path, "/.well-known/doctor") {
				p.status = http.StatusOK
			}
		}},
		{fault: "old OpenAPI", found: "versions", after: setField(openAPIPath, "openapi", "3.0.3")},
		{fault: "other version", found: "versions", after: setField(openAPIPath, "info", map[string]any{"version": "2.0.0"})},
		{fault: "undescribed paths", found: "server and paths", after: setField(openAPIPath, "paths", map[string]any{})},
		{fault: "foreign server", found: "server and paths", after: setField(openAPIPath, "servers", []any{map[string]any{"url": "http://localhost"}})},
		{fault: "everything is taken", found: "check of a free name", after: changeLookup("doctor-", "available", false)},
		{fault: "price as text", found: "check of a free name", after: changeLookup("doctor-", "registerEur", "12.90")},
		{fault: "everything is free", found: "check of google.com", after: changeLookup("google.com", "available", true)},
		{fault: "availability as text", found: "check of google.com", after: changeLookup("google.com", "available", "no")},
		{fault: "unlisted extension has availability", found: "extension that is not listed", after: changeLookup(unlistedName, "available", true)},
		{fault: "seven extensions", found: "search over eight extensions", after: func(p *proxied) {
			if p.path(searchPath) && p.status == 200 {
				p.edit(func(body map[string]any) {
					results, _ := body["results"].([]any)
					body["results"] = results[:7]
				})
			}
		}},
		{fault: "other order", found: "search over eight extensions", after: func(p *proxied) {
			if p.path(searchPath) && p.status == 200 {
				p.edit(func(body map[string]any) {
					results, _ := body["results"].([]any)
					slices.Reverse(results)
				})
			}
		}},
		{fault: "malformed request is a 500", found: "malformed request is a 400", after: replaceStatus(checkPath, 400, 500)},
		{fault: "no Allow", found: "other method is a 405", after: replaceHeader(checkPath, 405, "Allow", "")},
		{fault: "404 as a page", found: "unknown path is a 404", after: func(p *proxied) {
			if strings.HasPrefix(p.request.URL.Path, "/api/doctor") {
				p.header.Set("Content-Type", "text/html")
			}
		}},
		{fault: "credentials across origins", found: "CORS", after: replaceHeader(checkPath, 204, "Access-Control-Allow-Credentials", "true")},
		{fault: "unreadable policy", found: "RateLimit-Policy", after: func(p *proxied) {
			if p.header.Get("RateLimit-Policy") != "" {
				p.header.Set("RateLimit-Policy", "30 per minute")
			}
		}},
		{fault: "no RateLimit", found: "RateLimit decreases by one", after: func(p *proxied) { p.header.Del("RateLimit") }},
		{fault: "RateLimit decreases by two", found: "RateLimit decreases by one", after: func(p *proxied) {
			if left, found := cli.ParseParam(p.header.Get("RateLimit"), "r"); found {
				p.header.Set("RateLimit", `"60s";r=`+toJSON(2*left-30)+`;t=60`)
			}
		}},
		{fault: "X-Forwarded-For is trusted", found: "untrusted X-Forwarded-For is ignored", before: trustHeader("X-Forwarded-For")},
		{fault: "Forwarded is trusted", found: "untrusted X-Forwarded-For is ignored", before: trustHeader("Forwarded")},
		{fault: "no tools announced", found: "initialize", after: func(p *proxied) {
			if p.isCall("initialize") {
				p.body = strings.Replace(p.body, `"tools"`, `"prompts"`, 1)
			}
		}},
		{fault: "tool under another name", found: "the tools", after: changeTool("whois_lookup", "name", "whois")},
		{fault: "no output schema", found: "input and output schemas", after: changeTool("tld_price", "outputSchema", nil)},
		{fault: "other argument", found: "input and output schemas", after: changeTool("get_order_status", "inputSchema", map[string]any{"type": "object"})},
		{fault: "order tool without a token", found: "securitySchemes", after: changeTool("start_order", "_meta",
			map[string]any{"securitySchemes": []any{map[string]any{"type": "noauth"}}})},
		{fault: "no security scheme", found: "securitySchemes", after: changeTool("list_tlds", "_meta", nil)},
		{fault: "text differs from structure", found: "domain_check works", after: func(p *proxied) {
			if p.isCall("domain_check") {
				p.body = strings.Replace(p.body, `\"available\":false`, `\"available\":true`, 1)
			}
		}},
		{fault: "scope appended", found: "signed-in tools without a token are 401", after: func(p *proxied) {
			if p.isCall("start_order") {
				p.header.Set("WWW-Authenticate", p.header.Get("WWW-Authenticate")+`, scope="mcp:write"`)
			}
		}},
		{fault: "order status without a token", found: "signed-in tools without a token are 401", after: func(p *proxied) {
			if p.isCall("get_order_status") {
				p.status = http.StatusOK
			}
		}},
		{fault: "wrong tokens ignored", found: "a wrong token is 401", before: func(p *proxied) { p.request.Header.Del("Authorization") }},
		{fault: "login path without a token", found: "login address is 401 from the start", after: replaceStatus(mcpLoginPath, 401, 200)},
		{fault: "both types demanded", found: "Accept: application/json is enough", after: func(p *proxied) {
			if p.path(mcpPath) && p.request.Header.Get("Accept") == "application/json" {
				p.status = http.StatusBadRequest
			}
		}},
		{fault: "GET opens a stream", found: "GET is a 405", after: replaceStatus(mcpPath, 405, 200)},
		{fault: "unknown method in plain text", found: "unknown method is -32601", after: func(p *proxied) {
			if p.isCall("doctor/nothing") {
				p.header.Set("Content-Type", "text/plain")
			}
		}},
		{fault: "mistakes in plain text", found: "errors are JSON-RPC, never plain text", after: func(p *proxied) {
			if p.path(mcpPath) && strings.Contains(p.body, "-32700") {
				p.header.Set("Content-Type", "text/plain")
			}
		}},
		{fault: "batches", found: "errors are JSON-RPC, never plain text", after: func(p *proxied) {
			if p.path(mcpPath) && strings.HasPrefix(p.requestBody, "[") {
				p.status, p.body = http.StatusOK, `[{"jsonrpc":"2.0","id":1,"result":{}}]`
			}
		}},
		{fault: "RDAP in another media type", found: "help", after: replaceHeader(rdapPath+"help", 200, "Content-Type", "application/json")},
		{fault: "RDAP without CORS", found: "help", after: replaceHeader(rdapPath+"help", 200, "Access-Control-Allow-Origin", "")},
		{fault: "RDAP answers for any domain", found: "domain that can't exist is a 404", after: replaceStatus(rdapPath+"domain/"+unlistedName, 404, 200)},
		{fault: "unsigned completion", found: "completion without a signature is 401", after: replaceStatus(completionPath, 401, 200)},
		{fault: "foreign origin on loopback", found: "foreign Origin", before: func(p *proxied) { p.request.Header.Del("Origin") }},
		{fault: "challenge hidden from scripts", found: "CORS, challenge included", after: func(p *proxied) {
			if p.path(mcpPath) {
				p.header.Del("Access-Control-Expose-Headers")
			}
		}},
	} {
		t.Run(test.fault, func(t *testing.T) {
			t.Parallel()
			report := examineService(t, serveFake(t, proxy(newFake(), test.before, test.after)))
			if got := checksWithStatus(report, cli.StatusFail); !slices.Equal(got, []string{test.found}) || report.OK {
				t.Errorf("found %q, want %q\n%v", got, test.found, report.Checks)
			}
		})
	}
}

// changeLookup returns a fault that changes a field in results for names with a prefix.
func changeLookup(name, key string, value any) func(*proxied) {
	return func(p *proxied) {
		if p.path(checkPath) && p.status == 200 && strings.Contains(p.requestBody, `"domain":"`+name) &&
			(name != "doctor-" || !strings.Contains(p.requestBody, unlistedName)) {
			p.edit(func(body map[string]any) { body[key] = value })
		}
	}
}

func replaceStatus(path string, from, to int) func(*proxied) {
	return func(p *proxied) {
		if p.path(path) && p.status == from {
			p.status = to
		}
	}
}

// trustHeader returns a fault that takes the client address from a header.
func trustHeader(name string) func(*proxied) {
	return func(p *proxied) {
		if forged := p.request.Header.Get(name); forged != "" {
			p.request.RemoteAddr = net.JoinHostPort(strings.Trim(strings.TrimPrefix(forged, "for="), `"[]`), "1")
		}
	}
}
