package stripe_test

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	stripego "github.com/stripe/stripe-go/v85"

	"github.com/dotkontor/dotkontor/internal/sandbox/stripe"
)

func TestCreateSession_RefusesWhatStripeRefuses(t *testing.T) {
	t.Parallel()
	s := newEnv(t, stripe.Options{})
	for name, test := range map[string]struct {
		spoil func(*stripego.CheckoutSessionCreateParams)
		param string
	}{
		"an unknown parameter":             {func(p *stripego.CheckoutSessionCreateParams) { p.AddExtra("colour", "blue") }, "colour"},
		"one inside another":               {func(p *stripego.CheckoutSessionCreateParams) { p.AddExtra("payment_intent_data[colour]", "blue") }, "payment_intent_data[colour]"},
		"no mode":                          {func(p *stripego.CheckoutSessionCreateParams) { p.Mode = nil }, "mode"},
		"no items":                         {func(p *stripego.CheckoutSessionCreateParams) { p.LineItems = nil }, "line_items"},
		"no quantity":                      {func(p *stripego.CheckoutSessionCreateParams) { p.LineItems[0].Quantity = nil }, "line_items[0][quantity]"},
		"no success page":                  {func(p *stripego.CheckoutSessionCreateParams) { p.SuccessURL = nil }, "success_url"},
		"a success page that is not a URL": {func(p *stripego.CheckoutSessionCreateParams) { p.SuccessURL = stripego.String("/paid") }, "success_url"},
		"an end too near":                  {func(p *stripego.CheckoutSessionCreateParams) { p.ExpiresAt = s.clock.in(20 * time.Minute) }, "expires_at"},
		"an end too far":                   {func(p *stripego.CheckoutSessionCreateParams) { p.ExpiresAt = s.clock.in(25 * time.Hour) }, "expires_at"},
		"a customer that is not there": {func(p *stripego.CheckoutSessionCreateParams) {
			p.Customer, p.CustomerEmail, p.CustomerCreation = stripego.String("cus_nobody"), nil, nil
		}, "customer"},
		"a payment method without a form": {func(p *stripego.CheckoutSessionCreateParams) {
			p.PaymentMethodTypes = stripego.StringSlice([]string{"sepa_debit"})
		}, "payment_method_types"},
		"an invalid expansion": {func(p *stripego.CheckoutSessionCreateParams) { p.AddExpand("colour") }, "expand"},
	} {
		p := s.sessionParams("", 1000)
		p.IdempotencyKey = nil
		test.spoil(p)
		_, err := s.client.V1CheckoutSessions.Create(t.Context(), p)
		if wrong := stripeErrorOf(t, err); wrong.HTTPStatusCode != http.StatusBadRequest || wrong.Type != stripego.ErrorTypeInvalidRequest || wrong.Param != test.param {
			t.Errorf("%s: %d %s %s", name, wrong.HTTPStatusCode, wrong.Type, wrong.Param)
		}
	}
	if pages := s.server.Records().Sessions; len(pages) != 0 {
		t.Errorf("refused calls created %d pages", len(pages))
	}
	_, err := s.client.V1CheckoutSessions.Retrieve(t.Context(), "cs_test_nobody", nil)
	if wrong := stripeErrorOf(t, err); wrong.HTTPStatusCode != http.StatusNotFound || wrong.Code != stripego.ErrorCodeResourceMissing || wrong.RequestID == "" {
		t.Errorf("%+v", wrong)
	}
	_, err = s.client.V1Accounts.Retrieve(t.Context(), nil)
	if wrong := stripeErrorOf(t, err); wrong.HTTPStatusCode != http.StatusNotFound {
		t.Errorf("an unsupported call: %+v", wrong)
	}
}

func TestAPI_RequiresSecretKey(t *testing.T) {
	t.Parallel()
	s := newEnv(t, stripe.Options{})
	made := s.createSession("pay-1", 1000)
	for _, key := range []string{"sk_test_wrong", s.server.SecretKey() + "x"} {
		_, err := newClient(s.server, key).V1CheckoutSessions.Retrieve(t.Context(), made.ID, nil)
		if wrong := stripeErrorOf(t, err); wrong.HTTPStatusCode != http.StatusUnauthorized {
			t.Errorf("%+v", wrong)
		}
	}
	for _, path := range []string{"/control/money", "/control/faults", "/v1/charges"} {
		response, err := s.browser.Get(s.server.API() + path)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s: %d", path, response.StatusCode)
		}
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, made.URL, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Host = "evil.example" // a foreign name that resolves to this address
	response, err := s.browser.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusMisdirectedRequest {
		t.Errorf("under another host name: %d", response.StatusCode)
	}
}

