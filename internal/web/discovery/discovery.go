// Package discovery serves the documents by which machines find their way.
//
// A document is a file in the folder documents, with {base_url} and the limits
// put in once, at start. Every address in a document leads to something that
// this service answers to; a test of the whole follows them all. The documents
// hold no secret and nothing that differs from one caller to another, so
// everybody may keep and share them.
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

// Facts are what the documents say about this service.
type Facts struct {
	BaseURL string
	// Version is the program's, as the MCP server tells it.
	Version string
	// LookupPerMinute and LookupPer6Hours are the limits of an address.
	LookupPerMinute, LookupPer6Hours int
	// WhoisPerMinute and WhoisPer6Hours are those of whois_lookup.
	WhoisPerMinute, WhoisPer6Hours int
	// ClientDocuments says that clients may be known by a document of their own.
	ClientDocuments bool
	// Terms, Privacy, Returns and Imprint are the paths of the pages that the law asks
	// for; empty where there are none.
	Terms, Privacy, Returns, Imprint string
	// TokenPerMinute and TokenPerHour are those of signed-in tools.
	TokenPerMinute, TokenPerHour int
}

// Documents are rendered once, at start. Each field serves one of them.
type Documents struct {
	// ProtectedResource is RFC 9728's metadata of the MCP endpoint.
	ProtectedResource http.HandlerFunc
	// AuthorizationServer is RFC 8414's metadata.
	AuthorizationServer http.HandlerFunc
	// ServerCard describes the MCP server, for those who look below
	// /.well-known; ServerCardTyped is the same with the media type that
	// SEP-2127 gives to the place beside the endpoint.
	ServerCard, ServerCardTyped http.HandlerFunc
	// APICatalog is RFC 9727's list of interfaces.
	APICatalog http.HandlerFunc
	// ACP describes the agentic checkout.
	ACP http.HandlerFunc
	// Auth tells automated clients how to get access.
	Auth http.HandlerFunc
	// Agents and Checkout are the guides to the MCP endpoint and to agentic checkout, the
	// same text as in the repository's folder docs.
	Agents, Checkout http.HandlerFunc
	// OpenAPI describes the REST interface.
	OpenAPI http.HandlerFunc
	// AICatalog lists what is here for agents.
	AICatalog http.HandlerFunc
	// LLMs and Robots are for language models and crawlers.
	LLMs, Robots http.HandlerFunc
	// Welcome stands at the root until the portal does.
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
	// RFC 9727, 2: where the catalogue is, for those who ask with HEAD.
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

// render puts the facts where the template names them. In JSON they are escaped
// as JSON asks.
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
		return nil, fmt.Errorf("%s is no longer JSON with the base address %q in it", file, f.BaseURL)
	}
	return body, nil
}

// links are the pages that the law asks for, in the form of a session's links.
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

// escapeJSON is text as it stands inside the quotes of a JSON string.
func escapeJSON(text string) (string, error) {
	quoted, err := json.Marshal(text)
	if err != nil {
		return "", err
	}
	return string(quoted[1 : len(quoted)-1]), nil
}

// urnHost is the host of the base address with nothing in it that has a meaning
// inside a URN, such as the colons of an IPv6 address.
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
