package portal

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/contactcheck"
	"github.com/dotkontor/dotkontor/internal/registrar/holder"
	portalpages "github.com/dotkontor/dotkontor/internal/web/portal"
)

const holderAddress = "max@kunde.example"

// askHolder gives a customer's domain a holder whose address is not confirmed, and returns the
// path of the link that was mailed.
func (s *env) askHolder(customer, domain string) (check, link string) {
	s.t.Helper()
	_, err := s.db.SQL().Writer().ExecContext(s.t.Context(), `UPDATE domains SET contact_check = 'new', registrant = $1 WHERE id = $2`,
		`{"name":"Max","street":"Am Markt 1","city":"Wien","country":"AT","phone":"+43.1234","email":"`+holderAddress+`"}`, domain)
	must(s.t, err)
	unchecked, err := s.db.ListUncheckedDomains(s.t.Context(), s.clock.now(), "", 10)
	must(s.t, err)
	now := s.clock.now()
	opened := contactcheck.Check{
		ID: registrar.NewID(contactcheck.IDPrefix, now), Customer: customer, Email: holderAddress, State: contactcheck.Pending, Notices: 1,
		OpenedAt: now, DueAt: now.Add(contactcheck.Term), StepAt: now.Add(contactcheck.Term),
	}
	ok, err := s.db.OpenContactCheck(s.t.Context(), unchecked[0], contactcheck.Opening{
		Check: opened, At: now, Event: registrar.AuditEvent{Actor: registrar.Actor{Kind: registrar.ActorSystem}, Action: contactcheck.ActionAsked, Customer: customer, At: now},
		Mail: registrar.Mail{Kind: registrar.MailContactCheck, Customer: customer, To: holderAddress},
	})
	if !ok || err != nil {
		s.t.Fatal(ok, err)
	}
	mail := s.waitForMail(registrar.MailContactCheck)
	if mail.To != holderAddress {
		s.t.Errorf("the mail goes to %s", mail.To)
	}
	_, link, _ = strings.Cut(mail.Link, "/portal/")
	return opened.ID, "/portal/" + link
}

func (s *env) checkState(id string) contactcheck.State {
	s.t.Helper()
	check, _, err := s.db.GetContactCheck(s.t.Context(), id)
	must(s.t, err)
	return check.State
}

func TestContactLink_ActsOnlyThroughButtonAndNamesNoCustomer(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	anna, eve := s.newMember("anna@example.org"), s.newMember("eve@example.org")
	id, link := s.askHolder(anna.ID, s.addDomainOf(anna.ID, "geheim", ".org", registrar.DomainActive))
	secret, err := url.QueryUnescape(strings.TrimPrefix(link, "/portal/contact-check?link="))
	must(t, err)
	scanner, other := s.newBrowser(), s.signedInBrowser(eve.Email)
	session := other.cookie("session")
	var answers []pageResponse
	for _, b := range []*browser{scanner, scanner, other} { // prefetched, opened twice, opened by another account
		answers = append(answers, b.get(link))
		if got := answers[len(answers)-1]; got.status != http.StatusOK || len(elements(got.tree(t), "button")) == 0 || !strings.Contains(got.body, "Adresse bestätigen") || !strings.Contains(got.body, "geheim.org") {
			t.Errorf("%d %s", got.status, got.body)
		}
	}
	if s.checkState(id) != contactcheck.Pending {
		t.Fatal("opening the link has confirmed the address")
	}
	foreign := s.newBrowser()
	foreign.crossSite = true
	if got := foreign.post("/portal/contact-check", url.Values{"link": {secret}}); got.status != http.StatusForbidden || s.checkState(id) != contactcheck.Pending {
		t.Errorf("another site's page presses the button: %d", got.status)
	}
	answers = append(answers, other.post("/portal/contact-check", url.Values{"link": {secret}}))
	if s.checkState(id) != contactcheck.Confirmed {
		t.Errorf("the button has not confirmed the address: %d", answers[3].status)
	}
	answers = append(answers, scanner.post("/portal/contact-check", url.Values{"link": {secret}}), scanner.get(link))
	for i, got := range answers {
		if strings.Contains(got.body, anna.Email) {
			t.Errorf("answer %d names the customer", i)
		}
		if i >= 3 && (got.status != http.StatusOK || !strings.Contains(got.body, "Adresse bestätigt")) {
			t.Errorf("answer %d: %d %s", i, got.status, got.body)
		}
	}
	if scanner.get("/portal/domains").status == http.StatusOK {
		t.Error("the link has signed somebody in")
	}
	if other.cookie("session") != session {
		t.Error("the session of the other account has changed")
	}
	if got := scanner.get("/portal/contact-check?link=nonsense"); got.status != http.StatusGone {
		t.Errorf("a bad link: %d", got.status)
	}
}

