package portal

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
	"github.com/dotkontor/dotkontor/internal/registrar/withdrawal"
	"github.com/dotkontor/dotkontor/internal/web/portal"
)

func (s *env) addDomainUntil(owner, label string, until time.Time) string {
	s.t.Helper()
	added, err := s.portfolio.Add(s.t.Context(), operator, portfolio.AddParams{
		Customer: owner, Name: registrar.NewName(label, ".de"), Status: registrar.DomainActive, PaidUntil: until,
	})
	must(s.t, err)
	return added.ID
}

// addPreparedOrder adds an unpaid order that a token has prepared.
func (s *env) addPreparedOrder(customer, token string) order.Order {
	s.t.Helper()
	at := s.clock.now()
	o := order.Order{
		ID: registrar.NewID("ord_", at), Customer: customer, Email: "x@example.org", State: order.AwaitingPayment, Channel: order.ChannelMCP,
		By: registrar.Actor{Kind: registrar.ActorToken, Customer: customer, Through: token}, ByName: "<b>Laptop</b>", Claimed: true,
		ItemsKey: "k", PayLink: "link", SealedPayLink: "sealed",
		Items:     []order.Item{{ID: "itm_1", Name: "gewollt.de", TLD: ".de", Kind: order.Register, Years: 1, Net: 1000, VAT: 190, Gross: 1190, State: order.ItemWaiting}},
		Totals:    order.Totals{Net: 1000, VAT: 190, Gross: 1190, RateBasisPoints: 1900, Rule: "domestic", Country: "DE"},
		CreatedAt: at, UpdatedAt: at, ExpiresAt: at.Add(24 * time.Hour), Version: 1,
	}
	stored, _, err := s.db.AddOrder(s.t.Context(), o, 20, registrar.AuditEvent{Actor: o.By, Action: order.ActionCreated, Customer: customer, Object: o.ID, At: at})
	must(s.t, err)
	return stored
}

func TestOverview_IsThePageAfterSignIn(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	s.newMember("erika@example.org")
	b := s.newBrowser()
	if got := b.get("/portal"); got.location() != "/portal/sign-in" {
		t.Errorf("without a session: %d %s", got.status, got.location())
	}
	if got := b.post("/portal/sign-in", url.Values{"email": {"erika@example.org"}, "password": {password}}); got.location() != "/portal" {
		t.Errorf("a sign-in leads to %s", got.location())
	}
	for _, path := range []string{"/portal", "/portal/"} {
		if got := b.get(path); got.status != http.StatusOK || !strings.Contains(got.body, "Suchen Sie zuerst einen Namen") || strings.Contains(got.body, "<svg class=\"chart\"") {
			t.Errorf("%s of a new account: %d %s", path, got.status, got.body)
		}
	}
}

func TestOverview_ShowsNewestDomainsWithTheirTerm(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	erika := s.newMember("erika@example.org")
	var ids []string
	for _, label := range []string{"eins", "zwei", "drei", "vier", "fuenf", "sechs"} {
		ids = append(ids, s.addDomain(erika.ID, label, registrar.DomainActive))
		s.clock.advance(time.Second)
	}
	page := s.signedInBrowser("erika@example.org").get("/portal").body
	_, newest, _ := strings.Cut(page, `<h2 id="newest">Neueste Domains</h2>`)
	newest, _, _ = strings.Cut(newest, "</section>")
	for i, id := range ids {
		if shown := strings.Contains(newest, `<a href="/portal/domains/`+id+`">`); shown != (i > 0) {
			t.Errorf("domain %d is shown: %t", i+1, shown)
		}
	}
	if strings.Count(newest, "<time ") != 5 || !strings.Contains(newest, `<a href="/portal/domains">Alle Domains</a>`) {
		t.Errorf("no terms, or no link to all: %s", newest)
	}
}

func TestOverview_TerminationBelongsToTheDomainNotToItsOrder(t *testing.T) {
	t.Parallel()
	s := newEnvWith(t, func(s *env, pages *portal.Config) {
		(&fakeOrders{base: s.base}).install(s, pages)
		pages.OpenNotices = s.db.ListOpenNotices
	})
	erika := s.newMember("erika@example.org")
	s.addNotice(withdrawal.Termination, "neu.de", false) // of an earlier contract
	s.clock.advance(time.Hour)
	s.addDomain(erika.ID, "gewollt", registrar.DomainActive)
	s.addDomain(erika.ID, "neu", registrar.DomainActive)
	s.addPreparedOrder(erika.ID, "tok_1") // for gewollt.de
	s.clock.advance(time.Hour)
	s.addNotice(withdrawal.Termination, "gewollt.de", false)
	page := s.signedInBrowser("erika@example.org").get("/portal").body
	part := func(id string) string {
		_, part, _ := strings.Cut(page, `<h2 id="`+id+`">`)
		part, _, _ = strings.Cut(part, "</section>")
		return part
	}
	const badge = `<span class="badge warn">gekündigt</span>`
	if order := part("decide"); !strings.Contains(order, "gewollt.de") || strings.Contains(order, badge) {
		t.Errorf("the order is called terminated: %s", order)
	}
	if domains := part("newest"); strings.Count(domains, badge) != 1 || !strings.Contains(domains, "neu.de") {
		t.Errorf("not only the domain is called terminated: %s", domains)
	}
}

