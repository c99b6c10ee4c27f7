package discovery

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// relativeLink is a Markdown link that works only inside the repository.
var relativeLink = regexp.MustCompile(`\]\(([^)h#][^)]*)\)`)

func TestGuides_AreRepositoryTextWithOwnBaseURL(t *testing.T) {
	t.Parallel()
	const own = "https://registrar.test"
	documents := render(t, Facts{BaseURL: own + "/"})
	for file, serve := range map[string]http.HandlerFunc{"agents.md": documents["/agents.md"], "checkout.md": documents["/checkout.md"]} {
		text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", file))
		if err != nil {
			t.Fatal(err)
		}
		got := get(serve)
		if want := strings.ReplaceAll(string(text), base, own); got.Body.String() != want || strings.Contains(want, base) || !strings.Contains(want, own+"/api/") {
			t.Errorf("%s differs from the repository's text", file)
		}
		if kind := got.Header().Get("Content-Type"); kind != typeMarkdown {
			t.Errorf("%s is %s", file, kind)
		}
		if link := relativeLink.FindStringSubmatch(string(text)); link != nil {
			t.Errorf("%s has the link %s, which does not work where it is served", file, link[1])
		}
	}
}

func TestGuides_AreLinkedFromMetadata(t *testing.T) {
	t.Parallel()
	documents := render(t, Facts{BaseURL: base})
	const agents, checkout = base + "/agents.md", base + "/checkout.md"
	wantFields(t, getObject(t, documents["/.well-known/oauth-protected-resource"]), `{"resource_documentation": "`+agents+`"}`)
	wantFields(t, getObject(t, documents["/.well-known/oauth-authorization-server"]), `{"service_documentation": "`+agents+`"}`)
	wantFields(t, getObject(t, documents["/.well-known/mcp/server-card.json"]), `{"documentationUrl": "`+agents+`"}`)
	protocol, _ := getObject(t, documents["/.well-known/acp.json"])["protocol"].(map[string]any)
	wantFields(t, protocol, `{"documentation_url": "`+checkout+`"}`)
	var catalogue struct {
		Linkset []struct {
			Anchor string
			Docs   []struct{ Href, Type string } `json:"service-doc"`
		}
	}
	if err := json.Unmarshal(get(documents["/.well-known/api-catalog"]).Body.Bytes(), &catalogue); err != nil {
		t.Fatal(err)
	}
	first := make(map[string]string)
	for _, entry := range catalogue.Linkset {
		if len(entry.Docs) > 0 {
			first[entry.Anchor] = entry.Docs[0].Href
		}
	}
	if first[base+"/api/mcp"] != agents || first[base+"/api/acp/checkout_sessions"] != checkout {
		t.Errorf("service-doc links: %v", first)
	}
	for name, serve := range map[string]http.HandlerFunc{"llms.txt": documents["/llms.txt"], "auth.md": documents["/auth.md"], "ai-catalog.json": documents["/.well-known/ai-catalog.json"]} {
		if text := get(serve).Body.String(); !strings.Contains(text, agents) || !strings.Contains(text, checkout) {
			t.Errorf("%s does not link both guides", name)
		}
	}
}

// llmstxt.org: a heading, a summary as a quotation, then sections that are lists of
// links.
func TestLLMs_MatchesConvention(t *testing.T) {
	t.Parallel()
	text := get(render(t, Facts{BaseURL: base})["/llms.txt"]).Body.String()
	head, lists, found := strings.Cut(text, "\n## ")
	if !found || !strings.HasPrefix(head, "# dotkontor\n\n> ") || strings.Contains(head, "\n#") {
		t.Errorf("it begins with %q", head)
	}
	entry := regexp.MustCompile(`^- \[[^]]+\]\(https://[^)]+\)(: .+)?$`)
	for _, section := range strings.Split(lists, "\n## ") {
		_, links, _ := strings.Cut(section, "\n\n")
		for line := range strings.SplitSeq(strings.TrimSpace(links), "\n") {
			if !entry.MatchString(line) {
				t.Errorf("%q is not a link", line)
			}
		}
	}
}
