package orderdoc

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/oasdiff/yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

const permalink = "https://domains.example/checkout/dotkontor_pay_x"

var testTime = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

// newOrder has a registration, a transfer and a pending refund.
func newOrder(state order.State, first, second order.ItemState) order.Order {
	return order.Order{
		ID: "ord_1", State: state, Totals: order.Totals{Net: 3000, VAT: 570, Gross: 3570},
		Contact: order.Contact{FirstName: "Erika", LastName: "Mustermann", Email: "erika@kundin.example", Street: "Musterweg 1"},
		Items: []order.Item{
			{ID: "itm_1", Name: "example.ai", Kind: order.Register, Years: 2, Net: 2000, VAT: 380, Gross: 2380, State: first},
			{ID: "itm_2", Name: "example.de", Kind: order.Transfer, Years: 1, Net: 1000, VAT: 190, Gross: 1190, State: second, Failure: "refused", SealedCode: "sealed-code"},
		},
		Payments: []order.Payment{{ID: "pay_1", State: order.PaymentCaptured, Amount: 3570, Intent: "pi_1", Card: "fingerprint"}},
	}
}

// withRefund refunds the second item and has an unmatched payment.
func withRefund(o order.Order, provider string) order.Order {
	o.Refunds = []order.Refund{
		{ID: "rfd_1", Payment: "pay_1", Item: "itm_2", Amount: 1190, Provider: provider, CreatedAt: testTime, MadeAt: testTime.Add(time.Minute)},
		{ID: "rfd_2", Payment: "pay_2", Amount: 3570, Provider: "re_2", CreatedAt: testTime, MadeAt: testTime},
	}
	return o
}

// orderStates are orders in every state that is reported to agents.
func orderStates() map[string]order.Order {
	return map[string]order.Order{
		"paid":           newOrder(order.Provisioning, order.ItemProvisioning, order.ItemProvisioning),
		"one there":      newOrder(order.Provisioning, order.ItemActive, order.ItemProvisioning),
		"one failed":     withRefund(newOrder(order.Provisioning, order.ItemProvisioning, order.ItemFailed), ""),
		"completed":      newOrder(order.Completed, order.ItemActive, order.ItemActive),
		"partly":         withRefund(newOrder(order.PartiallyCompleted, order.ItemActive, order.ItemFailed), ""),
		"partly, repaid": withRefund(newOrder(order.PartiallyCompleted, order.ItemActive, order.ItemRefunded), "re_1"),
		"failed":         withRefund(newOrder(order.Failed, order.ItemFailed, order.ItemRefunded), "re_1"),
		"never paid":     newOrder(order.Canceled, order.ItemWaiting, order.ItemWaiting),
	}
}

func event2026(t *testing.T, first bool, o order.Order) (kind string, doc Order) {
	t.Helper()
	text, err := Event(Version2026, first, o, permalink)
	if err != nil {
		t.Fatal(err)
	}
	var message struct {
		Type string
		Data Order
	}
	if err := json.Unmarshal(text, &message); err != nil {
		t.Fatal(err)
	}
	return message.Type, message.Data
}

func TestEvent_FirstCreatesLaterUpdates(t *testing.T) {
	t.Parallel()
	o := orderStates()["paid"]
	for first, want := range map[bool]string{true: "order_create", false: "order_update"} {
		for _, version := range []string{"", Version2025, Version2026} {
			text, err := Event(version, first, o, permalink)
			if err != nil || !strings.HasPrefix(string(text), `{"type":"`+want+`","data":{"type":"order",`) {
				t.Errorf("%q, first %t: %s, %v", version, first, text, err)
			}
		}
	}
}

func TestOrder_RefundsAreAdjustments(t *testing.T) {
	t.Parallel()
	_, owed := event2026(t, false, orderStates()["partly"])
	if len(owed.Adjustments) != 1 || owed.Adjustments[0].Status != "pending" || len(owed.Totals) != 3 {
		t.Errorf("pending: %+v, %+v", owed.Adjustments, owed.Totals)
	}
	_, doc := event2026(t, false, orderStates()["partly, repaid"])
	if len(doc.Adjustments) != 1 { // the unmatched payment is no part of the order
		t.Fatalf("got %+v", doc.Adjustments)
	}
	back := doc.Adjustments[0]
	if back.ID != "rfd_1" || back.Type != "refund" || back.Status != "completed" || back.Amount != 1190 || back.Currency != "eur" ||
		back.OccurredAt != "2026-11-15T12:01:00Z" || back.LineItems[0] != (LineItemRef{"itm_2", 1}) || back.Reason != "refused" {
		t.Errorf("got %+v", back)
	}
	if last := doc.Totals[len(doc.Totals)-1]; last != (Total{"amount_refunded", "Refunded", 1190}) || doc.Totals[2].Amount != 3570 {
		t.Errorf("got %+v", doc.Totals)
	}
	text, err := Event(Version2025, false, orderStates()["partly, repaid"], permalink)
	if err != nil || !strings.Contains(string(text), `"status":"fulfilled","refunds":[{"type":"original_payment","amount":1190}]`) {
		t.Errorf("2025-09-29: %s, %v", text, err)
	}
}