func TestContactLink_IsRateLimited(t *testing.T) {
	t.Parallel()
	s := newEnvWith(t, func(_ *env, cfg *portalpages.Config) {
		cfg.ContactLimit = func(string) time.Duration { return time.Minute }
	})
	if got := s.newBrowser().get("/portal/contact-check?link=nonsense"); got.status != http.StatusTooManyRequests {
		t.Errorf("%d", got.status)
	}
}

// The own address needs no confirmation, and neither does one that was confirmed before.
func TestHolderChange_SaysThatAddressHasToBeConfirmed(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	anna := s.newMember("anna@example.org")
	domain, confirmed := s.addDomainOf(anna.ID, "kunde", ".org", registrar.DomainActive), s.addDomainOf(anna.ID, "zweite", ".org", registrar.DomainActive)
	_, link := s.askHolder(anna.ID, confirmed)
	b := s.signedInBrowser(anna.Email)
	b.post("/portal/holders", holderInput("Max Teufel", holderAddress))
	all, err := s.holders.List(t.Context(), registrar.Actor{Kind: registrar.ActorPerson, Customer: anna.ID})
	must(t, err)
	client := all[slices.IndexFunc(all, func(one holder.Holder) bool { return one.Email == holderAddress })].ID
	const warning = holderAddress + " ist noch nicht bestätigt"
	warned := func(id string) [2]bool {
		single := b.post("/portal/domains/"+domain+"/holder", url.Values{"holder": {id}})
		several := b.post("/portal/domain-actions", url.Values{"action": {"holder"}, "holder": {id}, "confirmed": {"yes"}, "id": {domain}})
		if locked := "kann ein Umzug zu einem anderen Anbieter 60 Tage lang abgelehnt werden"; id == client && several.status == http.StatusOK && (!strings.Contains(single.body, locked) || !strings.Contains(several.body, locked)) {
			t.Errorf("the transfer restriction is not announced for %s", id)
		}
		return [2]bool{strings.Contains(single.body, warning) && strings.Contains(single.body, "innerhalb von 15 Tagen"), strings.Contains(several.body, warning) && strings.Contains(several.body, `name="asked" value="`+id+`"`)}
	}
	if got := warned(client); got != [2]bool{true, true} {
		t.Errorf("for one domain and for several: %v", got)
	}
	if got := warned("own"); got != [2]bool{} {
		t.Errorf("the own address: %v", got)
	}
	if got := b.post("/portal/domain-actions", url.Values{"action": {"holder"}, "holder": {client}, "asked": {client}, "confirmed": {"yes"}, "id": {domain}}); got.status != http.StatusSeeOther {
		t.Errorf("after the page that says so: %d", got.status)
	}
	_, secret, _ := strings.Cut(link, "?link=")
	s.newBrowser().post("/portal/contact-check", url.Values{"link": {secret}})
	if got := warned(client); got != [2]bool{} {
		t.Errorf("a confirmed address: %v", got)
	}
}

func TestContactChecks_CustomerSeesDeadlineAndResends(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	anna := s.newMember("anna@example.org")
	domain := s.addDomainOf(anna.ID, "kunde", ".org", registrar.DomainActive)
	id, _ := s.askHolder(anna.ID, domain)
	b := s.signedInBrowser(anna.Email)
	b.post("/portal/holders", holderInput("Max Teufel", holderAddress))
	check, _, err := s.db.GetContactCheck(t.Context(), id)
	must(t, err)
	due := check.LastDay().Format("02.01.2006")
	for _, path := range []string{"/portal/domains/" + domain, "/portal", "/portal/contact-checks", "/portal/holders"} {
		if got := b.get(path); got.status != http.StatusOK || !strings.Contains(got.body, holderAddress) || !strings.Contains(got.body, due) || !strings.Contains(got.body, "/portal/contact-checks") {
			t.Errorf("%s: %d, no address or no deadline", path, got.status)
		}
	}
	for path, want := range map[string]string{
		"/portal/domains/" + domain: "Bestätigt er sie nicht bis zum " + due + ", müssen wir die Domain danach aus dem DNS nehmen.",
		"/portal":                   "Ohne Bestätigung nach dem " + due + " nicht mehr erreichbar.",
		"/portal/contact-checks":    "kunde.org",
	} {
		if got := b.get(path); !strings.Contains(got.body, want) {
			t.Errorf("%s lacks %q", path, want)
		}
	}
	if got := b.get("/portal"); !strings.Contains(got.body, "<strong>kunde.org</strong>") {
		t.Error("the overview does not name the domain")
	}
	if got := b.post("/portal/contact-checks", url.Values{"id": {id}}); got.status != http.StatusSeeOther {
		t.Errorf("%d %s", got.status, got.body)
	}
	s.newMember("eve@example.org")
	if got := s.signedInBrowser("eve@example.org").post("/portal/contact-checks", url.Values{"id": {id}}); got.status != http.StatusNotFound {
		t.Errorf("another customer: %d", got.status)
	}
	if mail := s.waitForMail(registrar.MailContactCheck); mail.To != holderAddress {
		t.Errorf("sent again to %s", mail.To)
	}
	b.post("/portal/contact-checks", url.Values{"id": {id}})
	if got := b.get("/portal/contact-checks"); !strings.Contains(got.body, "gerade erst verschickt") {
		t.Error("a second mail at once is not refused")
	}
}

