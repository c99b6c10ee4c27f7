package portal

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/admin"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/registrar/inbox"
	"github.com/dotkontor/dotkontor/internal/registrar/lifecycle"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/store/sqldb"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

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
	if mail := s.waitForMail(registrar.MailDomainLock); mail.Data[registrar.NoticeDomain] == "" || mail.To != "erika@example.org" || mail.Data["name"] != "Beschluss 312 O 99/26" {
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
	lift, confirmed := "/operator/locks/"+locks[0].ID+"/lift", url.Values{"confirmed": {"yes"}}
	if got := b.post(lift, url.Values{"subject": {"streit.de"}}); got.status != http.StatusOK || !strings.Contains(got.body, `name="confirmed" value="yes"`) || !strings.Contains(got.body, "streit.de") {
		t.Errorf("lifted without a confirmation: %d", got.status)
	}
	if barred, err := adminService.Forbids(t.Context(), locks[0].Domain, admin.Renewal); err != nil || !barred {
		t.Errorf("lifted before the confirmation: %t, %v", barred, err)
	}
	if got := b.post(lift, confirmed); got.status != http.StatusSeeOther {
		t.Fatalf("lifting: %d", got.status)
	}
	if barred, err := adminService.Forbids(t.Context(), locks[0].Domain, admin.Renewal); err != nil || barred {
		t.Errorf("a lifted lock restricts: %t, %v", barred, err)
	}
	if got := b.post(lift, confirmed); got.status != http.StatusNotFound {
		t.Errorf("lifting twice: %d", got.status)
	}
}

func TestDomainLock_OutOfTheDNSIsConfirmedAndShown(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	ops, b := s.operatorBrowser("ops@example.org")
	erika := s.newMember("erika@example.org")
	id := s.addDomainOf(erika.ID, "phishing", ".org", registrar.DomainActive)
	s.addDomainOf(erika.ID, "phishing", ".uk", registrar.DomainActive)
	form := url.Values{
		"domain": {"phishing.uk"}, "cause": {"abuse"}, "reason": {"Phishing unter /login"}, "review": {s.clock.now().AddDate(0, 1, 0).Format(time.DateOnly)}, "block_hold": {"yes"},
	}
	if got := b.post("/operator/locks", form); got.status != http.StatusUnprocessableEntity || !strings.Contains(got.body, "kein clientHold") {
		t.Errorf("a registry without holds: %d %s", got.status, got.body)
	}
	form.Set("domain", "phishing.org")
	asked := b.post("/operator/locks", form)
	locks, err := s.db.ListActiveLocksOfDomain(t.Context(), id)
	if must(t, err); asked.status != http.StatusOK || len(locks) != 0 {
		t.Fatalf("%d without a confirmation, %d", len(locks), asked.status)
	}
	for _, want := range []string{`name="confirmed" value="yes"`, `name="reason" value="Phishing unter /login"`, `name="block_hold" value="yes"`, `name="block_transfer" value="yes"`} {
		if !strings.Contains(asked.body, want) {
			t.Errorf("the confirmation has no %q: %s", want, asked.body)
		}
	}
	form.Set("confirmed", "yes")
	for range 2 {
		if got := b.post("/operator/locks", form); got.status != http.StatusSeeOther {
			t.Fatalf("%d %s", got.status, got.body)
		}
	}
	locks, err = s.db.ListActiveLocksOfDomain(t.Context(), id)
	if must(t, err); len(locks) != 1 || locks[0].SetBy != ops.ID || !locks[0].Has(admin.Transfer) {
		t.Fatalf("locks %+v", locks)
	}
	if list := b.get("/operator/locks").body; !strings.Contains(list, "wird aus dem DNS genommen") || !strings.Contains(list, "ops@example.org") {
		t.Errorf("the list: %s", list)
	}
	page := s.signedInBrowser("erika@example.org").get("/portal/domains/" + id).body
	for _, want := range []string{"Wir nehmen diese Domain aus dem DNS", "wegen einer Meldung über Missbrauch: Phishing unter /login", `<span class="badge bad">wird aus dem DNS genommen</span>`, `href="/kontakt`} {
		if !strings.Contains(page, want) {
			t.Errorf("the customer's page has no %q: %s", want, page)
		}
	}
}

