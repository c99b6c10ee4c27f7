package stripe

import (
	"net/http"
	"slices"
	"strconv"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

func TestAPageTellsStripeWhatTheHumanShallReadAndWhoseItIs(t *testing.T) {
	t.Parallel()
	with(t, func(t *testing.T, c *Client, s *script) {
		page := aPage()
		opened, err := c.OpenPage(t.Context(), page)
		if err != nil {
			t.Fatal(err)
		}
		if opened.Session != "cs_1" || opened.URL != "https://checkout.stripe.com/c/pay/cs_1" || opened.EndsAt.Unix() != 1800000000 {
			t.Errorf("got %+v", opened)
		}
		form := s.sent[0].form
		for name, want := range map[string]string{
			"mode": "payment", "client_reference_id": page.Order, "locale": "de", "success_url": page.Paid, "cancel_url": page.Back,
			"expires_at": strconv.FormatInt(page.EndsAt.Unix(), 10), "metadata[order]": page.Order, "metadata[payment]": page.ID,
			"payment_intent_data[metadata][order]": page.Order, "payment_intent_data[metadata][payment]": page.ID,
			"line_items[0][price_data][currency]": "eur", "line_items[0][price_data][unit_amount]": "1190", "line_items[0][quantity]": "1",
			"line_items[0][price_data][product_data][name]": "example.de, 1 Jahr", "line_items[1][price_data][unit_amount]": "0",
			"payment_method_types[0]": "card", "payment_method_types[1]": "ideal", "customer_email": page.Email,
			"adaptive_pricing[enabled]": "false",
			"customer":                  "", "customer_creation": "", "payment_intent_data[setup_future_usage]": "",
		} {
			if got := form.Get(name); got != want {
				t.Errorf("%s is %q instead of %q", name, got, want)
			}
		}
	}, ok(aSession("open", "null")))
}

func TestToKeepACardTheHumansBankIsAsked(t *testing.T) {
	t.Parallel()
	with(t, func(t *testing.T, c *Client, s *script) {
		page := aPage()
		page.Keep = true
		if _, err := c.OpenPage(t.Context(), page); err != nil {
			t.Fatal(err)
		}
		form := s.sent[0].form
		if form.Get("payment_intent_data[setup_future_usage]") != "off_session" || form.Get("customer_creation") != "always" {
			t.Errorf("sent %v", form)
		}
		if form.Get("payment_method_types[0]") != "card" || form.Has("payment_method_types[1]") {
			t.Error("a means of payment is offered that can't be kept")
		}
		page.Holder = "cus_1"
		if _, err := c.OpenPage(t.Context(), page); err != nil {
			t.Fatal(err)
		}
		if form = s.sent[1].form; form.Get("customer") != "cus_1" || form.Has("customer_email") || form.Has("customer_creation") {
			t.Errorf("a known customer is told as %v", form)
		}
	}, ok(aSession("open", "null")))
}

func TestACustomerThatStripeHasForgottenCanStillPay(t *testing.T) {
	t.Parallel()
	with(t, func(t *testing.T, c *Client, s *script) {
		page := aPage()
		page.Holder = "cus_1"
		if opened, err := c.OpenPage(t.Context(), page); err != nil || opened.Session != "cs_1" {
			t.Fatalf("got %+v, %v", opened, err)
		}
		if last := s.sent[1]; last.form.Has("customer") || last.form.Get("customer_email") != page.Email || last.key == s.sent[0].key {
			t.Errorf("sent %+v", last)
		}
	}, refuse(http.StatusBadRequest, "invalid_request_error", "resource_missing"), ok(aSession("open", "null")))
	with(t, func(t *testing.T, c *Client, s *script) {
		if _, err := c.OpenPage(t.Context(), aPage()); registrar.CodeOf(err) != Unknown || len(s.sent) != 1 {
			t.Errorf("%v after %d calls", err, len(s.sent))
		}
	}, refuse(http.StatusBadRequest, "invalid_request_error", "resource_missing"))
}

const paidIntent = `{"id":"pi_1","status":"succeeded","amount":1190,"amount_received":1190,"currency":"eur","customer":"cus_1","setup_future_usage":"off_session",
	"latest_charge":{"id":"ch_1","payment_method_details":{"type":"card","card":{"fingerprint":"finger"}}},
	"payment_method":{"id":"pm_1","type":"card","card":{"brand":"visa","last4":"4242","fingerprint":"other"}}}`

func TestHowAPageStands(t *testing.T) {
	t.Parallel()
	intent := func(status string) string {
		return `{"id":"pi_1","status":"` + status + `","amount":1190,"amount_received":0,"currency":"eur"}`
	}
	base := order.Standing{Payment: "pay_1", Order: "ord_1", Amount: 1190, Currency: "eur"}
	change := func(f func(*order.Standing)) order.Standing {
		s := base
		f(&s)
		return s
	}
	known := func(s *order.Standing) { s.Intent = "pi_1" }
	for name, test := range map[string]struct {
		answer string
		want   order.Standing
	}{
		"open":                  {aSession("open", "null"), base},
		"open, by a bare id":    {aSession("open", `"pi_1"`), change(known)},
		"given up":              {aSession("open", intent("requires_payment_method")), change(known)},
		"expired":               {aSession("expired", "null"), change(func(s *order.Standing) { s.Ended = true })},
		"expired after a try":   {aSession("expired", intent("canceled")), change(func(s *order.Standing) { known(s); s.Ended = true })},
		"complete, in progress": {aSession("complete", intent("processing")), change(known)},
		"complete, but failed":  {aSession("complete", intent("requires_payment_method")), change(func(s *order.Standing) { known(s); s.Ended = true })},
		"paid": {aSession("complete", paidIntent), change(func(s *order.Standing) {
			known(s)
			s.Paid, s.Card, s.Method = true, "finger", &order.Method{Holder: "cus_1", ID: "pm_1", Label: "Visa •••• 4242"}
		})},
		"paid though expired": {
			aSession("expired", `{"id":"pi_1","status":"succeeded","amount_received":500,"currency":"usd"}`),
			change(func(s *order.Standing) { known(s); s.Paid, s.Amount, s.Currency = true, 500, "usd" }),
		},
	} {
		t.Run(name, func(t *testing.T) {
			with(t, func(t *testing.T, c *Client, s *script) {
				got, err := c.Look(t.Context(), "cs_1")
				if err != nil {
					t.Fatal(err)
				}
				gotMethod, wantMethod := got.Method, test.want.Method
				got.Method, test.want.Method = nil, nil
				if got != test.want || (gotMethod == nil) != (wantMethod == nil) || gotMethod != nil && *gotMethod != *wantMethod {
					t.Errorf("got %+v %+v\nnot %+v %+v", got, gotMethod, test.want, wantMethod)
				}
				if expand := []string{s.sent[0].form.Get("expand[0]"), s.sent[0].form.Get("expand[1]")}; !slices.Equal(expand, whatWeLookAt) {
					t.Errorf("asked for %v", s.sent[0].form)
				}
			}, ok(test.answer))
		})
	}
}

func TestACardIsKeptOnlyIfTheHumanWasAsked(t *testing.T) {
	t.Parallel()
	with(t, func(t *testing.T, c *Client, _ *script) {
		got, err := c.Look(t.Context(), "cs_1")
		if err != nil || !got.Paid || got.Method != nil || got.Card != "finger" {
			t.Errorf("got %+v, %v", got, err)
		}
	}, ok(aSession("complete", `{"id":"pi_1","status":"succeeded","amount_received":1190,"currency":"eur","customer":"cus_1",
		"payment_method":{"id":"pm_1","type":"card","card":{"brand":"visa","last4":"4242","fingerprint":"finger"}}}`)))
}

func TestAnAnswerThatSaysNothingIsNoStanding(t *testing.T) {
	t.Parallel()
	for _, answer := range []string{
		`{}`, aSession("new_status", "null"), aSession("complete", "null"), aSession("complete", `"pi_1"`),
	} {
		with(t, func(t *testing.T, c *Client, _ *script) {
			if got, err := c.Look(t.Context(), "cs_1"); registrar.CodeOf(err) != registrar.FaultBroken {
				t.Errorf("%s: got %+v, %v", answer, got, err)
			}
		}, ok(answer))
	}
}

func TestClosingAPageThatCantBeClosedIsALook(t *testing.T) {
	t.Parallel()
	with(t, func(t *testing.T, c *Client, s *script) {
		got, err := c.ClosePage(t.Context(), "cs_1")
		if err != nil || !got.Paid || got.Amount != 1190 {
			t.Errorf("got %+v, %v", got, err)
		}
		if len(s.sent) != 2 || s.sent[0].path != "/v1/checkout/sessions/cs_1/expire" || s.sent[0].key == "" || s.sent[1].method != http.MethodGet {
			t.Errorf("sent %+v", s.sent)
		}
	}, refuse(http.StatusBadRequest, "invalid_request_error", ""), ok(aSession("complete", paidIntent)))
	with(t, func(t *testing.T, c *Client, s *script) {
		got, err := c.ClosePage(t.Context(), "cs_1")
		if err != nil || !got.Ended || got.Paid || len(s.sent) != 1 {
			t.Errorf("got %+v, %v after %d calls", got, err, len(s.sent))
		}
	}, ok(aSession("expired", "null")))
	with(t, func(t *testing.T, c *Client, s *script) {
		for range 2 {
			if _, err := c.ClosePage(t.Context(), "cs_1"); registrar.KindOf(err) != registrar.KindUpstream {
				t.Errorf("got %v", err)
			}
		}
		if s.sent[0].key == s.sent[1].key {
			t.Error("a remembered failure would answer for ever")
		}
	}, step{status: http.StatusInternalServerError, header: map[string]string{"Stripe-Should-Retry": "false"}, body: `{"error":{"type":"api_error"}}`})
}

func TestAMeansOfPaymentHasANameForPeople(t *testing.T) {
	t.Parallel()
	for method, want := range map[string]string{
		`{"id":"pm_1","type":"card","card":{"brand":"mastercard","last4":"4444"}}`:    "Mastercard •••• 4444",
		`{"id":"pm_1","type":"card","card":{"brand":"new_brand","last4":"0001"}}`:     "Card •••• 0001",
		`{"id":"pm_1","type":"paypal","paypal":{"payer_email":"person@example.org"}}`: "PayPal",
		`{"id":"pm_1","type":"new_kind"}`:                                             "new kind",
	} {
		with(t, func(t *testing.T, c *Client, _ *script) {
			got, err := c.Look(t.Context(), "cs_1")
			if err != nil || got.Method == nil || got.Method.Label != want {
				t.Errorf("got %+v, %v instead of %s", got.Method, err, want)
			}
		}, ok(aSession("complete", `{"id":"pi_1","status":"succeeded","amount_received":1190,"currency":"eur","customer":"cus_1",
			"setup_future_usage":"off_session","payment_method":`+method+`}`)))
	}
}
