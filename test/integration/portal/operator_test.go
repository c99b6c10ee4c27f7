package portal

import (
	"context"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/admin"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/registrar/inquiry"
	"github.com/dotkontor/dotkontor/internal/registrar/invoice"
	"github.com/dotkontor/dotkontor/internal/registrar/lifecycle"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
	"github.com/dotkontor/dotkontor/internal/registrar/withdrawal"
	"github.com/dotkontor/dotkontor/internal/store"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
	behind "github.com/dotkontor/dotkontor/internal/web/operator"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// priceLists are the stored and the current price list, as in the product.
type priceLists struct {
	db   *store.DB
	live *catalog.Live
}

func (p priceLists) Current(ctx context.Context) (catalog.Edition, error) { return p.db.PriceList(ctx) }

func (p priceLists) Replace(ctx context.Context, by registrar.Actor, was catalog.Edition, next *catalog.Catalog) error {
	_, err := p.db.ReplacePriceList(ctx, was, next, registrar.AuditEvent{Actor: by, Action: admin.PriceListReplaced, At: time.Now()})
	if err == nil {
		p.live.Replace(next)
	}
	return err
}

// accountFiles opens accounts as the product does.
type accountFiles struct {
	s       *env
	service *admin.Service
}

func (f accountFiles) Find(ctx context.Context, by registrar.Actor, text string) (string, error) {
	found, err := f.s.customers.FindByEmail(ctx, by, text)
	return found.ID, err
}

func (f accountFiles) Open(ctx context.Context, by registrar.Actor, id string) (behind.CustomerRecord, error) {
	account, found, err := f.s.db.ReadCustomers().AccountByID(ctx, id)
	if err != nil || !found {
		return behind.CustomerRecord{}, &registrar.Error{Kind: registrar.KindNotFound, Code: registrar.NoSuchCustomer, Err: err}
	}
	return behind.CustomerRecord{Account: account.Customer}, f.service.RecordAccountView(ctx, by, id, "")
}

// consented is the order whose consumer requested an immediate start, unconsented the
// one without.
const consented, unconsented = "ord_1", "ord_2"

func (f accountFiles) Order(_ context.Context, _ registrar.Actor, id string) (behind.OrderRecord, error) {
	o := order.Order{
		ID: id, State: order.PartiallyCompleted, Channel: order.ChannelPortal, PaidAt: time.Date(2026, 11, 15, 12, 2, 0, 0, time.UTC),
		Items: []order.Item{
			{ID: "itm_1", Name: "gekauft.de", Kind: order.Register, State: order.ItemActive, ProvisionItem: "pit_1"},
			{ID: "itm_2", Name: "vergeben.de", Kind: order.Register, State: order.ItemRefunded, Failure: registrar.EPPExists},
		},
		Payments: []order.Payment{{ID: "pay_1", State: order.PaymentCaptured}},
		Refunds:  []order.Refund{{ID: "ref_1", Payment: "pay_1", Item: "itm_2"}},
	}
	record := behind.OrderRecord{
		Order:     o,
		Documents: []invoice.Document{{Kind: invoice.Invoice, Number: "RE-2026-000001"}, {Kind: invoice.Correction, Number: "RK-2026-000001"}},
		Jobs: []admin.Job{
			{Kind: admin.JobOrder, ID: id, What: string(order.ChannelRenewal), State: string(order.Provisioning), Attempts: 1, LastError: admin.JobError{Code: "epp_login"}},
			{Kind: admin.JobItem, ID: "prv_1", What: string(order.Restore), State: "requested", Name: "gekauft.de", Attempts: 1, LastError: admin.JobError{Code: "no_text_for_this"}},
			{Kind: admin.JobMail, ID: "mail_1", What: string(registrar.MailOrderPaid)},
			{Kind: admin.JobWebhook, ID: id},
		},
		Notices: []lifecycle.SentNotice{{Kind: registrar.MailExpiringMonth, Name: "gekauft.de", Subject: "gekauft.de endet", Accepted: true}},
	}
	switch id {
	case consented:
		record.Consent = order.Consent{At: time.Date(2026, 11, 15, 12, 1, 0, 0, time.UTC), Wording: order.ConsentWording("de")}
		return record, nil
	case unconsented:
		return record, nil
	default:
		return behind.OrderRecord{}, &registrar.Error{Kind: registrar.KindNotFound, Code: order.NoSuchOrder}
	}
}

// operatorPages are the operators' pages with the env's services.
func (s *env) operatorPages() behind.Config {
	s.t.Helper()
	adminService, err := admin.New(admin.Config{Store: s.db, Now: s.clock.now, Secure: s.domains.Secure, AbandonChange: s.domains.AbandonChange, SecuredFor: s.domains.SecuredFor})
	must(s.t, err)
	shipped, err := catalog.Shipped()
	must(s.t, err)
	s.prices = catalog.NewLive(shipped)
	brake, err := lifecycle.NewBrake(lifecycle.BrakeConfig{Store: s.db, Now: s.clock.now})
	must(s.t, err)
	terms, err := lifecycle.New(lifecycle.Config{Store: s.db, Brake: brake, Node: "here", Now: s.clock.now, Clock: s.clock.now})
	must(s.t, err)
	notices, err := withdrawal.New(withdrawal.Config{Store: s.db, Now: s.clock.now})
	must(s.t, err)
	inquiries, err := inquiry.New(inquiry.Config{Store: s.db, Now: s.clock.now})
	must(s.t, err)
	revenue, err := invoice.NewRevenue(s.db, s.clock.now)
	must(s.t, err)
	return behind.Config{
		Database: func() []behind.DatabaseCondition {
			if s.degraded.Load() {
				return []behind.DatabaseCondition{{State: "disk_full", Since: s.clock.now()}}
			}
			return nil
		},
		Notices: notices, Inquiries: inquiries, Revenue: revenue, Operators: s.customers.ListOperators,
		Admin: adminService, Customers: accountFiles{s, adminService}, Agents: s.agents, Terms: terms, Prices: priceLists{s.db, s.prices}, ConfirmFactor: 2, Upstreams: func() []behind.Upstream { return nil },
	}
}

// operatorRoutes lists the routes.
func (s *env) operatorRoutes() []httpjson.Route {
	s.t.Helper()
	frame, err := ui.New(ui.Config{
		BaseURL: "http://127.0.0.1", Sessions: s.customers, Address: func(*http.Request) netip.Addr { return netip.Addr{} },
	})
	must(s.t, err)
	cfg := s.operatorPages()
	cfg.Frame = frame
	handler, err := behind.New(cfg)
	must(s.t, err)
	return handler.Routes()
}

func fillOperatorPath(path string) string {
	return strings.NewReplacer("{id}", "x", "{kind}", "order", "{$}", "").Replace(path)
}

// cliOperator grants the role.
var cliOperator = registrar.Actor{Kind: registrar.ActorOperator, Through: "root"}

// operatorBrowser is a browser in which an operator has signed in with a code.
func (s *env) operatorBrowser(email string) (account.Customer, *browser) {
	s.t.Helper()
	added := s.newMember(email)
	grant, err := s.customers.AddOperator(s.t.Context(), cliOperator, added.ID)
	must(s.t, err)
	b := s.signedInBrowser(email)
	b.post("/portal/security/enrol", url.Values{"link": {grant.EnrolmentLink}})
	var secret string
	for _, p := range elements(b.get("/portal/security/second-factor").tree(s.t), "p") {
		if attribute(p, "class") == "secret" {
			secret = strings.ReplaceAll(text(p), " ", "")
		}
	}
	code, err := totp.GenerateCode(secret, s.clock.now())
	must(s.t, err)
	b.post("/portal/security/second-factor", url.Values{"code": {code}})
	b.post("/portal/sign-out", nil)
	b.post("/portal/sign-in", url.Values{"email": {email}, "password": {password}})
	code, err = totp.GenerateCode(secret, s.clock.now().Add(30*time.Second))
	must(s.t, err)
	if got := b.post("/portal/sign-in/code", url.Values{"code": {code}}); got.status != http.StatusSeeOther {
		s.t.Fatalf("the code got %d %s", got.status, got.body)
	}
	return added, b
}

func TestOperatorPages_NotFoundForCustomers(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	s.newMember("erika@example.org")
	routes := s.operatorRoutes()
	if len(routes) < 20 {
		t.Fatalf("only %d routes", len(routes))
	}
	missing := s.newBrowser().get("/operator/no-such-page").status
	for name, b := range map[string]*browser{"an anonymous visitor": s.newBrowser(), "a customer": s.signedInBrowser("erika@example.org")} {
		for _, route := range routes {
			for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodOptions} {
				got := b.do(method, fillOperatorPath(route.Path), "application/x-www-form-urlencoded", "")
				if got.status != http.StatusNotFound || got.status != missing || got.header.Get("Allow") != "" {
					t.Errorf("%s: %s %s returned %d, Allow %q", name, method, route.Path, got.status, got.header.Get("Allow"))
				}
			}
		}
		if got := b.get("/portal/domains"); strings.Contains(got.body, `href="/operator"`) {
			t.Errorf("%s: the menu shows the pages", name)
		}
	}
}

