package mcpclients

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/test/testkit/nodejs"
)

// Generators and gateways reject what these linters report.
func TestOpenAPI_StrictLintersFindNothing(t *testing.T) {
	t.Parallel()
	program := nodejs.Program(t, "@redocly/cli")
	base := strings.TrimSuffix(startSandbox(t, product), "/api/mcp")
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+"/openapi.json", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%d, %v", response.StatusCode, err)
	}
	folder := nodejs.ScriptDir(t, "openapi.mjs")
	lint := func(name, text string) error {
		document := filepath.Join(folder, name)
		if err := os.WriteFile(document, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := runClient(t, program, filepath.Join(folder, "openapi.mjs"), document)
		return err
	}
	if err := lint("openapi.json", string(text)); err != nil {
		t.Error(err)
	}
	// The linters work: a document without a licence and with a dangling reference fails.
	broken := strings.Replace(string(text), `"license"`, `"x-license"`, 1)
	broken = strings.Replace(broken, "#/components/schemas/CheckRequest", "#/components/schemas/NoSuchThing", 1)
	err = lint("broken.json", broken)
	if err == nil || !strings.Contains(err.Error(), "redocly: exit 1") || !strings.Contains(err.Error(), "spectral: exit 1") {
		t.Errorf("a broken document passes: %v", err)
	}
}
