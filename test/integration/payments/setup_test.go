package payments

import (
	"net/url"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/renewal"
)

func newSetupPage(id string) renewal.SetupPage {
	return renewal.SetupPage{
		ID: id, Customer: "customer_1", SetupCustomer: renewal.SetupCustomer{Email: "person@example.org", Language: "de"},
		DoneURL: "http://127.0.0.1:1/portal/payment-methods/saved?session=" + renewal.SessionPlaceholder, BackURL: "http://127.0.0.1:1/portal/payment-methods",
	}
}

// sessionOf returns the session that the browser's return names.
func sessionOf(t *testing.T, location string) string {
	t.Helper()
	done, err := url.Parse(location)
	if err != nil || !strings.HasPrefix(done.Query().Get("session"), "cs_") {
		t.Fatalf("the page leads to %q", location)
	}
	return done.Query().Get("session")
}

func TestSetupPage_SavesCardWithoutCharge(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	first, err := s.client.OpenSetupPage(t.Context(), newSetupPage("set_1"))
	if err != nil {
		t.Fatal(err)
	}
	if again, err := s.client.OpenSetupPage(t.Context(), newSetupPage("set_1")); err != nil || again != first {
		t.Errorf("the same setup opens %s, %v", again, err)
	}
	if to := submitForm(t, first, cardForm("4000000000000002")); to != "" {
		t.Errorf("a declined card leads to %s", to)
	}
	session := sessionOf(t, submitForm(t, first, cardForm("4242424242424242")))
	s.waitForEvent(t, order.Event{Setup: session})
	setup, err := s.client.FetchSetupPage(t.Context(), session)
	if err != nil || setup.ID != "set_1" || setup.Customer != "customer_1" || setup.Method == nil || setup.Method.Label != "Visa •••• 4242" ||
		!strings.HasPrefix(setup.Method.ID, "pm_") || !strings.HasPrefix(setup.Method.ProviderCustomer, "cus_") {
		t.Fatalf("got %+v, %v", setup, err)
	}
	for range s.client.Charges(t.Context()) {
		t.Error("something was charged")
	}
	// A replacement belongs to the same customer of the provider, and the bank may ask.
	next := newSetupPage("set_2")
	next.ProviderCustomer = setup.Method.ProviderCustomer
	page, err := s.client.OpenSetupPage(t.Context(), next)
	if err != nil {
		t.Fatal(err)
	}
	unfinished := page[strings.LastIndex(page, "/")+1:]
	if seen, err := s.client.FetchSetupPage(t.Context(), unfinished); err != nil || seen.ID != "set_2" || seen.Method != nil {
		t.Errorf("an open page: %+v, %v", seen, err)
	}
	bank := submitForm(t, page, cardForm("4000002500003155"))
	if !strings.HasSuffix(bank, "/bank") {
		t.Fatalf("the bank does not ask: %s", bank)
	}
	replaced, err := s.client.FetchSetupPage(t.Context(), sessionOf(t, submitForm(t, page+"/bank", url.Values{"answer": {"approve"}})))
	if err != nil || replaced.Method == nil || replaced.Method.ProviderCustomer != setup.Method.ProviderCustomer || replaced.Method.Label != "Visa •••• 3155" {
		t.Errorf("got %+v, %v", replaced, err)
	}
	for range 2 { // it is gone the second time
		if err := s.client.ForgetMethod(t.Context(), setup.Method.ID); err != nil {
			t.Error(err)
		}
	}
	if seen, err := s.client.FetchSetupPage(t.Context(), session); err != nil || seen.Method != nil {
		t.Errorf("a removed method is reported: %+v, %v", seen, err)
	}
	// A customer who was deleted at the provider can still add a method.
	lost := newSetupPage("set_3")
	lost.ProviderCustomer = "cus_lost"
	if _, err := s.client.OpenSetupPage(t.Context(), lost); err != nil {
		t.Errorf("with a customer that the provider does not know: %v", err)
	}
	paid := s.openPage(t, newPage("pay_1"))
	if seen, err := s.client.FetchSetupPage(t.Context(), paid.Session); err != nil || seen != (renewal.Setup{}) {
		t.Errorf("a payment page: %+v, %v", seen, err)
	}
	if _, err := s.client.FetchSetupPage(t.Context(), "cs_test_unknown"); registrar.KindOf(err) != registrar.KindNotFound {
		t.Errorf("an unknown page: %v", err)
	}
}
