package portal

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/registrar/holder"
	"github.com/dotkontor/dotkontor/internal/web/portal"
	"github.com/dotkontor/dotkontor/test/testkit"
)

func (s *env) addHolder(customer string) string {
	s.t.Helper()
	id, err := s.holders.Add(s.t.Context(), registrar.Actor{Kind: registrar.ActorPerson, Customer: customer, Through: "ses_1"}, account.Registrant{
		Kind: account.Person, Name: "Eva Blum", Street: "Am Markt 1", PostalCode: "24103", City: "Kiel", Country: "DE", Phone: "+49 431 123456",
	}, "eva@example.com", holder.Contacts{})
	must(s.t, err)
	return id
}

func holderInput(name, email string) url.Values {
	return url.Values{
		"kind": {"company"}, "name": {name}, "organisation": {"Teeladen GmbH"}, "street": {"Am Markt 1"}, "postal_code": {"1010"}, "city": {"Wien"},
		"country": {"AT"}, "phone": {"+43 1 5123456"}, "email": {email},
	}
}

func TestHolders_AreAddedChangedAndDeleted(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	s.newMember("agentur@example.org")
	b := s.signedInBrowser("agentur@example.org")
	wrong := b.post("/portal/holders", url.Values{"kind": {"person"}, "name": {"Max"}, "country": {"DE"}, "email": {"keine Adresse"}})
	if wrong.status != http.StatusUnprocessableEntity || !strings.Contains(wrong.body, `value="keine Adresse"`) || strings.Count(wrong.body, `class="problem"`) < 4 {
		t.Fatalf("a bad form: %d %s", wrong.status, wrong.body)
	}
	if got := b.post("/portal/holders", holderInput("Max Teufel", "max@teeladen.example")); got.location() != "/portal/holders" {
		t.Fatalf("got %d to %s", got.status, got.location())
	}
	list := b.get("/portal/holders").body
	_, rest, _ := strings.Cut(list, `href="/portal/holders/hld_`)
	id, _, _ := strings.Cut(rest, `"`)
	page := "/portal/holders/hld_" + id
	if !strings.Contains(list, "Teeladen GmbH") || !strings.Contains(b.get(page).body, `value="max@teeladen.example"`) {
		t.Errorf("the list is %s", list)
	}
	if got := b.post(page, holderInput("Moritz Teufel", "max@teeladen.example")); got.location() != "/portal/holders" { // no domain has other data
		t.Errorf("got %d to %s", got.status, got.location())
	}
	// Another page, such as an order, asked for the change and is shown again, also after a mistake.
	corrected := holderInput("", "max@teeladen.example")
	corrected.Set("next", "/portal/activity")
	if form := b.get(page + "?next=/portal/activity").body; !strings.Contains(form, `name="next" value="/portal/activity"`) {
		t.Errorf("the form does not lead back: %s", form)
	}
	if got := b.post(page, corrected); got.status != http.StatusUnprocessableEntity || !strings.Contains(got.body, `name="next" value="/portal/activity"`) {
		t.Errorf("after a mistake: %d %s", got.status, got.body)
	}
	corrected.Set("name", "Moritz Teufel")
	if got := b.post(page, corrected); got.location() != "/portal/activity" {
		t.Errorf("got %d to %s", got.status, got.location())
	}
	if got := b.get(page + "/delete"); got.status != http.StatusOK || !strings.Contains(got.body, "behalten ihre Angaben") {
		t.Errorf("got %d", got.status)
	}
	if got := b.post(page+"/delete", nil); got.location() != "/portal/holders" || strings.Contains(b.get("/portal/holders").body, "Teufel") {
		t.Errorf("got %d to %s", got.status, got.location())
	}
}