func TestContactChecks_OperatorSeesDeadlinesAndConfirmsByHand(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	anna := s.newMember("anna@example.org")
	id, _ := s.askHolder(anna.ID, s.addDomainOf(anna.ID, "kunde", ".org", registrar.DomainActive))
	_, ops := s.operatorBrowser("ops@example.org")
	_, err := s.db.SQL().Writer().ExecContext(t.Context(), `UPDATE contact_checks SET waits_for = 'notices'`)
	must(t, err)
	if got := ops.get("/operator"); !strings.Contains(got.body, `href="/operator/contact-checks">Ansehen`) {
		t.Errorf("the start page does not name an address that waits for a decision: %s", got.body)
	}
	_, err = s.db.SQL().Writer().ExecContext(t.Context(), `UPDATE contact_checks SET waits_for = ''`)
	must(t, err)
	if got := ops.get("/operator/contact-checks"); got.status != http.StatusOK || !strings.Contains(got.body, holderAddress) {
		t.Errorf("%d %s", got.status, got.body)
	}
	wantCause := func(want string) {
		t.Helper()
		if page := ops.get("/operator/contact-checks").body; !strings.Contains(page, `<td data-label="Anlass">`+want+"</td>") {
			t.Errorf("the cause is not %s: %s", want, page)
		}
	}
	wantCause("Registrierung")
	s.exec(`INSERT INTO provision_items (id, customer_id, name, tld, kind, years, payment, state, account, domain_id, code_sealed, requested_at, due_at, created_at, updated_at)
		SELECT 'prv_1', customer_id, name, tld, 'transfer', 1, 'manual:1', 'active', 'one', id, '', 1, 0, 1, 1 FROM domains WHERE name = 'kunde.org'`)
	wantCause("Umzug zu uns")
	s.exec(`INSERT INTO past_registrants (id, domain_id, customer_id, holder_id, registrant, reason, since, until)
		SELECT 'chg_1', id, customer_id, '', '{}', 'correction', 1, 2 FROM domains WHERE name = 'kunde.org'`)
	wantCause("Neue Adresse des Inhabers")
	if got := ops.post("/operator/contact-checks/"+id+"/suspend", url.Values{"confirmed": {"yes"}}); s.checkState(id) != contactcheck.Pending {
		t.Errorf("suspended before its time: %d", got.status)
	}
	if got := ops.post("/operator/contact-checks/"+id+"/confirm", url.Values{"note": {""}}); got.status != http.StatusUnprocessableEntity || s.checkState(id) != contactcheck.Pending {
		t.Errorf("confirmed without a note: %d", got.status)
	}
	if got := ops.post("/operator/contact-checks/"+id+"/confirm", url.Values{"note": {"Rückruf"}}); got.status != http.StatusSeeOther || s.checkState(id) != contactcheck.Confirmed {
		t.Errorf("%d %s", got.status, got.body)
	}
}

