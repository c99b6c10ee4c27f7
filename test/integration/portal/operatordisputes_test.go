package portal

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/admin"
	"github.com/dotkontor/dotkontor/internal/registrar/dispute"
	behind "github.com/dotkontor/dotkontor/internal/web/operator"
)

func (s *env) disputePages(service *dispute.Service) behind.Disputes {
	return behind.Disputes{Service: service, LastChange: s.domains.LastChangeFor, Order: s.db.OrderByID, Evidence: func(_ context.Context, _ registrar.Actor, d dispute.Dispute) ([]byte, error) {
		return dispute.WriteEvidence([]dispute.File{{Name: "dispute.json", Value: d.Report}}, s.clock.now())
	}}
}

// storeDispute stores a dispute of a charge that no order knows.
func (s *env) storeDispute(id string, status dispute.Status) {
	s.t.Helper()
	stored, err := s.db.StoreDispute(s.t.Context(), dispute.Update{Now: dispute.Dispute{
		Report: dispute.Report{
			ID: id, Charge: "ch_1", Status: status, Reason: "fraudulent", Currency: "eur", Amount: 1190, Withdrawn: 1190, Charged: 1190, Refunded: 100,
			DueBy: s.clock.now().AddDate(0, 0, 9), OpenedAt: s.clock.now(),
		},
		Lock: dispute.LockNone, OpenWork: true, StoredAt: s.clock.now(), UpdatedAt: s.clock.now(),
	}, At: s.clock.now()})
	must(s.t, err)
	if !stored {
		s.t.Fatal("not stored")
	}
}

func TestLocks_ThoseOfDisputesAreListed(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	o := s.addRefundableOrder(s.newMember("erika@example.org").ID, "ord_streit")
	_, b := s.operatorBrowser("ops@example.org")
	if body := b.get("/operator/locks").body; strings.Contains(body, "Durch Reklamationen") {
		t.Errorf("without a dispute: %s", body)
	}
	s.storeDispute("du_2", dispute.NeedsResponse)
	s.exec("UPDATE disputes SET order_id = '" + o.ID + "', lock_state = 'active' WHERE id = 'du_2'")
	for _, want := range []string{"Durch Reklamationen", "/operator/disputes/du_2", "Umzug, Auth-Code und Inhaberwechsel gesperrt"} {
		if body := b.get("/operator/locks").body; !strings.Contains(body, want) {
			t.Errorf("the page has no %q: %s", want, body)
		}
	}
}

func TestOperatorDisputes_AddressIsShownOnlyInTheAuditedList(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	o := s.addRefundableOrder(s.newMember("erika@example.org").ID, "ord_streit")
	_, b := s.operatorBrowser("ops@example.org")
	s.storeDispute("du_offen", dispute.NeedsResponse)
	s.storeDispute("du_vorbei", dispute.Won)
	s.exec("UPDATE disputes SET order_id = '" + o.ID + "', open_work = CASE WHEN id = 'du_offen' THEN 1 ELSE 0 END")
	if got := strings.Count(b.get("/operator/disputes").body, ">erika@example.org</a>"); got != 2 {
		t.Errorf("the list names %d addresses, not 2", got)
	}
	events, err := s.db.ListAuditEvents(t.Context(), "", "", 10)
	must(t, err)
	if len(events) != 1 || events[0].Action != admin.ListViewed || events[0].Object != "disputes" {
		t.Errorf("the view is not audited: %+v", events)
	}
	if home := b.get("/operator").body; !strings.Contains(home, "du_offen") || strings.Contains(home, "erika@example.org") {
		t.Errorf("the start page, which is not audited: %s", home)
	}
	s.exec("CREATE TRIGGER full_disk BEFORE INSERT ON audit_events BEGIN SELECT raise(ABORT, 'database or disk is full'); END")
	if page := b.get("/operator/disputes"); page.status != http.StatusOK || !strings.Contains(page.body, "ließ sich nicht protokollieren") || !strings.Contains(page.body, "du_offen") || strings.Contains(page.body, "erika@example.org") {
		t.Errorf("without an audit event: %d %s", page.status, page.body)
	}
}

