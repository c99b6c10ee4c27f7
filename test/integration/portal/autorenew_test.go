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
	"github.com/dotkontor/dotkontor/internal/registrar/withdrawal"
	"github.com/dotkontor/dotkontor/internal/web/portal"
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

func TestDomainPage_ShowsNoticesThatWereSent(t *testing.T) {
	t.Parallel()
	s := newEnvWith(t, (&fakeOrders{}).install)
	erika := s.newMember("erika@example.org")
	id := s.addDomain(erika.ID, "laufend", registrar.DomainActive)
	for i, accepted := range []int{1, 0, 1, 1} {
		kind := "expiring_month"
		if i > 1 {
			kind = string(registrar.MailItemFailed)
		}
		_, err := s.db.SQL().Writer().ExecContext(t.Context(), `INSERT INTO sent_notices
			(id, customer_id, domain_id, name, term_end, kind, recipient, subject, body, queued_at, sent_at, accepted, response)
			VALUES ($1, $2, $3, 'laufend.de', 1, $8, 'erika@example.org', $4, $5, 1, $6, $7, '250 ok')`,
			"mai_"+string(rune('a'+i)), erika.ID, id, "Betreff "+string(rune('A'+i)), []string{"Text <b>A", "Text <b>B", "Gescheitert:\n\nlaufend.de\n", "Gescheitert:\n\nandere.de\n"}[i], time.Now().UnixMicro(), accepted, kind)
		must(t, err)
	}
	page := s.signedInBrowser("erika@example.org").get("/portal/domains/" + id).body
	for _, part := range []string{"Betreff A", "Betreff B", "Text &lt;b&gt;A", "vom Mailserver angenommen", "nicht zugestellt", "Betreff C"} {
		if !strings.Contains(page, part) {
			t.Errorf("the page lacks %q: %s", part, page)
		}
	}
	if strings.Contains(page, "Betreff D") {
		t.Error("the page has a mail about another domain of the order")
	}
}

// Receipts belong to no account, because anyone can submit any address.
func TestDomainPage_ListsReceiptsOfOwnNoticesOnly(t *testing.T) {
	t.Parallel()
	s := newEnvWith(t, func(s *env, pages *portal.Config) {
		(&fakeOrders{}).install(s, pages)
		pages.ContractNotices = s.db.ListContractNotices
	})
	erika := s.newMember("erika@example.org")
	id := s.addDomain(erika.ID, "laufend", registrar.DomainActive)
	s.clock.advance(time.Hour)
	service, err := withdrawal.New(withdrawal.Config{Store: s.db, Now: s.clock.now})
	must(t, err)
	for i, email := range []string{"erika@example.org", "fremd@example.org"} {
		declared, err := service.Submit(t.Context(), registrar.Actor{Kind: registrar.ActorPerson}, withdrawal.Notice{
			Kind: withdrawal.Termination, Ground: withdrawal.Ordinary, Name: "Erika Muster", Email: email, Contract: "laufend.de",
		})
		must(t, err)
		s.exec(`INSERT INTO sent_notices (id, customer_id, domain_id, name, term_end, kind, recipient, subject, body, queued_at, sent_at, accepted, response)
			VALUES ($1, '', $2, '', 0, 'termination', $3, 'Eingangsbestätigung', $4, 1, 2, 1, '250 ok')`, "mail_"+email, declared.ID, email, "Beleg "+string(rune('A'+i)))
	}
	if page := s.signedInBrowser("erika@example.org").get("/portal/domains/" + id).body; !strings.Contains(page, "Beleg A") || strings.Contains(page, "Beleg B") {
		t.Errorf("%s", page)
	}
}

// addNotice stores a notice of erika@example.org.
func (s *env) addNotice(kind withdrawal.Kind, contract string, handled bool) withdrawal.Notice {
	s.t.Helper()
	notice := withdrawal.Notice{
		ID: registrar.NewID("dcl_", s.clock.now()), Kind: kind, Name: "Erika", Email: "Erika@example.org", Contract: contract, Language: "de",
		At: s.clock.now().Truncate(time.Second),
	}
	must(s.t, s.db.AddWithdrawalNotice(s.t.Context(), notice, nil, time.Now()))
	if handled {
		notice.DoneAt = s.clock.now()
		err := s.db.StoreOutcome(s.t.Context(), withdrawal.Outcome{Notice: notice, AuditEvent: registrar.AuditEvent{Actor: operator, Action: withdrawal.NoticeHandled, Object: notice.ID, At: notice.DoneAt}})
		must(s.t, err)
	}
	return notice
}

