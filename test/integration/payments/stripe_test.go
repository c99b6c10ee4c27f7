// Package payments tests the Stripe client against the sandbox's Stripe over a socket:
// they share no code, so a change to one that the other does not follow fails here.
package payments

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	sandbox "github.com/dotkontor/dotkontor/internal/sandbox/stripe"
	"github.com/dotkontor/dotkontor/internal/upstream/stripe"
)

// env is the sandbox's Stripe, its client and the receiver of its webhooks.
type env struct {
	server *sandbox.Server
	client *stripe.Client

	mu        sync.Mutex
	events    []order.Event
	badEvents int
}

func newEnv(t *testing.T) *env {
	t.Helper()
	s := &env{}
	receiver := httptest.NewServer(s)
	t.Cleanup(receiver.Close)
	server, err := sandbox.Start(sandbox.Options{Endpoint: receiver.URL + "/api/stripe/webhook"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	s.server = server
	s.client = stripe.New(stripe.Options{
		Key: server.SecretKey(), URL: server.API(), Methods: []string{"card"}, Secrets: []string{"whsec_another_one", server.WebhookSecret()},
	})
	return s
}

// ServeHTTP receives webhooks.
func (s *env) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	payload, err := io.ReadAll(r.Body)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	event, err := s.client.ParseEvent(payload, r.Header.Get("Stripe-Signature"))
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.badEvents++
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	s.events = append(s.events, event)
}

// waitForEvent waits until a webhook has arrived.
func (s *env) waitForEvent(t *testing.T, want order.Event) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		s.mu.Lock()
		for _, event := range s.events {
			if event == want {
				s.mu.Unlock()
				return
			}
		}
		s.mu.Unlock()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t.Errorf("no webhook %+v: only %+v, and %d invalid", want, s.events, s.badEvents)
}

func newPage(id string) order.PaymentPage {
	return order.PaymentPage{
		ID: id, Order: "ord_1", Items: []order.Item{{Name: "beispiel.de", Gross: 1190}, {Name: "frei.example", Gross: 0}}, Amount: 1190,
		Customer: "customer_1", Email: "person@example.org", Language: "de",
		PaidURL: "http://127.0.0.1:1/checkout/secret/paid", BackURL: "http://127.0.0.1:1/checkout/secret/back", EndsAt: time.Now().Add(time.Hour),
	}
}

// submitForm submits a form as the customer and returns the redirect.
func submitForm(t *testing.T, address string, form url.Values) string {
	t.Helper()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	defer client.CloseIdleConnections()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	return answer.Header.Get("Location")
}

func cardForm(number string) url.Values { return url.Values{"cardNumber": {number}} }

