// Package discovery serves the discovery documents for machines.
//
// A document is a file in the folder documents, in which {base_url} and the limits are
// replaced once, at start. Every URL in a document leads to an endpoint of this
// service; a test follows them all. The documents contain no secrets and nothing
// specific to a caller, so they may be cached and shared.
package discovery

import (
	"embed"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/dotkontor/dotkontor/docs"
)

//go:embed documents
var documentFS embed.FS

// Facts fill the documents.
type Facts struct {
	BaseURL string
	// Version is the program's version, as the MCP server reports it.
	Version string
	// LookupPerMinute and LookupPer6Hours are the limits per address.
	LookupPerMinute, LookupPer6Hours int
	// WhoisPerMinute and WhoisPer6Hours are the limits of whois_lookup.
	WhoisPerMinute, WhoisPer6Hours int
	// ClientDocuments means that client ID metadata documents are supported.
	ClientDocuments bool
	// Terms, Privacy, Returns and Imprint are the paths of the legal pages; empty if
	// there are none.
	Terms, Privacy, Returns, Imprint string
	// TokenPerMinute and TokenPerHour are the limits of signed-in tools.
	TokenPerMinute, TokenPerHour int
}

// Documents are rendered once, at start. Each field serves one of them.
type Documents struct {
	// ProtectedResource is the metadata of the MCP endpoint (RFC 9728).
	ProtectedResource http.HandlerFunc
	// AuthorizationServer is the OAuth metadata (RFC 8414).
	AuthorizationServer http.HandlerFunc
	// ServerCard describes the MCP server below /.well-known; ServerCardTyped is the
	// same with the media type of SEP-2127, next to the endpoint.
	ServerCard, ServerCardTyped http.HandlerFunc
	// APICatalog is the list of interfaces (RFC 9727).
	APICatalog http.HandlerFunc
	// ACP describes the agentic checkout.
	ACP http.HandlerFunc
	// Auth explains to automated clients how to get access.
	Auth http.HandlerFunc
	// Agents and Checkout are the guides to the MCP endpoint and to agentic checkout, the
	// same text as in the repository's folder docs.
	Agents, Checkout http.HandlerFunc
	// OpenAPI describes the REST interface.
	OpenAPI http.HandlerFunc
	// AICatalog lists the interfaces for agents.
	AICatalog http.HandlerFunc
	// LLMs and Robots are for language models and crawlers.
	LLMs, Robots http.HandlerFunc
	// Welcome is the root of a service without pages.
	Welcome http.HandlerFunc
}

const (
	typeJSON     = "application/json"
	typeLinkset  = `application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"`
	typeCard     = "application/mcp-server-card+json"
	typeCatalog  = "application/ai-catalog+json"
	typeMarkdown = "text/markdown; charset=utf-8"
	typePlain    = "text/plain; charset=utf-8"
)

// New renders all documents.
func New(facts Facts) (*Documents, error) {
	facts.BaseURL = strings.TrimSuffix(facts.BaseURL, "/")
	// RFC 9727, 2: the catalog's location in a Link header, for HEAD requests.
	catalogue := "<" + facts.BaseURL + `/.well-known/api-catalog>; rel="api-catalog"`
	documents := &Documents{}
	for _, d := range []struct {
		field             *http.HandlerFunc
		file, contentType string
		link              string
	}{
		{&documents.ProtectedResource, "protected-resource.json", typeJSON, ""},
		{&documents.AuthorizationServer, "authorization-server.json", typeJSON, ""},
		{&documents.ServerCard, "server-card.json", typeJSON, ""},
		{&documents.ServerCardTyped, "server-card.json", typeCard, ""},
		{&documents.APICatalog, "api-catalog.json", typeLinkset, catalogue},
		{&documents.ACP, "acp.json", typeJSON, ""},
		{&documents.Auth, "auth.md", typeMarkdown, ""},
		{&documents.OpenAPI, "openapi.json", typeJSON, ""},
		{&documents.AICatalog, "ai-catalog.json", typeCatalog, ""},
		{&documents.LLMs, "llms.txt", typePlain, ""},
		{&documents.Robots, "robots.txt", typePlain, ""},
		{&documents.Welcome, "welcome.txt", typePlain, catalogue},
	} {
		body, err := facts.render(d.file)
		if err != nil {
			return nil, err
		}
		*d.field = newDocument(d.contentType, d.link, body).serve
	}
	for field, text := range map[*http.HandlerFunc]string{&documents.Agents: docs.Agents, &documents.Checkout: docs.Checkout} {
		body := strings.ReplaceAll(text, docs.Address, facts.BaseURL)
		*field = newDocument(typeMarkdown, "", []byte(body)).serve
	}
	return documents, nil
}

// render replaces the placeholders of a template. In JSON the values are escaped.
func (f Facts) render(file string) ([]byte, error) {
	source, err := documentFS.ReadFile("documents/" + file)
	if err != nil {
		return nil, err
	}
	isJSON := strings.HasSuffix(file, ".json")
	base, version := f.BaseURL, f.Version
	if isJSON {
		if base, err = escapeJSON(base); err != nil {
			return nil, err
		}
		if version, err = escapeJSON(version); err != nil {
			return nil, err
		}
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
func escapeJSON(text string) (string, error) {
	quoted, err := json.Marshal(text)
	if err != nil {
		return "", err
	}
	return string(quoted[1 : len(quoted)-1]), nil
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
