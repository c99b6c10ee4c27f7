package stripe

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

func TestOpenPage_SendsLineItemsAndMetadata(t *testing.T) {
	t.Parallel()
	withScript(t, func(t *testing.T, c *Client, s *scriptedTransport) {
		page := samplePage()
		page.Items[1].Name = "xn--bcher-kva.de"
		opened, err := c.OpenPage(t.Context(), page)
		if err != nil {
			t.Fatal(err)
		}
		if opened.Session != "cs_1" || opened.URL != "https://checkout.stripe.com/c/pay/cs_1" || opened.EndsAt.Unix() != 1800000000 {
			t.Errorf("got %+v", opened)
		}
		form := s.sent[0].form
		for name, want := range map[string]string{
			"mode": "payment", "client_reference_id": page.Order, "locale": "de", "success_url": page.PaidURL, "cancel_url": page.BackURL,
			"expires_at": strconv.FormatInt(page.EndsAt.Unix(), 10), "metadata[order]": page.Order, "metadata[payment]": page.ID,
			"payment_intent_data[metadata][order]": page.Order, "payment_intent_data[metadata][payment]": page.ID,
			"line_items[0][price_data][currency]": "eur", "line_items[0][price_data][unit_amount]": "1190", "line_items[0][quantity]": "1",
			"line_items[0][price_data][product_data][name]": "example.de, 1 Jahr", "line_items[1][price_data][unit_amount]": "0", "line_items[1][price_data][product_data][name]": "bücher.de",
			"payment_method_types[0]": "card", "payment_method_types[1]": "ideal", "customer_email": page.Email,
			"adaptive_pricing[enabled]": "false",
			"customer":                  "", "customer_creation": "", "payment_intent_data[setup_future_usage]": "",
		} {
			if got := form.Get(name); got != want {
				t.Errorf("%s is %q instead of %q", name, got, want)
			}
		}
	}, ok(sessionJSON("open", "null")))
}

func TestOpenPage_RoundedVATIsExplained(t *testing.T) {
	t.Parallel()
	for language, want := range map[string]string{"de": "um einen Cent vom Preis in der Bestellung", "en": "may differ by a cent from its price in the order"} {
		for _, rounded := range []bool{true, false} {
			withScript(t, func(t *testing.T, c *Client, s *scriptedTransport) {
				page := samplePage()
				page.Language, page.Rounded = language, rounded
				if _, err := c.OpenPage(t.Context(), page); err != nil {
					t.Fatal(err)
				}
				if got := s.sent[0].form.Get("custom_text[submit][message]"); strings.Contains(got, want) != rounded || !rounded && got != "" {
					t.Errorf("%s, %t: %q", language, rounded, got)
				}
			}, ok(sessionJSON("open", "null")))
		}
	}
}

func TestOpenPage_KeepRequestsOffSessionUsage(t *testing.T) {
	t.Parallel()
	withScript(t, func(t *testing.T, c *Client, s *scriptedTransport) {
		page := samplePage()
		page.SaveMethod = true
		if _, err := c.OpenPage(t.Context(), page); err != nil {
			t.Fatal(err)
		}
		form := s.sent[0].form
		if form.Get("payment_intent_data[setup_future_usage]") != "off_session" || form.Get("customer_creation") != "always" {
			t.Errorf("sent %v", form)
		}
		if form.Get("payment_method_types[0]") != "card" || form.Has("payment_method_types[1]") {
			t.Error("a payment method that can't be saved is offered")
		}
		page.ProviderCustomer = "cus_1"
		if _, err := c.OpenPage(t.Context(), page); err != nil {
			t.Fatal(err)
		}
		if form = s.sent[1].form; form.Get("customer") != "cus_1" || form.Has("customer_email") || form.Has("customer_creation") ||
			form.Get("saved_payment_method_options[allow_redisplay_filters][1]") != "limited" {
			t.Errorf("a known customer is sent as %v", form)
		}
	}, ok(sessionJSON("open", "null")))
}