func TestOperatorPages_PasswordSessionIsForbidden(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	added := s.newMember("erika@example.org")
	_, err := s.customers.AddOperator(t.Context(), cliOperator, added.ID)
	must(t, err)
	b := s.signedInBrowser("erika@example.org")
	for _, route := range s.operatorRoutes() {
		if got := b.do(route.Method, fillOperatorPath(route.Path), "application/x-www-form-urlencoded", ""); got.status != http.StatusForbidden {
			t.Errorf("%s %s returned %d", route.Method, route.Path, got.status)
		}
	}
}

// The attack with a stolen password: sign in, enrol an authenticator, sign in with it,
// open the operators' pages.
func TestOperatorPages_StolenPasswordEnrolsNoFactor(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	added := s.newMember("ops@example.org")
	grant, err := s.customers.AddOperator(t.Context(), cliOperator, added.ID)
	must(t, err)
	thief := s.signedInBrowser("ops@example.org")
	if got := thief.get("/portal/security/second-factor"); got.status != http.StatusForbidden || strings.Contains(got.body, `class="secret"`) {
		t.Errorf("the page for an authenticator app returned %d", got.status)
	}
	for path, values := range map[string]url.Values{
		"/portal/security/second-factor":      {"code": {"123456"}},
		"/portal/security/second-factor/drop": nil,
		"/portal/security/recovery-codes":     nil,
		"/portal/passkeys/x/remove":           nil,
	} {
		if got := thief.post(path, values); got.status != http.StatusForbidden {
			t.Errorf("POST %s returned %d", path, got.status)
		}
	}
	if got := thief.post("/portal/profile/email", url.Values{"email": {"thief@example.org"}}); got.status != http.StatusUnprocessableEntity {
		t.Errorf("another e-mail address: %d", got.status)
	}
	if got := thief.postJSON("/portal/passkeys/add/begin", "{}"); got.status != http.StatusForbidden {
		t.Errorf("a passkey: %d %s", got.status, got.body)
	}
	page := thief.get("/portal/security")
	if !strings.Contains(page.body, "Einrichtungslink") || strings.Contains(page.body, `href="/portal/security/second-factor"`) {
		t.Error("the page offers actions that the session is denied")
	}

	// The link has no effect without a session of its account, and reveals nothing.
	path := "/portal/security/enrol?link=" + grant.EnrolmentLink
	if got := s.newBrowser().get(path); got.location() != "/portal/sign-in?next="+url.QueryEscape(path) {
		t.Errorf("without a session: %d %s", got.status, got.location())
	}
	s.newMember("erika@example.org")
	other := s.signedInBrowser("erika@example.org")
	if got := other.get(path); got.status != http.StatusGone {
		t.Errorf("another account: %d", got.status)
	}
	if got := other.post("/portal/security/enrol", url.Values{"link": {grant.EnrolmentLink}}); got.status != http.StatusGone {
		t.Errorf("another account: %d", got.status)
	}
	owner := s.signedInBrowser("ops@example.org")
	if got := owner.get(path); got.status != http.StatusOK || !strings.Contains(got.body, "Einrichtung beginnen") {
		t.Errorf("the owner sees %d", got.status)
	}
	if got := owner.post("/portal/security/enrol", url.Values{"link": {grant.EnrolmentLink}}); got.location() != "/portal/security" {
		t.Errorf("the owner got %d %s", got.status, got.location())
	}
	if got := owner.get("/portal/security/second-factor"); got.status != http.StatusOK {
		t.Errorf("the owner can't enrol: %d", got.status)
	}
	if got := owner.get("/operator"); got.status != http.StatusForbidden {
		t.Errorf("the link opens the operators' pages: %d", got.status)
	}
}

