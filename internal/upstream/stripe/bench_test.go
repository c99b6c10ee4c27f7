package stripe

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

// Responses as Stripe's, with members that nothing reads.
const (
	cardJSON        = `{"brand":"visa","checks":{"cvc_check":"pass"},"country":"DE","exp_month":12,"exp_year":2034,"fingerprint":"finger","funding":"credit","last4":"4242"}`
	paidChargeJSON  = `{"id":"ch_1","object":"charge","amount":1190,"amount_captured":1190,"billing_details":{"address":null,"email":null},"captured":true,"created":1763200000,"currency":"eur","disputed":false,"metadata":{"order":"ord_1","payment":"pay_1"},"payment_intent":"pi_1","payment_method_details":{"card":` + cardJSON + `,"type":"card"},"status":"succeeded"}`
	cardMethodJSON  = `{"id":"pm_1","object":"payment_method","billing_details":{"address":null,"email":null},"card":` + cardJSON + `,"created":1763200000,"customer":null,"metadata":{},"type":"card"}`
	intentStartJSON = `{"id":"pi_1","object":"payment_intent","amount":1190,"amount_capturable":0,"automatic_payment_methods":{"allow_redirects":"never","enabled":true},"capture_method":"automatic_async","confirmation_method":"automatic","created":1763200000,"currency":"eur","last_payment_error":null,"livemode":false,"metadata":{"order":"ord_1","payment":"pay_1"},"next_action":null,"payment_method_types":["card"],`
	newIntentJSON   = intentStartJSON + `"amount_received":0,"status":"requires_payment_method","latest_charge":null,"payment_method":null}`
	paidIntentJSON  = intentStartJSON + `"amount_received":1190,"status":"succeeded","latest_charge":` + paidChargeJSON + `,"payment_method":` + cardMethodJSON + `}`
	grantedJSON     = `{"id":"spt_1","object":"shared_payment.granted_token","deactivated_at":null,"deactivated_reason":null,"usage_limits":{"currency":"eur","expires_at":4102444800,"max_amount":1190}}`
)

// BenchmarkTokenPayment measures the calls of a payment by token, with a server that responds at
// once.
func BenchmarkTokenPayment(b *testing.B) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		switch {
		case r.Method == http.MethodGet:
			_, _ = io.WriteString(w, grantedJSON)
		case strings.HasSuffix(r.URL.Path, "/confirm"):
			_, _ = io.WriteString(w, paidIntentJSON)
		default:
			_, _ = io.WriteString(w, newIntentJSON)
		}
	}))
	defer server.Close()
	c := New(Options{Key: secretKey, URL: server.URL})
	charge := order.Charge{ID: "pay_1", Order: "ord_1", Amount: 1190, Token: "spt_1"}
	b.ReportAllocs()
	for b.Loop() {
		if err := c.CheckToken(b.Context(), charge.Token, charge.Amount, time.Now()); err != nil {
			b.Fatal(err)
		}
		intent, err := c.PrepareCharge(b.Context(), charge)
		if err != nil {
			b.Fatal(err)
		}
		charge.Intent = intent
		if got, err := c.Charge(b.Context(), charge); err != nil || !got.Status.Paid {
			b.Fatalf("%+v, %v", got, err)
		}
	}
}

func BenchmarkParseEvent(b *testing.B) {
	payload := eventJSON("payment_intent.succeeded", paidIntentJSON)
	signature := signPayload(payload, "whsec_secret", time.Now())
	c := newWebhookReader("whsec_secret")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.ParseEvent([]byte(payload), signature); err != nil {
			b.Fatal(err)
		}
	}
}
