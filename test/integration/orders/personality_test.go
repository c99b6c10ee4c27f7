package orders

import (
	"net/http"
	"strings"
	"testing"
)

// personalityNames has a name at each kind of registry that the sandbox imitates
// (docs/sandbox-registries.md).
func personalityNames(label string) (items []item) {
	for _, tld := range []string{".com", ".eu", ".at", ".org", ".de"} {
		items = append(items, item{label + tld, "register"})
	}
	return items
}

func TestPurchase_SucceedsAtEveryPersonality(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	made := s.startOrder(personalityNames("ueberall-zuhause")...)
	s.signedInBrowser().pay(made.PaymentURL)
	done := s.waitForStatus(made.OrderID, "completed")
	for _, one := range done.Items {
		if one.Status != "active" || !s.ownsDomain(one.Domain) {
			t.Errorf("%s is %s, %+v", one.Domain, one.Status, one.Failure)
		}
	}
	s.reconcile()
}

// A registrant whom only some registries reject can't pay for those names, and is told which
// field is wrong before a payment, in both languages and by MCP.
func TestPurchase_RejectedRegistrantIsToldWhichFieldIsWrong(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	anna := s.signedInBrowser()
	long := strings.TrimSpace(strings.Repeat("Annabella ", 6))
	anna.setHolder(long, "Berlin")
	made := s.startOrder(personalityNames("langer-name")...)
	if len(made.Requirements) != 1 || made.Requirements[0].Code != "extension_rule" || made.Requirements[0].Domain != "langer-name.eu" ||
		made.Requirements[0].Rule != "registrant_name_over_50" || !strings.Contains(made.Requirements[0].Message, "at most 50 characters") ||
		!strings.HasSuffix(made.Requirements[0].URL, "/portal/profile/registrant") {
		t.Errorf("requirements %+v", made.Requirements)
	}
	for language, text := range map[string]string{"de": "höchstens 50 Zeichen", "en": "at most 50 characters"} {
		anna.post(s.base+"/portal/language", "language", language, "next", "/")
		page := anna.get(made.PaymentURL)
		if !strings.Contains(page.text, "<strong>langer-name.eu</strong>: ") || !strings.Contains(page.text, text) || grossField.MatchString(page.text) {
			t.Errorf("%s: the page does not say why it can't be paid (%d):\n%s", language, page.status, page.text)
		}
	}
	s.reconcile()
}

// A holder whose new data the registry would reject can't be submitted, and the response says
// why.
func TestHolderChange_RejectedFieldIsExplained(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	anna := s.signedInBrowser()
	made := s.startOrder(item{"umzug-nach-athen.at", "register"})
	anna.pay(made.PaymentURL)
	s.waitForStatus(made.OrderID, "completed")
	anna.setHolder("Anna Beispiel", "Αθήνα")
	var owned struct {
		Domains []struct {
			ManageURL string `json:"manageUrl"`
		} `json:"domains"`
	}
	if s.callTool("list_my_domains", map[string]any{"search": "umzug-nach-athen"}, &owned) || len(owned.Domains) != 1 {
		t.Fatalf("domains %+v", owned)
	}
	got := anna.post(owned.Domains[0].ManageURL+"/holder", "confirmed", "yes")
	if got.status == http.StatusSeeOther {
		got = anna.get(owned.Domains[0].ManageURL)
	}
	if strings.Contains(got.text, "wird geändert") || !strings.Contains(got.text, "lateinischen Buchstaben") {
		t.Errorf("status %d:\n%s", got.status, got.text)
	}
	s.reconcile()
}

func (h browser) setHolder(name, city string) {
	h.t.Helper()
	got := h.post(h.base+"/portal/profile/registrant", "kind", "person", "name", name, "organisation", "", "street", "Hauptstr. 1",
		"postal_code", "10115", "city", city, "state", "", "country", "DE", "phone", "+49 30 1234567", "vat_id", "")
	if got.status != http.StatusSeeOther {
		h.t.Fatalf("registrant: status %d:\n%s", got.status, got.text)
	}
}