func TestOperatorRole_RemovalIsImmediateAndGrantNeedsCLI(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	added, b := s.operatorBrowser("ops@example.org")
	if got := b.get("/operator"); got.status != http.StatusOK {
		t.Fatalf("an operator got %d", got.status)
	}
	fromBrowser := cliOperator
	fromBrowser.Address = netip.MustParseAddr("127.0.0.1")
	other := s.newMember("freund@example.org")
	if _, err := s.customers.AddOperator(t.Context(), fromBrowser, other.ID); registrar.KindOf(err) != registrar.KindForbidden {
		t.Errorf("an operator in a browser granted the role: %v", err)
	}
	must(t, s.customers.RemoveOperator(t.Context(), cliOperator, added.ID))
	if got := b.get("/operator"); got.status != http.StatusNotFound {
		t.Errorf("after the role was revoked: %d", got.status)
	}
}

func TestOperatorPages_AccountViewIsInCustomerActivity(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	_, b := s.operatorBrowser("ops@example.org")
	erika := s.newMember("erika@example.org")
	got := b.post("/operator/customers", url.Values{"q": {"erika@example.org"}})
	if got.status != http.StatusSeeOther || got.header.Get("Location") != "/operator/customers/"+erika.ID {
		t.Fatalf("%d %s", got.status, got.header.Get("Location"))
	}
	if got := b.get("/operator/customers/" + erika.ID); got.status != http.StatusOK || !strings.Contains(got.body, "erika@example.org") {
		t.Fatalf("%d", got.status)
	}
	if got := s.signedInBrowser("erika@example.org").get("/portal/activity"); !strings.Contains(got.body, "Kontodaten angesehen") {
		t.Error("the customer's activity lacks the access")
	}
}

