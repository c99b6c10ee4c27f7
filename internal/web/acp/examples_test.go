package acp

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// requestExample is one request as another client may write it.
type requestExample struct {
	version, operation, body string
	status                   int
	code                     string
}

// ownExamples are our own requests for when the protocol's are not available. Like
// those, they have goods and currencies that are not ours, quantities above one, and
// fulfillment and payment options that we do not have.
var ownExamples = map[string]requestExample{
	"our own, years":              {"", "create", `{"items":[{"id":"register:kaffee.de","years":3}]}`, 400, codeUnknownField},
	"first version, create":       {"2025-09-29", "create", `{"items":[{"id":"sku_7","quantity":1.5}],"fulfillment_address":{"name":"Max Beispiel","line_one":"Weg 2","line_two":"","city":"Bern","state":"BE","country":"CH","postal_code":"3011"}}`, 400, codeInvalidItem},
	"first version, many":         {"2025-09-29", "create", `{"items":[{"id":"register:kaffee.de","quantity":2}]}`, 400, codeQuantity},
	"first version, update":       {"2025-09-29", "update", `{"fulfillment_option_id":"express"}`, 400, codeOption},
	"first version, complete":     {"2025-09-29", "complete", `{"buyer":{"first_name":"Max","last_name":"Beispiel","email":"max@beispiel.example","phone_number":"49301"},"payment_data":{"token":"spt_7","provider":"stripe","billing_address":{"name":"Max Beispiel","line_one":"Weg 2","city":"Bern","state":"BE","country":"CH","postal_code":"3011"}}}`, 200, ""},
	"first version, new payment":  {"2025-09-29", "complete", `{"payment_data":{"handler_id":"card_tokenized","instrument":{"type":"card","credential":{"type":"spt","token":"spt_7"}}}}`, 400, codeUnknownField},
	"second version, create":      {"2026-04-17", "create", `{"currency":"chf","line_items":[{"id":"sku_7","unit_amount":5}],"capabilities":{},"fulfillment_details":{"name":"Max Beispiel","email":"max@beispiel.example"}}`, 400, codeInvalidItem},
	"second version, currency":    {"2026-04-17", "create", `{"currency":"chf","line_items":[{"id":"register:kaffee.de"}],"capabilities":{}}`, 400, codeCurrency},
	"second version, no currency": {"2026-04-17", "create", `{"line_items":[{"id":"register:kaffee.de"}],"capabilities":{}}`, 400, codeMissingField},
	"second version, old items":   {"2026-04-17", "create", `{"items":[{"id":"register:kaffee.de","quantity":1}],"currency":"eur","capabilities":{}}`, 400, codeUnknownField},
	"second version, update":      {"2026-04-17", "update", `{"selected_fulfillment_options":[{"type":"shipping","option_id":"express","item_ids":["sku_7"]}],"order_notes":"Ring twice"}`, 400, codeOption},
	"second version, complete":    {"2026-04-17", "complete", `{"buyer":{"email":"max@beispiel.example"},"payment_data":{"handler_id":"card_tokenized","instrument":{"type":"card","credential":{"type":"spt","token":"spt_7"}}},"marketing_consents":[{"channel":"email","opted_in":true}]}`, 200, ""},
	"second version, old payment": {"2026-04-17", "complete", `{"payment_data":{"token":"spt_7","provider":"stripe"}}`, 400, codeUnknownField},
	"second version, saved card":  {"2026-04-17", "complete", `{"payment_data":{"handler_id":"saved","instrument":{"type":"saved_card","credential":{"type":"spt","token":"vt_7"}}}}`, 400, codeHandler},
	"second version, denied":      {"2026-04-17", "complete", `{"payment_data":{"handler_id":"card_tokenized","instrument":{"type":"card","credential":{"type":"spt","token":"spt_7"}}},"authentication_result":{"outcome":"denied"}}`, 200, ""},
	"second version, cancel":      {"2026-04-17", "cancel", `{"intent_trace":{"reason_code":"comparison","trace_summary":"Another name"}}`, 200, ""},
}

var operationPaths = map[string]string{"create": sessionsPath, "update": sessionPath, "complete": sessionPath + "/complete", "cancel": sessionPath + "/cancel"}

