package stripe_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	stripego "github.com/stripe/stripe-go/v85"

	"github.com/dotkontor/dotkontor/internal/sandbox/stripe"
)

func TestPay_RecordsChargeCardAndWebhooks(t *testing.T) {
	t.Parallel()
	s := newEnv(t, stripe.Options{})
	made := s.createSession("pay-1", 1190)
	if made.Status != "open" || made.PaymentStatus != "unpaid" || made.AmountTotal != 1190 || made.PaymentIntent != nil || made.Metadata["payment"] != "pay-1" {
		t.Fatalf("%+v", made)
	}
	status, to, _ := s.payWithCard(made.URL, "4242 4242 4242 4242")
	if status != http.StatusSeeOther || to != "http://shop.example/paid" {
		t.Fatalf("%d %s", status, to)
	}
	got := s.getSession(made.ID)
	intent := got.PaymentIntent
	if got.Status != "complete" || got.PaymentStatus != "paid" || got.URL != "" || intent == nil || intent.Status != "succeeded" ||
		intent.AmountReceived != 1190 || intent.Metadata["payment"] != "pay-1" {
		t.Fatalf("%+v %+v", got, intent)
	}
	card := intent.LatestCharge.PaymentMethodDetails.Card
	if intent.LatestCharge.Amount != 1190 || card.Last4 != "4242" || card.Fingerprint == "" {
		t.Errorf("%+v", intent.LatestCharge)
	}
	if got.Customer == nil || intent.PaymentMethod.Customer == nil || intent.PaymentMethod.Customer.ID != got.Customer.ID {
		t.Errorf("the card was not saved with the customer: %+v", intent.PaymentMethod)
	}
	s.waitFor("both webhooks", func() bool { return len(s.receiver.eventTypes()) == 2 })
	received := s.receiver.eventTypes()
	slices.Sort(received)
	if !slices.Equal(received, []string{"checkout.session.completed", "payment_intent.succeeded"}) {
		t.Errorf("received %v", received)
	}
	// A second payment is redirected, and nothing is charged.
	if status, to, _ := s.payWithCard(made.URL, "4242424242424242"); made.URL == "" || status != http.StatusSeeOther || to != "http://shop.example/paid" {
		t.Errorf("%d %s", status, to)
	}
	if money := s.server.Records(); len(money.Charges) != 1 {
		t.Errorf("%+v", money.Charges)
	}
}

func TestPay_DeclinedCardLeavesSessionOpen(t *testing.T) {
	t.Parallel()
	s := newEnv(t, stripe.Options{})
	made := s.createSession("pay-1", 500)
	for number, word := range map[string]string{
		"4000000000000002": "abgelehnt", "4000000000009995": "nicht genug Geld", "4000000000000069": "abgelaufen",
		"4111111111111111": "kennt die Sandbox nicht", "12": "kennt die Sandbox nicht", "": "kennt die Sandbox nicht",
	} {
		if status, _, text := s.payWithCard(made.URL, number); status != http.StatusPaymentRequired || !strings.Contains(text, word) {
			t.Errorf("%q: %d, %q is missing", number, status, word)
		}
	}
	if got := s.getSession(made.ID); got.Status != "open" || got.PaymentIntent == nil || got.PaymentIntent.Status != "requires_payment_method" || got.PaymentIntent.LastPaymentError == nil {
		t.Errorf("%+v", got)
	}
	if status, _, _ := s.payWithCard(made.URL, "4242424242424242"); status != http.StatusSeeOther {
		t.Errorf("another card: %d", status)
	}
	paid := 0
	for _, charge := range s.server.Records().Charges {
		if charge.Status == "succeeded" {
			paid++
		}
	}
	if paid != 1 {
		t.Errorf("%d charges succeeded", paid)
	}
}

func TestPay_BankAuthentication(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		answer, want string
		status       int
	}{{"approve", "paid", http.StatusSeeOther}, {"deny", "unpaid", http.StatusPaymentRequired}} {
		s := newEnv(t, stripe.Options{})
		made := s.createSession("pay-1", 900)
		status, to, _ := s.payWithCard(made.URL, "4000002500003155")
		if status != http.StatusSeeOther || !strings.HasSuffix(to, "/bank") {
			t.Fatalf("%d %s", status, to)
		}
		if got := s.getSession(made.ID); got.Status != "open" || got.PaymentIntent.Status != "requires_action" {
			t.Errorf("during the bank's authentication: %s %+v", got.Status, got.PaymentIntent)
		}
		if status, _, _ := s.postForm(s.server.API()+to, url.Values{"answer": {test.answer}}); status != test.status {
			t.Errorf("%s: %d", test.answer, status)
		}
		if got := s.getSession(made.ID); string(got.PaymentStatus) != test.want {
			t.Errorf("%s: %s", test.answer, got.PaymentStatus)
		}
	}
}