func TestOperatorPages_OrderShowsAllPartsWithoutRawCodes(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	_, b := s.operatorBrowser("ops@example.org")
	got := b.get("/operator/orders/" + consented)
	for _, want := range []string{
		"gekauft.de", "pit_1", "vergeben.de", "Den Namen gibt es schon", "pay_1", "ref_1", "RE-2026-000001", "Rechnungskorrektur",
		"automatische Verlängerung", "Anmeldung bei der Registry ist fehlgeschlagen", "Wiederherstellung", "Unbekannter Fehler", "Zahlungsbestätigung",
		"Laufzeit endet in einem Monat",
	} {
		if got.status != http.StatusOK || !strings.Contains(got.body, want) {
			t.Errorf("%d, no %s: %s", got.status, want, got.body)
		}
	}
	for _, raw := range []string{"epp_", "order_paid", "no_text_for_this", "expiring_month", "partially_completed"} {
		if strings.Contains(got.body, raw) {
			t.Errorf("the page contains the code %s", raw)
		}
	}
}

func TestOperatorPages_OrderShowsConsent(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	_, b := s.operatorBrowser("ops@example.org")
	for id, want := range map[string]string{consented: "15.11.2026, 12:01 UTC · 2026-11-de", unconsented: "keine"} {
		shown := ""
		list := elements(b.get("/operator/orders/"+id).tree(t), "dd")
		for i, term := range elements(b.get("/operator/orders/"+id).tree(t), "dt") {
			if strings.HasPrefix(text(term), "Zustimmung") {
				shown = text(list[i])
			}
		}
		if shown != want {
			t.Errorf("%s: %q, want %q", id, shown, want)
		}
	}
}