func TestExamples_OwnRequestsGiveDocumentedErrors(t *testing.T) {
	t.Parallel()
	for label, e := range ownExamples {
		w := newEnv(t)
		got := w.do(testRequest{path: operationPaths[e.operation], body: e.body, header: versionHeaders(e.version, "k")})
		if e.status == 200 {
			if got.status != 200 || w.orders.count(e.operation) != 1 {
				t.Errorf("%s: got %d %s", label, got.status, got.text)
			}
			continue
		}
		w.wantProblem(label, got, e.status, e.code)
		if param, ok := got.body["param"].(string); !ok || !strings.HasPrefix(param, "$.") {
			t.Errorf("%s: the error has no location: %s", label, got.text)
		}
	}
}

// protocolExamples are the expected results of the protocol's own examples. Examples
// that violate their own schema are rejected.
var protocolExamples = map[string]map[string]requestExample{
	"2025-09-29": {
		"create_checkout_session_request":   {operation: "create", status: 400, code: codeInvalidItem},
		"update_checkout_session_request":   {operation: "update", status: 400, code: codeOption},
		"complete_checkout_session_request": {operation: "complete", status: 200},
	},
	"2026-04-17": {
		"create_checkout_session_request":                               {operation: "create", status: 400, code: codeInvalidItem},
		"create_checkout_session_request_with_first_touch_attribution":  {operation: "create", status: 400, code: codeInvalidItem},
		"create_multi_item_checkout_request":                            {operation: "create", status: 400, code: codeInvalidItem},
		"update_checkout_session_request":                               {operation: "update", status: 400, code: codeOption},
		"complete_checkout_session_request":                             {operation: "complete", status: 200},
		"complete_checkout_session_request_seller_backed":               {operation: "complete", status: 400, code: codeHandler},
		"complete_checkout_session_request_with_last_touch_attribution": {operation: "complete", status: 200},
		"complete_session_with_authentication_result_request":           {operation: "complete", status: 200},
		"complete_session_with_denied_authentication_request":           {operation: "complete", status: 200},
		"cancel_checkout_session_request":                               {operation: "cancel", status: 200},
		"cancel_checkout_session_request_timing_deferred":               {operation: "cancel", status: 200},
	},
}