// Own data that change ask which domains follow; the others keep theirs.
func TestOwnData_CustomerChoosesWhichDomainsFollow(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	member := s.newMember("agentur@example.org")
	b := s.signedInBrowser("agentur@example.org")
	own := url.Values{
		"kind": {"person"}, "name": {"Anna Müller"}, "street": {"Hauptstr. 1"}, "postal_code": {"20457"}, "city": {"Hamburg"}, "country": {"DE"}, "phone": {"+49 40 123456"},
	}
	if got := b.post("/portal/profile/registrant", own); got.location() != "/portal/profile" {
		t.Fatalf("the first data lead to %s", got.location())
	}
	follows, stays := s.addDomain(member.ID, "folgt", registrar.DomainActive), s.addDomain(member.ID, "bleibt", registrar.DomainActive)
	own.Set("city", "Bremen")
	own.Set("postal_code", "28195")
	got := b.post("/portal/profile/registrant", own)
	if got.location() != "/portal/holders/own/domains" {
		t.Fatalf("changed data lead to %s", got.location())
	}
	page := b.get(got.location()).body
	if !strings.Contains(page, follows) || !strings.Contains(page, stays) || !strings.Contains(page, "20457 Hamburg") {
		t.Errorf("the page is %s", page)
	}
	// Saved on the way to another page, such as an order, they lead there with the same question.
	own.Set("next", "/portal/activity")
	if got := b.post("/portal/profile/registrant", own); got.location() != "/portal/activity" {
		t.Fatalf("saved on the way to another page, they lead to %s", got.location())
	}
	own.Del("next")
	if body := b.get("/portal/activity").body; !strings.Contains(body, "behalten ihre bisherigen Angaben") || !strings.Contains(body, `href="/portal/holders/own/domains">Domains mit anderen Angaben`) {
		t.Errorf("the next page does not name the domains with other data: %s", body)
	}
	result := b.post("/portal/domain-actions", url.Values{"action": {"holder"}, "holder": {"own"}, "confirmed": {"yes"}, "id": {follows}})
	if !strings.HasPrefix(result.location(), "/portal/domain-actions/") {
		t.Fatalf("got %d to %s", result.status, result.location())
	}
	s.runChanges()
	testkit.Eventually(t, "changed holder", func() bool {
		view, err := s.domains.View(t.Context(), registrar.Actor{Kind: registrar.ActorPerson, Customer: member.ID, Through: "ses_1"}, follows)
		return err == nil && view.Open == nil && view.Domain.Registrant.City == "Bremen"
	})
	view, err := s.domains.View(t.Context(), registrar.Actor{Kind: registrar.ActorPerson, Customer: member.ID, Through: "ses_1"}, stays)
	if err != nil || view.Domain.Registrant.City != "Hamburg" || len(view.Changes) != 0 {
		t.Errorf("the other domain has %+v, %v", view.Domain.Registrant, err)
	}
	if body := b.get("/portal/domains/" + follows).body; !strings.Contains(body, "28195 Bremen") || !strings.Contains(body, "Frühere Inhaber") || !strings.Contains(body, "<td>Angaben zum Inhaber geändert</td>") || strings.Contains(body, "<td>Inhaber geändert</td>") {
		t.Errorf("the domain's page is %s", body)
	}
}