func TestOverview_LinksEachLineToWhereItIsDone(t *testing.T) {
	t.Parallel()
	s := newEnvWith(t, func(s *env, pages *portal.Config) {
		pages.Orders = &fakeOrders{base: s.base}
		pages.Extension = func(string) (registrar.Extension, bool) { return registrar.Extension{Renew: 1000}, true }
	})
	member := s.newMember("erika@example.org")
	s.addPaidOrder(member.ID) // of which nothing was provided
	s.addPreparedOrder(member.ID, "tok_1")
	now := s.clock.now()
	decide := s.addDomainUntil(member.ID, "bald", now.Add(10*24*time.Hour))
	soon := s.addDomainUntil(member.ID, "spaeter", now.Add(50*24*time.Hour))
	s.addDomainUntil(member.ID, "ruhig", now.Add(200*24*time.Hour))
	body := s.signedInBrowser("erika@example.org").get("/portal").body
	for _, want := range []string{
		"Das wartet auf Sie", "&lt;b&gt;Laptop&lt;/b&gt;", "11,90\u00a0€", "gewollt.de", "Angaben ergänzen",
		`href="/portal/domains/` + decide + `"`, `href="/portal/domains/` + soon + `"`, "Laufzeit endet bald",
		"Ausgaben ", `aria-labelledby="spent-title"`, `aria-labelledby="ends-title"`, "Als Tabelle", `aria-current="page">Übersicht`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if tasks, _, _ := strings.Cut(body, `<h2 id="newest">`); strings.Contains(tasks, "ruhig.de") {
		t.Error("a domain that needs nothing is listed as a task")
	}
	if t.Failed() {
		t.Log(body)
	}
}

func TestOverview_UndecidedDomainIsShownBehindManyChosen(t *testing.T) {
	t.Parallel()
	s := newEnvWith(t, (&fakeOrders{}).install)
	member := s.newMember("erika@example.org")
	must(t, s.customers.SetRegistrant(t.Context(), registrar.Actor{Kind: registrar.ActorPerson, Customer: member.ID, SignedInAt: s.clock.now()}, account.Registrant{
		Kind: account.Person, Name: "Erika Mustermann", Street: "Heidestraße 17", PostalCode: "51147", City: "Köln", Country: "DE", Phone: "+49 30 123456",
	}))
	b := s.signedInBrowser("erika@example.org")
	now, day := s.clock.now(), 24*time.Hour
	for i := range 31 {
		path := "/portal/domains/" + s.addDomainUntil(member.ID, "gewaehlt-"+strconv.Itoa(i), now.Add(15*day))
		if got := b.post(path+"/expire", nil); got.location() != path {
			t.Fatalf("%d %s", got.status, got.body)
		}
	}
	if body := b.get("/portal").body; !strings.Contains(body, "Im Moment ist nichts zu tun") {
		t.Errorf("all are decided: %s", body)
	}
	s.addDomainUntil(member.ID, "offen", now.Add(28*day))
	body := b.get("/portal").body
	if strings.Contains(body, "Im Moment ist nichts zu tun") || !strings.Contains(body, "offen.de") || !strings.Contains(body, "Weitere Domains, die bald ablaufen: 1") {
		t.Errorf("overview: %s", body)
	}
}

func TestAgents_PageNamesWhatEachMayAndHasOrdered(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	member := s.newMember("erika@example.org")
	b := s.signedInBrowser("erika@example.org")
	b.post("/portal/tokens", url.Values{"name": {"Laptop"}, "purpose": {"Tee <b>kaufen</b>"}, "life": {"30"}})
	list, err := s.access.List(t.Context(), registrar.Actor{Kind: registrar.ActorPerson, Customer: member.ID})
	must(t, err)
	s.connectApp(member.ID)
	s.addPreparedOrder(member.ID, list[0].ID)
	body := b.get("/portal/agents").body
	for _, want := range []string{
		"Tee &lt;b&gt;kaufen&lt;/b&gt;", "1 vorbereitet, 0 von Ihnen bezahlt", "app.example", "Bestellungen nur vorbereiten", "/portal/tokens/" + list[0].ID + "/revoke", "Gilt bis",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("%q is missing: %s", want, body)
		}
	}
	if got := b.post("/portal/tokens/"+list[0].ID+"/revoke", url.Values{"page": {"agents"}}); got.location() != "/portal/agents" {
		t.Errorf("stopping leads to %s", got.location())
	}
	if body := b.get("/portal/agents").body; !strings.Contains(body, "Bestellungen über beendete Zugänge: 1 vorbereitet, 0 bezahlt, zusammen 0,00\u00a0€") {
		t.Errorf("what it ordered is gone: %s", body)
	}
}