func TestIdempotencyKey_CreatesOneSession(t *testing.T) {
	t.Parallel()
	s := newEnv(t, stripe.Options{})
	params := s.sessionParams("pay-1", 1000) // the expiry must be the same in both calls
	var all sync.WaitGroup
	ids := make([]string, 50)
	for i := range ids {
		all.Go(func() {
			twin := *params
			made, err := s.client.V1CheckoutSessions.Create(t.Context(), &twin)
			if err != nil {
				t.Error(err)
				return
			}
			ids[i] = made.ID
		})
	}
	all.Wait()
	for _, id := range ids {
		if id != ids[0] {
			t.Fatalf("pages %s and %s", id, ids[0])
		}
	}
	other := s.sessionParams("pay-1", 2000)
	other.ExpiresAt = params.ExpiresAt
	_, err := s.client.V1CheckoutSessions.Create(t.Context(), other)
	if wrong := stripeErrorOf(t, err); wrong.HTTPStatusCode != http.StatusBadRequest || wrong.Type != stripego.ErrorTypeIdempotency {
		t.Errorf("%+v", wrong)
	}
	// Like at Stripe, the key expires after a day.
	s.clock.advance(25 * time.Hour)
	if made := s.createSession("pay-1", 1000); made.ID == ids[0] {
		t.Error("the key is still known after a day")
	}
}

func TestIdempotencyKey_InvalidRequestIsNotStored(t *testing.T) {
	t.Parallel()
	s := newEnv(t, stripe.Options{})
	bad := s.sessionParams("pay-1", 1000)
	bad.Mode = nil
	_, err := s.client.V1CheckoutSessions.Create(t.Context(), bad)
	stripeErrorOf(t, err)
	if made := s.createSession("pay-1", 1000); made.Status != "open" {
		t.Errorf("%+v", made)
	}
}

func TestList_PaginationIsCompleteAndUnique(t *testing.T) {
	t.Parallel()
	s := newEnv(t, stripe.Options{})
	const many = 23
	for i := range many {
		s.payWithCard(s.createSession(fmt.Sprintf("pay-%d", i), 1000+int64(i)).URL, "4242424242424242")
	}
	p := &stripego.ChargeListParams{}
	p.Limit = stripego.Int64(5)
	seen := map[string]bool{}
	var last int64 = 1000 + many
	for charge, err := range s.client.V1Charges.List(t.Context(), p).All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if seen[charge.ID] || charge.Amount != last-1 { // newest first
			t.Fatalf("%s with %d after %d", charge.ID, charge.Amount, last)
		}
		seen[charge.ID], last = true, charge.Amount
	}
	if len(seen) != many {
		t.Errorf("%d of %d", len(seen), many)
	}
	intents := 0
	q := &stripego.PaymentIntentListParams{}
	q.Limit = stripego.Int64(100)
	for intent, err := range s.client.V1PaymentIntents.List(t.Context(), q).All(t.Context()) {
		if err != nil || intent.Status != "succeeded" {
			t.Fatal(intent, err)
		}
		intents++
	}
	if intents != many {
		t.Errorf("%d payments", intents)
	}
}

func TestVerification_ReturnsChosenOutcome(t *testing.T) {
	t.Parallel()
	s := newEnv(t, stripe.Options{Holder: "Ada Maria Beispiel"})
	p := &stripego.IdentityVerificationSessionCreateParams{
		Type: stripego.String("document"), ReturnURL: stripego.String("http://shop.example/verified"), Metadata: map[string]string{"customer": "c-1"},
	}
	p.SetIdempotencyKey("verify-1")
	made, err := s.client.V1IdentityVerificationSessions.Create(t.Context(), p)
	if err != nil || made.Status != "requires_input" || made.URL == "" {
		t.Fatalf("%+v %v", made, err)
	}
	response, err := s.browser.Get(made.URL)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	if err != nil || !strings.Contains(string(text), `value="Ada Maria"`) || !strings.Contains(string(text), `value="Beispiel"`) {
		t.Errorf("the form has no names in it: %v", err)
	}
	look := func() *stripego.IdentityVerificationSession {
		t.Helper()
		p := &stripego.IdentityVerificationSessionRetrieveParams{}
		p.AddExpand("verified_outputs")
		got, err := s.client.V1IdentityVerificationSessions.Retrieve(t.Context(), made.ID, p)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	choose := func(outcome string) {
		t.Helper()
		status, to, _ := s.postForm(made.URL, url.Values{"outcome": {outcome}, "firstName": {"Ada"}, "lastName": {"Beispiel"}})
		if status != http.StatusSeeOther || to != "http://shop.example/verified" {
			t.Errorf("%s: %d %s", outcome, status, to)
		}
	}
	choose("unverified")
	if got := look(); got.Status != "requires_input" || got.LastError == nil || got.URL == "" || got.VerifiedOutputs != nil {
		t.Errorf("refused: %+v", got)
	}
	choose("processing")
	if got := look(); got.Status != "processing" || got.URL != "" || got.VerifiedOutputs != nil {
		t.Errorf("under way: %+v", got)
	}
	choose("verified")
	if got := look(); got.Status != "verified" || got.VerifiedOutputs == nil || got.VerifiedOutputs.FirstName != "Ada" || got.VerifiedOutputs.LastName != "Beispiel" || got.URL != "" {
		t.Errorf("verified: %+v", got)
	}
	choose("unverified") // too late
	if got := look(); got.Status != "verified" {
		t.Errorf("a verified one became %s", got.Status)
	}
	s.waitFor("two webhooks", func() bool { return len(s.receiver.eventTypes()) == 2 })
}