// A holder whom an extension does not admit is refused by name, before and after the confirmation.
func TestHolderChange_ExtensionDoesNotAdmitHolder(t *testing.T) {
	t.Parallel()
	s := newEnvWith(t, func(s *env, _ *portal.Config) { s.requires = map[string]string{".de": "eu_presence"} })
	member := s.newMember("agentur@example.org")
	b := s.signedInBrowser("agentur@example.org")
	swiss, err := s.holders.Add(t.Context(), registrar.Actor{Kind: registrar.ActorPerson, Customer: member.ID, Through: "ses_1"}, account.Registrant{
		Kind: account.Company, Name: "Reto Berg", Organisation: "Bergbahn AG", Street: "Promenade 1", PostalCode: "7270", City: "Davos", Country: "CH", Phone: "+41 81 5123456",
	}, "reto@example.com", holder.Contacts{})
	must(t, err)
	closed, open := s.addDomain(member.ID, "nordlicht", registrar.DomainActive), s.addDomainOf(member.ID, "bergbahn", ".org", registrar.DomainActive)
	const named, unnamed = "Diese Endung ist Inhabern in der EU und im EWR vorbehalten. Bergbahn AG (Schweiz) hat dort keine Anschrift. Der Inhaber der Domain bleibt unverändert.",
		"Diese Endung ist Inhabern in der EU und im EWR vorbehalten. Der gewählte Inhaber hat dort keine Anschrift. Der Inhaber der Domain bleibt unverändert."
	page := b.post("/portal/domains/"+closed+"/holder", url.Values{"holder": {swiss}})
	if !strings.Contains(page.body, named) || strings.Contains(page.body, `name="confirmed"`) {
		t.Errorf("the confirmation of one domain: %d %s", page.status, page.body)
	}
	page = b.post("/portal/domains/"+closed+"/holder", url.Values{"holder": {swiss}, "confirmed": {"yes"}})
	if page.status != http.StatusConflict || !strings.Contains(page.body, unnamed) {
		t.Errorf("a confirmed change: %d %s", page.status, page.body)
	}
	form := url.Values{"action": {"holder"}, "holder": {swiss}, "confirmed": {"yes"}, "id": {closed, open}}
	page = b.post("/portal/domain-actions", form)
	if !strings.Contains(page.body, "<li>nordlicht.de: "+named) || !strings.Contains(page.body, "Inhaber ändern (Domains: 1)") || !strings.Contains(page.body, `name="asked" value="`+swiss+`"`) {
		t.Errorf("the confirmation of several domains: %d %s", page.status, page.body)
	}
	form.Set("asked", swiss)
	page = b.get(b.post("/portal/domain-actions", form).location())
	if !strings.Contains(page.body, unnamed) || strings.Contains(page.body, "bezahlte Bestellung in Ihrem Konto") {
		t.Errorf("the result: %s", page.body)
	}
	page = b.post("/portal/domain-actions", url.Values{"action": {"holder"}, "holder": {swiss}, "confirmed": {"yes"}, "id": {closed}})
	if !strings.Contains(page.body, named) || strings.Contains(page.body, `name="asked"`) || strings.Contains(page.body, "Inhaber ändern (Domains:") {
		t.Errorf("no domain can get the holder: %d %s", page.status, page.body)
	}
}

// An action has at most 200 domains; the page offers the others after them.
func TestOwnData_EveryDomainOfLargeAccountCanFollow(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	member := s.newMember("agentur@example.org")
	b := s.signedInBrowser("agentur@example.org")
	own := url.Values{
		"kind": {"person"}, "name": {"Anna Müller"}, "street": {"Hauptstr. 1"}, "postal_code": {"20457"}, "city": {"Hamburg"}, "country": {"DE"}, "phone": {"+49 40 123456"},
	}
	b.post("/portal/profile/registrant", own)
	const all = 2*holder.MaxDomains + 3
	missing := make(map[string]bool, all)
	for i := range all {
		missing[s.addDomain(member.ID, fmt.Sprintf("viele%04d", i), registrar.DomainActive)] = true
	}
	own.Set("city", "Bremen")
	path := b.post("/portal/profile/registrant", own).location()
	for pages := 0; len(missing) > 0; pages++ {
		if pages > all/holder.MaxDomains {
			t.Fatalf("%d domains are on no page", len(missing))
		}
		action := url.Values{"action": {"holder"}, "holder": {"own"}, "confirmed": {"yes"}}
		page := b.get(path).body
		for id := range missing {
			if strings.Contains(page, `value="`+id+`"`) {
				action.Add("id", id)
				delete(missing, id)
			}
		}
		if result := b.post("/portal/domain-actions", action); !strings.HasPrefix(result.location(), "/portal/domain-actions/") {
			t.Fatalf("%d domains: got %d to %s", len(action["id"]), result.status, result.location())
		}
		if _, rest, more := strings.Cut(page, `<a href="/portal/holders/own/domains?after=`); more {
			after, _, _ := strings.Cut(rest, `"`)
			path = "/portal/holders/own/domains?after=" + after
		}
	}
	s.runChanges()
	testkit.Eventually(t, "all domains have followed", func() bool {
		page, err := s.holders.Domains(t.Context(), registrar.Actor{Kind: registrar.ActorPerson, Customer: member.ID, Through: "ses_1"}, holder.Own, "")
		must(t, err)
		return len(page.Outdated) == 0 && len(page.Current)+page.Further == all
	})
}