func (s *env) openPage(t *testing.T, p order.PaymentPage) order.OpenedPage {
	t.Helper()
	opened, err := s.client.OpenPage(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return opened
}

func (s *env) fetchPage(t *testing.T, session string) order.PaymentStatus {
	t.Helper()
	status, err := s.client.FetchPage(t.Context(), session)
	if err != nil {
		t.Fatal(err)
	}
	return status
}

func TestPage_OpenPayFetchRefund(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	p := newPage("pay_1")
	p.SaveMethod = true
	opened := s.openPage(t, p)
	if status := s.fetchPage(t, opened.Session); status.Paid || status.Ended || status.Payment != "pay_1" || status.Order != "ord_1" {
		t.Errorf("before: %+v", status)
	}
	if to := submitForm(t, opened.URL, cardForm("4242424242424242")); to != p.PaidURL {
		t.Errorf("redirected to %q", to)
	}
	status := s.fetchPage(t, opened.Session)
	if !status.Paid || status.Ended || status.Amount != 1190 || status.Currency != "eur" || status.Intent == "" || status.Card == "" {
		t.Errorf("after: %+v", status)
	}
	if status.Method == nil || status.Method.ProviderCustomer == "" || status.Method.ID == "" || status.Method.Label != "Visa •••• 4242" {
		t.Errorf("saved method: %+v", status.Method)
	}
	s.waitForEvent(t, order.Event{Session: opened.Session, Intent: status.Intent})

	refund := order.RefundRequest{ID: "ref_1", Order: "ord_1", Intent: status.Intent, Amount: 190, Reason: "failed_item"}
	first, err := s.client.Refund(t.Context(), refund, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, asked := range []bool{false, true} {
		if again, err := s.client.Refund(t.Context(), refund, asked); err != nil || again != first {
			t.Errorf("retry, maybeSent %t: %q, %v instead of %q", asked, again, err, first)
		}
	}
	rest := order.RefundRequest{ID: "ref_2", Order: "ord_1", Intent: status.Intent, Amount: 1001, Reason: "failed_item"}
	if _, err := s.client.Refund(t.Context(), rest, true); registrar.KindOf(err) != registrar.KindInvalid {
		t.Errorf("refund exceeds the charge by a cent: %v", err)
	}
	rest.ID, rest.Amount = "ref_3", 1000
	if _, err := s.client.Refund(t.Context(), rest, true); err != nil {
		t.Error(err)
	}
	rest.ID, rest.Amount = "ref_4", 1
	if _, err := s.client.Refund(t.Context(), rest, false); registrar.CodeOf(err) != stripe.AlreadyRefunded {
		t.Errorf("refund of a refunded charge: %v", err)
	}
	if money := s.server.Records(); len(money.Charges) != 1 || len(money.Refunds) != 2 || money.Charges[0].Refunded != 1190 {
		t.Errorf("provider's records: %+v", money)
	}
}

func TestOpenPage_IsIdempotent(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	p := newPage("pay_1")
	first, again := s.openPage(t, p), s.openPage(t, p)
	if first.Session != again.Session || first.URL != again.URL || !first.EndsAt.Equal(again.EndsAt) {
		t.Errorf("got %+v and %+v", first, again)
	}
	p.Items[0].Gross++
	if _, err := s.client.OpenPage(t.Context(), p); registrar.CodeOf(err) != stripe.IdempotencyMismatch {
		t.Errorf("another amount: %v", err)
	}
}

func TestStripe_LostResponsesCreateOnePageAndOneRefund(t *testing.T) {
	t.Parallel()
	for _, what := range []string{"fail_before", "fail_after", "drop_before", "drop_after", "lock"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := newEnv(t)
			for _, operation := range []string{"checkout.create", "checkout.retrieve", "checkout.expire", "refund.create", "refund.list", "identity.create", "identity.retrieve"} {
				if err := s.server.Fault(sandbox.Fault{On: operation, Do: what, Times: 1}); err != nil {
					t.Fatal(err)
				}
			}
			opened := s.openPage(t, newPage("pay_1"))
			submitForm(t, opened.URL, cardForm("4242424242424242"))
			status := s.fetchPage(t, opened.Session)
			closed, err := s.client.ClosePage(t.Context(), opened.Session)
			if err != nil || !closed.Paid || closed.Intent != status.Intent {
				t.Errorf("closing a paid page: %+v, %v", closed, err)
			}
			refund := order.RefundRequest{ID: "ref_1", Order: "ord_1", Intent: status.Intent, Amount: 1190, Reason: "unmatched"}
			for _, asked := range []bool{false, true, true} {
				if _, err := s.client.Refund(t.Context(), refund, asked); err != nil {
					t.Error(err)
				}
			}
			session, _, err := s.client.OpenVerification(t.Context(), "ver_1", "customer_1", "", "de", "http://127.0.0.1:1/back")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.client.FetchVerification(t.Context(), session); err != nil {
				t.Error(err)
			}
			if money := s.server.Records(); len(money.Sessions) != 1 || len(money.Charges) != 1 || len(money.Refunds) != 1 {
				t.Errorf("provider's records: %+v", money)
			}
		})
	}
}