func TestOperatorHome_UnconfirmedHoldersBeforeTheyAreSuspended(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	anna := s.newMember("anna@example.org")
	id, _ := s.askHolder(anna.ID, s.addDomainOf(anna.ID, "kunde", ".org", registrar.DomainActive))
	s.clock.advance(contactcheck.Term - 4*24*time.Hour)
	_, b := s.operatorBrowser("ops@example.org")
	if home := b.get("/operator").body; strings.Contains(home, `id="contacts"`) {
		t.Errorf("days before the suspension: %s", home)
	}
	s.clock.advance(2 * 24 * time.Hour)
	if home := b.get("/operator").body; !strings.Contains(home, `id="contacts"`) || !strings.Contains(home, `badge warn">Wartet auf Best`) || strings.Contains(home, holderAddress) || strings.Contains(home, nothingToDo) ||
		!strings.Contains(home, `">kunde.org</a></td>`) || !strings.Contains(home, `Inhaberadressen <span class="count">1<`) {
		t.Errorf("two days before: %s", home)
	}
	s.exec("UPDATE contact_checks SET waits_for = 'notices' WHERE id = '" + id + "'")
	if home := b.get("/operator").body; !strings.Contains(home, `badge bad">Wartet auf Best`) || !strings.Contains(home, `class="count late"`) {
		t.Errorf("waiting for an operator: %s", home)
	}
}

func TestDomainList_BadgesNameUnconfirmedAddressAndPlannedChange(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	anna := s.newMember("anna@example.org")
	id, _ := s.askHolder(anna.ID, s.addDomainOf(anna.ID, "kunde", ".org", registrar.DomainActive))
	check, _, err := s.db.GetContactCheck(t.Context(), id)
	must(t, err)
	planned := s.addDomainOf(anna.ID, "geplant", ".org", registrar.DomainActive)
	s.addDomainOf(anna.ID, "still", ".org", registrar.DomainActive)
	b := s.signedInBrowser(anna.Email)
	b.post("/portal/domains/"+planned+"/ds", url.Values{"ds": {"2371 13 2 1F987CC6583E92DF0890718C42A50A6E4C2C6F6F3E0C0DBE9C30BFD40AE8BC1F"}})
	b.post("/portal/domains/"+planned+"/nameservers", url.Values{"nameservers": {"ns1.neu.example\nns2.neu.example"}})
	view, err := s.domains.View(t.Context(), registrar.Actor{Kind: registrar.ActorPerson, Customer: anna.ID}, planned)
	if err != nil || view.Open == nil {
		t.Fatal(view.Open, err)
	}
	unconfirmed := `<span class="badge warn">Adresse unbestätigt, Frist ` + check.LastDay().Format("02.01.2006") + `</span>`
	change := `<span class="badge wait">neue Nameserver am ` + view.Open.WaitUntil.UTC().Format("02.01.2006") + `</span>`
	for _, path := range []string{"/portal/domains", "/portal"} {
		page := b.get(path).body
		rows := map[string]string{}
		for row := range strings.SplitSeq(page, "<tr>") {
			for _, name := range []string{"kunde.org", "geplant.org", "still.org"} {
				if strings.Contains(row, "/portal/domains/") && strings.Contains(row, ">"+name+"</a>") {
					rows[name] += row
				}
			}
		}
		if !strings.Contains(rows["kunde.org"], unconfirmed) || strings.Contains(rows["kunde.org"], "badge wait") {
			t.Errorf("%s: %s", path, rows["kunde.org"])
		}
		if strings.Count(rows["geplant.org"], change) != 1 || strings.Contains(rows["geplant.org"], "unbestätigt") {
			t.Errorf("%s: %s", path, rows["geplant.org"])
		}
		if strings.Contains(rows["still.org"], "badge wait") || strings.Contains(rows["still.org"], "unbestätigt") {
			t.Errorf("%s: %s", path, rows["still.org"])
		}
	}
	s.exec(`UPDATE contact_checks SET due_at = 1`)
	if page := b.get("/portal/domains").body; !strings.Contains(page, `<span class="badge bad">Adresse unbestätigt`) {
		t.Error("after the deadline the badge is not urgent")
	}
}

func TestOverview_DomainsOfflineForAnAddressAreListedOnce(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	anna := s.newMember("anna@example.org")
	id, _ := s.askHolder(anna.ID, s.addDomainOf(anna.ID, "kunde", ".org", registrar.DomainActive))
	s.exec("UPDATE contact_checks SET state = 'suspended', suspended_at = 1 WHERE id = '" + id + "'")
	s.exec("UPDATE domains SET contact_hold = '" + id + "', registry_status = 'clientHold'")
	page := s.signedInBrowser(anna.Email).get("/portal").body
	if !strings.Contains(page, "Nicht im DNS und nicht erreichbar: Der Inhaber hat seine Adresse") || strings.Contains(page, "Der Inhaber hat seine E-Mail-Adresse nicht bestätigt.") {
		t.Errorf("the overview: %s", page)
	}
}
