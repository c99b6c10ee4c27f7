package portal

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/renewal"
)

const methodsPage = "/portal/payment-methods"

// addCard adds a card on the page, at the fake provider.
func (s *env) addCard(b *browser, id, label, expires string, form url.Values) pageResponse {
	s.t.Helper()
	if got := b.post(methodsPage, form); got.status != http.StatusSeeOther {
		return got
	}
	page := s.provider.pages[len(s.provider.pages)-1]
	s.provider.mu.Lock()
	s.provider.done = map[string]renewal.Setup{"cs_" + id: {
		ID: page.ID, Customer: page.Customer,
		Method: &order.PaymentMethod{ProviderCustomer: "cus_x", ID: id, Label: label, Fingerprint: "fp_" + label, Expires: expires},
	}}
	s.provider.mu.Unlock()
	return b.get(strings.TrimPrefix(strings.Replace(page.DoneURL, renewal.SessionPlaceholder, "cs_"+id, 1), "https://shop.example"))
}

func TestPaymentMethods_AddChooseDefaultAndRemove(t *testing.T) {
	t.Parallel()
	s := newEnvWith(t, (&fakeOrders{}).install)
	erika := s.newMember("erika@example.org")
	id := s.addDomain(erika.ID, "laufend", registrar.DomainActive)
	b := s.signedInBrowser("erika@example.org")
	has := func(parts ...string) {
		t.Helper()
		body := b.get(methodsPage).body
		for _, part := range parts {
			if !strings.Contains(body, part) {
				t.Errorf("the page lacks %q: %s", part, body)
			}
		}
	}
	post := func(step string, form url.Values, status int, text string) {
		t.Helper()
		if got := b.post(methodsPage+step, form); got.status != status || !strings.Contains(got.body, text) {
			t.Errorf("%s %v: %d %s", step, form, got.status, got.body)
		}
	}
	s.addCard(b, "pm_a", "Visa •••• 1111", s.clock.now().AddDate(1, 0, 0).Format("2006-01"), nil)
	s.addCard(b, "pm_b", "Visa •••• 2222", "2020-04", nil)
	has("<strong>Visa •••• 1111</strong> <span class=\"badge good\">Standard</span>", "<strong>Visa •••• 2222</strong></td>", "04/2020", "abgelaufen",
		"2 von höchstens 10", `aria-label="Visa •••• 2222 (04/2020) entfernen"`, "Neuer Standard")
	// The same card again.
	s.addCard(b, "pm_b2", "Visa •••• 2222", "2031-05", nil)
	has("2 von höchstens 10", "05/2031")
	if strings.Contains(b.get(methodsPage).body, "abgelaufen") {
		t.Error("a replaced card is shown as expired")
	}

	// Another customer's method and another tab.
	s.newMember("mallory@example.org")
	mallory := s.signedInBrowser("mallory@example.org")
	s.addCard(mallory, "pm_m", "Visa •••• 9999", "", nil)
	for _, step := range []string{"/default", "/remove"} {
		if got := mallory.post(methodsPage+step, url.Values{"method": {"pm_b2"}, "shown": {"pm_m"}}); got.status != http.StatusConflict || strings.Contains(got.body, "2222") {
			t.Errorf("another customer's method: %d %s", got.status, got.body)
		}
	}
	post("/default", url.Values{"method": {"pm_b2"}, "shown": {"pm_x"}}, http.StatusConflict, "inzwischen geändert")
	post("/remove", url.Values{"method": {"pm_a"}, "shown": {"pm_a"}}, http.StatusConflict, "wählen Sie zuerst")
	post("/remove", url.Values{"method": {"../x"}, "shown": {"pm_a"}}, http.StatusConflict, "inzwischen geändert")

	// From the offer of automatic renewal and back.
	b.post("/portal/domains/"+id+"/auto-renew", consentForm(b.get("/portal/domains/"+id+"/auto-renew").body))
	if got := b.post(methodsPage+"/default", url.Values{"method": {"pm_b2"}, "shown": {"pm_a"}, "domain": {id}}); got.location() != "/portal/domains/"+id+"/auto-renew" {
		t.Errorf("got %d %s", got.status, got.location())
	}
	has("<strong>Visa •••• 2222</strong> <span class=\"badge good\">Standard</span>", "Der neue Standard ist gespeichert.")
	if page := b.get("/portal/domains/" + id).body; !strings.Contains(page, "/auto-renew/off") {
		t.Errorf("the domain no longer renews: %s", page)
	}
	post("/remove", url.Values{"method": {"pm_b2"}, "shown": {"pm_b2"}, "next": {"pm_a"}}, http.StatusSeeOther, "")
	has("<strong>Visa •••• 1111</strong> <span class=\"badge good\">Standard</span>", "1 von höchstens 10", "Das Zahlungsmittel ist entfernt.", "endet die automatische Verlängerung")
	if page := b.get("/portal/activity").body; !strings.Contains(page, "Standard-Zahlungsmittel geändert") || !strings.Contains(page, "Zahlungsmittel entfernt") {
		t.Errorf("the activity: %s", page)
	}
	// A new card as the default, from the offer.
	s.addCard(b, "pm_c", "Visa •••• 3333", "", url.Values{"as_default": {"on"}, "domain": {id}})
	has("<strong>Visa •••• 3333</strong> <span class=\"badge good\">Standard</span>")
	if page := b.get(methodsPage + "?domain=" + id).body; !strings.Contains(page, `value="on" checked`) {
		t.Errorf("the offer's page does not suggest the default: %s", page)
	}
}

