package acp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// validator returns what is wrong with an object of a version.
type validator func(definition string, value any) error

// validators are the protocol's own schemas if ACP_SPEC_DIR names a checkout of its
// repository, and always our own list of fields.
func validators(t *testing.T, version string) map[string]validator {
	t.Helper()
	all := map[string]validator{"by hand": handWrittenSchemas[version].validate}
	folder := os.Getenv("ACP_SPEC_DIR")
	if folder == "" {
		t.Logf("ACP_SPEC_DIR is not set: responses are compared with our own structures only")
		return all
	}
	text, err := os.ReadFile(filepath.Join(folder, "spec", version, "json-schema", "schema.agentic_checkout.json"))
	if err != nil {
		t.Fatal(err)
	}
	// The first version uses the notation of older drafts.
	text = bytes.ReplaceAll(text, []byte(`"exclusiveMinimum": true`), []byte(`"exclusiveMinimum": 0`))
	bundle, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	const name = "https://schemas.example/checkout.json"
	if fields, ok := bundle.(map[string]any); ok {
		fields["$id"] = name // the original $id does not resolve
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	if err := compiler.AddResource(name, bundle); err != nil {
		t.Fatal(err)
	}
	all["by schema"] = func(definition string, value any) error {
		schema, err := compiler.Compile(name + "#/$defs/" + definition)
		if err != nil {
			return err
		}
		return schema.Validate(value)
	}
	return all
}

func decodeJSON(t *testing.T, text string) any {
	t.Helper()
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// fields are the fields of an object: required ones first, optional ones after a bar.
// Fields with objects or lists of them name their kind after a colon.
type fields map[string]string

var handWrittenSchemas = map[string]fields{
	"2025-09-29": {
		"CheckoutSession": "id status:2025 currency line_items:Line totals:Total fulfillment_options:Option messages:Message links|" +
			"buyer:Buyer payment_provider:Provider fulfillment_address:Address fulfillment_option_id",
		"Line":     "id item:Item base_amount discount subtotal tax total|",
		"Item":     "id quantity|",
		"Total":    "type display_text amount|",
		"Option":   "type id title subtotal tax total|subtitle",
		"Message":  "type content_type content|code:code2025 param",
		"Buyer":    "first_name last_name email|phone_number",
		"Provider": "provider supported_payment_methods|",
		"Address":  "name line_one city state country postal_code|line_two",
		"Error":    "type:error2025 code message|param",
	},
	"2026-04-17": {
		"CheckoutSession": "id status:2026 currency line_items:Line totals:Total fulfillment_options:Option messages:Message links capabilities:Capabilities|" +
			"protocol:Protocol buyer:Buyer fulfillment_details:Details created_at updated_at expires_at continue_url order:Order",
		"CheckoutSessionWithOrder": "id status:2026 currency line_items:Line totals:Total fulfillment_options:Option messages:Message links capabilities:Capabilities order:Order|" +
			"protocol:Protocol buyer:Buyer fulfillment_details:Details created_at updated_at expires_at continue_url",
		"Line":         "id item:Item quantity totals:Total|name description unit_amount",
		"Item":         "id|name unit_amount",
		"Total":        "type display_text amount|",
		"Option":       "type id title totals:Total|",
		"Message":      "type content_type content|code:code2026 param resolution",
		"Capabilities": "|payment:Payment",
		"Payment":      "handlers:Handler|",
		"Handler":      "id name version spec requires_delegate_payment requires_pci_compliance psp config_schema instrument_schemas config|display_name",
		"Protocol":     "version|",
		"Buyer":        "email|first_name last_name phone_number company:Company",
		"Company":      "name|tax_id",
		"Details":      "|name phone_number email address:Address",
		"Address":      "name line_one city state country postal_code|line_two company",
		"Order":        "id checkout_session_id permalink_url|type order_number status line_items:OrderLine fulfillments adjustments totals:Total",
		"OrderLine":    "id title quantity|product_id description unit_price subtotal totals:Total status",
		"Error":        "type:error2026 code message|param supported_versions",
	},
}

// enums are the values of a field.
var enums = map[string]string{
	"2025":      "not_ready_for_payment ready_for_payment completed canceled in_progress",
	"2026":      "not_ready_for_payment ready_for_payment completed canceled in_progress",
	"code2025":  "missing invalid out_of_stock payment_declined requires_sign_in requires_3ds",
	"code2026":  "missing invalid out_of_stock payment_declined requires_sign_in requires_3ds",
	"error2025": "invalid_request request_not_idempotent processing_error service_unavailable",
	"error2026": "invalid_request processing_error service_unavailable",
}

func (f fields) validate(definition string, value any) error {
	if allowed, ok := enums[definition]; ok {
		if !slices.Contains(strings.Fields(allowed), fmt.Sprint(value)) {
			return fmt.Errorf("%v is not one of %s", value, allowed)
		}
		return nil
	}
	if list, ok := value.([]any); ok {
		for _, entry := range list {
			if err := f.validate(definition, entry); err != nil {
				return err
			}
		}
		return nil
	}
	object, ok := value.(map[string]any)
	if !ok {
		return fmt.Errorf("%s is %T", definition, value)
	}
	required, more, _ := strings.Cut(f[definition], "|")
	known := map[string]string{}
	for _, entry := range strings.Fields(required + " " + more) {
		name, kind, _ := strings.Cut(entry, ":")
		known[name] = kind
	}
	for _, entry := range strings.Fields(required) {
		name, _, _ := strings.Cut(entry, ":")
		if object[name] == nil {
			return fmt.Errorf("%s has no %s", definition, name)
		}
	}
	for name, inner := range object {
		kind, ok := known[name]
		if !ok {
			return fmt.Errorf("%s has the unknown field %s", definition, name)
		}
		if kind != "" {
			if err := f.validate(kind, inner); err != nil {
				return fmt.Errorf("%s.%s: %w", definition, name, err)
			}
		}
	}
	return nil
}

// versionHeaders requests a version with a new key.
func versionHeaders(version, key string) map[string]string {
	set := map[string]string{}
	if version != "" {
		set["API-Version"] = version
	}
	if key != "" {
		set["Idempotency-Key"] = key
	}
	return set
}

func TestResponses_MatchVersionSchemaInEveryState(t *testing.T) {
	t.Parallel()
	for _, version := range versions {
		all := validators(t, version)
		create := `{"items":[{"id":"register:kaffee.de","quantity":1}]}`
		if version == v2026.version {
			create = `{"line_items":[{"id":"register:kaffee.de"}],"currency":"eur","capabilities":{}}`
		}
		for state, session := range sessionStates() {
			w := newEnv(t)
			w.orders.session = session
			for _, test := range []struct {
				testRequest
				status     int
				definition string
			}{
				{testRequest{path: sessionsPath, body: create}, 201, "CheckoutSession"},
				{testRequest{path: sessionPath, method: "GET"}, 200, "CheckoutSession"},
				{testRequest{path: sessionPath, body: `{}`}, 200, "CheckoutSession"},
				{testRequest{path: sessionPath + "/cancel"}, 200, "CheckoutSession"},
				{testRequest{path: sessionPath + "/complete"}, 200, "CheckoutSessionWithOrder"},
			} {
				test.header = versionHeaders(version, "key-"+test.path)
				if version == v2025.version {
					test.definition = "CheckoutSession" // the other definition can't be satisfied
				}
				got := w.do(test.testRequest)
				label := fmt.Sprintf("%s, %s, %s %s", version, state, test.method, test.path)
				if got.status != test.status || got.header.Get("API-Version") != version {
					t.Fatalf("%s: got %d with version %q: %s", label, got.status, got.header.Get("API-Version"), got.text)
				}
				for who, judge := range all {
					if err := judge(test.definition, decodeJSON(t, got.text)); err != nil {
						t.Errorf("%s: %s: %v\n%s", label, who, err, got.text)
					}
				}
			}
		}
	}
}

func TestSchema2025_CompletedSessionIsUnsatisfiable(t *testing.T) {
	t.Parallel()
	judge, ok := validators(t, v2025.version)["by schema"]
	if !ok {
		t.Skip("ACP_SPEC_DIR is not set")
	}
	w := newEnv(t)
	w.orders.session = sessionStates()["done"]
	body := w.do(testRequest{path: sessionPath + "/complete", header: versionHeaders(v2025.version, "")}).body
	if judge("CheckoutSessionWithOrder", body) == nil {
		t.Error("it accepts a session without an order")
	}
	body["order"] = map[string]any{"id": "ord_1", "checkout_session_id": "ord_1", "permalink_url": base}
	if judge("CheckoutSessionWithOrder", body) == nil {
		t.Error("it accepts an order now: completed sessions should carry one")
	}
}

func TestOwnShape_HasLinksAndEuroAmounts(t *testing.T) {
	t.Parallel()
	for state, want := range map[string]struct {
		status      string
		pay, verify bool
	}{
		"ready": {"ready_for_payment", true, false}, "untold": {"not_ready_for_payment", true, false},
		"identity": {"not_ready_for_payment", true, true}, "no token": {"not_ready_for_payment", true, false},
		"paying": {"in_progress", false, false}, "paid": {"completed", false, false}, "repaid": {"completed", false, false},
		"canceled": {"canceled", false, false}, "expired": {"canceled", false, false},
	} {
		w := newEnv(t)
		w.orders.session = sessionStates()[state]
		got := w.do(testRequest{path: sessionPath, method: "GET"})
		_, pay := got.body["payment_url"]
		_, verify := got.body["verification_url"]
		if got.status != 200 || got.body["id"] != "ord_1" || got.body["status"] != want.status || pay != want.pay || verify != want.verify {
			t.Errorf("%s: got %d %s", state, got.status, got.text)
		}
		if !strings.Contains(got.text, `"totals":{"netEur":26.90,"vatEur":5.11,"grossEur":32.01,"vatRate":19}`) {
			t.Errorf("%s: totals of %s", state, got.text)
		}
	}
}

func TestOwnShape_FailedItemAndRefundHaveReason(t *testing.T) {
	t.Parallel()
	for state, want := range map[string]string{
		"repaid": `"grossEur":23.80,"status":"refunded","reason":"name_taken"}`,
		"owed":   `"grossEur":8.21,"status":"failed","reason":"name_taken"}`,
	} {
		w := newEnv(t)
		w.orders.session = sessionStates()[state]
		got := w.do(testRequest{path: sessionPath, method: "GET"})
		if !strings.Contains(got.text, want) || strings.Count(got.text, `"reason":"name_taken"`) != 2 || strings.Count(got.text, `"reason"`) != 2 {
			t.Errorf("%s: got %s", state, got.text)
		}
	}
}

func TestSession_SaysWhichFieldTheRegistryRejects(t *testing.T) {
	t.Parallel()
	for _, claimed := range []bool{false, true} {
		for _, version := range append([]string{""}, versions...) {
			w := newEnv(t)
			w.orders.session = sessionStates()["rejected"]
			w.orders.session.Order.Claimed = claimed
			got := w.do(testRequest{path: sessionPath, method: "GET", header: versionHeaders(version, "")})
			remedy := "Send other data in buyer"
			if claimed {
				remedy = "The buyer changes it at "
			}
			if !strings.Contains(got.text, ": For this extension, the holder's name can have at most 50 characters. Please shorten it. "+remedy) {
				t.Errorf("claimed %t, %q: got %s", claimed, version, got.text)
			}
		}
	}
}

func TestPaidSession_ClaimMailOnlyWithDomain(t *testing.T) {
	t.Parallel()
	for state, want := range map[string]bool{"paid": true, "done": true, "owed": false} {
		for _, version := range append([]string{""}, versions...) {
			w := newEnv(t)
			w.orders.session = sessionStates()[state]
			got := w.do(testRequest{path: sessionPath, method: "GET", header: versionHeaders(version, "")})
			if strings.Contains(got.text, "email with a link") != want {
				t.Errorf("%s, %q: got %s", state, version, got.text)
			}
		}
	}
}

// Data that does not concern the agent is never sent.
func TestResponses_ContainNoAccountOrSecret(t *testing.T) {
	t.Parallel()
	for _, version := range append([]string{""}, versions...) {
		for state, session := range sessionStates() {
			w := newEnv(t)
			w.orders.session = session
			got := w.do(testRequest{path: sessionPath, method: "GET", header: versionHeaders(version, "")})
			for _, secret := range []string{"cus_1", "sealed", "agt_a"} {
				if strings.Contains(got.text, secret) {
					t.Errorf("%s, %s: %s is in %s", version, state, secret, got.text)
				}
			}
		}
	}
}

func TestErrors_MatchVersionSchema(t *testing.T) {
	t.Parallel()
	for _, version := range versions {
		all := validators(t, version)
		for label, test := range wrongRequests(version) {
			w := newEnv(t)
			got := w.do(test)
			if got.status < 400 {
				t.Errorf("%s, %s: got %d %s", version, label, got.status, got.text)
			}
			for who, judge := range all {
				var value any
				if err := json.Unmarshal([]byte(got.text), &value); err != nil {
					t.Fatal(err)
				}
				if err := judge("Error", value); err != nil {
					t.Errorf("%s, %s: %s: %v\n%s", version, label, who, err, got.text)
				}
			}
		}
	}
}

func wrongRequests(version string) map[string]testRequest {
	return map[string]testRequest{
		"unsigned": {path: sessionPath + "/complete", unsigned: true, header: versionHeaders(version, "k")},
		"no json":  {path: sessionPath + "/complete", body: "{", header: versionHeaders(version, "k")},
		"unknown":  {path: sessionPath, body: `{"colour":"red"}`, header: versionHeaders(version, "k")},
		"no such":  {path: sessionsPath + "/ord_2", method: "GET", header: versionHeaders(version, "")},
		"items":    {path: sessionsPath, body: `{}`, header: versionHeaders(version, "k")},
	}
}