func TestOperatorDisputes_OpenWorkUntilDecidedInBothLanguages(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	_, b := s.operatorBrowser("ops@example.org")
	s.storeDispute("du_1", dispute.Lost)
	for _, path := range []string{"/operator", "/operator/disputes"} {
		if body := b.get(path).body; !strings.Contains(body, "/operator/disputes/du_1") || !strings.Contains(body, "Betrug gemeldet") {
			t.Errorf("%s: %s", path, body)
		}
	}
	page := b.get("/operator/disputes/du_1").body
	for _, want := range []string{"<title>Reklamation du_1 · ", "<h1>Reklamation du_1</h1>", "verloren", "Zu dieser Zahlung gibt es hier keine Bestellung", "mehr, als bezahlt war", "ZIP herunterladen", "Zur Kenntnis genommen"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q: %s", want, page)
		}
	}
	if got := b.get("/operator/disputes/du_1/evidence.zip"); got.status != http.StatusOK || !strings.HasPrefix(got.body, "PK") {
		t.Errorf("evidence: %d", got.status)
	}
	decide := func(fields url.Values) pageResponse { return b.post("/operator/disputes/du_1/decide", fields) }
	if got := decide(url.Values{"version": {"1"}, "decision": {"keep"}}); got.status != http.StatusUnprocessableEntity || !strings.Contains(got.body, "begründen") {
		t.Errorf("without a reason: %d", got.status)
	}
	if got := decide(url.Values{"version": {"1"}, "decision": {"deny"}, "note": {"x"}}); got.status != http.StatusConflict {
		t.Errorf("denied for an unknown charge: %d", got.status)
	}
	if got := decide(url.Values{"version": {"1"}, "decision": {"keep"}, "note": {"Testkarte"}}); got.location() != "/operator/disputes/du_1" {
		t.Errorf("decided: %d %s", got.status, got.location())
	}
	if got := decide(url.Values{"version": {"1"}, "decision": {"keep"}, "note": {"zweite"}}); got.status != http.StatusConflict || !strings.Contains(got.body, "inzwischen geändert") {
		t.Errorf("decided twice: %d", got.status)
	}
	if body := b.get("/operator").body; strings.Contains(body, "Offene Reklamationen") {
		t.Errorf("home: %s", body)
	}
	if got := b.get("/operator/disputes/du_none"); got.status != http.StatusNotFound {
		t.Errorf("an unknown dispute: %d", got.status)
	}
}

func TestOperatorDisputes_DecisionStaysAsMadeWhenTheBankDecidesLater(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	o := s.addRefundableOrder(s.newMember("erika@example.org").ID, "ord_streit")
	_, b := s.operatorBrowser("ops@example.org")
	s.storeDispute("du_1", dispute.Lost)
	d, _, err := s.db.GetDispute(t.Context(), "du_1")
	must(t, err)
	at := func(days int) time.Time { return s.clock.now().AddDate(0, 0, days) }
	day := func(days int) string { return registrar.FormatInGermany(at(days), "02.01.2006", "de") }
	won := d
	won.Order, won.Status, won.Lock, won.OpenWork, won.LockedAt, won.LiftedAt = o.ID, dispute.Won, dispute.LockLifted, false, at(2), at(14)
	won.Decision, won.Note, won.DecidedBy, won.DecidedAt = dispute.Deny, "Zahlung offen, Kunde angemahnt.", "root", at(4)
	stored, err := s.db.StoreDispute(t.Context(), dispute.Update{Was: d, Now: won, At: at(14)})
	must(t, err)
	page := b.get("/operator/disputes/du_1").body
	_, decided, _ := strings.Cut(page, `id="decided"`)
	for _, want := range []string{"Umzüge wegen offener Zahlung ablehnen", day(4), "root", "Kunde angemahnt", "Der Dienst hat die Sperre am " + day(14) + " aufgehoben, weil die Bank zu unseren Gunsten entschieden hat."} {
		if !stored || !strings.Contains(decided, want) {
			t.Errorf("the decision lacks %q: %s", want, page)
		}
	}
	if strings.Contains(decided, "<dd>aufgehoben") {
		t.Errorf("the decision: %s", decided)
	}
	s.exec("UPDATE disputes SET lock_state = 'active', status = 'needs_response'")
	_, locked, _ := strings.Cut(b.get("/operator/locks").body, "Durch Reklamationen")
	if !strings.Contains(locked, day(2)) || strings.Contains(locked, registrar.FormatInGermany(d.OpenedAt, "02.01.2006", "de")) {
		t.Errorf("locked: %s", locked)
	}
}

func TestRefundForm_DisputedPaymentSaysWhyNothingIsRefundable(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	o := s.addRefundableOrder(s.newMember("erika@example.org").ID, "ord_streit")
	_, b := s.operatorBrowser("ops@example.org")
	s.storeDispute("du_3", dispute.NeedsResponse)
	s.exec("UPDATE disputes SET order_id = '" + o.ID + "' WHERE id = 'du_3'")
	page := func(wants ...string) {
		t.Helper()
		body := b.get("/operator/orders/" + o.ID + "/refund").body
		for _, want := range append(wants, "<title>Bestellung "+o.ID+" erstatten · dotkontor</title>", "mit einer Notiz", `href="/operator/notices"`) {
			if !strings.Contains(body, want) {
				t.Errorf("the page has no %q: %s", want, body)
			}
		}
	}
	page("Die Zahlung ist strittig", "Stripe lässt keine Erstattung zu")
	s.exec("UPDATE disputes SET status = 'lost' WHERE id = 'du_3'")
	s.exec("UPDATE disputes SET amount = 2856 WHERE id = 'du_3'")
	page("Die Bank hat 28,56\u00a0€ von dieser Zahlung zurückgeholt")
}

