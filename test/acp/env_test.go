// Package acp tests the Agentic Commerce Protocol endpoints of the built binary with
// signed requests: one client of our own format and one for each protocol version, then
// attacks. Product and world are two processes.
package acp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"
	"github.com/pb33f/libopenapi-validator/config"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/dotkontor/dotkontor/internal/registrar/signing"
	"github.com/dotkontor/dotkontor/test/testkit"
)

var binary string

func TestMain(m *testing.M) { os.Exit(testkit.Main(m, &binary)) }

// The go tool does not see that the tests depend on the built binary.
func TestSources_AreInputsOfTheTestCache(t *testing.T) {
	t.Parallel()
	seen, err := testkit.Sources()
	if err != nil || len(seen) == 0 {
		t.Fatalf("%d sources, %v", len(seen), err)
	}
}

const sessionsPath = "/api/acp/checkout_sessions"

// agent has an agent's credentials.
type agent struct{ ID, Key, Secret string }

// env is a product with its world and the demo customer's linked agent.
type env struct {
	t            *testing.T
	base, config string
	settings     []string
	linked       agent
	token        string
	schemas      map[string]*jsonschema.Compiler
	// openapi validates against /openapi.json.
	openapi validator.Validator
	// reconcile fails the test if payments, orders and registry disagree.
	reconcile func()
	provider  testkit.Provider
}

func newEnv(t *testing.T, settings ...string) *env {
	t.Helper()
	opened := testkit.NewEnv(t, binary, settings...)
	return &env{
		t: t, base: opened.Base, config: opened.Config, settings: settings, linked: agent(opened.Agent), token: opened.Demo.Token,
		schemas: schemaCompilers(t), openapi: openAPIValidator(t, opened.Base), provider: opened.Provider, reconcile: func() { t.Helper(); opened.Reconcile(t) },
	}
}

// addAgent registers another agent with the operator command.
func (s *env) addAgent(name string) agent {
	s.t.Helper()
	command := exec.CommandContext(s.t.Context(), binary, "agents", "add", name, "--json", "--config", s.config)
	command.Env = append(testkit.Environment(), s.settings...)
	text, err := command.Output()
	var made agent
	if err == nil {
		err = json.Unmarshal(text, &made)
	}
	if err != nil || made.Secret == "" {
		s.t.Fatalf("agents add: %v: %s", err, text)
	}
	return made
}

// acpRequest is a request, by default a POST signed by the linked agent.
type acpRequest struct {
	method, path, body string
	agent              *agent
	unsigned           bool
	header             map[string]string
}

type acpResponse struct {
	status int
	header http.Header
	text   string
	body   struct {
		ID          string
		Status      string
		PaymentURL  string `json:"payment_url"`
		ContinueURL string `json:"continue_url"`
		Code, Type  string
		Param       string
		Message     string
		Messages    []struct{ Code, Content string }
		Totals      json.RawMessage
	}
}

func (s *env) doRequest(a acpRequest) acpResponse {
	s.t.Helper()
	got, err := s.tryRequest(a)
	if err != nil {
		s.t.Fatal(err)
	}
	return got
}

// tryRequest returns errors, so that it may be called from any goroutine.
func (s *env) tryRequest(a acpRequest) (acpResponse, error) {
	if a.method == "" {
		a.method = http.MethodPost
	}
	request, err := http.NewRequestWithContext(s.t.Context(), a.method, s.base+a.path, strings.NewReader(a.body))
	if err != nil {
		return acpResponse{}, err
	}
	if !a.unsigned {
		by := s.linked
		if a.agent != nil {
			by = *a.agent
		}
		for name, value := range signatureHeaders(by, a.body, time.Now()) {
			request.Header.Set(name, value)
		}
	}
	if a.method == http.MethodPost {
		request.Header.Set("Content-Type", "application/json")
	}
	for name, value := range a.header {
		request.Header.Set(name, value)
	}
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		return acpResponse{}, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil {
		return acpResponse{}, err
	}
	got := acpResponse{status: response.StatusCode, header: response.Header, text: string(text)}
	again := *response
	again.Body = io.NopCloser(bytes.NewReader(text))
	if _, problems := s.openapi.ValidateHttpResponse(request, &again); len(problems) > 0 {
		return got, fmt.Errorf("openapi.json does not describe %s %s: %d %s: %s: %s",
			a.method, a.path, got.status, text, problems[0].Message, problems[0].Reason)
	}
	if err := json.Unmarshal(text, &got.body); err != nil {
		return got, fmt.Errorf("%d %q: %w", got.status, text, err)
	}
	return got, nil
}

func signatureHeaders(by agent, body string, at time.Time) map[string]string {
	timestamp := at.UTC().Format(time.RFC3339Nano)
	return map[string]string{"Timestamp": timestamp, "Signature": signing.Compute(by.Secret, timestamp, []byte(body))}
}

