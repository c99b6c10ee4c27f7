package portal

import (
	"context"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/admin"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/renewal"
)

const testCard = "Visa •••• 4242"

// fakeMethodProvider is where customers enter payment methods. test/integration/payments
// covers the real client with the simulated provider.
type fakeMethodProvider struct {
	mu    sync.Mutex
	pages []renewal.SetupPage
	done  map[string]renewal.Setup
	err   error
}

func (p *fakeMethodProvider) OpenSetupPage(_ context.Context, page renewal.SetupPage) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pages = append(p.pages, page)
	return "https://pay.example/setup/" + page.ID, p.err
}

func (p *fakeMethodProvider) FetchSetupPage(_ context.Context, session string) (renewal.Setup, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.done[session], p.err
}

func (p *fakeMethodProvider) ForgetMethod(context.Context, string) error { return p.err }

// finish completes the newest page as a session.
func (p *fakeMethodProvider) finish(session string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	page := p.pages[len(p.pages)-1]
	p.done = map[string]renewal.Setup{session: {
		ID: page.ID, Customer: page.Customer, Method: &order.PaymentMethod{ProviderCustomer: "cus_x", ID: "pm_" + session, Label: testCard},
	}}
}

// renewalPrice is the price of the next term, with VAT.
func (s *env) renewalPrice() registrar.Cents { return registrar.Cents(1190 + s.dearer.Load()) }

func (s *env) saveMethod(customer string) {
	s.t.Helper()
	must(s.t, s.db.PutPaymentMethod(s.t.Context(), customer, order.PaymentMethod{ProviderCustomer: "cus_x", ID: "pm_1", Label: testCard}, time.Now()))
}

var hiddenInput = regexp.MustCompile(`<input type="hidden" name="([a-z_]+)" value="([^"]*)">`)

// consentForm is what the page of automatic renewal submits when its box is ticked.
func consentForm(page string) url.Values {
	fields := url.Values{"agree": {"on"}}
	for _, input := range hiddenInput.FindAllStringSubmatch(page, -1) {
		fields.Set(input[1], input[2])
	}
	return fields
}

func TestAutoRenew_CustomerAgreesToPriceDayAndCard(t *testing.T) {
	t.Parallel()
	s := newEnvWith(t, (&fakeOrders{}).install)
	erika := s.newMember("erika@example.org")
	id := s.addDomain(erika.ID, "laufend", registrar.DomainActive)
	path, page := "/portal/domains/"+id, "/portal/domains/"+id+"/auto-renew"
	b := s.signedInBrowser("erika@example.org")
	charge := s.clock.now().Add(76 * 24 * time.Hour).UTC().Format("02.01.2006")
	ends := s.clock.now().Add(90 * 24 * time.Hour).UTC().Format("02.01.2006")
	if list := b.get("/portal/domains").body; !strings.Contains(list, "Endet am "+ends+", wenn Sie nicht verlängern") || !strings.Contains(list, page) {
		t.Errorf("the list: %s", list)
	}
	if got := b.get(page); !strings.Contains(got.body, "zuerst ein Zahlungsmittel") || strings.Contains(got.body, `name="agree"`) || !strings.Contains(got.body, "11,90") {
		t.Errorf("without a payment method: %s", got.body)
	}
	s.saveMethod(erika.ID)
	offer := b.get(page)
	for _, part := range []string{"11,90", charge, testCard, renewal.ConsentText(renewal.ConsentWording("de")), "laufend.de"} {
		if !strings.Contains(offer.body, part) {
			t.Errorf("the page lacks %q: %s", part, offer.body)
		}
	}
	fields := consentForm(offer.body)
	unticked := consentForm(offer.body)
	unticked.Del("agree")
	if got := b.post(page, unticked); got.status != http.StatusConflict || !strings.Contains(got.body, "kreuzen Sie das Kästchen an") {
		t.Errorf("without the box: %d %s", got.status, got.body)
	}
	s.dearer.Store(100)
	if got := b.post(page, fields); got.status != http.StatusConflict || !strings.Contains(got.body, "haben sich gerade geändert") || !strings.Contains(got.body, "12,90") {
		t.Errorf("at another price: %d %s", got.status, got.body)
	}
	if strings.Contains(b.get(path).body, "/auto-renew/off") {
		t.Error("a refused agreement turned it on")
	}
	if got := b.post(page, consentForm(b.get(page).body)); got.location() != path {
		t.Fatalf("got %d %s", got.status, got.body)
	}
	own := b.get(path).body
	for _, part := range []string{"Die automatische Verlängerung ist eingeschaltet.", "Abbuchung am " + charge, "12,90", testCard, path + "/auto-renew/off", "Automatische Verlängerung eingeschaltet"} {
		if !strings.Contains(own, part) {
			t.Errorf("the domain's page lacks %q: %s", part, own)
		}
	}
	if got := b.get(page); got.location() != path {
		t.Errorf("the offer is shown again: %d", got.status)
	}
	if got := b.post(path+"/auto-renew/off", url.Values{"page": {"list"}}); got.location() != "/portal/domains" {
		t.Errorf("turning it off: %d %s", got.status, got.location())
	}
	if list := b.get("/portal/domains").body; !strings.Contains(list, "Endet am "+ends) || !strings.Contains(list, "ist ausgeschaltet") {
		t.Errorf("the list afterwards: %s", list)
	}
}