func TestPriceList_AppliedOnlyAfterComparison(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	_, b := s.operatorBrowser("ops@example.org")
	var list strings.Builder
	must(t, s.prices.Catalog().Write(&list))
	register := func() registrar.Cents { com, _ := s.prices.Extension(".com"); return com.Register }
	before := register()
	raised := strings.Replace(list.String(), "\n.com,"+before.String(), "\n.com,99.90", 1)
	if raised == list.String() {
		t.Fatal("the list has another format")
	}
	got := b.post("/operator/prices", url.Values{"text": {raised}})
	if got.status != http.StatusOK || !strings.Contains(got.body, "99.90") || register() != before {
		t.Fatalf("comparing returned %d, .com costs %s", got.status, register())
	}
	if got := b.post("/operator/prices/apply", url.Values{"text": {raised}, "was": {"another list"}}); got.status != http.StatusConflict || register() != before {
		t.Errorf("a list that was compared with another one: %d, .com costs %s", got.status, register())
	}
	if got := b.post("/operator/prices/apply", url.Values{"text": {"tld\n"}, "was": {""}}); got.status != http.StatusUnprocessableEntity || register() != before {
		t.Errorf("a broken list: %d", got.status)
	}
	was := ""
	for _, input := range elements(got.tree(t), "input") {
		if attribute(input, "name") == "was" {
			was = attribute(input, "value")
		}
	}
	if got := b.post("/operator/prices/apply", url.Values{"text": {raised}, "was": {was}}); got.status != http.StatusConflict || register() != before {
		t.Errorf("an unconfirmed large change returned %d, .com costs %s", got.status, register())
	}
	if got := b.post("/operator/prices/apply", url.Values{"text": {raised}, "was": {was}, "confirmed": {"yes"}}); got.status != http.StatusSeeOther || register() != 9990 {
		t.Errorf("confirming returned %d, .com costs %s", got.status, register())
	}
	// The page of another operator, compared with the previous list.
	if got := b.post("/operator/prices/apply", url.Values{"text": {list.String()}, "was": {was}, "confirmed": {"yes"}}); got.status != http.StatusConflict || register() != 9990 {
		t.Errorf("a list compared with a replaced edition returned %d, .com costs %s", got.status, register())
	}
}

func TestOperatorPages_ChangesNeedRecentSignIn(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	_, b := s.operatorBrowser("ops@example.org")
	s.clock.advance(registrar.RecentSignIn + time.Minute)
	for _, path := range []string{
		"/operator/agents", "/operator/agents/x/secret", "/operator/agents/x/key", "/operator/agents/x/remove", "/operator/prices/apply",
		"/operator/locks", "/operator/locks/x/lift", "/operator/jobs/change/x/abandon",
		"/operator/terms/brake/confirm", "/operator/terms/x/delete", "/operator/terms/x/leave", "/operator/terms/x/start",
	} {
		got := b.post(path, url.Values{"name": {"Agent"}})
		if to := got.header.Get("Location"); got.status != http.StatusSeeOther || !strings.HasPrefix(to, "/portal/sign-in-again?next=%2Foperator") {
			t.Errorf("%s returned %d %s", path, got.status, to)
		}
	}
	for _, path := range []string{"/operator", "/operator/agents", "/operator/locks", "/operator/terms", "/operator/jobs", "/operator/health"} {
		if got := b.get(path); got.status != http.StatusOK {
			t.Errorf("%s returned %d", path, got.status)
		}
	}
}