func (s *env) wantError(label string, got acpResponse, status int, code string) {
	s.t.Helper()
	if got.status != status || got.body.Code != code || got.body.Message == "" || got.body.Type == "" {
		s.t.Errorf("%s: got %d %s, want %d %s", label, got.status, got.text, status, code)
	}
}

// The buyer has no account.
const (
	buyerJSON   = `"buyer":{"first_name":"Erika","last_name":"Mustermann","email":"erika@kundin.example","phone_number":"+49.30123456"}`
	addressJSON = `{"name":"Erika Mustermann","line_one":"Musterweg 1","city":"Berlin","state":"","country":"DE","postal_code":"10115"}`
)

// createSession creates a session in our own format with complete buyer data.
func (s *env) createSession(items ...string) acpResponse {
	s.t.Helper()
	got := s.doRequest(acpRequest{path: sessionsPath, body: `{"items":[` + itemsJSON(items) + `],` + buyerJSON + `,"fulfillment_address":` + addressJSON + `}`})
	if got.status != http.StatusCreated {
		s.t.Fatalf("create: %d %s", got.status, got.text)
	}
	return got
}

func itemsJSON(items []string) string {
	var list []string
	for _, item := range items {
		list = append(list, `{"id":"`+item+`"}`)
	}
	return strings.Join(list, ",")
}

func payWith(token string) string {
	return `{"payment_data":{"token":"` + token + `","provider":"stripe"}}`
}

func (s *env) completeSession(id, body string) acpResponse {
	s.t.Helper()
	return s.doRequest(acpRequest{path: sessionsPath + "/" + id + "/complete", body: body})
}

// waitForOrder waits until a session's order is final and returns its status.
func (s *env) waitForOrder(id string) (status string) {
	s.t.Helper()
	testkit.Eventually(s.t, "final order", func() bool {
		got := s.doRequest(acpRequest{method: http.MethodGet, path: sessionsPath + "/" + id})
		var body struct{ Order struct{ Status string } }
		if err := json.Unmarshal([]byte(got.text), &body); err != nil {
			s.t.Fatal(err)
		}
		status = body.Order.Status
		return status != "" && status != "provisioning"
	})
	return status
}

// openAPIValidator validates against the product's /openapi.json.
func openAPIValidator(t *testing.T, base string) validator.Validator {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+"/openapi.json", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	document, err := libopenapi.NewDocument(text)
	if err != nil {
		t.Fatal(err)
	}
	documentValidator, problems := validator.NewValidator(document, config.WithFormatAssertions())
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return documentValidator
}

// schemaCompilers returns the schemas of each protocol version in ACP_SPEC_DIR.
func schemaCompilers(t *testing.T) map[string]*jsonschema.Compiler {
	t.Helper()
	folder := os.Getenv("ACP_SPEC_DIR")
	if folder == "" {
		return nil // TestACPSchemas_RefuseInvalidSession reports the skip
	}
	all := make(map[string]*jsonschema.Compiler)
	for _, version := range []string{"2025-09-29", "2026-04-17"} {
		text, err := os.ReadFile(filepath.Join(folder, "spec", version, "json-schema", "schema.agentic_checkout.json"))
		if err != nil {
			t.Fatal(err)
		}
		// The first version uses the keyword of older drafts.
		text = bytes.ReplaceAll(text, []byte(`"exclusiveMinimum": true`), []byte(`"exclusiveMinimum": 0`))
		bundle, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if fields, ok := bundle.(map[string]any); ok {
			fields["$id"] = schemaName
		}
		all[version] = jsonschema.NewCompiler()
		all[version].AssertFormat()
		if err := all[version].AddResource(schemaName, bundle); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func TestACPSchemas_RefuseInvalidSession(t *testing.T) {
	t.Parallel()
	schemas := schemaCompilers(t)
	if schemas == nil {
		t.Skip("ACP_SPEC_DIR is not set: answers of the built binary are not validated against the protocol's schemas")
	}
	for version, compiler := range schemas {
		schema, err := compiler.Compile(schemaName + "#/$defs/CheckoutSession")
		if err != nil {
			t.Fatal(err)
		}
		if schema.Validate(map[string]any{"id": "cs_1"}) == nil {
			t.Errorf("%s: a session without a status is accepted", version)
		}
	}
}

const schemaName = "https://schemas.example/checkout.json"

// wantSchema validates a response against a schema of its version.
func (s *env) wantSchema(version, definition string, got acpResponse) {
	s.t.Helper()
	compiler, ok := s.schemas[version]
	if !ok {
		return
	}
	schema, err := compiler.Compile(schemaName + "#/$defs/" + definition)
	if err != nil {
		s.t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(got.text))
	if err == nil {
		err = schema.Validate(value)
	}
	if err != nil {
		s.t.Errorf("%s, %s: %v\n%s", version, definition, err, got.text)
	}
}
