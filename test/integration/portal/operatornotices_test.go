package portal

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/withdrawal"
)

// submitNotice stores a notice at the env's time.
func (s *env) submitNotice(notice withdrawal.Notice) withdrawal.Notice {
	s.t.Helper()
	service, err := withdrawal.New(withdrawal.Config{Store: s.db, Now: s.clock.now})
	must(s.t, err)
	notice.Name, notice.Email = "Erika Muster", "erika@example.org"
	stored, err := service.Submit(s.t.Context(), registrar.Actor{Kind: registrar.ActorPerson}, notice)
	must(s.t, err)
	return stored
}

const nothingToDo = "Nichts zu tun"

// The day on which the contract is to end is the sender's, not our deadline.
func TestOperatorNotices_TerminationForLaterDayIsDueAtOnce(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	_, b := s.operatorBrowser("ops@example.org")
	end := s.clock.now().UTC().AddDate(0, 3, 0)
	later := s.submitNotice(withdrawal.Notice{Kind: withdrawal.Termination, Contract: "teeladen.de", Ground: withdrawal.Ordinary, End: end.Format(time.DateOnly)})
	s.submitNotice(withdrawal.Notice{Kind: withdrawal.Termination, Contract: "altladen.de", Ground: withdrawal.Extraordinary, Reason: "Preis"})
	s.submitNotice(withdrawal.Notice{Kind: withdrawal.Withdrawal, Contract: "neuladen.de"})
	list := b.get("/operator/notices")
	for want, times := range map[string]int{
		`data-label="Unsere Frist">sofort`: 2, ">heute fällig<": 0, `data-label="Gewünschtes Ende">mit Eingang<`: 1, `data-label="Gewünschtes Ende">–<`: 1,
		`data-label="Gewünschtes Ende"><time datetime="` + end.Format(time.DateOnly) + `">` + end.Format("02.01.2006") + "</time>": 1,
	} {
		if got := strings.Count(list.body, want); got != times {
			t.Errorf("%q is there %d times, not %d", want, got, times)
		}
	}
	if page := b.get("/operator/notices/" + later.ID); !strings.Contains(page.body, "§ 312k Abs. 4 BGB") || !strings.Contains(page.body, end.Format("02.01.2006")) {
		t.Errorf("%s", page.body)
	}
	s.clock.advance(24 * time.Hour)
	if got := strings.Count(b.get("/operator/notices").body, ">überfällig<"); got != 2 {
		t.Errorf("%d are overdue on the next day, not 2", got)
	}
}

func TestOperatorNotice_SaysWhyAWithdrawalMayBeVoid(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	o := s.addRefundableOrder(s.newMember("erika@example.org").ID, "ord_spaet")
	_, b := s.operatorBrowser("ops@example.org")
	page := func() string {
		t.Helper()
		return b.get("/operator/notices/" + s.submitNotice(withdrawal.Notice{Kind: withdrawal.Withdrawal, Contract: o.ID}).ID).body
	}
	const law, doubt, business = "Zahlungen sind spätestens 14 Tage nach Eingang", "Nur wenn der Widerruf wirksam ist", "Unternehmen haben kein Widerrufsrecht"
	want := func(what, body string, yes, no []string) {
		t.Helper()
		for _, text := range yes {
			if !strings.Contains(body, text) {
				t.Errorf("%s lacks %q: %s", what, text, body)
			}
		}
		for _, text := range no {
			if strings.Contains(body, text) {
				t.Errorf("%s has %q", what, text)
			}
		}
	}
	s.exec("UPDATE orders SET consent_at = paid_at")
	want("in time", page(), []string{law}, []string{"kam später", doubt, business})
	paid := s.storedOrder(o.ID).PaidAt.AddDate(0, 0, -30)
	ended := "Die Widerrufsfrist endete am " + order.Order{PaidAt: paid}.WithdrawalEnds().Format("02.01.2006") + ", der Widerruf kam später."
	s.exec("UPDATE orders SET paid_at = $1, consent_at = $1", paid.UnixMicro())
	want("late", page(), []string{ended, doubt}, []string{law, business})
	s.exec("UPDATE orders SET consent_at = 0, vat_id = 'DE123456789'")
	want("of a business", page(), []string{business, doubt}, []string{law, "kam später"})
	s.exec("UPDATE orders SET vat_id = ''")
	want("without consent", page(), []string{law}, []string{"kam später", doubt, business})
}

