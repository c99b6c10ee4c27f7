package portal

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/cost"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

// addCharge completes an item with a charge to the account "one".
func (s *env) addCharge(customer, name, tld string, charge cost.Charge) {
	s.t.Helper()
	s.addChargeOf("one", customer, name, tld, charge)
}

// addChargeOf completes an item with a charge to a registry account.
func (s *env) addChargeOf(account, customer, name, tld string, charge cost.Charge) {
	s.t.Helper()
	ctx, now := s.t.Context(), s.clock.now()
	item := provision.Item{
		ID: registrar.NewID("prv_", now), Customer: customer, Name: name + tld, TLD: tld, Kind: provision.Register, Years: 1, Payment: "manual:" + name,
		State: provision.StatePaid, Account: account, RequestedAt: now, DueAt: now, CreatedAt: now, UpdatedAt: now,
	}
	_, err := s.db.AddProvisionItem(ctx, item, registrar.AuditEvent{Action: provision.ActionOrdered, Customer: customer, At: now})
	must(s.t, err)
	started := item
	started.State, started.Domain, started.DueAt = provision.StateRequested, "dom_"+name, now.Add(time.Minute)
	_, err = s.db.UpdateProvisionItem(ctx, provision.Transition{From: item, To: started, At: now, AddDomain: &provision.Domain{
		ID: started.Domain, Customer: customer, Name: item.Name, TLD: tld, Status: registrar.DomainPending, Account: account, UpdatedAt: now,
	}})
	must(s.t, err)
	ended := started
	ended.State, ended.DueAt = provision.StateActive, time.Time{}
	charge.ID, charge.Domain, charge.Account, charge.TLD, charge.Operation, charge.Years, charge.At = item.ID, ended.Domain, account, tld, cost.Register, 1, now
	moved, err := s.db.UpdateProvisionItem(ctx, provision.Transition{
		From: started, To: ended, At: now, Charge: &charge, ActivateDomain: &provision.Domain{ID: ended.Domain, Status: registrar.DomainActive, PaidUntil: now.AddDate(1, 0, 0), UpdatedAt: now},
	})
	must(s.t, err)
	if !moved {
		s.t.Fatal("the item did not complete")
	}
}

func TestOperatorMargin_UnknownCostIsNoMargin(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	customer := s.newMember("erika@example.org")
	eight := registrar.Money{Amount: 80_000, Currency: cost.Euro}
	s.addCharge(customer.ID, "bekannt", ".de", cost.Charge{Amount: eight, Source: cost.FromRegistry, Euros: 800, EurosKnown: true})
	s.addCharge(customer.ID, "unbekannt", ".org", cost.Charge{Source: cost.Unknown})
	_, b := s.operatorBrowser("ops@example.org")
	for language, wants := range map[string][]string{
		"de": {"Bei einer Position sind die Kosten unbekannt", "Nach Endungen", "8,00", "Als CSV herunterladen"},
		"en": {"The cost of one item is unknown", "By extension", "8.00", "Download as CSV"},
	} {
		b.post("/portal/language", url.Values{"language": {language}})
		got := b.get("/operator/margin")
		for _, want := range wants {
			if got.status != http.StatusOK || !strings.Contains(got.body, want) {
				t.Errorf("%s: %d, no %q: %s", language, got.status, want, got.body)
			}
		}
	}
	b.post("/portal/language", url.Values{"language": {"en"}})
	file := b.get("/operator/margin.csv")
	for _, want := range []string{",.de,1,0.00,8.00,-8.00,0,0.00\r\n", ",.org,1,0.00,,,1,0.00\r\n"} {
		if !strings.Contains(file.body, want) {
			t.Errorf("the file has no %q: %s", want, file.body)
		}
	}
	// For everyone else neither page exists.
	guest := s.newBrowser()
	for _, path := range []string{"/operator/margin", "/operator/margin.csv"} {
		if got := guest.get(path); got.status == http.StatusOK {
			t.Errorf("%s is open to guests", path)
		}
	}
}

// A month and an extension may have nothing but what was returned.
func TestOperatorMargin_CreditNotesAndReturnedFeesReduceIt(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	year := s.clock.now().Format("2006")
	s.exec("INSERT INTO margin_months (month, tld, shard, items, revenue, euros, unknown_items, unknown_revenue) VALUES" +
		" ('" + year + "-01', '.com', 0, 2, 2400, 1600, 0, 0), ('" + year + "-02', '.com', 0, 0, -1200, -800, 0, 0), ('" + year + "-02', '.org', 0, 0, -500, 0, 0, -500)")
	_, b := s.operatorBrowser("ops@example.org")
	for language, wants := range map[string][]string{
		"de": {"Rechnungskorrekturen mindern den Erlös", "−17,00", "−8,00", "−4,00", "−5,00"},
		"en": {"Credit notes reduce the revenue", "−€17.00", "−€8.00", "−€4.00", "−€5.00"},
	} {
		b.post("/portal/language", url.Values{"language": {language}})
		got := b.get("/operator/margin?year=" + year)
		for _, want := range wants {
			if got.status != http.StatusOK || !strings.Contains(got.body, want) {
				t.Errorf("%s: %d, no %q: %s", language, got.status, want, got.body)
			}
		}
	}
	b.post("/portal/language", url.Values{"language": {"de"}})
	file := b.get("/operator/margin.csv?year=" + year)
	for _, want := range []string{"-02;.com;0;-12,00;-8,00;-4,00;0;0,00\r\n", "-02;.org;0;-5,00;;;0;-5,00\r\n"} {
		if !strings.Contains(file.body, want) {
			t.Errorf("the file has no %q: %s", want, file.body)
		}
	}
}
