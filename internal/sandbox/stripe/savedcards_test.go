package stripe_test

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	stripego "github.com/stripe/stripe-go/v85"

	"github.com/dotkontor/dotkontor/internal/sandbox/stripe"
)

// savedCard pays a session that saves the card.
func (s *testEnv) savedCard(key string) (customer, method string) {
	s.Helper()
	made := s.createSession(key, 1190)
	s.payWithCard(made.URL, "4242424242424242")
	paid := s.getSession(made.ID)
	return paid.Customer.ID, paid.PaymentIntent.PaymentMethod.ID
}

func offSessionParams(key, customer, method string) *stripego.PaymentIntentCreateParams {
	params := &stripego.PaymentIntentCreateParams{
		Amount: stripego.Int64(1190), Currency: stripego.String("eur"), PaymentMethodTypes: stripego.StringSlice([]string{"card"}),
	}
	if customer != "" {
		params.Customer = stripego.String(customer)
	}
	if method != "" {
		params.PaymentMethod = stripego.String(method)
	}
	params.SetIdempotencyKey(key)
	return params
}

// chargeOffSession creates and confirms an intent for a saved card.
func (s *testEnv) chargeOffSession(key, customer, method string) (*stripego.PaymentIntent, error) {
	s.Helper()
	made, err := s.client.V1PaymentIntents.Create(s.Context(), offSessionParams(key, customer, method))
	if err != nil {
		s.Fatal(err)
	}
	if made.Status != stripego.PaymentIntentStatusRequiresConfirmation {
		s.Errorf("the new intent is %s", made.Status)
	}
	params := &stripego.PaymentIntentConfirmParams{OffSession: stripego.Bool(true)}
	params.SetIdempotencyKey(key + "-confirm")
	return s.client.V1PaymentIntents.Confirm(s.Context(), made.ID, params)
}

func TestSavedCard_IsOfferedOnThePageOfItsCustomer(t *testing.T) {
	t.Parallel()
	s := newEnv(t, stripe.Options{})
	customer, method := s.savedCard("first")
	params := s.sessionParams("second", 1190)
	params.Customer, params.CustomerEmail, params.CustomerCreation = stripego.String(customer), nil, nil
	params.SavedPaymentMethodOptions = &stripego.CheckoutSessionCreateSavedPaymentMethodOptionsParams{
		AllowRedisplayFilters: stripego.StringSlice([]string{"always", "limited"}),
	}
	made, err := s.client.V1CheckoutSessions.Create(s.Context(), params)
	if err != nil {
		t.Fatal(err)
	}
	if status, _, _ := s.postForm(made.URL, url.Values{"saved": {"pm_other"}}); status != http.StatusPaymentRequired {
		t.Errorf("another customer's card: %d", status)
	}
	if err := s.server.ChangeCards(stripe.SavedCard{ID: method, Behaves: "4000000000000341"}); err != nil {
		t.Fatal(err)
	}
	if status, _, _ := s.postForm(made.URL, url.Values{"saved": {method}}); status != http.StatusPaymentRequired {
		t.Errorf("a declined card: %d", status)
	}
	if err := s.server.ChangeCards(stripe.SavedCard{ID: method}); err != nil {
		t.Fatal(err)
	}
	if status, to, _ := s.postForm(made.URL, url.Values{"saved": {method}}); status != http.StatusSeeOther || to == "" {
		t.Fatalf("the saved card: %d", status)
	}
	if paid := s.getSession(made.ID); paid.PaymentStatus != "paid" || paid.PaymentIntent.PaymentMethod.ID != method {
		t.Errorf("%+v", paid.PaymentIntent)
	}
}