func TestRefund_Stored500IsRetriedAfterLookup(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	opened := s.openPage(t, newPage("pay_1"))
	submitForm(t, opened.URL, cardForm("4242424242424242"))
	status := s.fetchPage(t, opened.Session)
	if err := s.server.Fault(sandbox.Fault{On: "refund.create", Do: "fail_kept", Times: 1}); err != nil {
		t.Fatal(err)
	}
	refund := order.RefundRequest{ID: "ref_1", Order: "ord_1", Intent: status.Intent, Amount: 1190, Reason: "unmatched"}
	if _, err := s.client.Refund(t.Context(), refund, false); registrar.KindOf(err) != registrar.KindUpstream {
		t.Errorf("the first: %v", err)
	}
	if id, err := s.client.Refund(t.Context(), refund, true); err != nil || id == "" {
		t.Errorf("the second, which queries first: %q, %v", id, err)
	}
	if money := s.server.Records(); len(money.Refunds) != 1 {
		t.Errorf("provider's records: %+v", money)
	}
}

func TestClosePage_ClosedPageCannotBePaid(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	opened := s.openPage(t, newPage("pay_1"))
	for range 2 {
		if status, err := s.client.ClosePage(t.Context(), opened.Session); err != nil || !status.Ended || status.Paid {
			t.Errorf("got %+v, %v", status, err)
		}
	}
	submitForm(t, opened.URL, cardForm("4242424242424242"))
	if status := s.fetchPage(t, opened.Session); status.Paid || !status.Ended || len(s.server.Records().Charges) != 0 {
		t.Errorf("got %+v", status)
	}
	s.waitForEvent(t, order.Event{Session: opened.Session})
	if _, err := s.client.ClosePage(t.Context(), "cs_test_nothing"); registrar.CodeOf(err) != stripe.ResourceMissing {
		t.Errorf("unknown page: %v", err)
	}
}

func TestPage_DeclinedCardLeavesItOpen(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	opened := s.openPage(t, newPage("pay_1"))
	submitForm(t, opened.URL, cardForm("4000000000000002"))
	if status := s.fetchPage(t, opened.Session); status.Paid || status.Ended {
		t.Errorf("got %+v", status)
	}
	submitForm(t, opened.URL, cardForm("5555555555554444"))
	if status := s.fetchPage(t, opened.Session); !status.Paid || status.Method != nil {
		t.Errorf("got %+v", status)
	}
}

func TestVerification_VerifiedOrFailed(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	verify := func(id, outcome string) order.Verification {
		session, address, err := s.client.OpenVerification(t.Context(), id, "customer_1", "person@example.org", "de", "http://127.0.0.1:1/back")
		if err != nil {
			t.Fatal(err)
		}
		if before, err := s.client.FetchVerification(t.Context(), session); err != nil || before.Done || before.Failed || before.URL != address {
			t.Errorf("before: %+v, %v", before, err)
		}
		submitForm(t, address, url.Values{"firstName": {"Erika"}, "lastName": {"Mustermann"}, "outcome": {outcome}})
		s.waitForEvent(t, order.Event{Verification: session})
		after, err := s.client.FetchVerification(t.Context(), session)
		if err != nil {
			t.Fatal(err)
		}
		return after
	}
	if got := verify("ver_1", "verified"); !got.Done || got.Failed || got.Name != "Erika Mustermann" {
		t.Errorf("verified: %+v", got)
	}
	if got := verify("ver_2", "unverified"); got.Done || !got.Failed || got.Failure == "" {
		t.Errorf("unverified: %+v", got)
	}
}

func TestOpenPage_WrongKeyIsUpstreamFault(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	stranger := stripe.New(stripe.Options{Key: "sk_test_not_the_right_one", URL: s.server.API(), Methods: []string{"card"}})
	if _, err := stranger.OpenPage(t.Context(), newPage("pay_1")); registrar.CodeOf(err) != stripe.KeyRefused || registrar.KindOf(err) != registrar.KindUpstream {
		t.Errorf("got %v", err)
	}
}
