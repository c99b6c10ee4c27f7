package stripe

import (
	"strings"
	"testing"
	"time"

	"github.com/stripe/stripe-go/v85/webhook"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

func newWebhookReader(secrets ...string) *Client {
	return New(Options{Key: secretKey, Secrets: secrets})
}

func signPayload(payload, secret string, at time.Time) string {
	return webhook.GenerateTestSignedPayload(&webhook.UnsignedPayload{Payload: []byte(payload), Secret: secret, Timestamp: at}).Header
}

func eventJSON(kind, object string) string {
	return `{"id":"evt_1","object":"event","type":"` + kind + `","api_version":"2020-08-27","data":{"object":` + object + `}}`
}

func TestParseEvent_ReturnsOnlyObjectIDs(t *testing.T) {
	t.Parallel()
	c := newWebhookReader("whsec_secret")
	for payload, want := range map[string]order.Event{
		eventJSON("checkout.session.completed", `{"id":"cs_1","payment_intent":"pi_1","payment_status":"paid"}`): {Session: "cs_1", Intent: "pi_1"},
		eventJSON("checkout.session.expired", `{"id":"cs_1","payment_intent":null}`):                             {Session: "cs_1"},
		eventJSON("checkout.session.async_payment_failed", `{"id":"cs_1","payment_intent":{"id":"pi_1"}}`):       {Session: "cs_1", Intent: "pi_1"},
		eventJSON("payment_intent.succeeded", `{"id":"pi_1"}`):                                                   {Intent: "pi_1"},
		eventJSON("charge.refunded", `{"id":"ch_1","payment_intent":"pi_1"}`):                                    {Intent: "pi_1", Refunds: true},
		eventJSON("charge.refund.updated", `{"id":"re_1","payment_intent":"pi_1"}`):                              {Intent: "pi_1", Refunds: true},
		eventJSON("charge.dispute.created", `{"id":"dp_1","payment_intent":"pi_1"}`):                             {Dispute: "dp_1"},
		eventJSON("refund.failed", `{"id":"re_1","payment_intent":"pi_1"}`):                                      {Intent: "pi_1", Refunds: true},
		eventJSON("identity.verification_session.verified", `{"id":"vs_1"}`):                                     {Verification: "vs_1"},
		eventJSON("customer.created", `{"id":"cus_1"}`):                                                          {},
		eventJSON("payout.paid", `{"id":"po_1","payment_intent":"pi_1"}`):                                        {},
	} {
		got, err := c.ParseEvent([]byte(payload), signPayload(payload, "whsec_secret", time.Now()))
		if err != nil || got != want {
			t.Errorf("%s: got %+v, %v", payload, got, err)
		}
	}
}

func TestParseEvent_RequiresFreshSignatureWithKnownSecret(t *testing.T) {
	t.Parallel()
	payload := eventJSON("checkout.session.completed", `{"id":"cs_1"}`)
	now := time.Now()
	good := signPayload(payload, "whsec_new_secret", now)
	c := newWebhookReader("whsec_old_secret", "whsec_new_secret")
	for name, header := range map[string]string{
		"the old secret": signPayload(payload, "whsec_old_secret", now), "the new secret": good,
		"two signatures": strings.Replace(good, "v1=", "v1=00,v1=", 1), "four minutes ago": signPayload(payload, "whsec_old_secret", now.Add(-4*time.Minute)),
	} {
		if got, err := c.ParseEvent([]byte(payload), header); err != nil || got.Session != "cs_1" {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
	}
	for name, test := range map[string]struct{ payload, header string }{
		"no header":                     {payload, ""},
		"another's secret":              {payload, signPayload(payload, "whsec_another", now)},
		"an empty secret":               {payload, signPayload(payload, "", now)},
		"six minutes ago":               {payload, signPayload(payload, "whsec_new_secret", now.Add(-6*time.Minute))},
		"another body":                  {payload + " ", good},
		"no time":                       {payload, "v1=" + strings.Split(good, "v1=")[1]},
		"the test scheme":               {payload, strings.Replace(good, "v1=", "v0=", 1)},
		"nonsense":                      {payload, "nonsense"},
		"signed, but empty":             {"", signPayload("", "whsec_new_secret", now)},
		"signed, but not JSON":          {"{", signPayload("{", "whsec_new_secret", now)},
		"signed, but without an object": {`{"type":"checkout.session.completed"}`, signPayload(`{"type":"checkout.session.completed"}`, "whsec_new_secret", now)},
		"signed, but about nothing":     {eventJSON("payment_intent.succeeded", "null"), signPayload(eventJSON("payment_intent.succeeded", "null"), "whsec_new_secret", now)},
		"signed, but about a number":    {eventJSON("payment_intent.succeeded", "5"), signPayload(eventJSON("payment_intent.succeeded", "5"), "whsec_new_secret", now)},
		"signed, but of another kind":   {`{"object":"v2.core.event","type":"x"}`, signPayload(`{"object":"v2.core.event","type":"x"}`, "whsec_new_secret", now)},
	} {
		if got, err := c.ParseEvent([]byte(test.payload), test.header); registrar.CodeOf(err) != BadWebhookSignature || got != (order.Event{}) {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
	}
	if _, err := newWebhookReader().ParseEvent([]byte(payload), signPayload(payload, "", now)); registrar.CodeOf(err) != BadWebhookSignature {
		t.Errorf("without a secret everything is accepted: %v", err)
	}
}

func FuzzParseEvent_RejectsUnsignedPayloads(f *testing.F) {
	payload := eventJSON("checkout.session.completed", `{"id":"cs_1"}`)
	f.Add([]byte(payload), signPayload(payload, "whsec_another", time.Now()))
	f.Add([]byte("{}"), "t=1,v1=")
	f.Add([]byte(""), "t=,v1=00,v1=,,=")
	c := newWebhookReader("whsec_secret_of_ours")
	f.Fuzz(func(t *testing.T, payload []byte, header string) {
		if event, err := c.ParseEvent(payload, header); err == nil || event != (order.Event{}) {
			t.Errorf("read %+v", event)
		}
	})
}