func TestOpenPage_RetriesWithoutUnknownCustomer(t *testing.T) {
	t.Parallel()
	withScript(t, func(t *testing.T, c *Client, s *scriptedTransport) {
		page := samplePage()
		page.ProviderCustomer = "cus_1"
		if opened, err := c.OpenPage(t.Context(), page); err != nil || opened.Session != "cs_1" {
			t.Fatalf("got %+v, %v", opened, err)
		}
		if last := s.sent[1]; last.form.Has("customer") || last.form.Get("customer_email") != page.Email || last.key == s.sent[0].key {
			t.Errorf("sent %+v", last)
		}
	}, errorResponse(http.StatusBadRequest, "invalid_request_error", "resource_missing"), ok(sessionJSON("open", "null")))
	withScript(t, func(t *testing.T, c *Client, s *scriptedTransport) {
		if _, err := c.OpenPage(t.Context(), samplePage()); registrar.CodeOf(err) != ResourceMissing || len(s.sent) != 1 {
			t.Errorf("%v after %d calls", err, len(s.sent))
		}
	}, errorResponse(http.StatusBadRequest, "invalid_request_error", "resource_missing"))
}

const paidIntent = `{"id":"pi_1","status":"succeeded","amount":1190,"amount_received":1190,"currency":"eur","customer":"cus_1","setup_future_usage":"off_session",
	"latest_charge":{"id":"ch_1","payment_method_details":{"type":"card","card":{"fingerprint":"finger"}}},
	"payment_method":{"id":"pm_1","type":"card","card":{"brand":"visa","last4":"4242","fingerprint":"other","exp_month":4,"exp_year":2031}}}`

func TestFetchPage_MapsEachSessionStatus(t *testing.T) {
	t.Parallel()
	intent := func(status string) string {
		return `{"id":"pi_1","status":"` + status + `","amount":1190,"amount_received":0,"currency":"eur"}`
	}
	base := order.PaymentStatus{Payment: "pay_1", Order: "ord_1", Amount: 1190, Currency: "eur"}
	change := func(f func(*order.PaymentStatus)) order.PaymentStatus {
		s := base
		f(&s)
		return s
	}
	known := func(s *order.PaymentStatus) { s.Intent = "pi_1" }
	for name, test := range map[string]struct {
		answer string
		want   order.PaymentStatus
	}{
		"open":                     {sessionJSON("open", "null"), base},
		"open, by id only":         {sessionJSON("open", `"pi_1"`), change(known)},
		"expired unpaid":           {sessionJSON("open", intent("requires_payment_method")), change(known)},
		"expired":                  {sessionJSON("expired", "null"), change(func(s *order.PaymentStatus) { s.Ended = true })},
		"expired after an attempt": {sessionJSON("expired", intent("canceled")), change(func(s *order.PaymentStatus) { known(s); s.Ended = true })},
		"complete, in progress":    {sessionJSON("complete", intent("processing")), change(known)},
		"complete, but failed":     {sessionJSON("complete", intent("requires_payment_method")), change(func(s *order.PaymentStatus) { known(s); s.Ended = true })},
		"paid": {sessionJSON("complete", paidIntent), change(func(s *order.PaymentStatus) {
			known(s)
			s.Paid, s.Card, s.Method = true, "finger", &order.PaymentMethod{ProviderCustomer: "cus_1", ID: "pm_1", Label: "Visa •••• 4242", Fingerprint: "other", Expires: "2031-04"}
		})},
		"paid though expired": {
			sessionJSON("expired", `{"id":"pi_1","status":"succeeded","amount_received":500,"currency":"usd"}`),
			change(func(s *order.PaymentStatus) { known(s); s.Paid, s.Amount, s.Currency = true, 500, "usd" }),
		},
	} {
		t.Run(name, func(t *testing.T) {
			withScript(t, func(t *testing.T, c *Client, s *scriptedTransport) {
				got, err := c.FetchPage(t.Context(), "cs_1")
				if err != nil {
					t.Fatal(err)
				}
				gotMethod, wantMethod := got.Method, test.want.Method
				got.Method, test.want.Method = nil, nil
				if got != test.want || (gotMethod == nil) != (wantMethod == nil) || gotMethod != nil && *gotMethod != *wantMethod {
					t.Errorf("got %+v %+v\nnot %+v %+v", got, gotMethod, test.want, wantMethod)
				}
				if expand := []string{s.sent[0].form.Get("expand[0]"), s.sent[0].form.Get("expand[1]")}; !slices.Equal(expand, sessionExpand) {
					t.Errorf("expanded %v", s.sent[0].form)
				}
			}, ok(test.answer))
		})
	}
}

