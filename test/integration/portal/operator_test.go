package portal

import (
	"context"
	"errors"
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
	"github.com/dotkontor/dotkontor/internal/registrar/cost"
	"github.com/dotkontor/dotkontor/internal/registrar/dispute"
	"github.com/dotkontor/dotkontor/internal/registrar/inbox"
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
	orders, err := f.s.db.ListOrders(ctx, id, "", 10)
	disputes, disputesErr := f.s.db.ListCustomerDisputes(ctx, id, "ord_", "ord_zzz")
	domains, domainsErr := f.s.db.ListDomainsPage(ctx, id, portfolio.Filter{}, portfolio.MaxListed)
	locks, locksErr := f.s.db.ListActiveLocksOfCustomer(ctx, id, 100)
	notices, noticesErr := f.s.db.ListCustomerNotices(ctx, id, 100)
	locked := make(map[string]bool)
	for _, lock := range locks {
		locked[lock.Domain] = true
	}
	record := behind.CustomerRecord{Account: account.Customer, Domains: domains, Locked: locked, Orders: orders, Notices: notices, Disputes: disputes}
	return record, errors.Join(err, disputesErr, domainsErr, locksErr, noticesErr, f.service.RecordAccountView(ctx, by, id, ""))
}

// consented is the order whose consumer requested an immediate start, unconsented the
// one without, deletedDomain one whose domain was deleted since.
const consented, unconsented, deletedDomain = "ord_1", "ord_2", "ord_3"

func (f accountFiles) Order(ctx context.Context, _ registrar.Actor, id string) (behind.OrderRecord, error) {
	if stored, found, err := f.s.db.OrderByID(ctx, id); err != nil || found {
		disputes, disputesErr := f.s.db.ListOrderDisputes(ctx, id)
		events, eventsErr := f.s.db.ListObjectAuditEvents(ctx, stored.Customer, id, 100)
		return behind.OrderRecord{Order: stored, Disputes: disputes, Events: events}, errors.Join(err, disputesErr, eventsErr)
	}
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
		Documents: []invoice.Document{{Kind: invoice.Invoice, Number: "RE-2026-000001"}, {Kind: invoice.Correction, Number: "RK-2026-000001", Net: 1300, VAT: 247, Gross: 1547}},
		Jobs: []admin.Job{
			{Kind: admin.JobOrder, ID: id, What: string(order.ChannelRenewal), State: string(order.Provisioning), Attempts: 1, LastError: admin.JobError{Code: "epp_login"}},
			{Kind: admin.JobItem, ID: "prv_1", What: string(order.Restore), State: "requested", Name: "gekauft.de", Attempts: 1, LastError: admin.JobError{Code: "no_text_for_this"}},
			{Kind: admin.JobMail, ID: "mail_1", What: string(registrar.MailOrderPaid)},
			{Kind: admin.JobWebhook, ID: id},
		},
		Notices: []lifecycle.SentNotice{{Kind: registrar.MailExpiringMonth, Name: "gekauft.de", Subject: "gekauft.de endet", Accepted: true}},
	}
	switch id {
	case deletedDomain:
		record.Ended = map[string]lifecycle.EndedDomain{"itm_1": {At: time.Date(2026, 11, 16, 12, 0, 0, 0, time.UTC)}}
		return record, nil
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
	adminService, err := admin.New(admin.Config{Store: s.db, Now: s.clock.now, Holds: s.domains, Secure: s.domains.Secure, AbandonChange: s.domains.AbandonChange, SecuredFor: s.domains.SecuredFor})
	must(s.t, err)
	shipped, err := catalog.Shipped()
	must(s.t, err)
	s.prices = catalog.NewLive(shipped)
	brake, err := lifecycle.NewBrake(lifecycle.BrakeConfig{Store: s.db, Now: s.clock.now})
	must(s.t, err)
	terms, err := lifecycle.New(lifecycle.Config{Store: s.db, Brake: brake, Node: "here", Now: s.clock.now, Clock: s.clock.now, Suspensions: func(context.Context, time.Time) (planned, online []lifecycle.PlannedAction, err error) {
		return nil, s.online, nil
	}})
	must(s.t, err)
	notices, err := withdrawal.New(withdrawal.Config{Store: s.db, Now: s.clock.now})
	must(s.t, err)
	inquiries, err := inquiry.New(inquiry.Config{Store: s.db, Now: s.clock.now})
	must(s.t, err)
	messages, err := inbox.New(inbox.Config{Store: s.db, Accounts: []string{"one", "two"}, Now: s.clock.now})
	must(s.t, err)
	margins, err := cost.NewMargins(s.db, s.clock.now)
	must(s.t, err)
	disputes, err := dispute.New(dispute.Config{Store: s.db, Changes: s.domains, Transfers: s.away, RecordListView: adminService.RecordListView, Now: s.clock.now})
	must(s.t, err)
	revenue, err := invoice.NewRevenue(s.db, s.clock.now)
	must(s.t, err)
	refunds, err := order.NewRefunds(order.RefundsConfig{Store: s.db, Now: s.clock.now, Clock: s.clock.now})
	must(s.t, err)
	return behind.Config{
		Refunds: refunds, Contacts: s.contacts, Now: s.clock.now,
		Database: func() []behind.DatabaseCondition {
			if s.degraded.Load() {
				return []behind.DatabaseCondition{{State: "disk_full", Since: s.clock.now()}}
			}
			return nil
		},
		Notices: notices, Inquiries: inquiries, Inbox: messages, TransfersAway: s.away, Revenue: revenue, Margins: margins, Disputes: s.disputePages(disputes), Operators: s.customers.ListOperators,
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
	if got := b.post("/portal/security/second-factor", url.Values{"code": {code}}); !strings.Contains(got.body, `href="/portal/sign-in-again?next=%2Foperator"`) {
		s.t.Errorf("the page does not say how to open the operators' pages: %s", got.body)
	}
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
		"gekauft.de", "pit_1", "vergeben.de", "Den Namen gibt es schon", "pay_1", "ref_1", "RE-2026-000001", "Rechnungskorrektur", "−13,00\u00a0€", "−2,47\u00a0€", "−15,47\u00a0€",
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

func TestOperatorPages_OrderShowsDeletedDomain(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	_, b := s.operatorBrowser("ops@example.org")
	if page := b.get("/operator/orders/" + deletedDomain).body; !strings.Contains(page, `<span class="badge warn">gelöscht</span>`) || !strings.Contains(page, "war aktiv bis 16.11.2026") || strings.Contains(page, ">aktiv<") {
		t.Errorf("the order: %s", page)
	}
	if page := b.get("/operator/orders/" + consented).body; strings.Contains(page, "gelöscht") || !strings.Contains(page, ">aktiv<") {
		t.Errorf("another order: %s", page)
	}
}

func TestOperatorPages_OrderShowsConsent(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	_, b := s.operatorBrowser("ops@example.org")
	for id, want := range map[string]string{consented: "15.11.2026, 13:01 MEZ · Wortlaut 2026-11-18-de", unconsented: "keine (nötig nur von Verbrauchern)"} {
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
	if got.status != http.StatusOK || !strings.Contains(got.body, "<strong>99,90\u00a0€</strong>") || register() != before {
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