func TestPay_ExpiredSessionIsGone(t *testing.T) {
	t.Parallel()
	s := newEnv(t, stripe.Options{})
	byCall, byClock := s.createSession("pay-1", 900), s.createSession("pay-2", 900)
	if got, err := s.client.V1CheckoutSessions.Expire(t.Context(), byCall.ID, nil); err != nil || got.Status != "expired" {
		t.Fatalf("%+v %v", got, err)
	}
	_, err := s.client.V1CheckoutSessions.Expire(t.Context(), byCall.ID, nil)
	if wrong := stripeErrorOf(t, err); wrong.HTTPStatusCode != http.StatusBadRequest {
		t.Errorf("closed twice: %+v", wrong)
	}
	s.clock.advance(61 * time.Minute)
	for _, page := range []*stripego.CheckoutSession{byCall, byClock} {
		if status, _, _ := s.payWithCard(page.URL, "4242424242424242"); status != http.StatusGone {
			t.Errorf("paid after its end: %d", status)
		}
		if got := s.getSession(page.ID); got.Status != "expired" {
			t.Errorf("%s", got.Status)
		}
	}
	s.waitFor("both endings are reported", func() bool { return len(s.receiver.eventTypes()) == 2 })
	if received := s.receiver.eventTypes(); received[0] != "checkout.session.expired" || received[1] != received[0] {
		t.Errorf("received %v", received)
	}
	if charges := s.server.Records().Charges; len(charges) != 0 {
		t.Errorf("%+v", charges)
	}
}

func TestPay_RaceWithExpireHasOneOutcome(t *testing.T) {
	t.Parallel()
	s := newEnv(t, stripe.Options{})
	for i := range 20 {
		made := s.createSession("pay-"+string(rune('a'+i)), 700)
		var both sync.WaitGroup
		both.Go(func() { s.payWithCard(made.URL, "4242424242424242") })
		both.Go(func() { _, _ = s.client.V1CheckoutSessions.Expire(t.Context(), made.ID, nil) })
		both.Go(func() { s.payWithCard(made.URL, "4242424242424242") })
		both.Wait()
		got := s.getSession(made.ID)
		charges := 0
		for _, charge := range s.server.Records().Charges {
			if got.PaymentIntent != nil && charge.Intent == got.PaymentIntent.ID {
				charges++
			}
		}
		if want := map[stripego.CheckoutSessionStatus]int{"complete": 1, "expired": 0}[got.Status]; charges != want || got.Status == "open" {
			t.Errorf("%s with %d charges", got.Status, charges)
		}
	}
}

func TestRefund_NeverExceedsCharge(t *testing.T) {
	t.Parallel()
	s := newEnv(t, stripe.Options{})
	made := s.createSession("pay-1", 1000)
	s.payWithCard(made.URL, "4242424242424242")
	intent := s.getSession(made.ID).PaymentIntent.ID
	back := func(key string, cents int64) (*stripego.Refund, error) {
		p := &stripego.RefundCreateParams{PaymentIntent: stripego.String(intent), Amount: stripego.Int64(cents), Metadata: map[string]string{"refund": key}}
		p.SetIdempotencyKey(key)
		return s.client.V1Refunds.Create(t.Context(), p)
	}
	first, err := back("back-1", 600)
	if err != nil || first.Amount != 600 || first.Status != "succeeded" {
		t.Fatalf("%+v %v", first, err)
	}
	if again, err := back("back-1", 600); err != nil || again.ID != first.ID || again.LastResponse.Header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("the same key made another refund: %v %v", again, err)
	}
	if _, err := back("back-1", 500); stripeErrorOf(t, err).Type != stripego.ErrorTypeIdempotency {
		t.Errorf("the same key with another amount: %v", err)
	}
	if _, err := back("back-2", 401); stripeErrorOf(t, err).HTTPStatusCode != http.StatusBadRequest {
		t.Errorf("more than was charged: %v", err)
	}
	if _, err := back("back-3", 400); err != nil {
		t.Error(err)
	}
	if _, err := back("back-4", 1); stripeErrorOf(t, err).Code != stripego.ErrorCodeChargeAlreadyRefunded {
		t.Errorf("after a full refund: %v", err)
	}
	listed := 0
	p := &stripego.RefundListParams{PaymentIntent: stripego.String(intent)}
	for refund, err := range s.client.V1Refunds.List(t.Context(), p).All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		listed += int(refund.Amount)
	}
	if listed != 1000 {
		t.Errorf("listed refunds add up to %d", listed)
	}
	s.waitFor("webhooks of refunds", func() bool {
		return strings.Count(strings.Join(s.receiver.eventTypes(), " "), "charge.refunded") == 2
	})
}