func TestAgents_FormerAgentThatOnlyPaidIsShown(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	member := s.newMember("erika@example.org")
	paid, _ := s.addPaidOrder(member.ID)
	paid, _, err := s.db.GetCustomerOrder(t.Context(), member.ID, paid.ID)
	must(t, err)
	move := order.Transition{From: paid, To: paid}
	move.To.Completer = "agt_former"
	if moved, err := s.db.UpdateOrder(t.Context(), move); err != nil || !moved {
		t.Fatalf("%t, %v", moved, err)
	}
	if body := s.signedInBrowser("erika@example.org").get("/portal/agents").body; !strings.Contains(body, "Bestellungen über beendete Zugänge: 0 vorbereitet, 1 bezahlt") {
		t.Errorf("what it paid is missing: %s", body)
	}
}

func TestAgents_StopAllOffersOnlyAccessThatHasNotExpired(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	s.newMember("erika@example.org")
	b := s.signedInBrowser("erika@example.org")
	b.post("/portal/tokens", url.Values{"name": {"Kurz"}, "life": {"30"}})
	b.post("/portal/tokens", url.Values{"name": {"Lang"}, "life": {"never"}})
	s.clock.advance(32 * 24 * time.Hour)
	b = s.signedInBrowser("erika@example.org")
	if body := b.get("/portal/agents/stop-all").body; strings.Contains(body, "Kurz") || !strings.Contains(body, "Lang") {
		t.Errorf("confirmation: %s", body)
	}
	b.post("/portal/agents/stop-all", url.Values{"sure": {"on"}})
	if body := b.get("/portal/agents").body; strings.Contains(body, "Lang") || !strings.Contains(body, "Kurz") || strings.Contains(body, "/portal/agents/stop-all") {
		t.Errorf("afterwards: %s", body)
	}
}

func TestAgents_StopAllNeedsConfirmation(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	member := s.newMember("erika@example.org")
	b := s.signedInBrowser("erika@example.org")
	if got := b.get("/portal/agents/stop-all"); got.location() != "/portal/agents" {
		t.Errorf("without agents: %d %s", got.status, got.location())
	}
	s.connectApp(member.ID)
	b.post("/portal/tokens", url.Values{"name": {"Laptop"}, "life": {"never"}})
	s.clock.advance(time.Hour) // ending access needs no recent sign-in
	if got := b.get("/portal/agents/stop-all"); got.status != http.StatusOK || !strings.Contains(got.body, "Laptop (Zugangstoken)") {
		t.Errorf("confirmation: %d %s", got.status, got.body)
	}
	if got := b.post("/portal/agents/stop-all", nil); got.status != http.StatusUnprocessableEntity || !strings.Contains(b.get("/portal/agents").body, "Laptop") {
		t.Errorf("unconfirmed: %d", got.status)
	}
	if got := b.post("/portal/agents/stop-all", url.Values{"sure": {"on"}}); got.location() != "/portal/agents" {
		t.Errorf("confirmed: %d %s", got.status, got.location())
	}
	if body := b.get("/portal/agents").body; strings.Contains(body, "Laptop") || !strings.Contains(body, "Alle Zugänge sind beendet") {
		t.Errorf("afterwards: %s", body)
	}
}

func TestTokens_ChosenExpiryIsShownAndChecked(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	s.newMember("erika@example.org")
	b := s.signedInBrowser("erika@example.org")
	day := s.clock.now().UTC().AddDate(0, 0, 2)
	for fields, want := range map[*url.Values]string{
		{"name": {"x"}, "life": {"date"}, "until": {"2020-01-01"}}:             "einen Tag in der Zukunft",
		{"name": {"x"}, "life": {"date"}, "until": {""}}:                       "einen Tag in der Zukunft",
		{"name": {"x"}, "life": {"30"}, "purpose": {strings.Repeat("x", 201)}}: "höchstens 200 Zeichen",
	} {
		if got := b.post("/portal/tokens", *fields); got.status != http.StatusUnprocessableEntity || !strings.Contains(got.body, want) {
			t.Errorf("%v: %d %s", fields, got.status, got.body)
		}
	}
	for _, life := range [][]string{{"7"}, {""}, nil, {"Never"}} {
		if got := b.post("/portal/tokens", url.Values{"name": {"x"}, "life": life}); got.status != http.StatusBadRequest {
			t.Errorf("the unknown choice %q: %d", life, got.status)
		}
	}
	if body := b.get("/portal/tokens").body; strings.Contains(body, "/revoke") {
		t.Errorf("an invalid form created a token: %s", body)
	}
	made := b.post("/portal/tokens", url.Values{"name": {"Kurz"}, "life": {"date"}, "until": {day.Format(time.DateOnly)}})
	if made.status != http.StatusOK || !strings.Contains(made.body, "Gilt bis "+day.Format("02.01.2006")) {
		t.Errorf("made: %d %s", made.status, made.body)
	}
	if body := b.get("/portal/tokens").body; strings.Contains(body, "abgelaufen") {
		t.Errorf("it has expired already: %s", body)
	}
	s.clock.advance(3 * 24 * time.Hour)
	if body := s.signedInBrowser("erika@example.org").get("/portal/tokens").body; !strings.Contains(body, "abgelaufen") {
		t.Errorf("it has not expired: %s", body)
	}
}