func TestOperatorPages_OpenNoticeIsOpenWork(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	_, b := s.operatorBrowser("ops@example.org")
	if got := b.get("/operator"); !strings.Contains(got.body, nothingToDo) {
		t.Fatalf("before: %d %s", got.status, got.body)
	}
	made := s.submitNotice(withdrawal.Notice{Kind: withdrawal.Withdrawal, Contract: "teeladen.de"})
	s.submitNotice(withdrawal.Notice{Kind: withdrawal.Termination, Contract: "altladen.de", Ground: withdrawal.Extraordinary, Reason: "Preis"})
	home := b.get("/operator")
	deadline := made.Deadline().Format("02.01.2006")
	for _, want := range []string{"Widerruf", "teeladen.de", deadline, "Kündigung", "sofort", `<span class="count">2<`} {
		if !strings.Contains(home.body, want) {
			t.Errorf("the start page has no %s", want)
		}
	}
	if strings.Contains(home.body, nothingToDo) {
		t.Error("the start page says that nothing is to do")
	}
	if strings.Index(home.body, "altladen.de") > strings.Index(home.body, "teeladen.de") {
		t.Error("the earlier deadline is not first")
	}
	if got := b.get("/operator/health"); !strings.Contains(got.body, `<span class="count">2<`) {
		t.Error("the navigation of another page does not count the notices")
	}

	path := "/operator/notices/" + made.ID
	if got := b.get(path); got.status != http.StatusOK || !strings.Contains(got.body, "erika@example.org") || !strings.Contains(got.body, "§ 357") {
		t.Errorf("%d %s", got.status, got.body)
	}
	if got := b.post(path+"/close", url.Values{"note": {"  "}}); got.status != http.StatusUnprocessableEntity || !strings.Contains(got.body, `id="note-problem"`) {
		t.Errorf("without a note: %d", got.status)
	}
	if got := b.post(path+"/close", url.Values{"note": {"Erstattet <b>am</b> 16.11."}}); got.location() != "/operator/notices" {
		t.Errorf("closing: %d %s", got.status, got.body)
	}
	list := b.get("/operator/notices")
	for _, want := range []string{"ops@example.org", "Erstattet &lt;b&gt;am&lt;/b&gt; 16.11.", `<span class="count">1<`} {
		if !strings.Contains(list.body, want) {
			t.Errorf("the list has no %s: %s", want, list.body)
		}
	}
	// A second operator still has the form open.
	_, other := s.operatorBrowser("ops2@example.org")
	got := other.post(path+"/close", url.Values{"note": {"zu spät"}})
	if got.status != http.StatusConflict || !strings.Contains(got.body, "schon erledigt") || !strings.Contains(got.body, "ops@example.org") || strings.Contains(got.body, "zu spät") {
		t.Errorf("the second operator got %d %s", got.status, got.body)
	}
	if got := b.get("/operator/notices/dcl_none"); got.status != http.StatusNotFound {
		t.Errorf("an unknown notice: %d", got.status)
	}
}

func TestOperatorPages_ListsRenderEmptyAndFilter(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	_, b := s.operatorBrowser("ops@example.org")
	for path, want := range map[string]string{
		"/operator/orders": "Keine Bestellungen", "/operator/orders?state=failed": "Keine Bestellungen", "/operator/orders?state=nonsense&before=%00": "Keine Bestellungen",
		"/operator/payments?state=captured": "Keine Zahlungen", "/operator/payments": "Keine Zahlungen", "/operator/refunds": "Keine Erstattungen",
		"/operator/refunds?state=pending": "Keine Erstattung steht aus", "/operator/revenue?year=1": "Die Werte für", "/operator/margin?year=1": "hat noch keine Registry", "/operator/notices?before=x": "ist offen",
	} {
		if got := b.get(path); got.status != http.StatusOK || !strings.Contains(got.body, want) {
			t.Errorf("%s: %d, no %q: %s", path, got.status, want, got.body)
		}
	}
	for _, text := range []string{"", "ord_none", "pay_none", "ref_none", "pi_none", "cs_none", "RE-1", "kaffee.de", "\x00", "a b"} {
		if got := b.post("/operator/orders", url.Values{"q": {text}}); got.status != http.StatusNotFound || !strings.Contains(got.body, "Keine passende Bestellung") {
			t.Errorf("%q: %d", text, got.status)
		}
	}
}

