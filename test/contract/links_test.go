package contract

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Every URL of ours in a document works.
func TestDocuments_HaveNoDeadLinks(t *testing.T) {
	onBothTargets(t, func(t *testing.T, on *target) {
		client := newCaller(t, on)
		texts := make(map[string][]byte)
		for path := range documents {
			texts[path] = client.get(path).body
		}
		texts["/"] = client.get("/").body
		named := documentedMethods(t, on.base, texts)
		// Each URL once. The table also has URLs that no document contains as a whole:
		// paths of openapi.json and suffixes of a base URL.
		sources := make(map[string][]string)
		for path := range named {
			sources[path] = append(sources[path], "a table")
		}
		for document, text := range texts {
			for _, path := range linksIn(on.base, text) {
				sources[path] = append(sources[path], document)
			}
		}
		for path, where := range sources {
			methods := named[path]
			if len(methods) == 0 {
				methods = []string{http.MethodGet}
			}
			for _, method := range methods {
				checkLink(t, client, where, method, path)
			}
		}
		// The search itself works.
		for path := range named {
			if len(sources[path]) < 2 && !strings.Contains(path, example) {
				t.Errorf("%s was found in no document", path)
			}
		}
		for _, path := range []string{"/", "/auth.md", "/llms.txt", "/healthz", openAPIPath, "/.well-known/acp.json"} {
			if len(sources[path]) == 0 {
				t.Errorf("%s was found in no document", path)
			}
		}
	})
}

func checkLink(t *testing.T, client *caller, where []string, method, path string) {
	t.Helper()
	r := request{method: method, path: path, invalid: true}
	if method == http.MethodPost {
		r.body = "{}"
	}
	switch got := client.send(r); got.status {
	case 0, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusInternalServerError:
		t.Errorf("%v: %s %s: got %s", where, method, path, got)
	}
}

// documentedMethods returns the method for each URL.
func documentedMethods(t *testing.T, base string, texts map[string][]byte) map[string][]string {
	t.Helper()
	named := make(map[string][]string)
	add := func(address, method string) {
		path := strings.TrimPrefix(address, base)
		if path == address {
			t.Errorf("%q is not our URL", address)
		}
		if !slices.Contains(named[path], method) {
			named[path] = append(named[path], method)
		}
	}
	parse := func(path string, into any) {
		if err := json.Unmarshal(texts[path], into); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	var description struct {
		Paths map[string]map[string]json.RawMessage
	}
	parse(openAPIPath, &description)
	for path, operations := range description.Paths {
		for method := range operations {
			add(base+parameter.ReplaceAllString(path, example), strings.ToUpper(method))
		}
	}
	var server struct {
		Authorize string `json:"authorization_endpoint"`
		Token     string `json:"token_endpoint"`
		Register  string `json:"registration_endpoint"`
		Revoke    string `json:"revocation_endpoint"`
	}
	parse("/.well-known/oauth-authorization-server", &server)
	add(server.Authorize, http.MethodGet)
	for _, address := range []string{server.Token, server.Register, server.Revoke} {
		add(address, http.MethodPost)
	}
	var resource struct{ Resource string }
	parse("/.well-known/oauth-protected-resource", &resource)
	add(resource.Resource, http.MethodPost) // Streamable HTTP
	add(resource.Resource+"/login", http.MethodPost)
	var card struct{ Remotes []struct{ URL string } }
	parse("/.well-known/mcp/server-card.json", &card)
	for _, remote := range card.Remotes {
		add(remote.URL, http.MethodPost)
	}
	var checkout struct {
		Base string `json:"api_base_url"`
	}
	parse("/.well-known/acp.json", &checkout)
	add(checkout.Base+"/checkout_sessions", http.MethodPost)
	return named
}

// example replaces path parameters.
const example = "example"

var parameter = regexp.MustCompile(`\{[a-z]+\}`)

// linksIn returns our URLs in a text, as paths.
func linksIn(base string, text []byte) []string {
	address := regexp.MustCompile(regexp.QuoteMeta(base) + "[^\\s\"'`<>()\\[\\]\\\\|,;]*")
	var paths []string
	for _, found := range address.FindAllString(string(text), -1) {
		path := strings.TrimRight(strings.TrimPrefix(found, base), ".:")
		// A prefix that agents append to.
		if path == "/api/acp" {
			continue
		}
		if path == "" {
			path = "/"
		}
		if !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	return paths
}

// The server card agrees with the server.
func TestServerCard_MatchesInitialize(t *testing.T) {
	onBothTargets(t, func(t *testing.T, on *target) {
		client := newCaller(t, on)
		var card struct {
			Version    string
			Title      string
			WebsiteURL string
			Remotes    []struct{ SupportedProtocolVersions []string }
			ServerInfo struct{ Name, Title, Version string }
		}
		if err := json.Unmarshal(client.get("/api/mcp/server-card").body, &card); err != nil {
			t.Fatal(err)
		}
		for _, revision := range card.Remotes[0].SupportedProtocolVersions {
			if revision == "2026-07-28" { // has no handshake
				continue
			}
			got := client.send(request{
				path: "/api/mcp", header: map[string]string{"Accept": "application/json, text/event-stream"},
				body: `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"` + revision +
					`","capabilities":{},"clientInfo":{"name":"reader","version":"1"}}}`,
			})
			var output struct {
				Result struct {
					ProtocolVersion string
					ServerInfo      struct{ Name, Title, Version, WebsiteURL string }
				}
			}
			if err := json.Unmarshal(got.body, &output); err != nil {
				t.Fatalf("%s: %v in %s", revision, err, got)
			}
			info := output.Result.ServerInfo
			if output.Result.ProtocolVersion != revision || info.Version != card.Version || info.Title != card.Title ||
				info.WebsiteURL != card.WebsiteURL {
				t.Errorf("%s: the card has %+v, the server %s", revision, card, got)
			}
			if card.ServerInfo.Name != info.Name || card.ServerInfo.Title != info.Title || card.ServerInfo.Version != info.Version {
				t.Errorf("%s: the card has %+v, the server %s", revision, card.ServerInfo, got)
			}
		}
	})
}
