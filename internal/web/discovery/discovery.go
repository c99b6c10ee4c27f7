// Package discovery serves the discovery documents for machines.
//
// A document is a file in the folder documents, in which {base_url} and the limits are
// replaced once, at start. Every URL in a document leads to an endpoint of this
// service; a test follows them all. The documents contain no secrets and nothing
// specific to a caller, so they may be cached and shared.
package discovery

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/docs"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
)

//go:embed documents
var documentFS embed.FS

// Facts fill the documents.
type Facts struct {
	BaseURL                          string
	Version                          string // the program's version, as the MCP server reports it
	LookupPerMinute, LookupPer6Hours int    // the limits per address
	WhoisPerMinute, WhoisPer6Hours   int    // of whois_lookup
	TokenPerMinute, TokenPerHour     int    // of signed-in tools
	ClientDocuments                  bool   // client ID metadata documents are supported
	// Terms, Privacy, Returns and Imprint are the paths of the legal pages; empty if
	// there are none.
	Terms, Privacy, Returns, Imprint string
}

const (
	typeJSON     = "application/json"
	typeLinkset  = `application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"`
	typeCard     = "application/mcp-server-card+json"
	typeCatalog  = "application/ai-catalog+json"
	typeMarkdown = "text/markdown; charset=utf-8"
	typePlain    = "text/plain; charset=utf-8"
)

// Routes renders all documents and lists them in the contract's order.
func Routes(facts Facts) ([]httpjson.Route, error) {
	facts.BaseURL = strings.TrimSuffix(facts.BaseURL, "/")
	// RFC 9727, 2: the catalog's location in a Link header, for HEAD requests.
	catalogue := "<" + facts.BaseURL + `/.well-known/api-catalog>; rel="api-catalog"`
	var routes []httpjson.Route
	for _, d := range []struct{ path, file, contentType, link string }{
		// RFC 9728
		{"/.well-known/oauth-protected-resource/api/mcp", "protected-resource.json", typeJSON, ""},
		{"/.well-known/oauth-protected-resource/api/mcp/login", "protected-resource.json", typeJSON, ""},
		{"/.well-known/oauth-protected-resource", "protected-resource.json", typeJSON, ""},
		{"/.well-known/oauth-authorization-server", "authorization-server.json", typeJSON, ""}, // RFC 8414
		{"/.well-known/mcp/server-card.json", "server-card.json", typeJSON, ""},
		{"/api/mcp/server-card", "server-card.json", typeCard, ""}, // SEP-2127
		{"/.well-known/api-catalog", "api-catalog.json", typeLinkset, catalogue},
		{"/.well-known/acp.json", "acp.json", typeJSON, ""},
		{"/.well-known/auth.md", "auth.md", typeMarkdown, ""},
		{"/auth.md", "auth.md", typeMarkdown, ""},
		{"/agents.md", "agents.md", typeMarkdown, ""},
		{"/checkout.md", "checkout.md", typeMarkdown, ""},
		{"/openapi.json", "openapi.json", typeJSON, ""},
		{"/.well-known/ai-catalog.json", "ai-catalog.json", typeCatalog, ""},
		{"/llms.txt", "llms.txt", typePlain, ""},
		{"/robots.txt", "robots.txt", typePlain, ""},
		{rootPath, "welcome.txt", typePlain, catalogue},
	} {
		body, err := facts.render(d.file)
		if err != nil {
			return nil, err
		}
		routes = append(routes, httpjson.Route{
			Method: http.MethodGet, Path: d.path, Handler: newDocument(d.contentType, d.link, body).serve, AnyOrigin: d.path != rootPath,
		})
	}
	return routes, nil
}

// rootPath has a document only for programs; browsers get the home page, if there is one.
const rootPath = "/{$}"

// guides are the documents that are also in the repository's folder docs.
var guides = map[string]string{"agents.md": docs.Agents, "checkout.md": docs.Checkout}

