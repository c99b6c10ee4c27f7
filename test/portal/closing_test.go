package portal

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/holding"
)

var registrantForm = url.Values{
	"kind": {"person"}, "name": {"Erika Mustermann"}, "street": {"Heidestraße 17"}, "postal_code": {"51147"}, "city": {"Köln"},
	"country": {"DE"}, "phone": {"+49 221 123456"},
}

func TestAnExtractHoldsAllDataAndNoSecret(t *testing.T) {
	t.Parallel()
	s := open(t, true)
	erika := s.member("erika@example.org")
	s.held(erika.ID, "kaffee", holding.StatusActive)
	b := s.signedIn("erika@example.org")
	b.post("/portal/profile/registrant", registrantForm)
	b.post("/portal/tokens", url.Values{"name": {"Laptop"}})
	linked := s.newAgent("Einkaufshilfe")
	s.newAgent("Andere")
	b.post("/portal/agents/"+linked+"/link", nil)
	got := b.get("/portal/profile/export")
	if got.status != http.StatusOK || !strings.HasPrefix(got.header.Get("Content-Disposition"), "attachment;") ||
		got.header.Get("Cache-Control") != "no-store" {
		t.Fatalf("%d %v", got.status, got.header)
	}
	var all struct {
		Account    struct{ Email string }
		Registrant struct{ Name, City string }
		Domains    []struct{ Name, Status string }
		Tokens     []struct{ Name string }
		Sessions   []struct{ Address string }
		Agents     []struct{ Name string }
		Activity   []struct{ Action string }
	}
	check(t, json.Unmarshal([]byte(got.body), &all))
	if all.Account.Email != "erika@example.org" || all.Registrant.City != "Köln" || len(all.Domains) != 1 || all.Domains[0].Name != "kaffee.de" ||
		len(all.Tokens) != 1 || all.Tokens[0].Name != "Laptop" || len(all.Sessions) != 1 || len(all.Activity) < 3 ||
		len(all.Agents) != 1 || all.Agents[0].Name != "Einkaufshilfe" {
		t.Errorf("%s", got.body)
	}
	for _, never := range []string{password, b.cookie("dotkontor"), "dotkontor_live_", "argon2", "hash"} {
		if strings.Contains(got.body, never) {
			t.Errorf("the extract holds %q", never)
		}
	}
	s.clock.move(time.Hour)
	if got := b.get("/portal/profile/export"); got.status != http.StatusSeeOther || !strings.Contains(got.location(), "/portal/sign-in-again") {
		t.Errorf("after an hour: %d %s", got.status, got.location())
	}
}

func TestAnAccountIsClosedForGoodAndItsAddressIsFree(t *testing.T) {
	t.Parallel()
	s := open(t, true)
	erika := s.member("erika@example.org")
	b := s.signedIn("erika@example.org")
	b.post("/portal/profile/registrant", registrantForm)
	b.post("/portal/tokens", url.Values{"name": {"Laptop"}})
	other := s.signedIn("erika@example.org")
	if got := b.post("/portal/profile/close", url.Values{}); got.status != http.StatusUnprocessableEntity {
		t.Errorf("without a tick: %d", got.status)
	}
	got := b.post("/portal/profile/close", url.Values{"sure": {"on"}})
	if got.status != http.StatusOK || !strings.Contains(got.body, "Ihr Konto ist geschlossen") || b.cookie("dotkontor") != "" {
		t.Fatalf("%d %s", got.status, got.body)
	}
	if letter := s.letter(registrar.LetterAccountClosed); letter.To != "erika@example.org" || letter.Language != "de" {
		t.Errorf("%+v", letter)
	}
	if got := other.get("/portal/profile"); got.status != http.StatusSeeOther {
		t.Errorf("another session goes on: %d", got.status)
	}
	if got := s.browser().post("/portal/sign-in", url.Values{"email": {"erika@example.org"}, "password": {password}}); got.status == http.StatusSeeOther {
		t.Error("the password still opens it")
	}
	account, found, err := s.db.ReadCustomers().AccountByID(t.Context(), erika.ID)
	check(t, err)
	if !found || account.DisabledAt.IsZero() || strings.Contains(account.Email, "erika") || account.PasswordHash != "" {
		t.Errorf("%+v", account)
	}
	if _, known, err := s.db.ReadCustomers().RegistrantOf(t.Context(), erika.ID); err != nil || known {
		t.Errorf("the registrant stays: %t, %v", known, err)
	}
	if again := s.member("erika@example.org"); again.ID == erika.ID {
		t.Error("the old account came back")
	}
}

func TestAnAccountWithDomainsStaysOpen(t *testing.T) {
	t.Parallel()
	s := open(t, true)
	erika := s.member("erika@example.org")
	s.held(erika.ID, "kaffee", holding.StatusExpired)
	b := s.signedIn("erika@example.org")
	if got := b.get("/portal/profile/close"); !strings.Contains(got.body, "Domains in Ihrem Konto: 1") || strings.Contains(got.body, `name="sure"`) {
		t.Errorf("%s", got.body)
	}
	if got := b.post("/portal/profile/close", url.Values{"sure": {"on"}}); got.status != http.StatusConflict || !strings.Contains(got.body, "Solange Domains") {
		t.Errorf("%d %s", got.status, got.body)
	}
	if got := b.get("/portal/profile"); got.status != http.StatusOK {
		t.Errorf("the account is closed: %d", got.status)
	}
	s.clock.move(time.Hour)
	if got := b.post("/portal/profile/close", url.Values{"sure": {"on"}}); got.status != http.StatusSeeOther || !strings.Contains(got.location(), "sign-in-again") {
		t.Errorf("without a recent sign-in: %d %s", got.status, got.location())
	}
}

func TestTheRegistrantIsCheckedWhileItIsTyped(t *testing.T) {
	t.Parallel()
	s := open(t, true)
	s.member("erika@example.org")
	b := s.signedIn("erika@example.org")
	got := b.postJSON("/portal/profile/registrant/check", `{"kind":"person","name":"Erika","country":"DE","postal_code":"123","phone":"abc"}`)
	var told struct{ Problems map[string]string }
	check(t, json.Unmarshal([]byte(got.body), &told))
	if got.status != http.StatusOK || told.Problems["name"] != "" || told.Problems["postal_code"] != "Diese Postleitzahl passt nicht zum Land." ||
		told.Problems["phone"] == "" || told.Problems["street"] == "" {
		t.Errorf("%d %s", got.status, got.body)
	}
	if got := b.get("/portal/profile"); strings.Contains(got.body, "Erika<") {
		t.Error("a check stored something")
	}
	if got := s.browser().postJSON("/portal/profile/registrant/check", `{}`); got.status != http.StatusUnauthorized {
		t.Errorf("a stranger: %d", got.status)
	}
	if got := b.postJSON("/portal/profile/registrant/check", `[1]`); got.status != http.StatusBadRequest {
		t.Errorf("no form: %d", got.status)
	}
}
