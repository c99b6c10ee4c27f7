package doctor

import (
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

const (
	mcpPath             = "/api/mcp"
	resourcePath        = "/.well-known/oauth-protected-resource/api/mcp"
	rootResourcePath    = "/.well-known/oauth-protected-resource"
	authorizationPath   = "/.well-known/oauth-authorization-server"
	serverCardPath      = "/.well-known/mcp/server-card.json"
	apiCatalogPath      = "/.well-known/api-catalog"
	acpPath             = "/.well-known/acp.json"
	authTextPath        = "/.well-known/auth.md"
	catalogueMediaType  = "application/linkset+json"
	catalogueProfile    = "https://www.rfc-editor.org/info/rfc9727"
	describedAPIVersion = "1.0.0"
	describedOpenAPI    = "3.1.0"
)

// documents are those of the contract, and the root form that some clients try.
var documents = []struct{ path, mediaType string }{
	{resourcePath, "application/json"},
	{rootResourcePath, "application/json"},
	{authorizationPath, "application/json"},
	{serverCardPath, "application/json"},
	{apiCatalogPath, catalogueMediaType},
	{acpPath, "application/json"},
	{authTextPath, "text/markdown"},
	{openAPIPath, "application/json"},
}

// documentChecks returns a check for each document's envelope, then those of the contents.
func documentChecks() []check {
	var list []check
	for _, d := range documents {
		list = append(list, check{group: "documents", name: "GET " + d.path, run: func(v *prober) result {
			return envelope(v, d.path, d.mediaType)
		}})
	}
	return append(list,
		check{group: "documents", name: "resource is the MCP address", run: inDocument(resourcePath, resourceMatchesMCP)},
		check{group: "documents", name: "the root form is the same", run: inDocument(rootResourcePath, resourceMatchesMCP)},
		check{group: "documents", name: "issuer is the address", run: inDocument(authorizationPath, issuerMatches)},
		check{group: "documents", name: "OAuth endpoints end with a slash", run: inDocument(authorizationPath, oauthEndpoints)},
		check{group: "documents", name: "OAuth capabilities", run: inDocument(authorizationPath, oauthCapabilities)},
		check{group: "documents", name: "server card", run: inDocument(serverCardPath, serverCard)},
		check{group: "documents", name: "API catalogue", run: inDocument(apiCatalogPath, apiCatalogue)},
		check{group: "documents", name: "API catalogue by HEAD", run: catalogueHead},
		check{group: "documents", name: "request signing", run: inDocument(acpPath, requestSigning)},
		check{group: "documents", name: "auth.md names itself", run: authDocument},
		check{group: "documents", name: "unknown ones are 404 in JSON", run: unknownDocumentIs404},
		check{group: "openapi", name: "versions", run: inDocument(openAPIPath, openAPIVersions)},
		check{group: "openapi", name: "server and paths", run: inDocument(openAPIPath, openAPIPaths)},
	)
}

// document returns a document, which is fetched only once.
func (v *prober) document(path string) answer {
	a, found := v.documents[path]
	if !found {
		a = v.get(path)
		v.documents[path] = a
	}
	return a
}

// envelope checks everything about a document except its contents.
func envelope(v *prober, path, mediaType string) result {
	a := v.document(path)
	if a.err != nil || a.status != http.StatusOK {
		return fail("200 "+mediaType, a.String())
	}
	var j assertions
	j.must(a.mediaType() == mediaType, mediaType, toJSON(a.header.Get("Content-Type")))
	if mediaType != "text/markdown" {
		j.must(json.Valid(a.body), "JSON", "an invalid body")
	}
	j.header(a, "Access-Control-Allow-Origin", "*")
	etag := a.header.Get("ETag")
	j.must(etag != "", "an ETag", "none")
	if etag != "" {
		again := v.send(http.MethodGet, path, "", map[string]string{"If-None-Match": etag})
		j.must(again.err == nil && again.status == http.StatusNotModified, "304 to its own ETag", again.String())
	}
	return j.verdict(fmt.Sprintf("200 %s, %d bytes", a.mediaType(), len(a.body)))
}

// inDocument checks the contents of a document. A missing document is reported by another check.
func inDocument(path string, judged func(v *prober, document map[string]any) result) func(*prober) result {
	return func(v *prober) result {
		a := v.document(path)
		if a.err != nil || a.status != http.StatusOK || a.object() == nil {
			return warn("", "not checked: the document can't be read")
		}
		return judged(v, a.object())
	}
}

const baseHint = " (is base_url the URL that clients use?)"

func resourceMatchesMCP(v *prober, document map[string]any) result {
	var j assertions
	j.must(document["resource"] == v.base+mcpPath, "resource "+v.base+mcpPath, toJSON(document["resource"])+baseHint)
	servers, _ := document["authorization_servers"].([]any)
	j.must(slices.Equal(servers, []any{v.base}), "authorization_servers ["+v.base+"]", toJSON(document["authorization_servers"]))
	j.must(containsAll(document["scopes_supported"], "mcp:read", "mcp:write"), "scopes mcp:read and mcp:write", toJSON(document["scopes_supported"]))
	return j.verdict(v.base + mcpPath)
}

func issuerMatches(v *prober, document map[string]any) result {
	return expect(document["issuer"] == v.base, "issuer "+v.base+", byte for byte", toJSON(document["issuer"])+baseHint, v.base)
}

func oauthEndpoints(v *prober, document map[string]any) result {
	var j assertions
	for _, e := range []struct{ field, path string }{
		{"authorization_endpoint", "/oauth/authorize/"},
		{"token_endpoint", "/oauth/token/"},
		{"registration_endpoint", "/oauth/register/"},
		{"revocation_endpoint", "/oauth/revoke/"},
	} {
		j.must(document[e.field] == v.base+e.path, e.field+" "+v.base+e.path, toJSON(document[e.field]))
	}
	return j.verdict("all four")
}

func oauthCapabilities(_ *prober, document map[string]any) result {
	var j assertions
	for _, a := range []struct {
		field  string
		values []string
	}{
		{"response_types_supported", []string{"code"}},
		{"grant_types_supported", []string{"authorization_code", "refresh_token"}},
		{"code_challenge_methods_supported", []string{"S256"}},
		{"token_endpoint_auth_methods_supported", []string{"none", "client_secret_post"}},
		{"scopes_supported", []string{"mcp:read", "mcp:write"}},
	} {
		j.must(containsAll(document[a.field], a.values...), a.field+" with "+strings.Join(a.values, ", "), toJSON(document[a.field]))
	}
	return j.verdict("code with S256, public and confidential clients")
}

func serverCard(v *prober, document map[string]any) result {
	var j assertions
	for _, field := range []string{"name", "version", "description"} {
		text, _ := document[field].(string)
		j.must(text != "", "a "+field, toJSON(document[field]))
		const longest = 100
		j.must(field != "description" || len([]rune(text)) <= longest, "a description of 100 characters at most", toJSON(text))
	}
	found := false
	for _, remote := range objects(document["remotes"]) {
		found = found || remote["type"] == "streamable-http" && remote["url"] == v.base+mcpPath
	}
	j.must(found, "a remote of type streamable-http at "+v.base+mcpPath, toJSON(document["remotes"]))
	return j.verdict(toJSON(document["name"]))
}

func apiCatalogue(v *prober, document map[string]any) result {
	var j assertions
	a := v.document(apiCatalogPath)
	_, parameters, err := mime.ParseMediaType(a.header.Get("Content-Type"))
	j.must(err == nil && strings.Contains(parameters["profile"], catalogueProfile),
		"profile "+catalogueProfile, toJSON(a.header.Get("Content-Type")))
	described := false
	for _, link := range objects(document["linkset"]) {
		for _, target := range objects(link["service-desc"]) {
			described = described || target["href"] == v.base+openAPIPath
		}
	}
	j.must(described, "a service-desc "+v.base+openAPIPath, toJSON(document["linkset"]))
	return j.verdict("it leads to " + openAPIPath)
}

// catalogueRelation matches api-catalog as a relation; the URL contains it anyway.
var catalogueRelation = regexp.MustCompile(`>\s*;[^<]*\brel="?[^"<;,]*\bapi-catalog\b`)

func catalogueHead(v *prober) result {
	a := v.send(http.MethodHead, apiCatalogPath, "", nil)
	if a.err != nil || a.status != http.StatusOK {
		return fail("200 to HEAD "+apiCatalogPath, a.String())
	}
	link := strings.Join(a.header.Values("Link"), ", ")
	return expect(catalogueRelation.MatchString(link), "Link with rel=api-catalog", toJSON(link), link)
}

func requestSigning(_ *prober, document map[string]any) result {
	signing, _ := document["request_signing"].(map[string]any)
	algorithm, _ := signing["algorithm"].(string)
	return expect(strings.EqualFold(strings.NewReplacer("-", "", "_", "").Replace(algorithm), "HMACSHA256"),
		"request_signing with algorithm HMAC-SHA256", toJSON(document["request_signing"]), algorithm)
}

func authDocument(v *prober) result {
	a := v.document(authTextPath)
	if a.err != nil || a.status != http.StatusOK {
		return warn("", "not checked: the document can't be read")
	}
	for line := range strings.Lines(string(a.body)) {
		if title, found := strings.CutPrefix(line, "# "); found {
			return expect(strings.Contains(title, "auth.md"), "a title with auth.md", title, title)
		}
	}
	return fail("a title with auth.md", "no title")
}

// unknownDocumentIs404 matters because clients try many paths below /.well-known and
// interpret anything but a 404 as a document.
func unknownDocumentIs404(v *prober) result {
	a := v.get("/.well-known/" + v.label)
	return expect(a.status == http.StatusNotFound && a.isJSON(), "404 application/json", a.String(), "404")
}

func openAPIVersions(_ *prober, document map[string]any) result {
	var j assertions
	info, _ := document["info"].(map[string]any)
	j.must(document["openapi"] == describedOpenAPI, "openapi "+describedOpenAPI, toJSON(document["openapi"]))
	j.must(info["version"] == describedAPIVersion, "version "+describedAPIVersion, toJSON(info["version"]))
	return j.verdict("OpenAPI " + describedOpenAPI + ", version " + describedAPIVersion)
}

func openAPIPaths(v *prober, document map[string]any) result {
	var j assertions
	servers := append(objects(document["servers"]), nil)
	j.must(servers[0]["url"] == v.base, "server "+v.base, toJSON(document["servers"])+baseHint)
	paths, _ := document["paths"].(map[string]any)
	for _, path := range []string{checkPath, searchPath} {
		item, _ := paths[path].(map[string]any)
		j.must(item["post"] != nil, "POST "+path, "it is not described")
	}
	return j.verdict("POST " + checkPath + " and " + searchPath)
}