func TestDomainLock_SetNotifyLift(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	_, b := s.operatorBrowser("ops@example.org")
	erika := s.newMember("erika@example.org")
	_, err := s.portfolio.Add(t.Context(), cliOperator, portfolio.AddParams{
		Customer: erika.ID, Name: registrar.NewName("streit", ".de"), Status: registrar.DomainActive, PaidUntil: s.clock.now().AddDate(1, 0, 0),
	})
	must(t, err)
	form := url.Values{
		"domain": {"Streit.de"}, "cause": {"court"}, "reason": {"Beschluss 312 O 99/26"}, "review": {s.clock.now().AddDate(0, 1, 0).Format(time.DateOnly)},
	}
	if got := b.post("/operator/locks", form); got.status != http.StatusUnprocessableEntity || !strings.Contains(got.body, `value="Streit.de"`) {
		t.Errorf("a lock without restrictions: %d", got.status)
	}
	form.Set("block_renewal", "yes")
	if got := b.post("/operator/locks", form); got.status != http.StatusSeeOther {
		t.Fatalf("%d %s", got.status, got.body)
	}
	if mail := s.waitForMail(registrar.MailDomainLock); mail.To != "erika@example.org" || mail.Data["name"] != "Beschluss 312 O 99/26" {
		t.Errorf("the registrant was notified: %v", mail)
	}
	locks, err := s.db.ListActiveDomainLocks(t.Context(), 10)
	must(t, err)
	if len(locks) != 1 || locks[0].Name != "streit.de" {
		t.Fatalf("locks %v", locks)
	}
	adminService, err := admin.New(admin.Config{Store: s.db, Now: s.clock.now})
	must(t, err)
	for block, want := range map[admin.Restriction]bool{admin.Renewal: true, admin.Transfer: false} {
		if barred, err := adminService.Forbids(t.Context(), locks[0].Domain, block); err != nil || barred != want {
			t.Errorf("%s is restricted: %t, %v", block, barred, err)
		}
	}
	if got := b.post("/operator/locks/"+locks[0].ID+"/lift", nil); got.status != http.StatusSeeOther {
		t.Fatalf("lifting: %d", got.status)
	}
	if barred, err := adminService.Forbids(t.Context(), locks[0].Domain, admin.Renewal); err != nil || barred {
		t.Errorf("a lifted lock restricts: %t, %v", barred, err)
	}
	if got := b.post("/operator/locks/"+locks[0].ID+"/lift", nil); got.status != http.StatusNotFound {
		t.Errorf("lifting twice: %d", got.status)
	}
}