// render replaces the placeholders of a template. In JSON the values are escaped.
func (f Facts) render(file string) ([]byte, error) {
	if guide, ok := guides[file]; ok {
		return []byte(strings.ReplaceAll(guide, docs.Address, f.BaseURL)), nil
	}
	source, err := documentFS.ReadFile("documents/" + file)
	if err != nil {
		return nil, err
	}
	isJSON := strings.HasSuffix(file, ".json")
	base, version := f.BaseURL, f.Version
	if isJSON {
		base, version = escapeJSON(base), escapeJSON(version)
	}
	links, err := f.links()
	if err != nil {
		return nil, err
	}
	body := []byte(strings.NewReplacer(
		"{law_links}", links,
		"{base_url}", base,
		"{version}", version,
		"{host}", urnHost(f.BaseURL),
		"{client_metadata}", strconv.FormatBool(f.ClientDocuments),
		"{lookup_per_minute}", strconv.Itoa(f.LookupPerMinute),
		"{lookup_per_6_hours}", strconv.Itoa(f.LookupPer6Hours),
		"{whois_per_minute}", strconv.Itoa(f.WhoisPerMinute),
		"{whois_per_6_hours}", strconv.Itoa(f.WhoisPer6Hours),
		"{token_per_minute}", strconv.Itoa(f.TokenPerMinute),
		"{token_per_hour}", strconv.Itoa(f.TokenPerHour),
	).Replace(string(source)))
	if isJSON && !json.Valid(body) {
		return nil, fmt.Errorf("discovery: %s: invalid JSON with base URL %q", file, f.BaseURL)
	}
	return body, nil
}

// links are the legal pages in the form of a session's links.
func (f Facts) links() (string, error) {
	type link struct {
		Type string `json:"type"`
		URL  string `json:"url"`
	}
	list := []link{}
	for _, one := range []link{
		{"terms_of_use", f.Terms}, {"privacy_policy", f.Privacy}, {"return_policy", f.Returns}, {"about_us", f.Imprint},
	} {
		if one.URL != "" {
			list = append(list, link{one.Type, f.BaseURL + one.URL})
		}
	}
	encoded, err := json.Marshal(list)
	return string(encoded), err
}

// escapeJSON escapes text for a JSON string.
func escapeJSON(text string) string {
	quoted, _ := json.Marshal(text) // a string can always be encoded
	return string(quoted[1 : len(quoted)-1])
}

// urnHost returns the host of the base URL without characters that are special in a
// URN, such as the colons of an IPv6 address.
func urnHost(baseURL string) string {
	parsed, err := url.Parse(baseURL)
	if err != nil || parsed.Hostname() == "" {
		return "localhost"
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '-':
			return r
		default:
			return '-'
		}
	}, parsed.Hostname())
}

type document struct {
	contentType []string
	link        string
	body        []byte
	etag        string
}

func newDocument(contentType, link string, body []byte) document {
	sum := sha256.Sum256(body)
	return document{
		contentType: []string{contentType},
		link:        link,
		body:        body,
		etag:        `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`,
	}
}

const maxAge = time.Hour

func (doc document) serve(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("ETag", doc.etag)
	header.Set("Cache-Control", fmt.Sprintf("public, max-age=%d", int(maxAge.Seconds())))
	if doc.link != "" {
		header.Set("Link", doc.link)
	}
	if matches(strings.Join(r.Header.Values("If-None-Match"), ","), doc.etag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	httpjson.WriteBytes(w, http.StatusOK, doc.contentType, doc.body)
}

// matches compares weakly (RFC 9110, 13.1.2).
func matches(ifNoneMatch, etag string) bool {
	for candidate := range strings.SplitSeq(ifNoneMatch, ",") {
		candidate = strings.TrimPrefix(strings.TrimSpace(candidate), "W/")
		if candidate == etag || candidate == "*" {
			return true
		}
	}
	return false
}