func TestFetchPage_NoReusableMethodWithoutFutureUsage(t *testing.T) {
	t.Parallel()
	withScript(t, func(t *testing.T, c *Client, _ *scriptedTransport) {
		got, err := c.FetchPage(t.Context(), "cs_1")
		if err != nil || !got.Paid || got.Method != nil || got.Card != "finger" {
			t.Errorf("got %+v, %v", got, err)
		}
	}, ok(sessionJSON("complete", `{"id":"pi_1","status":"succeeded","amount_received":1190,"currency":"eur","customer":"cus_1",
		"payment_method":{"id":"pm_1","type":"card","card":{"brand":"visa","last4":"4242","fingerprint":"finger"}}}`)))
}

func TestFetchPage_IncompleteResponseIsFault(t *testing.T) {
	t.Parallel()
	for _, answer := range []string{
		`{}`, sessionJSON("new_status", "null"), sessionJSON("complete", "null"), sessionJSON("complete", `"pi_1"`),
	} {
		withScript(t, func(t *testing.T, c *Client, _ *scriptedTransport) {
			if got, err := c.FetchPage(t.Context(), "cs_1"); registrar.CodeOf(err) != registrar.FaultBroken {
				t.Errorf("%s: got %+v, %v", answer, got, err)
			}
		}, ok(answer))
	}
}

func TestClosePage_FetchesStatusWhenNotExpirable(t *testing.T) {
	t.Parallel()
	withScript(t, func(t *testing.T, c *Client, s *scriptedTransport) {
		got, err := c.ClosePage(t.Context(), "cs_1")
		if err != nil || !got.Paid || got.Amount != 1190 {
			t.Errorf("got %+v, %v", got, err)
		}
		if len(s.sent) != 2 || s.sent[0].path != "/v1/checkout/sessions/cs_1/expire" || s.sent[0].key == "" || s.sent[1].method != http.MethodGet {
			t.Errorf("sent %+v", s.sent)
		}
	}, errorResponse(http.StatusBadRequest, "invalid_request_error", ""), ok(sessionJSON("complete", paidIntent)))
	withScript(t, func(t *testing.T, c *Client, s *scriptedTransport) {
		got, err := c.ClosePage(t.Context(), "cs_1")
		if err != nil || !got.Ended || got.Paid || len(s.sent) != 1 {
			t.Errorf("got %+v, %v after %d calls", got, err, len(s.sent))
		}
	}, ok(sessionJSON("expired", "null")))
	withScript(t, func(t *testing.T, c *Client, s *scriptedTransport) {
		for range 2 {
			if _, err := c.ClosePage(t.Context(), "cs_1"); registrar.KindOf(err) != registrar.KindUpstream {
				t.Errorf("got %v", err)
			}
		}
		if s.sent[0].key == s.sent[1].key {
			t.Error("a fixed key would repeat a stored failure forever")
		}
	}, scriptedResponse{status: http.StatusInternalServerError, header: map[string]string{"Stripe-Should-Retry": "false"}, body: `{"error":{"type":"api_error"}}`})
}

func TestFetchPage_MethodLabelIsReadable(t *testing.T) {
	t.Parallel()
	for method, want := range map[string]string{
		`{"id":"pm_1","type":"card","card":{"brand":"mastercard","last4":"4444"}}`:    "Mastercard •••• 4444",
		`{"id":"pm_1","type":"card","card":{"brand":"new_brand","last4":"0001"}}`:     "Card •••• 0001",
		`{"id":"pm_1","type":"paypal","paypal":{"payer_email":"person@example.org"}}`: "PayPal",
		`{"id":"pm_1","type":"new_kind"}`:                                             "new kind",
	} {
		withScript(t, func(t *testing.T, c *Client, _ *scriptedTransport) {
			got, err := c.FetchPage(t.Context(), "cs_1")
			if err != nil || got.Method == nil || got.Method.Label != want {
				t.Errorf("got %+v, %v instead of %s", got.Method, err, want)
			}
		}, ok(sessionJSON("complete", `{"id":"pi_1","status":"succeeded","amount_received":1190,"currency":"eur","customer":"cus_1",
			"setup_future_usage":"off_session","payment_method":`+method+`}`)))
	}
}