// All pages follow the rule by which automatic renewal is refused.
func TestPages_NoticeThatNamesAnOrderIsAboutItsDomains(t *testing.T) {
	t.Parallel()
	s := newEnvWith(t, func(s *env, pages *portal.Config) {
		(&fakeOrders{}).install(s, pages)
		pages.OpenNotices, pages.ContractNotices = s.db.ListOpenNotices, s.db.ListContractNotices
	})
	erika := s.newMember("erika@example.org")
	id := s.addDomain(erika.ID, "laufend", registrar.DomainActive)
	b := s.signedInBrowser("erika@example.org")
	page, turnOn := "/portal/domains/"+id, "/portal/domains/"+id+"/auto-renew\""
	if !strings.Contains(b.get(page).body, turnOn) {
		t.Fatal("automatic renewal is not offered without a notice")
	}
	bought, _ := s.addPaidOrder(erika.ID)
	s.exec(`UPDATE order_items SET name = 'laufend.de', domain_id = $1 WHERE order_id = $2`, id, bought.ID)
	notice := s.addNotice(withdrawal.Termination, "Auftrag "+bought.ID, false)
	s.exec(`INSERT INTO sent_notices (id, customer_id, domain_id, name, term_end, kind, recipient, subject, body, queued_at, sent_at, accepted, response)
		VALUES ('mail_x', '', $1, '', 0, 'termination', 'erika@example.org', 'Eingangsbestätigung', 'Beleg X', 1, 2, 1, '250 ok')`, notice.ID)
	const badge = `<span class="badge warn">gekündigt</span>`
	for path, part := range map[string]string{page: "Beleg X", "/portal/domains": badge, "/portal": badge} {
		if body := b.get(path).body; !strings.Contains(body, part) || strings.Contains(body, turnOn) {
			t.Errorf("%s lacks %q or offers automatic renewal: %s", path, part, body)
		}
	}
	if body := b.get(page).body; !strings.Contains(body, "Ihre Kündigung vom ") {
		t.Errorf("the domain's page has no notice: %s", body)
	}
}

func TestTermEnd_RenewalOnHoldWhileNoticeIsOpen(t *testing.T) {
	t.Parallel()
	s := newEnvWith(t, func(s *env, pages *portal.Config) {
		(&fakeOrders{}).install(s, pages)
		pages.OpenNotices, pages.ContractNotices = s.db.ListOpenNotices, s.db.ListContractNotices
	})
	erika := s.newMember("erika@example.org")
	id := s.addDomain(erika.ID, "laufend", registrar.DomainActive)
	s.exec(`UPDATE domains SET at_term_end = 'renew' WHERE id = $1`, id)
	b := s.signedInBrowser("erika@example.org")
	const renews, onHold = "Verlängert sich automatisch; Abbuchung am ", "Automatische Verlängerung wegen des Widerrufs ausgesetzt; bezahlt bis "
	paths := []string{"/portal/domains/" + id, "/portal/domains", "/portal"}
	for _, path := range paths {
		if body := b.get(path).body; !strings.Contains(body, renews) || strings.Contains(body, onHold) {
			t.Errorf("%s without a notice: %s", path, body)
		}
	}
	s.addNotice(withdrawal.Withdrawal, "laufend.de", false)
	for _, path := range paths {
		if body := b.get(path).body; strings.Contains(body, renews) || !strings.Contains(body, onHold) {
			t.Errorf("%s with a notice: %s", path, body)
		}
	}
	page := b.post("/portal/domain-actions", url.Values{"action": {"auto_renew_off"}, "id": {id}}).body
	if strings.Contains(page, renews) || !strings.Contains(page, onHold) {
		t.Errorf("in bulk: %s", page)
	}
}