func TestExamples_ProtocolRequestsGiveDocumentedErrors(t *testing.T) {
	t.Parallel()
	folder := os.Getenv("ACP_SPEC_DIR")
	if folder == "" {
		t.Skip("ACP_SPEC_DIR is not set; another test uses our own examples")
	}
	for version, wanted := range protocolExamples {
		found := map[string]json.RawMessage{}
		for _, name := range []string{"examples.agentic_checkout.json", "examples.multi_item_checkout.json"} {
			text, err := os.ReadFile(filepath.Join(folder, "examples", version, name))
			if os.IsNotExist(err) {
				continue
			}
			if err == nil {
				err = json.Unmarshal(text, &found)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		requests := 0
		for name, body := range found {
			if !strings.Contains(name, "request") || strings.HasPrefix(name, "error") {
				continue
			}
			requests++
			want, ok := wanted[name]
			if !ok {
				t.Errorf("%s: no expected result for %s", version, name)
				continue
			}
			w := newEnv(t)
			got := w.do(testRequest{path: operationPaths[want.operation], body: string(body), header: versionHeaders(version, "k")})
			if want.status != 200 {
				w.wantProblem(version+" "+name, got, want.status, want.code)
			} else if got.status != 200 || w.orders.count(want.operation) != 1 {
				t.Errorf("%s %s: got %d %s", version, name, got.status, got.text)
			}
		}
		if requests != len(wanted) {
			t.Errorf("%s: %d requests found, want %d", version, requests, len(wanted))
		}
	}
}

// Both notations of a payment pass the same token to the order, and a token declined by
// the bank is not passed.
func TestComplete_TokenPassedUnlessBankDeclined(t *testing.T) {
	t.Parallel()
	for label, test := range map[string]struct{ version, body, token string }{
		"own":        {"", `{"payment_data":{"token":"spt_7","provider":"stripe"}}`, "spt_7"},
		"own, short": {"", `{"payment_data":{"token":"spt_7"},"anything":[1,null]}`, "spt_7"},
		"own, none":  {"", `{"payment_data":null}`, ""},
		"empty":      {"", "", ""},
		"2025":       {"2025-09-29", `{"payment_data":{"token":"spt_7","provider":"stripe"}}`, "spt_7"},
		"2026":       {"2026-04-17", ownExamples["second version, complete"].body, "spt_7"},
		"denied":     {"2026-04-17", ownExamples["second version, denied"].body, ""},
		"invoice":    {"2026-04-17", `{"payment_data":{"purchase_order_number":"PO 1"}}`, ""},
	} {
		w := newEnv(t)
		got := w.do(testRequest{path: sessionPath + "/complete", body: test.body, header: versionHeaders(test.version, "k")})
		if got.status != 200 || w.orders.count("complete") != 1 || w.orders.done.Token != test.token {
			t.Errorf("%s: got %d, the order has %q: %s", label, got.status, w.orders.done.Token, got.text)
		}
		if w.orders.actor.Through != "agt_a" || w.orders.actor.Kind != "agent" || w.orders.actor.Customer != "" {
			t.Errorf("%s: the actor is %+v", label, w.orders.actor)
		}
	}
}

// A token of another or an unspecified provider is not charged.
func TestComplete_OtherProvidersTokenIsRefused(t *testing.T) {
	t.Parallel()
	const instrument = `{"payment_data":{"handler_id":%q,"instrument":{"type":"card","credential":{"type":%q,"token":"spt_7"}}}}`
	for label, test := range map[string]struct{ version, body, code string }{
		"own":                  {"", `{"payment_data":{"token":"spt_7","provider":"other"}}`, codeProvider},
		"own, upper case":      {"", `{"payment_data":{"token":"spt_7","provider":"Stripe"}}`, codeProvider},
		"own, empty":           {"", `{"payment_data":{"token":"spt_7","provider":""}}`, codeProvider},
		"2025":                 {"2025-09-29", `{"payment_data":{"token":"spt_7","provider":"other"}}`, codeProvider},
		"2025, empty":          {"2025-09-29", `{"payment_data":{"token":"spt_7","provider":""}}`, codeProvider},
		"2026":                 {"2026-04-17", fmt.Sprintf(instrument, "other", "spt"), codeHandler},
		"2026, empty":          {"2026-04-17", fmt.Sprintf(instrument, "", "spt"), codeHandler},
		"2026, no kind":        {"2026-04-17", fmt.Sprintf(instrument, handler, ""), codeHandler},
		"2026, kind of wallet": {"2026-04-17", fmt.Sprintf(instrument, handler, "wallet_token"), codeHandler},
	} {
		w := newEnv(t)
		w.wantProblem(label, w.do(testRequest{path: sessionPath + "/complete", body: test.body, header: versionHeaders(test.version, "k")}), 400, test.code)
		if w.orders.count("complete") != 0 {
			t.Errorf("%s: completed with %q", label, w.orders.done.Token)
		}
	}
}

func TestBuyer_ReadFromAllFieldsPayerIsNotRegistrant(t *testing.T) {
	t.Parallel()
	const place = `{"name":"Rechnung Stelle","line_one":"Kassenweg 9","city":"Bonn","state":"","country":"de","postal_code":"53111"}`
	w := newEnv(t)
	w.do(testRequest{path: sessionsPath, header: map[string]string{"Accept-Language": "de-DE,en;q=0.5"}, body: `{"items":[{"id":"register:kaffee.de"}],
		"buyer":{"full_name":"Anna Maria Beispiel","email":"anna@beispiel.example","company":{"name":"B AG","tax_id":"DE1"}},"fulfillment_address":` + place + `}`})
	if c := w.orders.created.Contact; c == nil || c.FirstName != "Anna Maria" || c.LastName != "Beispiel" || c.Organisation != "B AG" ||
		c.VATID != "DE1" || c.Street != "Kassenweg 9" || c.Country != "DE" || c.Language != "de" || c.Email != "anna@beispiel.example" {
		t.Errorf("the buyer is %+v", c)
	}
	pay := `{"payment_data":{"token":"spt_7","provider":"stripe","billing_address":` + place + `}}`
	w.do(testRequest{path: sessionPath + "/complete", body: pay})
	if c := w.orders.done.Contact; c != nil {
		t.Errorf("the payer's address replaces the registrant's: %+v", c)
	}
	w.orders.session = sessionStates()["untold"]
	w.do(testRequest{path: sessionPath + "/complete", body: pay})
	if c := w.orders.done.Contact; c == nil || c.Street != "Kassenweg 9" || c.LastName != "Stelle" {
		t.Errorf("without other data the buyer is %+v", c)
	}
}