func TestPaymentMethods_EleventhIsRefused(t *testing.T) {
	t.Parallel()
	s := newEnvWith(t, (&fakeOrders{}).install)
	erika := s.newMember("erika@example.org")
	for i := range renewal.MaxMethods - 1 {
		must(t, s.db.PutPaymentMethod(t.Context(), erika.ID, order.PaymentMethod{ProviderCustomer: "cus_x", ID: "pm_" + strconv.Itoa(i), Label: "Visa " + strconv.Itoa(i)}, time.Now()))
	}
	b := s.signedInBrowser("erika@example.org")
	b.post(methodsPage, nil)
	must(t, s.db.PutPaymentMethod(t.Context(), erika.ID, order.PaymentMethod{ProviderCustomer: "cus_x", ID: "pm_paid", Label: "Visa paid"}, time.Now()))
	s.provider.finish("cs_late")
	if got := b.get(methodsPage + "/saved?session=cs_late"); got.status != http.StatusConflict || !strings.Contains(got.body, "schon 10 Zahlungsmittel") || strings.Contains(got.body, testCard) {
		t.Errorf("the card that was entered meanwhile: %d %s", got.status, got.body)
	}
	if got := b.post(methodsPage, nil); got.status != http.StatusConflict || !strings.Contains(got.body, "Mehr als 10 können Sie nicht speichern") || strings.Contains(got.body, `action="/portal/payment-methods"`) {
		t.Errorf("the eleventh: %d %s", got.status, got.body)
	}
}

func TestBulk_AddingCardContinuesWithTheSameDomains(t *testing.T) {
	t.Parallel()
	s := newEnvWith(t, (&fakeOrders{}).install)
	erika := s.newMember("erika@example.org")
	ids := []string{s.addDomain(erika.ID, "eins", registrar.DomainActive), s.addDomain(erika.ID, "zwei", registrar.DomainActive)}
	s.addDomain(erika.ID, "drei", registrar.DomainActive)
	b := s.signedInBrowser("erika@example.org")
	chosen := func(page pageResponse) bool {
		return page.status == http.StatusOK && strings.Contains(page.body, "eins.de") && strings.Contains(page.body, "zwei.de") && !strings.Contains(page.body, "drei.de")
	}
	page := b.post("/portal/domain-actions", url.Values{"action": {"auto_renew_on"}, "id": ids})
	form := url.Values{}
	for _, input := range elements(page.tree(t), "input") {
		if attribute(input, "name") == "id" {
			form.Add("id", attribute(input, "value"))
		}
	}
	if !chosen(page) || len(form["id"]) != 2 || !strings.Contains(page.body, `action="/portal/payment-methods"`) {
		t.Fatalf("%v on %s", form, page.body)
	}
	back := s.addCard(b, "pm_a", "Visa •••• 1111", "", form)
	if !strings.HasPrefix(back.location(), "/portal/domain-actions/blk_") {
		t.Fatalf("after adding the card: %d %s", back.status, back.location())
	}
	if page := b.get(back.location()); !chosen(page) || strings.Count(page.body, `name="offer"`) != 2 || !strings.Contains(page.body, "Visa •••• 1111") {
		t.Errorf("%d %s", page.status, page.body)
	}
	// Changing the card leads back, too; another customer can't open it.
	got := b.post("/portal/domain-actions", url.Values{"action": {"auto_renew_on"}, "methods": {"change"}, "id": ids})
	action := strings.TrimPrefix(got.location(), methodsPage+"?action=")
	s.addCard(b, "pm_b", "Visa •••• 2222", "", nil)
	if got := b.post(methodsPage+"/default", url.Values{"method": {"pm_b"}, "shown": {"pm_a"}, "action": {action}}); got.location() != "/portal/domain-actions/"+action || !chosen(b.get(got.location())) {
		t.Errorf("after choosing a card: %d %s", got.status, got.location())
	}
	s.newMember("mallory@example.org")
	if got := s.signedInBrowser("mallory@example.org").get("/portal/domain-actions/" + action); got.status != http.StatusNotFound {
		t.Errorf("another customer gets %d", got.status)
	}
}