func TestDomainPage_NamesWithdrawalAndTermination(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 16, 9, 0, 0, 0, time.UTC)
	s := newEnvWith(t, func(s *env, pages *portal.Config) {
		(&fakeOrders{orders: []order.Order{{ID: "ord_1", Items: []order.Item{{ID: "itm_1", Name: "laufend.de"}, {ID: "itm_2", Name: "andere.de"}}, Refunds: []order.Refund{{
			ID: "ref_1", Source: order.ByOperator, Amount: 1000, Provider: "re_1", MadeAt: at.AddDate(0, 0, 2), Notice: "dcl_2",
			Parts: []order.RefundPart{{Item: "itm_1", Gross: 700}, {Item: "itm_2", Gross: 300}},
		}}}}}).install(s, pages)
		pages.ContractNotices = func(context.Context, string, string) ([]withdrawal.Notice, error) {
			return []withdrawal.Notice{
				{ID: "dcl_1", Kind: withdrawal.Withdrawal, At: at, DoneAt: at.AddDate(0, 0, 1)},
				{ID: "dcl_2", Kind: withdrawal.Withdrawal, At: at, DoneAt: at.AddDate(0, 0, 2)},
				{ID: "dcl_3", Kind: withdrawal.Termination, Ground: withdrawal.Ordinary, At: at},
				{ID: "dcl_4", Kind: withdrawal.Termination, Ground: withdrawal.Ordinary, At: at.AddDate(0, 0, 1), End: "2026-12-31"},
				{ID: "dcl_5", Kind: withdrawal.Termination, Ground: withdrawal.Extraordinary, At: at.AddDate(0, 0, 2)},
				{ID: "dcl_6", Kind: withdrawal.Termination, Ground: withdrawal.Ordinary, At: at.AddDate(2, 0, 0)}, // after the term
				{ID: "dcl_7", Kind: withdrawal.Withdrawal, At: at.AddDate(-1, 0, 0)},
			}, nil
		}
	})
	erika := s.newMember("erika@example.org")
	id := s.addDomain(erika.ID, "laufend", registrar.DomainActive)
	s.exec(`UPDATE domains SET at_term_end = 'renew' WHERE id = $1`, id)
	ends := "Der Vertrag über diese Domain endet frühestens mit der bezahlten Laufzeit am " + s.clock.now().UTC().AddDate(0, 0, 90).Format("02.01.2006") + "."
	page := s.signedInBrowser("erika@example.org").get("/portal/domains/" + id).body
	for _, part := range []string{
		"Sie haben am 16.11.2026 den Vertrag über diese Domain widerrufen. Wir haben den Widerruf am 17.11.2026 bearbeitet.",
		"Sie haben am 16.11.2026 den Vertrag über diese Domain widerrufen. Wir haben dafür am 18.11.2026 7,00\u00a0€ erstattet. Die Domain bleibt bei Ihnen, bezahlt bis ",
		"Ihre Kündigung vom 16.11.2026 ist eingegangen. " + ends + " Wann der Vertrag endet, bestätigen wir Ihnen in Kürze per E\u2011Mail.",
		"Ihre Kündigung vom 17.11.2026 ist eingegangen. " + ends + " Wann der Vertrag endet, bestätigen wir Ihnen in Kürze per E\u2011Mail.",
		"Ihre Kündigung vom 16.11.2028 ist eingegangen. Wann der Vertrag endet, bestätigen wir Ihnen in Kürze per E\u2011Mail.",
		"Ihre Kündigung vom 18.11.2026 ist eingegangen. Wir prüfen den Grund und antworten Ihnen per E\u2011Mail. Die automatische Verlängerung ist ausgesetzt: Abgebucht wird nichts, solange das offen ist.",
		"Sie haben am 16.11.2025 den Vertrag über diese Domain widerrufen. Bis 30.11.2025 hätten wir den Widerruf bearbeiten müssen.",
	} {
		if !strings.Contains(page, part) {
			t.Errorf("the page lacks %q", part)
		}
	}
}

func TestDomainPage_HandledTerminationNamesEndAndReply(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 16, 9, 0, 0, 0, time.UTC)
	s := newEnvWith(t, func(s *env, pages *portal.Config) {
		(&fakeOrders{}).install(s, pages)
		pages.ContractNotices = func(context.Context, string, string) ([]withdrawal.Notice, error) {
			return []withdrawal.Notice{{
				ID: "dcl_1", Kind: withdrawal.Termination, Ground: withdrawal.Extraordinary, At: at, DoneAt: at.AddDate(0, 0, 1),
				DoneReply: "Wir <bedauern> das.", DoneEnds: "2026-11-16",
			}}, nil
		}
	})
	erika := s.newMember("erika@example.org")
	id := s.addDomain(erika.ID, "laufend", registrar.DomainActive)
	b := s.signedInBrowser("erika@example.org")
	const renewing = "Der Vertrag über diese Domain endet am 16.11.2026, wie bestätigt."
	for choice, ends := range map[string]bool{"expire": true, "": false} { // "" is what a renewal leaves
		s.exec(`UPDATE domains SET at_term_end = $1 WHERE id = $2`, choice, id)
		page := b.get("/portal/domains/" + id).body
		for _, part := range []string{
			"Wir haben die Kündigung am 17.11.2026 bearbeitet. Als Ende des Vertrags haben wir den 16.11.2026 bestätigt.",
			`<br>Unsere Antwort: <span class="verbatim">Wir &lt;bedauern&gt; das.</span>`, "/renew\"",
		} {
			if !strings.Contains(page, part) {
				t.Errorf("the page lacks %q", part)
			}
		}
		if strings.Contains(page, renewing) != ends {
			t.Errorf("with the choice %q, the renewal's warning is %v", choice, !ends)
		}
	}
}