func TestOperatorLists_AreShownWithoutAddressesIfNotAudited(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	customer := s.newMember("erika@example.org")
	_, b := s.operatorBrowser("ops@example.org")
	_, _, err := s.db.AddOrder(t.Context(), order.Order{
		ID: "ord_1", Customer: customer.ID, State: order.AwaitingPayment, Channel: order.ChannelPortal, By: registrar.Actor{Kind: registrar.ActorPerson},
		Items:     []order.Item{{ID: "itm_1", Name: "laden.de", TLD: ".de", Kind: order.Register, Years: 1, State: order.ItemWaiting}},
		CreatedAt: s.clock.now(), UpdatedAt: s.clock.now(), ExpiresAt: s.clock.now().Add(time.Hour),
	}, 10, registrar.AuditEvent{Action: order.ActionCreated, Customer: customer.ID, At: s.clock.now()})
	must(t, err)
	const note = "ließ sich nicht protokollieren"
	if page := b.get("/operator/orders"); !strings.Contains(page.body, "erika@example.org") || strings.Contains(page.body, note) {
		t.Errorf("%d %s", page.status, page.body)
	}
	s.exec("CREATE TRIGGER full_disk BEFORE INSERT ON audit_events BEGIN SELECT raise(ABORT, 'database or disk is full'); END")
	for _, path := range []string{"/operator/orders", "/operator/payments", "/operator/refunds"} {
		if page := b.get(path); page.status != http.StatusOK || !strings.Contains(page.body, note) || strings.Contains(page.body, "erika@example.org") {
			t.Errorf("%s: %d %s", path, page.status, page.body)
		}
	}
	if page := b.get("/operator/orders").body; !strings.Contains(page, "laden.de") {
		t.Errorf("the order is missing: %s", page)
	}
	// A file is nothing but personal data.
	if page := b.get("/operator/customers/" + customer.ID); page.status < 500 || strings.Contains(page.body, "erika@example.org") {
		t.Errorf("the file is shown without an audit event: %d", page.status)
	}
}

func TestOperatorHome_NamesDegradedDatabase(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	_, b := s.operatorBrowser("ops@example.org")
	s.degraded.Store(true)
	if home := b.get("/operator").body; !strings.Contains(home, "Der Datenträger ist voll") || strings.Contains(home, nothingToDo) {
		t.Errorf("the start page: %s", home)
	}
}

func TestOperatorOrder_ListsOpenNoticesOfAnySender(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	customer := s.newMember("anna@example.org")
	o, other := s.addRefundableOrder(customer.ID, "ord_anna"), s.addRefundableOrder(s.newMember("berta@example.org").ID, "ord_berta")
	notice := s.submitNotice(withdrawal.Notice{Kind: withdrawal.Withdrawal, Contract: o.ID}) // from Erika's address
	_, b := s.operatorBrowser("ops@example.org")
	for path, want := range map[string]bool{"/operator/orders/" + o.ID: true, "/operator/customers/" + customer.ID: true, "/operator/orders/" + other.ID: false} {
		if got := b.get(path); got.status != http.StatusOK || strings.Contains(got.body, "/operator/notices/"+notice.ID) != want {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
}

func TestOperatorCustomer_ListsHandledNoticesWithOutcomeAndDay(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	erika, berta := s.newMember("erika@example.org"), s.newMember("berta@example.org")
	notice := s.submitNotice(withdrawal.Notice{Kind: withdrawal.Termination, Contract: "teeladen.de", Ground: withdrawal.Ordinary})
	_, b := s.operatorBrowser("ops@example.org")
	const heading = "Erledigte Widerrufe und Kündigungen"
	if page := b.get("/operator/customers/" + erika.ID).body; strings.Contains(page, heading) || !strings.Contains(page, "/operator/notices/"+notice.ID) {
		t.Error("an open notice is missing, or listed as handled")
	}
	if got := b.post("/operator/notices/"+notice.ID+"/close", url.Values{"note": {"Verlängerung abgeschaltet"}}); got.status != http.StatusSeeOther {
		t.Fatalf("%d %s", got.status, got.body)
	}
	_, list, _ := strings.Cut(b.get("/operator/customers/"+erika.ID).body, heading)
	list, _, _ = strings.Cut(list, "</table>")
	for _, want := range []string{"/operator/notices/" + notice.ID, "teeladen.de", "Verlängerung abgeschaltet", "ops@example.org", s.clock.now().UTC().Format(time.DateOnly)} {
		if !strings.Contains(list, want) {
			t.Errorf("%q is missing in %s", want, list)
		}
	}
	if page := b.get("/operator/customers/" + berta.ID).body; strings.Contains(page, heading) {
		t.Error("another customer's file lists the notice")
	}
}