func TestAutoRenew_LetExpireAndTakeBack(t *testing.T) {
	t.Parallel()
	s := newEnvWith(t, (&fakeOrders{}).install)
	erika := s.newMember("erika@example.org")
	path := "/portal/domains/" + s.addDomain(erika.ID, "laufend", registrar.DomainActive)
	b := s.signedInBrowser("erika@example.org")
	if got := b.post(path+"/expire", nil); got.location() != path {
		t.Fatalf("got %d %s", got.status, got.body)
	}
	if page := b.get("/portal/profile/close").body; !strings.Contains(page, "läuft am") || !strings.Contains(page, "Unser Support") {
		t.Errorf("the page does not say when the account can be closed: %s", page)
	}
	if page := b.get(path).body; !strings.Contains(page, "wie gewünscht") || !strings.Contains(page, path+"/keep") || strings.Contains(page, `action="`+path+`/expire"`) {
		t.Errorf("the page: %s", page)
	}
	if got := b.post(path+"/keep", nil); got.location() != path {
		t.Fatalf("got %d %s", got.status, got.body)
	}
	if page := b.get(path).body; !strings.Contains(page, "wenn Sie nicht verlängern") || !strings.Contains(page, path+"/auto-renew") {
		t.Errorf("the page afterwards: %s", page)
	}
}

func TestAutoRenew_OtherCustomersDomainIsNotFound(t *testing.T) {
	t.Parallel()
	s := newEnvWith(t, (&fakeOrders{}).install)
	path := "/portal/domains/" + s.addDomain(s.newMember("erika@example.org").ID, "laufend", registrar.DomainActive)
	s.newMember("mallory@example.org")
	b := s.signedInBrowser("mallory@example.org")
	if got := b.get(path + "/auto-renew"); got.status != http.StatusNotFound {
		t.Errorf("the offer: %d", got.status)
	}
	for _, step := range []string{"/auto-renew/off", "/expire", "/keep"} {
		if got := b.post(path+step, nil); got.status != http.StatusNotFound {
			t.Errorf("%s: %d", step, got.status)
		}
	}
}