func TestUnpaidTerms_OperatorConfirmsBrakeAndDecides(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	ctx := t.Context()
	_, b := s.operatorBrowser("ops@example.org")
	erika := s.newMember("erika@example.org")
	now := s.clock.now()
	must(t, s.db.StartBrake(ctx, now.AddDate(0, -2, 0)))
	_, err := s.db.SetBrakeRun(ctx, now.AddDate(0, -2, 0), now, true)
	must(t, err)
	expire := func(label string, ended time.Time) portfolio.Domain {
		added, err := s.portfolio.Add(ctx, cliOperator, portfolio.AddParams{
			Customer: erika.ID, Name: registrar.NewName(label, ".org"), Status: registrar.DomainActive, PaidUntil: ended,
		})
		must(t, err)
		domain := lifecycle.Domain{ID: added.ID, Customer: erika.ID, Name: added.Name, PaidUntil: added.PaidUntil}
		stored, err := s.db.StoreExpiryNotice(ctx, lifecycle.NoticeUpdate{
			Domain: domain, Notice: lifecycle.NoticeExpired, StepAt: now.Add(-time.Hour), Now: now, At: now,
			Mail: registrar.Mail{Kind: registrar.MailExpired, Customer: erika.ID, Data: map[string]string{"domain": added.Name}},
		})
		must(t, err)
		if !stored {
			t.Fatal("no notice")
		}
		return added
	}
	due, old := expire("faellig", now.AddDate(0, 0, -20)), expire("uralt", now.AddDate(-1, 0, 0))
	waiting := expire("wartend", now.AddDate(0, 0, -30))
	term, _, err := s.db.GetOpenTerm(ctx, waiting.ID)
	must(t, err)
	blocked := term
	blocked.WaitsFor = lifecycle.WaitsForNotices
	_, err = s.db.UpdateTerm(ctx, lifecycle.TermTransition{From: term, To: blocked})
	must(t, err)

	home := b.get("/operator").body
	if !strings.Contains(home, "Notbremse") || !strings.Contains(home, "Warten auf eine Entscheidung: 1.") || !strings.Contains(home, "/operator/terms") {
		t.Errorf("the home page lacks the open work: %s", home)
	}
	page := b.get("/operator/terms")
	for _, want := range []string{"faellig.org", "Abschalten", "wartend.org", "keinen Hinweis angenommen", "uralt.org", `name="actions" value="1"`, "Die Uhr ist"} {
		if !strings.Contains(page.body, want) {
			t.Errorf("the page lacks %q: %s", want, page.body)
		}
	}
	if got := b.post("/operator/terms/brake/confirm", url.Values{"actions": {"0"}}); got.status != http.StatusConflict || !strings.Contains(got.body, "lesen Sie die Liste") {
		t.Errorf("an unread preview was confirmed: %d", got.status)
	}
	if got := b.post("/operator/terms/brake/confirm", url.Values{"actions": {"1"}}); got.status != http.StatusSeeOther {
		t.Errorf("confirming: %d %s", got.status, got.body)
	}
	if status, _, err := s.db.GetBrake(ctx); err != nil || status.Engaged() {
		t.Errorf("the brake is engaged: %+v, %v", status, err)
	}
	for path, want := range map[string]struct {
		domain string
		state  lifecycle.State
		waits  registrar.Code
	}{
		"/operator/terms/" + waiting.ID + "/delete": {waiting.ID, lifecycle.Deleting, ""},
		"/operator/terms/" + due.ID + "/leave":      {due.ID, lifecycle.Unpaid, lifecycle.LeftAlone},
		"/operator/terms/" + old.ID + "/start":      {old.ID, lifecycle.Unpaid, ""},
	} {
		if got := b.post(path, nil); !strings.HasSuffix(path, "/leave") && (got.status != http.StatusOK || !strings.Contains(got.body, `name="confirmed" value="yes"`)) {
			t.Errorf("%s acted without a confirmation: %d", path, got.status)
		}
		if got := b.post(path, url.Values{"confirmed": {"yes"}}); got.status != http.StatusSeeOther && !strings.HasSuffix(path, "/leave") {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
		if term, found, err := s.db.GetOpenTerm(ctx, want.domain); err != nil || !found || term.State != want.state || term.WaitsFor != want.waits {
			t.Errorf("%s: %+v, %t, %v", path, term, found, err)
		}
	}
	if got := b.post("/operator/terms/dom_none/delete", nil); got.status != http.StatusNotFound {
		t.Errorf("an unknown domain: %d", got.status)
	}
}

// A change without a registry account would stay open forever.
func TestStuckChange_ShownToOwnerAndAbandonedByOperator(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	erika := s.newMember("erika@example.org")
	id := s.addDomain(erika.ID, "liegt", registrar.DomainActive)
	now := s.clock.now()
	stuck := domainchange.Change{
		ID: "chg_1", Customer: erika.ID, Domain: id, Account: "einst", Kind: domainchange.Unlock, State: domainchange.StatusOpen,
		Actor: registrar.Actor{Kind: registrar.ActorPerson, Through: "ses_1"}, DueAt: now.Add(time.Hour), Attempts: 7, CreatedAt: now,
	}
	must(t, s.db.AddDomainChange(t.Context(), stuck))
	must(t, s.db.PutJobError(t.Context(), admin.JobChange, stuck.ID, admin.JobError{Code: registrar.NoRegistryAccount, At: now}, now.Add(-time.Hour)))
	holder := s.signedInBrowser("erika@example.org")
	if got := holder.get("/portal/domains/" + id); !strings.Contains(got.body, "Eine Änderung hängt fest") || got.header.Get("Refresh") != "" {
		t.Errorf("the registrant sees %s", got.body)
	}
	_, b := s.operatorBrowser("ops@example.org")
	const path = "/operator/jobs/change/chg_1/abandon"
	for _, page := range []string{"/operator", "/operator/jobs?kind=change"} {
		if got := b.get(page); !strings.Contains(got.body, path) {
			t.Errorf("%s has no button to abandon it: %s", page, got.body)
		}
	}
	if got := b.post("/operator/jobs/item/chg_1/abandon", nil); got.status != http.StatusNotFound {
		t.Errorf("an item is abandoned: %d", got.status)
	}
	if got := b.post(path, nil); got.status != http.StatusSeeOther {
		t.Fatalf("abandoning returned %d %s", got.status, got.body)
	}
	if got := b.post(path, nil); got.status != http.StatusConflict || !strings.Contains(got.body, "lässt sich nicht abbrechen") {
		t.Errorf("the second time: %d %s", got.status, got.body)
	}
	if got := holder.get("/portal/domains/" + id); !strings.Contains(got.body, "abgebrochen") || strings.Contains(got.body, "hängt fest") {
		t.Errorf("the registrant sees %s", got.body)
	}
	if got := holder.get("/portal/activity"); !strings.Contains(got.body, "Änderung einer Domain abgebrochen") {
		t.Errorf("the activity is %s", got.body)
	}
}

// A crash between the lock and the registry must be visible.
func TestDomainLock_ShowsWhetherDomainIsSecured(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	id := s.addDomain(s.newMember("erika@example.org").ID, "streit", registrar.DomainActive)
	_, b := s.operatorBrowser("ops@example.org")
	silent, err := admin.New(admin.Config{Store: s.db, Now: s.clock.now}) // as if the process had ended after the lock
	must(t, err)
	lock, _, err := silent.SetLock(t.Context(), cliOperator, admin.LockRequest{
		Name: "streit.de", Cause: admin.UDRP, Reason: "D2026-0815", Restrictions: []admin.Restriction{admin.Transfer}, ReviewAt: s.clock.now().Add(time.Hour),
	})
	must(t, err)
	for _, path := range []string{"/operator/locks", "/operator/"} {
		if got := b.get(path); !strings.Contains(got.body, "nicht gesichert") {
			t.Errorf("%s is %s", path, got.body)
		}
	}
	if got := b.post("/operator/locks/"+lock.ID+"/secure", nil); got.status != http.StatusSeeOther {
		t.Fatalf("securing returned %d", got.status)
	}
	got := b.get("/operator/locks")
	if strings.Contains(got.body, "nicht gesichert") || !strings.Contains(got.body, ">gesichert<") {
		t.Errorf("the list is %s", got.body)
	}
	holder := s.signedInBrowser("erika@example.org")
	if got := holder.get("/portal/domains/" + id); !strings.Contains(got.body, "Wegen eines Verfahrens gesichert") {
		t.Errorf("the registrant sees %s", got.body)
	}
	// A later lock must be secured again: the holder may have got a code in between.
	must(t, func() error { _, err := silent.LiftLock(t.Context(), cliOperator, lock.ID); return err }())
	s.clock.advance(time.Minute)
	_, _, err = silent.SetLock(t.Context(), cliOperator, admin.LockRequest{
		Name: "streit.de", Cause: admin.Court, Reason: "312 O 99/26", Restrictions: []admin.Restriction{admin.Transfer}, ReviewAt: s.clock.now().Add(time.Hour),
	})
	must(t, err)
	if got := b.get("/operator/locks"); !strings.Contains(got.body, "nicht gesichert") {
		t.Errorf("the list is %s", got.body)
	}
}