func TestAutoRenew_RefusedWhileNoticeIsOpen(t *testing.T) {
	t.Parallel()
	s := newEnvWith(t, (&fakeOrders{}).install)
	erika := s.newMember("erika@example.org")
	s.saveMethod(erika.ID)
	id, other := s.addDomain(erika.ID, "gekuendigt", registrar.DomainActive), s.addDomain(erika.ID, "laufend", registrar.DomainActive)
	b, page := s.signedInBrowser("erika@example.org"), "/portal/domains/"+id+"/auto-renew"
	shown := consentForm(b.get(page).body)
	bulkForm := url.Values{"action": {"auto_renew_on"}, "id": {id, other}}
	inBulk := consentForm(b.post("/portal/domain-actions", bulkForm).body)
	inBulk["offer"] = []string{id + "." + shown.Get("gross") + "." + shown.Get("charge_day")}
	// The notice arrives after the offers were shown.
	notice := withdrawal.Notice{ID: "dcl_1", Kind: withdrawal.Termination, Name: "Erika", Email: "Erika@example.org", Contract: "meine Domain www.gekuendigt.de", Language: "de", At: s.clock.now()}
	must(t, s.db.AddWithdrawalNotice(t.Context(), notice, nil, time.Now()))
	const reason = "Für diese Domain liegt eine Kündigung oder ein Widerruf vor."
	for what, got := range map[string]pageResponse{"the offer": b.get(page), "the form": b.post(page, shown)} {
		if got.status != http.StatusConflict || !strings.Contains(got.body, reason) {
			t.Errorf("%s: %d %s", what, got.status, got.body)
		}
	}
	if got := b.get(b.post("/portal/domain-actions", inBulk).location()).body; !strings.Contains(got, "Nicht möglich: ") || !strings.Contains(got, reason) {
		t.Errorf("the result in bulk: %s", got)
	}
	got := b.post("/portal/domain-actions", bulkForm).body
	if !strings.Contains(got, "nicht einschalten: gekuendigt.de</p>") || !strings.Contains(got, other) || strings.Contains(got, id+".") {
		t.Errorf("the offers in bulk: %s", got)
	}
	if off := b.get("/portal/domains?auto=off").body; !strings.Contains(off, id) {
		t.Error("automatic renewal is on")
	}
	notice.DoneAt = s.clock.now()
	err := s.db.StoreOutcome(t.Context(), withdrawal.Outcome{Notice: notice, AuditEvent: registrar.AuditEvent{Actor: operator, Action: withdrawal.NoticeHandled, Object: notice.ID, At: notice.DoneAt}})
	must(t, err)
	if got := b.post(page, shown); got.status != http.StatusSeeOther {
		t.Errorf("after the notice was handled: %d %s", got.status, got.body)
	}
}

func TestDomainList_NamesOpenWithdrawalAndTerminationWithOneQuery(t *testing.T) {
	t.Parallel()
	asked := 0
	s := newEnvWith(t, func(s *env, pages *portal.Config) {
		(&fakeOrders{}).install(s, pages)
		pages.OpenNotices = func(ctx context.Context, customer string, domains []string) (map[string][]withdrawal.Kind, error) {
			asked++
			return s.db.ListOpenNotices(ctx, customer, domains)
		}
	})
	erika := s.newMember("erika@example.org")
	s.addNotice(withdrawal.Termination, "neu.de", false) // of an earlier contract
	s.clock.advance(time.Hour)
	for _, label := range []string{"gekuendigt", "erledigt", "neu"} {
		s.addDomain(erika.ID, label, registrar.DomainActive)
	}
	s.clock.advance(time.Hour)
	s.addNotice(withdrawal.Termination, "gekuendigt.de", false)
	s.addNotice(withdrawal.Withdrawal, "Ich widerrufe gekuendigt.de", false)
	s.addNotice(withdrawal.Withdrawal, "erledigt.de", true)
	b := s.signedInBrowser("erika@example.org")
	page := b.get("/portal/domains").body
	for _, badge := range []string{`<span class="badge warn">gekündigt</span>`, `<span class="badge warn">widerrufen</span>`} {
		if strings.Count(page, badge) != 1 || strings.Count(b.get("/portal").body, badge) == 0 {
			t.Errorf("%s is not on the list once and on the overview: %s", badge, page)
		}
	}
	if asked != 3 {
		t.Errorf("three pages needed %d queries", asked)
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
	const why = "Wegen eines laufenden Verfahrens können Sie die Domain derzeit nicht verlängern"
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
	must(t, s.db.AddDomainLock(t.Context(), lock, event, mail))
	check(true)
	lock.LiftedBy, lock.LiftedAt = "root", s.clock.now()
	if lifted, err := s.db.LiftDomainLock(t.Context(), lock, event, mail); err != nil || !lifted {
		t.Fatalf("%t, %v", lifted, err)
	}
	check(false)
}