// Each state says what really happens.
func TestTermEnd_TellsTruthInEveryState(t *testing.T) {
	t.Parallel()
	s := newEnvWith(t, (&fakeOrders{}).install)
	erika := s.newMember("erika@example.org")
	s.saveMethod(erika.ID)
	b := s.signedInBrowser("erika@example.org")
	day := func(days int) string { return s.clock.now().AddDate(0, 0, days).UTC().Format("02.01.2006") }
	exec := func(statement string, values ...any) {
		t.Helper()
		_, err := s.db.SQL().Writer().ExecContext(t.Context(), statement, values...)
		must(t, err)
	}
	at := func(days int) int64 { return s.clock.now().AddDate(0, 0, days).UnixMicro() }
	for label, want := range map[string]struct {
		status    registrar.DomainStatus
		choice    string
		paid      int
		renewal   string // state, charge day and attempts of the renewal
		charge    int
		attempts  int
		end       string // state of the term's end
		held      int
		step      int
		deleted   int
		tld, text string
	}{
		"ab": {status: "active", choice: "renew", paid: 60, tld: ".org", text: "Verlängert sich automatisch; Abbuchung am " + day(46)},
		"ac": {status: "active", choice: "renew", paid: 40, renewal: "announced", charge: 26, tld: ".org", text: "am " + day(26) + " buchen wir 11,90\u00a0€ ab"},
		"ad": {status: "active", choice: "renew", paid: 12, renewal: "announced", charge: 3, attempts: 1, tld: ".org", text: "fehlgeschlagen; nächster Versuch am " + day(3)},
		"ae": {status: "active", choice: "renew", paid: 12, renewal: "charging", charge: 1, tld: ".org", text: "Wird gerade verlängert"},
		"af": {status: "active", choice: "renew", paid: 5, renewal: "failed", attempts: 3, tld: ".org", text: "bezahlt bis " + day(5) + ", bitte verlängern Sie sie selbst"},
		"ag": {status: "active", choice: "renew", paid: 20, renewal: "stopped", tld: ".org", text: "ab der nächsten Laufzeit geht es automatisch"},
		"ah": {status: "active", choice: "renew", paid: 60, tld: ".alt", text: "Diese Endung verkaufen wir nicht mehr"},
		"ai": {status: "active", choice: "expire", paid: 60, tld: ".org", text: "Läuft am " + day(60) + " aus, wie gewünscht"},
		"aj": {status: "expired", paid: -2, end: "unpaid", step: 8, tld: ".org", text: "ab " + day(8) + " nicht mehr im DNS"},
		"ak": {status: "expired", paid: -12, end: "held", held: -2, step: 23, tld: ".org", text: "Seit " + day(-2) + " nicht im DNS; wird frühestens am " + day(23) + " gelöscht"},
		"al": {status: "redemption", paid: -40, end: "redemption", held: -30, deleted: -5, step: 25, tld: ".org", text: "wiederherstellbar bis " + lastFullDay(s.clock.now().AddDate(0, 0, 25))},
		"am": {status: "expired", paid: -10, tld: ".eu", text: "kann sie nicht mehr verlängert werden"},
		"an": {status: "expired", paid: -10, tld: ".uk", text: "ab " + day(20) + " nicht mehr im DNS"},
		"ar": {status: "expired", paid: -40, tld: ".uk", text: "voraussichtlich bis " + lastFullDay(s.clock.now().AddDate(0, 0, 50))},
		"ao": {status: "expired", paid: -5, end: "unpaid", step: 9, tld: ".de", text: "geht am " + day(9) + " an DENIC zurück"},
		"ap": {status: "active", paid: 60, tld: ".li", text: "Bezahlt bis " + day(60) + "; ohne Verlängerung kann sie danach ausfallen"},
		"aq": {status: "expired", paid: -5, end: "unpaid", step: 1, tld: ".li", text: "kann jederzeit ausfallen, bis Sie verlängern oder sie auslaufen lassen"},
	} {
		id := "dom_" + label
		exec(`INSERT INTO domains (id, customer_id, name, tld, status, paid_until, at_term_end, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, 1, 1)`,
			id, erika.ID, label+want.tld, want.tld, string(want.status), at(want.paid), want.choice)
		if want.renewal != "" {
			exec(`INSERT INTO renewals (domain_id, term_end, customer_id, name, tld, state, years, gross, announced_at, charge_at, attempts, updated_at)
				VALUES ($1, (SELECT paid_until FROM domains WHERE id = $1), $2, $3, $4, $5, 1, 1190, 1, $6, $7, 1)`,
				id, erika.ID, label+want.tld, want.tld, want.renewal, at(want.charge), want.attempts)
		}
		if want.end != "" {
			var held, deleted int64
			if want.held != 0 {
				held = at(want.held)
			}
			if want.deleted != 0 {
				deleted = at(want.deleted)
			}
			exec(`INSERT INTO term_ends (domain_id, term_end, customer_id, name, tld, account, state, step_at, due_at, held_at, deleted_at, updated_at)
				VALUES ($1, (SELECT paid_until FROM domains WHERE id = $1), $2, $3, $4, '', $5, $6, 1, $7, $8, 1)`,
				id, erika.ID, label+want.tld, want.tld, want.end, at(want.step), held, deleted)
		}
		for _, path := range []string{"/portal/domains?q=" + label + want.tld, "/portal/domains/" + id} {
			if page := b.get(path); page.status != http.StatusOK || !strings.Contains(page.body, want.text) {
				t.Errorf("%s (%s): %d lacks %q: %s", label, path, page.status, want.text, page.body)
			}
		}
	}
}

