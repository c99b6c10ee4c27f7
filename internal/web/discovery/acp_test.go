package discovery

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// The protocol's objects are closed. This list of their fields is used where the
// schemas are not available.
func TestACPDocument_HasOnlyProtocolAndSigningFields(t *testing.T) {
	t.Parallel()
	type extension struct {
		Name   string `json:"name"`
		Spec   string `json:"spec"`
		Schema string `json:"schema"`
	}
	var document struct {
		Protocol struct {
			Name             string   `json:"name"`
			Version          string   `json:"version"`
			Supported        []string `json:"supported_versions"`
			DocumentationURL string   `json:"documentation_url"`
		} `json:"protocol"`
		Base         string   `json:"api_base_url"`
		Transports   []string `json:"transports"`
		Capabilities struct {
			Services      []string    `json:"services"`
			Extensions    []extension `json:"extensions"`
			Interventions []string    `json:"intervention_types"`
			Currencies    []string    `json:"supported_currencies"`
			Locales       []string    `json:"supported_locales"`
		} `json:"capabilities"`
		Links   []map[string]string `json:"links"`
		Signing json.RawMessage     `json:"request_signing"`
	}
	decoder := json.NewDecoder(bytes.NewReader(get(render(t, Facts{BaseURL: base, Terms: "/agb", Returns: "/widerruf"})["/.well-known/acp.json"]).Body.Bytes()))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&document); err != nil {
		t.Fatal(err)
	}
	protocol := document.Protocol
	if protocol.Name != "acp" || protocol.Version != "2026-04-17" || !slices.Equal(protocol.Supported, []string{"2025-09-29", "2026-04-17"}) {
		t.Errorf("the protocol is %+v", protocol)
	}
	if document.Base != base+"/api/acp" || !slices.Equal(document.Transports, []string{"rest"}) {
		t.Errorf("the address is %s over %v", document.Base, document.Transports)
	}
	if !slices.Equal(document.Capabilities.Services, []string{"checkout"}) ||
		!slices.Equal(document.Capabilities.Extensions, []extension{{Name: "request_signing", Spec: base + "/checkout.md"}}) {
		t.Errorf("the capabilities are %+v", document.Capabilities)
	}
	if len(document.Links) != 2 || document.Links[0]["type"] != "terms_of_use" || document.Links[0]["url"] != base+"/agb" ||
		document.Links[1]["type"] != "return_policy" || document.Links[1]["url"] != base+"/widerruf" {
		t.Errorf("the links are %v", document.Links)
	}
	var signing map[string]any
	if err := json.Unmarshal(document.Signing, &signing); err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{"algorithm", "headers", "input", "encoding", "tolerance", "test_vector"} {
		if _, found := signing[field]; !found {
			t.Errorf("request_signing is %v, without %s", slices.Sorted(maps.Keys(signing)), field)
		}
	}
}

// ACP_SPEC_DIR is a checkout of the protocol's repository.
func TestACPDocument_MatchesProtocolSchema(t *testing.T) {
	t.Parallel()
	folder := os.Getenv("ACP_SPEC_DIR")
	if folder == "" {
		t.Skip("ACP_SPEC_DIR is not set; another test compares the fields with a list")
	}
	text, err := os.ReadFile(filepath.Join(folder, "spec", "2026-04-17", "json-schema", "schema.agentic_checkout.json"))
	if err != nil {
		t.Fatal(err)
	}
	bundle, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	const name = "https://schemas.example/acp.json"
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	if fields, ok := bundle.(map[string]any); ok {
		fields["$id"] = name // the original $id does not resolve
	}
	if err := compiler.AddResource(name, bundle); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile(name + "#/$defs/DiscoveryResponse")
	if err != nil {
		t.Fatal(err)
	}
	document := getObject(t, render(t, Facts{BaseURL: base})["/.well-known/acp.json"])
	if schema.Validate(document) == nil {
		t.Error("the schema accepts request_signing at the top: it is not the closed one")
	}
	delete(document, "links")           // our extension, as in a session
	delete(document, "request_signing") // our extension, in addition to the extensions entry
	if err := schema.Validate(document); err != nil {
		t.Error(err)
	}
}