func TestSessions_ShowDeviceAndNetworkOnly(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	s.newMember("erika@example.org")
	body := s.signedInBrowser("erika@example.org").get("/portal/security").body
	for _, want := range []string{"Unbekanntes Gerät", "Netz 127.0.0.x", "Ort, ungefähr"} {
		if !strings.Contains(body, want) {
			t.Errorf("%q is missing: %s", want, body)
		}
	}
	if strings.Contains(body, "Go-http-client") || strings.Contains(body, "127.0.0.1<") {
		t.Errorf("the whole address or header is shown: %s", body)
	}
}

func TestRegistrantForm_PrivatePersonHasNoCompanyData(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	member := s.newMember("erika@example.org")
	b := s.signedInBrowser("erika@example.org")
	if body := b.get("/portal/profile/registrant").body; strings.Count(body, "only-company") != 2 {
		t.Errorf("company fields are not marked: %s", body)
	}
	fields := url.Values{
		"kind": {"company"}, "name": {"Erika Mustermann"}, "street": {"Heidestraße 17"}, "postal_code": {"51147"}, "city": {"Köln"},
		"country": {"DE"}, "phone": {"+49 30 123456"}, "organisation": {"Tee GmbH"}, "vat_id": {"DE123456788"},
	}
	for _, kind := range []string{"company", "person"} { // hidden fields keep their values
		fields.Set("kind", kind)
		if got := b.post("/portal/profile/registrant", fields); got.status != http.StatusSeeOther {
			t.Fatalf("%s: %d %s", kind, got.status, got.body)
		}
		stored, _, err := s.customers.Registrant(t.Context(), registrar.Actor{Kind: registrar.ActorPerson, Customer: member.ID})
		must(t, err)
		if want := kind == "company"; (stored.Organisation != "") != want || (stored.VATID != "") != want {
			t.Errorf("%s is stored as %+v", kind, stored)
		}
	}
}

func TestOverview_UnpaidOrderHasTheVATOfTheAddressEnteredSince(t *testing.T) {
	t.Parallel()
	c := &fakeOrders{rate: 700}
	s := newEnvWith(t, c.install)
	member := s.newMember("erika@example.org")
	s.addPreparedOrder(member.ID, "tok_1") // at 19 %
	if body := s.signedInBrowser("erika@example.org").get("/portal").body; !strings.Contains(body, "10,70") || strings.Contains(body, "11,90") {
		t.Errorf("the overview has another amount: %s", body)
	}
}

func TestOverview_ListedTransfersWaitForTheCustomer(t *testing.T) {
	t.Parallel()
	c := &fakeOrders{transfers: []order.ListedTransfer{{Name: "frei.com", TLD: ".com", Impossible: true}}}
	s := newEnvWith(t, c.install)
	member := s.newMember("erika@example.org")
	b := s.signedInBrowser("erika@example.org")
	if body := b.get("/portal").body; strings.Contains(body, "Umzugsliste") {
		t.Errorf("a transfer that is not possible waits: %s", body)
	}
	c.transfers = append(c.transfers, order.ListedTransfer{Name: "tee.com", TLD: ".com", OK: true})
	if body := b.get("/portal").body; strings.Contains(body, "Im Moment ist nichts zu tun") || !strings.Contains(body, "Domains auf Ihrer Umzugsliste: 1 bereit, 0 zu korrigieren, 1 nicht möglich.") || !strings.Contains(body, `href="/portal/transfers"`) {
		t.Errorf("the overview lacks the list: %s", body)
	}
	if body := b.get("/portal/domains").body; !strings.Contains(body, `href="/portal/transfers"`) {
		t.Errorf("the list of domains lacks the link: %s", body)
	}
	pending := "/portal/domains/" + s.addDomain(member.ID, "unterwegs", registrar.DomainPending)
	if body := b.get(pending).body; !strings.Contains(body, `href="/portal/transfers"`) {
		t.Errorf("a pending domain lacks the link: %s", body)
	}
}