func TestPaymentMethods_AddedWithoutBuying(t *testing.T) {
	t.Parallel()
	s := newEnvWith(t, (&fakeOrders{}).install)
	erika := s.newMember("erika@example.org")
	id := s.addDomain(erika.ID, "laufend", registrar.DomainActive)
	b := s.signedInBrowser("erika@example.org")
	if got := b.get("/portal/payment-methods"); !strings.Contains(got.body, "kein Zahlungsmittel gespeichert") {
		t.Errorf("the page: %s", got.body)
	}
	got := b.post("/portal/payment-methods", url.Values{"domain": {id}})
	if !strings.HasPrefix(got.location(), "https://pay.example/setup/set_") {
		t.Fatalf("got %d %s", got.status, got.location())
	}
	page := s.provider.pages[0]
	if page.Customer != erika.ID || page.Email != "erika@example.org" || page.DoneURL != "https://shop.example/portal/payment-methods/saved?session={CHECKOUT_SESSION_ID}&domain="+id ||
		page.BackURL != "https://shop.example/portal/domains/"+id+"/auto-renew" {
		t.Errorf("the page is %+v", page)
	}
	saved := "/portal/payment-methods/saved?session=cs_1&domain=" + id
	if got := b.get(saved); got.location() != "/portal/domains/"+id+"/auto-renew" || strings.Contains(b.get("/portal/payment-methods").body, testCard) {
		t.Errorf("an unfinished page saved something: %s", got.location())
	}
	s.provider.finish("cs_1")
	s.newMember("mallory@example.org")
	if s.signedInBrowser("mallory@example.org").get(saved); strings.Contains(b.get("/portal/payment-methods").body, testCard) {
		t.Error("another customer finished the page")
	}
	if got := b.get(saved); got.location() != "/portal/domains/"+id+"/auto-renew" {
		t.Errorf("got %d %s", got.status, got.location())
	}
	if got := b.get("/portal/domains/" + id + "/auto-renew"); !strings.Contains(got.body, testCard) || !strings.Contains(got.body, "Zahlungsmittel ist gespeichert") {
		t.Errorf("the offer: %s", got.body)
	}
	b.post("/portal/domains/"+id+"/auto-renew", consentForm(b.get("/portal/domains/"+id+"/auto-renew").body))
	if got := b.get("/portal/payment-methods"); !strings.Contains(got.body, testCard) || !strings.Contains(got.body, "endet die automatische Verlängerung") || !strings.Contains(got.body, "laufend.de") {
		t.Errorf("the page: %s", got.body)
	}
	if got := b.post("/portal/payment-methods/remove", url.Values{"method": {"pm_cs_1"}, "shown": {"pm_cs_1"}}); got.location() != "/portal/payment-methods" {
		t.Errorf("got %d %s", got.status, got.body)
	}
	if page := b.get("/portal/domains/" + id).body; strings.Contains(page, "/auto-renew/off") {
		t.Errorf("the domain still renews: %s", page)
	}
	if got := b.get(saved); got.status != http.StatusConflict || !strings.Contains(got.body, "ist nicht gespeichert") || strings.Contains(got.body, testCard) {
		t.Errorf("a repeated return restored the method: %d %s", got.status, got.body)
	}
	for _, bad := range []string{"../../x", "a b", "dom_1&x=1", strings.Repeat("a", 65)} {
		b.post("/portal/payment-methods", url.Values{"domain": {bad}})
		if last := s.provider.pages[len(s.provider.pages)-1]; last.BackURL != "https://shop.example/portal/payment-methods" {
			t.Errorf("%q leads to %s", bad, last.BackURL)
		}
	}
	s.provider.err = registrar.Fault(registrar.FaultTimeout, "pay.example", nil)
	if got := b.post("/portal/payment-methods", nil); got.status != http.StatusServiceUnavailable || !strings.Contains(got.body, "antwortet gerade nicht") {
		t.Errorf("without the provider: %d %s", got.status, got.body)
	}
}

