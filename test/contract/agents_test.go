package contract

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/test/testkit"
)

var (
	guideSample = regexp.MustCompile("(?s)\n### (\\w+)\n\n```json\n(.*?)```\n```json\n(.*?)```")
	guideBlock  = regexp.MustCompile("(?s)\n```json\n(.*?)```")
	instant     = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)
)

func readAgentGuide(t *testing.T) string {
	t.Helper()
	root, err := testkit.ModuleRoot()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "docs", "agents.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Authors of agents copy from the guide. Its samples of public tools equal the sandbox's
// responses, except for times.
func TestAgentGuide_SamplesMatchToolResults(t *testing.T) {
	samples := guideSample.FindAllStringSubmatch(readAgentGuide(t), -1)
	const tools = 12
	if len(samples) != tools {
		t.Fatalf("%d samples in the guide, want one for each of %d tools", len(samples), tools)
	}
	for _, block := range guideBlock.FindAllStringSubmatch(readAgentGuide(t), -1) {
		if !json.Valid([]byte(block[1])) {
			t.Errorf("not JSON: %s", block[1])
		}
	}
	onTargets(t, suite.targets[:1], func(t *testing.T, on *target) {
		client := newCaller(t, on)
		for _, sample := range samples {
			tool, arguments, want := sample[1], sample[2], sample[3]
			got := client.send(request{path: "/api/mcp", invalid: true, body: `{"jsonrpc":"2.0","id":1,"method":"tools/call",` +
				`"params":{"name":"` + tool + `","arguments":` + arguments + `}}`})
			if slices.Contains(strings.Fields(signedInTools), tool) { // needs a token
				if got.status != http.StatusUnauthorized {
					t.Errorf("%s without a token: got %s", tool, got)
				}
				continue
			}
			var answered struct {
				Result struct {
					StructuredContent json.RawMessage `json:"structuredContent"`
				} `json:"result"`
			}
			if err := json.Unmarshal(got.body, &answered); err != nil {
				t.Errorf("%s: %v: %s", tool, err, got)
				continue
			}
			if !equalExceptTimes(t, string(answered.Result.StructuredContent), want) {
				t.Errorf("%s answers %s, the guide shows %s", tool, answered.Result.StructuredContent, want)
			}
		}
	})
}

func equalExceptTimes(t *testing.T, a, b string) bool {
	t.Helper()
	var values [2]any
	for i, text := range []string{a, b} {
		if err := json.Unmarshal([]byte(instant.ReplaceAllString(text, "TIME")), &values[i]); err != nil {
			t.Errorf("%v: %s", err, text)
		}
	}
	return reflect.DeepEqual(values[0], values[1])
}