func TestSavedCard_PaysOffSession(t *testing.T) {
	t.Parallel()
	s := newEnv(t, stripe.Options{})
	customer, method := s.savedCard("first")
	got, err := s.chargeOffSession("second", customer, method)
	if err != nil || got.Status != stripego.PaymentIntentStatusSucceeded || got.AmountReceived != 1190 || got.Customer.ID != customer {
		t.Fatalf("got %+v, %v", got, err)
	}
	if money := s.server.Records(); len(money.Charges) != 2 {
		t.Errorf("%d charges", len(money.Charges))
	}
	// Canceling it afterwards is refused: it is paid.
	_, err = s.client.V1PaymentIntents.Cancel(t.Context(), got.ID, nil)
	if wrong := stripeErrorOf(t, err); wrong.Code != stripego.ErrorCodePaymentIntentUnexpectedState {
		t.Errorf("canceling got %+v", wrong)
	}
}

func TestSavedCard_DeclinesLikeStripe(t *testing.T) {
	t.Parallel()
	s := newEnv(t, stripe.Options{})
	customer, method := s.savedCard("first")
	for number, want := range map[string][2]string{
		"4000 0000 0000 0341": {"card_declined", "generic_decline"},
		"4000 0000 0000 0002": {"card_declined", "generic_decline"},
		"4000 0000 0000 9995": {"card_declined", "insufficient_funds"},
		"4000 0000 0000 0069": {"expired_card", "expired_card"},
		"4000 0027 6000 3184": {"authentication_required", "authentication_required"},
	} {
		if err := s.server.ChangeCards(stripe.SavedCard{Email: "A@example.com", Behaves: number}); err != nil {
			t.Fatal(err)
		}
		_, err := s.chargeOffSession("card "+number, customer, method)
		if wrong := stripeErrorOf(t, err); wrong.HTTPStatusCode != http.StatusPaymentRequired || string(wrong.Code) != want[0] || string(wrong.DeclineCode) != want[1] {
			t.Errorf("%s: got %d %s %s", number, wrong.HTTPStatusCode, wrong.Code, wrong.DeclineCode)
		}
	}
	// Once it has authenticated when it was saved, this one pays without.
	if err := s.server.ChangeCards(stripe.SavedCard{ID: method, Behaves: "4000002500003155"}); err != nil {
		t.Fatal(err)
	}
	if got, err := s.chargeOffSession("3155", customer, method); err != nil || got.Status != stripego.PaymentIntentStatusSucceeded {
		t.Errorf("got %+v, %v", got, err)
	}
	if err := s.server.ChangeCards(stripe.SavedCard{Customer: customer}); err != nil {
		t.Fatal(err)
	}
	s.clock.advance(5 * 365 * 24 * time.Hour)
	_, err := s.chargeOffSession("years later", customer, method)
	if wrong := stripeErrorOf(t, err); wrong.Code != stripego.ErrorCodeExpiredCard {
		t.Errorf("an expired card got %+v", wrong)
	}
	if err := s.server.ChangeCards(stripe.SavedCard{Email: "b@example.com"}); err == nil {
		t.Error("a card of another customer was changed")
	}
	if err := s.server.ChangeCards(stripe.SavedCard{Behaves: "4111111111111111"}); err == nil {
		t.Error("an unknown number was accepted")
	}
}

func TestSavedCard_RefusesForeignAndMissingMethods(t *testing.T) {
	t.Parallel()
	s := newEnv(t, stripe.Options{})
	customer, method := s.savedCard("first")
	other, _ := s.savedCard("second")
	for name, params := range map[string]*stripego.PaymentIntentCreateParams{
		"no customer":      offSessionParams("a", "", method),
		"another customer": offSessionParams("b", other, method),
		"no such method":   offSessionParams("c", customer, "pm_none"),
		"no such customer": offSessionParams("d", "cus_none", method),
	} {
		_, err := s.client.V1PaymentIntents.Create(t.Context(), params)
		if wrong := stripeErrorOf(t, err); wrong.HTTPStatusCode != http.StatusBadRequest || wrong.Param != "payment_method" && wrong.Param != "customer" {
			t.Errorf("%s: got %+v", name, wrong)
		}
	}
}