// While a lock forbids renewals, no page offers one.
func TestTermEnd_LockedDomainIsNotOfferedForRenewal(t *testing.T) {
	t.Parallel()
	s := newEnvWith(t, (&fakeOrders{}).install)
	erika := s.newMember("erika@example.org")
	id := s.addDomain(erika.ID, "streit", registrar.DomainActive)
	_, err := s.db.SQL().Writer().ExecContext(t.Context(), `UPDATE domains SET paid_until = $1 WHERE id = $2`, s.clock.now().AddDate(0, 0, 20).UnixMicro(), id)
	must(t, err)
	b := s.signedInBrowser("erika@example.org")
	const why = "Wegen einer Sperre können Sie die Domain derzeit nicht verlängern"
	pages := map[string]string{"/portal": "", "/portal/domains": "/renew\"", "/portal/domains/" + id: "/renew\""}
	check := func(locked bool) {
		t.Helper()
		for path, offer := range pages {
			body := b.get(path).body
			if says := strings.Contains(body, why); says != locked {
				t.Errorf("%s (locked %t): says so %t: %s", path, locked, says, body)
			}
			if offer != "" && strings.Contains(body, offer) == locked {
				t.Errorf("%s (locked %t): wrong offer: %s", path, locked, body)
			}
		}
	}
	check(false)
	lock := admin.Lock{
		ID: "lck_1", Domain: id, Name: "streit.de", Customer: erika.ID, Cause: admin.Court, Reason: "Beschluss",
		Restrictions: []admin.Restriction{admin.Renewal}, ReviewAt: s.clock.now().Add(time.Hour), SetBy: "root", SetAt: s.clock.now(),
	}
	event := registrar.AuditEvent{Action: admin.LockSet, Customer: erika.ID, Object: lock.Name, At: s.clock.now()}
	mail := registrar.Mail{Kind: registrar.MailDomainLock, Customer: erika.ID}
	must(t, s.db.AddDomainLock(t.Context(), lock, event, mail, s.clock.now()))
	check(true)
	lock.LiftedBy, lock.LiftedAt = "root", s.clock.now()
	if lifted, err := s.db.LiftDomainLock(t.Context(), lock, event, mail, s.clock.now()); err != nil || !lifted {
		t.Fatalf("%t, %v", lifted, err)
	}
	check(false)
}