func TestHolders_NameContactsOfTheAccount(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	member, stranger := s.newMember("agentur@example.org"), s.newMember("fremd@example.org")
	b := s.signedInBrowser("agentur@example.org")
	id, tech, foreign := s.addHolder(member.ID), s.addHolder(member.ID), s.addHolder(stranger.ID)
	page := "/portal/holders/" + id
	form := holderInput("Max Teufel", "max@teeladen.example")
	for _, wrong := range []string{foreign, id} {
		form.Set("tech", wrong)
		if got := b.post(page, form); got.status != http.StatusUnprocessableEntity || !strings.Contains(got.body, "Diesen Kontakt gibt es in Ihrem Konto nicht") {
			t.Errorf("%s as a contact: %d", wrong, got.status)
		}
	}
	form.Set("tech", tech)
	if got := b.post(page, form); got.location() != "/portal/holders" {
		t.Fatalf("got %d to %s", got.status, got.location())
	}
	if body := b.get(page).body; !strings.Contains(body, `<option value="`+tech+`" selected>`) || strings.Contains(body, `<option value="`+id+`"`) || strings.Contains(body, foreign) {
		t.Errorf("the form is %s", body)
	}
	domain := s.addDomain(member.ID, "kontakte", registrar.DomainActive) // .de has no technical contact
	if got := b.post("/portal/domains/"+domain+"/holder", url.Values{"holder": {id}, "confirmed": {"yes"}}); got.location() != "/portal/domains/"+domain {
		t.Fatalf("got %d to %s", got.status, got.location())
	}
	if body := b.get("/portal/domains/" + domain).body; !strings.Contains(body, "Technischer Kontakt") || !strings.Contains(body, "Eva Blum") || !strings.Contains(body, "nimmt bei dieser Endung keinen") {
		t.Errorf("the domain's page is %s", body)
	}
}

func TestDomainPage_HolderChangeNeedsRecentSignIn(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	member := s.newMember("agentur@example.org")
	b := s.signedInBrowser("agentur@example.org")
	id, other := s.addDomain(member.ID, "wechselt", registrar.DomainActive), s.addHolder(member.ID)
	s.clock.advance(registrar.RecentSignIn + 1)
	if got := b.post("/portal/domains/"+id+"/holder", url.Values{"holder": {other}, "confirmed": {"yes"}}); got.status == http.StatusSeeOther && got.location() == "/portal/domains/"+id {
		t.Errorf("changed after an old sign-in")
	}
	changes, err := s.db.ListDomainChanges(t.Context(), id, 10)
	if err != nil || len(changes) != 0 {
		t.Errorf("%d changes, %v", len(changes), err)
	}
	b = s.signedInBrowser("agentur@example.org")
	if got := b.post("/portal/domains/"+id+"/holder", url.Values{"holder": {other}}); got.status != http.StatusOK || !strings.Contains(got.body, "Bisher") || !strings.Contains(got.body, "Danach") || !strings.Contains(got.body, "Inhaber von wechselt.de ändern?") {
		t.Errorf("the page before and after: %d %s", got.status, got.body)
	}
	if changes, err = s.db.ListDomainChanges(t.Context(), id, 10); err != nil || len(changes) != 0 {
		t.Errorf("changed without a confirmation: %+v, %v", changes, err)
	}
	if got := b.post("/portal/domains/"+id+"/holder", url.Values{"holder": {other}, "confirmed": {"yes"}}); got.location() != "/portal/domains/"+id {
		t.Fatalf("got %d to %s: %s", got.status, got.location(), got.body)
	}
	if changes, err = s.db.ListDomainChanges(t.Context(), id, 10); err != nil || len(changes) != 1 || changes[0].State != domainchange.StatusDone {
		t.Errorf("%+v, %v", changes, err)
	}
}