func TestLineItem_StatusFollowsItemState(t *testing.T) {
	t.Parallel()
	_, doc := event2026(t, false, orderStates()["partly, repaid"])
	there, gone := doc.LineItems[0], doc.LineItems[1]
	if there.ID != "itm_1" || there.ProductID != "register:example.ai" || there.Title != "example.ai" || there.Description != "Registration of example.ai, 2 years" || there.Quantity != (Quantity{1, 1, 1}) ||
		there.Status != "fulfilled" || there.Subtotal != 2000 || there.Totals[2].Amount != 2380 || doc.Fulfillments[0].Status != "delivered" {
		t.Errorf("got %+v", there)
	}
	if gone.ProductID != "transfer:example.de" || gone.Description != "Transfer of example.de, 1 year" || gone.Quantity != (Quantity{1, 0, 0}) || gone.Status != "removed" || doc.Fulfillments[1].Status != "failed" {
		t.Errorf("got %+v", gone)
	}
	for name, want := range map[string]string{"paid": "processing", "completed": "completed", "partly": "completed", "failed": "canceled", "never paid": "canceled"} {
		if _, doc := event2026(t, false, orderStates()[name]); doc.Status != want {
			t.Errorf("%s: %s", name, doc.Status)
		}
	}
}

// Events contain neither the registrant nor an auth code.
func TestEvent_ContainsNoPersonalData(t *testing.T) {
	t.Parallel()
	for name, o := range orderStates() {
		for _, version := range []string{Version2025, Version2026} {
			text, err := Event(version, true, o, permalink)
			if err != nil {
				t.Fatal(err)
			}
			for _, secret := range []string{"Erika", "kundin", "Musterweg", "sealed", "fingerprint", "pi_1", "re_1"} {
				if strings.Contains(string(text), secret) {
					t.Errorf("%s, %s: it contains %q", name, version, secret)
				}
			}
		}
	}
}

// ACP_SPEC_DIR is a checkout of the protocol's repository.
func TestEvent_MatchesVersionSchema(t *testing.T) {
	t.Parallel()
	folder := os.Getenv("ACP_SPEC_DIR")
	if folder == "" {
		t.Skip("ACP_SPEC_DIR is not set; the other tests check the events field by field")
	}
	for _, version := range []string{Version2025, Version2026} {
		schema := webhookSchema(t, filepath.Join(folder, "spec", version, "openapi"))
		for name, o := range orderStates() {
			for _, first := range []bool{true, false} {
				text, err := Event(version, first, o, permalink)
				if err != nil {
					t.Fatal(err)
				}
				message, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
				if err != nil {
					t.Fatal(err)
				}
				if err := schema.Validate(message); err != nil {
					t.Errorf("%s, %s: %v", version, name, err)
				}
				message.(map[string]any)["data"].(map[string]any)["surprise"] = true
				if schema.Validate(message) == nil {
					t.Errorf("%s, %s: the schema accepts unknown fields, so it is not the closed one", version, name)
				}
			}
		}
	}
}

// webhookSchema is the event's schema from the OpenAPI documents, which are JSON Schema
// since 3.1.
func webhookSchema(t *testing.T, folder string) *jsonschema.Schema {
	t.Helper()
	const base = "https://schemas.example/"
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.AssertFormat()
	for _, name := range []string{"openapi.agentic_checkout.yaml", "openapi.agentic_checkout_webhook.yaml"} {
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		text, err = yaml.YAMLToJSON(text)
		if err != nil {
			t.Fatal(err)
		}
		document, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
		if err != nil {
			t.Fatal(err)
		}
		if err := compiler.AddResource(base+name, document); err != nil {
			t.Fatal(err)
		}
	}
	schema, err := compiler.Compile(base + "openapi.agentic_checkout_webhook.yaml#/components/schemas/WebhookEvent")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}