func TestOperatorPages_TakenBackPaymentIsNeverGreen(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	customer := s.newMember("erika@example.org")
	o := s.addRefundableOrder(customer.ID, "ord_streit")
	_, b := s.operatorBrowser("ops@example.org")
	s.storeDispute("du_1", dispute.Lost)
	s.exec("UPDATE disputes SET order_id = '" + o.ID + "', payment_id = 'pay_" + o.ID + "', lock_state = 'active' WHERE id = 'du_1'")
	const lost = `<a href="/operator/disputes/du_1"><span class="badge bad">Reklamation: verloren</span></a>`
	pages := map[string]string{
		"/operator/orders": "abgeschlossen", "/operator/orders/" + o.ID: "bezahlt", "/operator/customers/" + customer.ID: "abgeschlossen", "/operator/payments": "bezahlt",
	}
	for path, state := range pages {
		if body := b.get(path).body; !strings.Contains(body, lost) || !strings.Contains(body, `<span class="badge">`+state+"<") || strings.Contains(body, `badge good">`+state) {
			t.Errorf("%s: %s", path, body)
		}
	}
	s.exec("UPDATE disputes SET status = 'won', lock_state = 'lifted' WHERE id = 'du_1'")
	for path, state := range pages {
		if body := b.get(path).body; strings.Contains(body, "badge bad") || !strings.Contains(body, `badge good">`+state) {
			t.Errorf("%s once it is won: %s", path, body)
		}
	}
}

func TestOperatorDisputes_DenialAsksFirstAndItsEndSaysWhatItDoes(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	anna := s.newMember("anna@example.org")
	s.addDomainOf(anna.ID, "laden", ".com", registrar.DomainActive)
	s.addDomain(anna.ID, "laden", registrar.DomainActive)
	o := s.addRefundableOrder(anna.ID, "ord_streit")
	s.exec(`INSERT INTO provision_items (id, customer_id, name, tld, kind, years, payment, state, account, domain_id, code_sealed, requested_at, due_at, created_at, updated_at)
		SELECT 'prv_' || id, customer_id, name, tld, 'register', 1, 'order:` + o.ID + `', 'active', 'one', id, '', 1, 0, 1, 1 FROM domains`)
	s.storeDispute("du_1", dispute.Lost)
	s.exec("UPDATE disputes SET order_id = '" + o.ID + "', payment_id = 'pay_" + o.ID + "', lock_state = 'active' WHERE id = 'du_1'")
	_, b := s.operatorBrowser("ops@example.org")
	fields := url.Values{"version": {"1"}, "decision": {"deny"}, "note": {"nicht bezahlt"}}
	lock := func() dispute.Lock {
		d, _, err := s.db.GetDispute(t.Context(), "du_1")
		must(t, err)
		return d.Lock
	}
	page := b.post("/operator/disputes/du_1/decide", fields)
	out, stays, found := strings.Cut(page.body, "Ohne clientHold")
	if page.status != http.StatusOK || !found || lock() != dispute.LockActive {
		t.Fatalf("not asked: %d, lock %s: %s", page.status, lock(), page.body)
	}
	for _, want := range []string{"laden.com", "funktionieren dann nicht mehr"} {
		if !strings.Contains(out, want) {
			t.Errorf("the question has no %q: %s", want, out)
		}
	}
	if strings.Contains(out, "laden.de") || !strings.Contains(stays, "laden.de") || !strings.Contains(stays, `name="note" value="nicht bezahlt"`) {
		t.Errorf("what stays in the DNS: %s", stays)
	}
	if got := b.post("/operator/disputes/du_1/decide", url.Values{"version": {"1"}, "decision": {"deny"}, "note": {""}}); got.status != http.StatusUnprocessableEntity {
		t.Errorf("asked without a reason: %d", got.status)
	}
	fields.Set("confirmed", "yes")
	if got := b.post("/operator/disputes/du_1/decide", fields); got.location() != "/operator/disputes/du_1" || lock() != dispute.LockDenying {
		t.Errorf("confirmed: %d, lock %s", got.status, lock())
	}
	s.exec("UPDATE disputes SET lock_state = 'denied' WHERE id = 'du_1'")
	if body := b.get("/operator/disputes/du_1").body; !strings.Contains(body, "Nur Umzüge sperren und die Domains wieder ins DNS nehmen") || strings.Contains(body, "Sperre behalten") {
		t.Errorf("the choices after a denial: %s", body)
	}
}