func TestOperatorMenu_CountsLocksDueForReview(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	erika := s.newMember("erika@example.org")
	_, err := s.portfolio.Add(t.Context(), cliOperator, portfolio.AddParams{
		Customer: erika.ID, Name: registrar.NewName("streit", ".de"), Status: registrar.DomainActive, PaidUntil: s.clock.now().AddDate(1, 0, 0),
	})
	must(t, err)
	review := s.clock.now().AddDate(0, 1, 0)
	_, b := s.operatorBrowser("ops@example.org")
	if got := b.post("/operator/locks", url.Values{
		"domain": {"streit.de"}, "cause": {"court"}, "reason": {"Beschluss"}, "review": {review.Format(time.DateOnly)}, "block_renewal": {"yes"},
	}); got.status != http.StatusSeeOther {
		t.Fatalf("%d %s", got.status, got.body)
	}
	const counted, overdue = `Sperren <span class="count late">1<`, `<span class="badge bad">überfällig</span>`
	for _, late := range []bool{false, true} {
		if late {
			s.clock.advance(review.AddDate(0, 0, 15).Sub(s.clock.now()))
			_, b = s.operatorBrowser("ops2@example.org")
		}
		for _, path := range []string{"/operator", "/operator/locks"} {
			if body := b.get(path).body; strings.Contains(body, counted) != late || strings.Contains(body, overdue) != late {
				t.Errorf("%s, overdue %v: %s", path, late, body)
			}
		}
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

	s.online = []lifecycle.PlannedAction{{Action: lifecycle.ActSuspend, Term: lifecycle.Term{Name: "bleibt.eu"}}}
	home := b.get("/operator").body
	if !strings.Contains(home, "Notbremse") || !strings.Contains(home, "Warten auf eine Entscheidung: 1.") || !strings.Contains(home, `href="/operator/terms">Laufzeiten <span class="count late">3<`) {
		t.Errorf("the home page lacks the open work: %s", home)
	}
	page := b.get("/operator/terms")
	for _, want := range []string{"faellig.org", "Aus dem DNS nehmen", "wartend.org", "Es fehlt ein Hinweis", "uralt.org", `name="actions" value="1"`, "Die Uhr ist", "Diese Domains bleiben online", "bleibt.eu"} {
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
	if _, tab, _ := strings.Cut(b.get("/operator").body, `href="/operator/terms">`); !strings.Contains(strings.SplitN(tab, "</a>", 2)[0], `class="count late"`) {
		t.Error("the menu does not count the terms that wait for a decision")
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
		if got := b.post(path, nil); got.status != http.StatusOK || !strings.Contains(got.body, `name="confirmed" value="yes"`) {
			t.Errorf("%s acted without a confirmation: %d", path, got.status)
		}
		if got := b.post(path, url.Values{"confirmed": {"yes"}}); got.status != http.StatusSeeOther {
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
	if got := b.post("/operator/jobs/item/chg_1/abandon", url.Values{"confirmed": {"yes"}}); got.status != http.StatusNotFound {
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

func TestGiveUp_OfferedAMinuteAfterThePaymentAndNamesTheAmount(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	erika, now := s.newMember("erika@example.org"), s.clock.now()
	o := s.addRefundableOrder(erika.ID, "ord_erika")
	s.exec(`INSERT INTO provision_items (id, customer_id, name, tld, kind, years, payment, state, account, requested_at, due_at, attempts, created_at, updated_at)
		VALUES ('prv_1', $1, $2, '.org', 'register', 1, $3, 'paid', 'one', 1, $4, 2, $5, $5)`, erika.ID, o.Items[0].Name, "order:"+o.ID, now.Add(time.Hour).UnixMicro(), now.UnixMicro())
	s.exec(`UPDATE order_items SET provision_item_id = 'prv_1' WHERE id = $1`, o.Items[0].ID)
	must(t, s.db.PutJobError(t.Context(), admin.JobItem, "prv_1", admin.JobError{Code: "epp_login", At: now}, now.Add(-time.Hour)))
	_, b := s.operatorBrowser("ops@example.org")
	const path = "/operator/jobs/item/prv_1/abandon"
	for _, want := range []bool{false, true} {
		for _, page := range []string{"/operator", "/operator/jobs?kind=item"} {
			if got := b.get(page); got.status != http.StatusOK || strings.Contains(got.body, path) != want {
				t.Errorf("%s after %s: %d %s", page, s.clock.now().Sub(now), got.status, got.body)
			}
		}
		s.clock.advance(time.Minute)
	}
	if got := b.post(path, nil); got.status != http.StatusOK || !strings.Contains(got.body, "Erstattung: "+ui.FormatMoney("de", o.Items[0].Gross)) {
		t.Errorf("the confirmation: %d %s", got.status, got.body)
	}
}

func TestUnfundedItems_AreRetriedTogetherForAnAccount(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	erika, now := s.newMember("erika@example.org"), s.clock.now()
	for i, item := range []struct {
		account string
		code    registrar.Code
	}{{"one", provision.Billing}, {"one", provision.Billing}, {"one", "epp_login"}, {"two", provision.Billing}} {
		id := fmt.Sprintf("prv_%d", i)
		s.exec(`INSERT INTO provision_items (id, customer_id, name, tld, kind, years, payment, state, account, requested_at, due_at, attempts, created_at, updated_at)
			VALUES ($1, $2, $1 || '.org', '.org', 'register', 1, 'manual:' || $1, 'paid', $3, 1, $4, 2, 1, 1)`, id, erika.ID, item.account, now.Add(time.Hour).UnixMicro())
		must(t, s.db.PutJobError(t.Context(), admin.JobItem, id, admin.JobError{Code: item.code, At: now}, now.Add(-time.Hour)))
	}
	retried := func() (events, due int) {
		t.Helper()
		for row, err := range sqldb.Rows(t.Context(), s.db.SQL().Reader(), `SELECT (SELECT count(*) FROM audit_events WHERE action = 'job_retried'),
				(SELECT count(*) FROM provision_items WHERE due_at <= `+strconv.FormatInt(now.Add(time.Minute).UnixMicro(), 10)+`)`) {
			must(t, err)
			events, due = int(row[0].(int64)), int(row[1].(int64))
		}
		return events, due
	}
	_, b := s.operatorBrowser("ops@example.org")
	must(t, s.db.StoreQueriedBalance(t.Context(), "two", inbox.Balance{Available: "3.50", Currency: "EUR", Threshold: "1.00"}, now, now))
	o := s.addPreparedOrder(erika.ID, "tok_1")
	s.exec(`UPDATE orders SET state = 'provisioning', attempts = 1, due_at = $1 WHERE id = $2`, now.Add(time.Hour).UnixMicro(), o.ID)
	s.exec(`UPDATE order_items SET provision_item_id = 'prv_3' WHERE order_id = $1`, o.ID)
	if got := b.get("/operator/jobs?kind=order").body; !strings.Contains(got, "Eine Position wartet:") || !strings.Contains(got, "Das Guthaben bei der Registry reicht nicht") || strings.Contains(got, "Kein Fehler") {
		t.Errorf("the order: %s", got)
	}
	for _, page := range []string{"/operator", "/operator/jobs?kind=item"} {
		if got := b.get(page).body; !strings.Contains(got, "Am Registry-Konto one warten Positionen auf Guthaben: 2.") || !strings.Contains(got, "Am Registry-Konto two warten Positionen auf Guthaben: 1. Kunden haben dafür 11,90") || !strings.Contains(got, ": 3,50 EUR.") {
			t.Errorf("%s: %s", page, got)
		}
	}
	const path = "/operator/jobs/accounts/one/retry"
	if got := b.post(path, url.Values{"subject": {"one"}}); got.status != http.StatusOK || !strings.Contains(got.body, "Alle Positionen dieses Kontos wiederholen?") {
		t.Errorf("nothing asks first: %d %s", got.status, got.body)
	}
	if events, due := retried(); events != 0 || due != 0 {
		t.Errorf("without confirmation: %d events, %d due", events, due)
	}
	for range 2 {
		if got := b.post(path, url.Values{"confirmed": {"yes"}}); got.status != http.StatusSeeOther {
			t.Fatalf("%d %s", got.status, got.body)
		}
		if events, due := retried(); events != 2 || due != 2 {
			t.Errorf("%d events, %d due", events, due)
		}
	}
	if got := b.get("/operator").body; strings.Contains(got, "Am Registry-Konto one") {
		t.Errorf("items that are due already are offered again: %s", got)
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
	if got := holder.get("/portal/domains/" + id); !strings.Contains(got.body, "Gegen Umzüge gesichert") || !strings.Contains(got.body, "wegen eines Verfahrens um den Namen (UDRP): D2026-0815") || strings.Contains(got.body, "aus dem DNS genommen") {
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

func TestRepeatRefund_AsksFirst(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	_, b := s.operatorBrowser("ops@example.org")
	const path = "/operator/orders/ord_1/refunds/ref_1/repeat"
	if got := b.post(path, url.Values{"subject": {"11,90 €"}}); got.status != http.StatusOK || !strings.Contains(got.body, "Noch einmal erstatten?") || !strings.Contains(got.body, `href="/operator/orders/ord_1"`) {
		t.Errorf("nothing asks first: %d %s", got.status, got.body)
	}
	if got := b.post(path, url.Values{"confirmed": {"yes"}}); got.status != http.StatusNotFound {
		t.Errorf("a refund that does not exist: %d %s", got.status, got.body)
	}
}

// An operator who reads "active" tells the customer that the domain works.
func TestOperatorCustomer_DomainsHaveTheCustomersStates(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	_, b := s.operatorBrowser("ops@example.org")
	erika := s.newMember("erika@example.org")
	ids := make(map[string]string)
	for _, label := range []string{"gut", "gehalten", "unbestaetigt", "umzug", "gesperrt"} {
		ids[label] = s.addDomainOf(erika.ID, label, ".org", registrar.DomainActive)
	}
	s.exec("UPDATE domains SET registry_status = 'clientHold' WHERE id = $1", ids["gehalten"])
	s.exec("UPDATE domains SET registry_status = 'clientHold', contact_hold = 'erika@example.org' WHERE id = $1", ids["unbestaetigt"])
	s.exec(`INSERT INTO outgoing_transfers (id, customer_id, domain_id, name, tld, account, gaining, requested_at, acts_at, state, registry_status, due_at, created_at, updated_at)
		VALUES ('out_1', $1, $2, 'umzug.org', '.org', '', '', 1, 0, 'pending', '', 0, 1, 1)`, erika.ID, ids["umzug"])
	lock := admin.Lock{
		ID: "lck_1", Domain: ids["gesperrt"], Name: "gesperrt.org", Customer: erika.ID, Cause: admin.Causes()[0], Reason: "Phishing",
		Restrictions: []admin.Restriction{admin.Nameservers}, ReviewAt: s.clock.now().Add(48 * time.Hour), SetBy: "root", SetAt: s.clock.now(),
	}
	must(t, s.db.AddDomainLock(t.Context(), lock, registrar.AuditEvent{Actor: operator, Action: admin.LockSet, Customer: erika.ID, Object: lock.Name, At: s.clock.now()}, registrar.Mail{Kind: registrar.MailDomainLock, Customer: erika.ID}, s.clock.now()))
	page, list := b.get("/operator/customers/"+erika.ID).body, s.signedInBrowser("erika@example.org").get("/portal/domains").body
	for label, want := range map[string]string{
		"gut": `<span class="badge good">aktiv</span></td>`, "gehalten": `<span class="badge bad">nicht im DNS</span>`, "unbestaetigt": `<span class="badge bad">nicht im DNS, Adresse unbestätigt</span>`,
		"umzug": `<span class="badge bad">Umzug zu anderem Anbieter beantragt</span>`, "gesperrt": `<a class="badge warn" href="/operator/locks">gesperrt</a>`,
	} {
		row := func(body string) string {
			_, after, _ := strings.Cut(body, label+".org")
			cell, _, _ := strings.Cut(after, "</tr>")
			return cell
		}
		if !strings.Contains(row(page), want) {
			t.Errorf("%s has no %q: %s", label, want, page)
		}
		if label != "gut" && label != "gesperrt" && !strings.Contains(row(list), want) {
			t.Errorf("the customer reads another state of %s: %s", label, list)
		}
	}
}
