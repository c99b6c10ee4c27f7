package portal

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

func TestTermEnd_LastDayIsNamedAndNothingIsOfferedAfterIt(t *testing.T) {
	t.Parallel()
	s := newEnvWith(t, (&fakeOrders{}).install)
	erika := s.newMember("erika@example.org")
	id := s.addDomainOf(erika.ID, "laufend", ".eu", registrar.DomainActive)
	path, last := "/portal/domains/"+id, `<time data-clock datetime="`+s.clock.now().Add(90*24*time.Hour).UTC().Format("2006-01-02T15:")
	b := s.signedInBrowser("erika@example.org")
	if page := b.get(path).body; strings.Count(page, "nur bis zum Ende der Laufzeit, bis "+last) != 2 || strings.Contains(page, "Bis zur Löschung") {
		t.Errorf("before the choice: %s", page)
	}
	b.post(path+"/expire", nil)
	if page := b.get(path).body; !strings.Contains(page, path+"/keep") || !strings.Contains(page, "nur bis zum Ende der Laufzeit, bis "+last) {
		t.Errorf("after the choice: %s", page)
	}
	s.clock.advance(91 * 24 * time.Hour)
	s.exec("UPDATE domains SET status = 'expired' WHERE id = $1", id)
	b = s.signedInBrowser("erika@example.org")
	if page := b.get(path).body; strings.Contains(page, path+"/keep") || strings.Contains(page, path+"/expire") || strings.Contains(page, "um sie wieder zu verwalten") || !strings.Contains(page, "Hier kann sie nicht mehr verlängert werden.") {
		t.Errorf("after the term: %s", page)
	}
	if got := b.post(path+"/keep", nil); got.status != http.StatusConflict || !strings.Contains(got.body, "lässt sich nicht mehr verlängern") {
		t.Errorf("the choice is taken back after the term: %d %s", got.status, got.body)
	}
}

// The days are those of the mails. The box to let a domain expire names them always, the page once
// that was chosen or the term is near its end.
func TestTermEnd_PlanNamesDaysOfExtension(t *testing.T) {
	t.Parallel()
	s := newEnvWith(t, (&fakeOrders{}).install)
	erika := s.newMember("erika@example.org")
	day := func(days int) string { return s.clock.now().UTC().AddDate(0, 0, 90+days).Format("02.01.2006") }
	plans := map[string]struct{ plan, undo string }{
		".com": {"Ohne Verlängerung nehmen wir die Domain am " + day(10) + " aus dem DNS. ", "Frühestens am " + day(35) + " löschen wir sie. Damit stimmen Sie der Löschung zu. Bis zur Löschung können"},
		".de":  {"Ohne Verlängerung übergeben wir die Domain am " + day(14) + " an die Registry DENIC.", "Damit stimmen Sie der Übergabe zu. Bis zur Übergabe können"},
		".be":  {"Ohne Verlängerung löschen wir die Domain frühestens am " + day(0) + ".", "Damit stimmen Sie der Löschung zu. Zurücknehmen können Sie das nur bis zum Ende"},
		".eu":  {"Ohne Verlängerung nimmt die Registry die Domain mit dem Ende der Laufzeit aus dem DNS.", "Frühestens am " + day(40) + " löscht sie die Domain. Damit stimmen Sie"},
		".se":  {"Ohne Verlängerung nimmt die Registry die Domain spätestens am " + day(10) + " aus dem DNS.", "Zurücknehmen können Sie das, solange"},
		".at":  {"Ohne Verlängerung löschen wir die Domain frühestens am " + day(0) + ".", "Zurücknehmen können Sie das nur bis zum Ende der Laufzeit"},
		".fr":  {"", "gelöscht oder an die Registry zurückgegeben"}, // an operator decides
	}
	paths := make(map[string]string)
	for tld := range plans {
		paths[tld] = "/portal/domains/" + s.addDomainOf(erika.ID, "plan", tld, registrar.DomainActive)
	}
	b := s.signedInBrowser("erika@example.org")
	check := func(when string, inText, inBox func(tld string) bool) {
		t.Helper()
		for tld, want := range plans {
			page := b.get(paths[tld]).body
			text, box, _ := strings.Cut(page, "<details><summary>Auslaufen lassen")
			if got := want.plan != "" && strings.Contains(text, "<p>"+want.plan); got != (inText(tld) && want.plan != "") {
				t.Errorf("%s, %s: the page has the plan: %t: %s", when, tld, got, text)
			}
			if got := strings.Contains(box, want.plan) && strings.Contains(box, want.undo); got != inBox(tld) {
				t.Errorf("%s, %s: the box has the plan: %t: %s", when, tld, got, box)
			}
		}
	}
	always, never := func(string) bool { return true }, func(string) bool { return false }
	check("early", never, always)
	s.clock.advance(61 * 24 * time.Hour)
	b = s.signedInBrowser("erika@example.org")
	check("near the end", func(tld string) bool { return tld != ".at" }, always) // .at lasts unless its customer agrees
	s.exec("UPDATE domains SET at_term_end = 'expire'")
	s.clock.advance(-61 * 24 * time.Hour)
	b = s.signedInBrowser("erika@example.org")
	check("chosen to expire", always, never)
}

func TestTermEnd_DomainLetExpireIsNotOfferedOnceItIsDeleted(t *testing.T) {
	t.Parallel()
	s := newEnvWith(t, (&fakeOrders{}).install)
	erika := s.newMember("erika@example.org")
	id := s.addDomainOf(erika.ID, "egal", ".at", registrar.DomainActive)
	path, last := "/portal/domains/"+id, `<time data-clock datetime="`+s.clock.now().Add(90*24*time.Hour).UTC().Format("2006-01-02T15:")
	b := s.signedInBrowser("erika@example.org")
	if page := b.get(path).body; !strings.Contains(page, "Zurücknehmen können Sie das nur bis zum Ende der Laufzeit, bis "+last) || strings.Contains(page, "Verlängern können Sie nur bis") {
		t.Errorf("before the choice: %s", page)
	}
	b.post(path+"/expire", nil)
	if page := b.get(path).body; !strings.Contains(page, path+"/keep") || !strings.Contains(page, "Verlängern können Sie nur bis zum Ende der Laufzeit, bis "+last) {
		t.Errorf("after the choice: %s", page)
	}
	s.exec("UPDATE domains SET status = 'expired' WHERE id = $1", id)
	s.addTermEnd(id, erika.ID, 0, nil)
	if page := b.get(path).body; strings.Contains(page, path+"/keep") || strings.Contains(page, path+"/renew") || strings.Contains(page, "nicht verlängern") || !strings.Contains(page, "Wird gerade gelöscht.") {
		t.Errorf("while it is deleted: %s", page)
	}
	s.exec("UPDATE term_ends SET waits_for = 'refused'")
	if page := b.get(path).body; !strings.Contains(page, path+"/keep") || !strings.Contains(page, path+"/renew") {
		t.Errorf("the registry refused the deletion: %s", page)
	}
}

func TestExpiredDomain_SaysOutageFirst(t *testing.T) {
	t.Parallel()
	s := newEnvWith(t, (&fakeOrders{}).install)
	erika := s.newMember("erika@example.org")
	b := s.signedInBrowser("erika@example.org")
	day := func(days int) string { return s.clock.now().AddDate(0, 0, days).UTC().Format("02.01.2006") }
	for name, test := range map[string]struct {
		tld, statuses  string
		heldDays       int
		noCode, noLock bool
		want           string
		outage         bool
	}{
		"in use":                      {tld: ".org", want: "Die Domain ist am " + day(-12) + " abgelaufen. Verlängern Sie sie, um sie wieder zu verwalten. Umziehen können Sie sie weiterhin. Dafür darf keine Umzugssperre gesetzt sein, und der neue Anbieter braucht den Auth-Code."},
		"held by us":                  {tld: ".com", statuses: "clientHold", heldDays: -2, want: "Seit " + day(-2) + " nicht im DNS: Website und E-Mail sind nicht erreichbar. Die Laufzeit ist vorbei. Verlängern Sie die Domain", outage: true},
		"held by the registry":        {tld: ".se", statuses: "serverHold", noLock: true, want: "Nicht im DNS: Website und E-Mail sind nicht erreichbar. Die Laufzeit ist vorbei. Verlängern Sie die Domain, damit sie wieder ins DNS kommt. Umziehen können Sie sie weiterhin, mit Auth-Code.", outage: true},
		"neither a lock nor a code":   {tld: ".uk", noLock: true, noCode: true, want: "abgelaufen. Verlängern Sie sie, um sie wieder zu verwalten.</p>"},
		"held and not renewable here": {tld: ".eu", statuses: "serverHold", want: `Website und E-Mail sind nicht erreichbar. Hier kann sie nicht mehr verlängert werden. <a href="/kontakt">`, outage: true},
	} {
		id := s.addDomainOf(erika.ID, strings.ReplaceAll(name, " ", "-"), test.tld, registrar.DomainExpired)
		s.exec("UPDATE domains SET paid_until = $1 WHERE id = $2", s.clock.now().AddDate(0, 0, -12).UnixMicro(), id)
		if test.heldDays != 0 {
			s.exec(`INSERT INTO term_ends (domain_id, term_end, customer_id, name, tld, account, state, step_at, due_at, held_at, deleted_at, updated_at)
				VALUES ($1, (SELECT paid_until FROM domains WHERE id = $1), $2, 'x', $3, '', 'held', $4, 1, $5, 0, 1)`,
				id, erika.ID, test.tld, s.clock.now().AddDate(0, 0, 23).UnixMicro(), s.clock.now().AddDate(0, 0, test.heldDays).UnixMicro())
		}
		must(t, s.db.PutRegistryRecord(t.Context(), id, domainchange.Record{Statuses: strings.Fields(test.statuses), ReadAt: time.Now()}))
		s.exec("UPDATE domains SET registry_status = $1 WHERE id = $2", test.statuses, id)
		s.registry.noLock, s.registry.noCode = test.noLock, test.noCode
		tone := "note warning"
		if test.outage {
			tone = "note bad"
		}
		if page := b.get("/portal/domains/" + id).body; !strings.Contains(page, `<p class="`+tone+`">`) || !strings.Contains(page, strings.ReplaceAll(test.want, "E-Mail", "E\u2011Mail")) {
			t.Errorf("%s: the page lacks %q: %s", name, test.want, page)
		}
		const badge = `<span class="badge bad">nicht im DNS</span>`
		if list := b.get("/portal/domains?tld=" + test.tld).body; strings.Contains(list, badge) != test.outage || !strings.Contains(list, ">abgelaufen</span>") {
			t.Errorf("%s: the list: %s", name, list)
		}
	}
	if overview := b.get("/portal").body; strings.Count(overview, `<span class="badge bad">nicht im DNS</span>`) != 3 {
		t.Errorf("the overview: %s", overview)
	}
}

// addTermEnd stores an unpaid term of a domain whose term ended so many days ago.
func (s *env) addTermEnd(id, owner string, endedDays int, columns map[string]any) {
	s.t.Helper()
	s.exec("UPDATE domains SET paid_until = $1 WHERE id = $2", s.clock.now().AddDate(0, 0, -endedDays).UnixMicro(), id)
	s.exec(`INSERT INTO term_ends (domain_id, term_end, customer_id, name, tld, account, state, step_at, due_at, updated_at)
		VALUES ($1, (SELECT paid_until FROM domains WHERE id = $1), $2, 'x', '', '', 'unpaid', $3, 1, 1)`, id, owner, s.clock.now().AddDate(0, 0, 1).UnixMicro())
	for column, value := range columns {
		s.exec("UPDATE term_ends SET "+column+" = $1 WHERE domain_id = $2", value, id)
	}
}

func TestTermEnd_AnnouncedDeletionKeepsItsDate(t *testing.T) {
	t.Parallel()
	s := newEnvWith(t, (&fakeOrders{}).install)
	erika := s.newMember("erika@example.org")
	b := s.signedInBrowser("erika@example.org")
	now := s.clock.now()
	day := func(days int) string { return now.AddDate(0, 0, days).UTC().Format("02.01.2006") }
	held := func(days int) map[string]any {
		return map[string]any{"state": "held", "held_at": now.AddDate(0, 0, -days).UnixMicro()}
	}
	waits := func(columns map[string]any, reason string) map[string]any {
		columns["waits_for"] = reason
		return columns
	}
	for name, test := range map[string]struct {
		tld, choice string
		endedDays   int
		columns     map[string]any
		want        string
	}{
		"held":                               {".com", "", 12, held(2), "Seit " + day(-2) + " nicht im DNS; wird frühestens am " + day(23) + " gelöscht"},
		"held, an operator decides":          {".com", "", 12, waits(held(2), "operator"), "Seit " + day(-2) + " nicht im DNS; wird frühestens am " + day(23) + " gelöscht"},
		"held, the day has passed":           {".com", "", 36, waits(held(26), "notices"), "Seit " + day(-26) + " nicht im DNS; kann seit " + day(-1) + " jederzeit gelöscht werden"},
		"let expire, where consent is asked": {".at", "expire", 1, waits(map[string]any{}, "notices"), "Laufzeit vorbei; kann jederzeit gelöscht werden"},
		"the registry deletes it":            {".eu", "", 12, nil, "Die Registry löscht sie frühestens am " + day(28)},
	} {
		id := s.addDomainOf(erika.ID, "x", test.tld, registrar.DomainExpired)
		s.addTermEnd(id, erika.ID, test.endedDays, test.columns)
		s.exec("UPDATE domains SET at_term_end = $1 WHERE id = $2", test.choice, id)
		for _, path := range []string{"/portal/domains/" + id, "/portal/domains", "/portal"} {
			if page := b.get(path).body; !strings.Contains(page, test.want) {
				t.Errorf("%s: %s lacks %q: %s", name, path, test.want, page)
			}
		}
		s.exec("DELETE FROM term_ends")
		s.exec("DELETE FROM domains")
	}
}

func TestOverview_DeadlineOfExpiredDomainIsTheDayItGoesOffline(t *testing.T) {
	t.Parallel()
	s := newEnvWith(t, (&fakeOrders{}).install)
	erika := s.newMember("erika@example.org")
	b := s.signedInBrowser("erika@example.org")
	now := s.clock.now()
	day := func(days int) string { return now.AddDate(0, 0, days).UTC().Format("02.01.2006") }
	for name, test := range map[string]struct {
		tld       string
		endedDays int
		columns   map[string]any
		want      string
	}{
		"we take it out of the DNS":        {".com", 2, map[string]any{"step_at": now.AddDate(0, 0, 8).UnixMicro()}, day(8)},
		"the registry does":                {".uk", 2, nil, day(28)},
		"it is out of the DNS":             {".com", 12, map[string]any{"state": "held", "held_at": now.AddDate(0, 0, -2).UnixMicro()}, lastFullDay(now.AddDate(0, 0, 23))},
		"the registry has taken it out":    {".uk", 40, nil, lastFullDay(now.AddDate(0, 0, 50))},
		"it is handed over, never offline": {".de", 5, map[string]any{"step_at": now.AddDate(0, 0, 9).UnixMicro()}, lastFullDay(now.AddDate(0, 0, 9))},
	} {
		id := s.addDomainOf(erika.ID, "x", test.tld, registrar.DomainExpired)
		s.addTermEnd(id, erika.ID, test.endedDays, test.columns)
		_, deadline, _ := strings.Cut(b.get("/portal").body, `data-label="Frist"`)
		if deadline, _, _ = strings.Cut(deadline, "</td>"); !strings.Contains(deadline, ">"+test.want+"</time>") {
			t.Errorf("%s: the deadline is %s, want %s", name, deadline, test.want)
		}
		if page := b.get("/portal/domains/" + id).body; !strings.Contains(page, test.want) {
			t.Errorf("%s: the page lacks %s: %s", name, test.want, page)
		}
		s.exec("DELETE FROM term_ends")
		s.exec("DELETE FROM domains")
	}
}

// lastFullDay is the last day in Germany before a time, as pages show it.
func lastFullDay(end time.Time) string {
	return end.In(registrar.Germany()).AddDate(0, 0, -1).Format("02.01.2006")
}

func TestDeletedDomain_NoPagePromisesWhatIsOver(t *testing.T) {
	t.Parallel()
	s := newEnvWith(t, (&fakeOrders{}).install)
	erika := s.newMember("erika@example.org")
	now := s.clock.now()
	b := s.signedInBrowser("erika@example.org")
	for name, test := range map[string]struct {
		deleted  int
		statuses string
		shown    []string
	}{
		"our date has passed, statuses are old": {-31, "pendingDelete redemptionPeriod", []string{"pendingDelete", "redemptionPeriod"}},
		"the registry ended it early":           {-10, "pendingDelete pendingDelete", []string{"pendingDelete", "pendingDelete"}},
	} {
		id := s.addDomainOf(erika.ID, "x", ".io", registrar.DomainRedemption)
		s.addTermEnd(id, erika.ID, 45, map[string]any{"state": "redemption", "deleted_at": now.AddDate(0, 0, test.deleted).UnixMicro()})
		s.exec("UPDATE domains SET at_term_end = 'expire', registry_status = $1 WHERE id = $2", test.statuses, id)
		s.registry.records["x.io"] = domainchange.Record{Statuses: test.shown}
		for _, path := range []string{"/portal", "/portal/domains", "/portal/domains/" + id} {
			page := b.get(path).body
			if path != "/portal" && !strings.Contains(page, "lässt sich nicht mehr wiederherstellen") || strings.Contains(page, "wiederherstellbar") || strings.Contains(page, id+"/restore") {
				t.Errorf("%s: %s: %s", name, path, page)
			}
			if strings.Contains(page, "Entscheidung zurücknehmen") || strings.Contains(page, "<p>.</p>") {
				t.Errorf("%s: %s offers to undo a choice: %s", name, path, page)
			}
			if strings.Count(page, "(pendingDelete)") > 1 {
				t.Errorf("%s: %s repeats a status: %s", name, path, page)
			}
		}
		if got := b.post("/portal/domains/"+id+"/keep", nil); got.status != http.StatusConflict || !strings.Contains(got.body, "lässt sich nicht mehr verlängern") {
			t.Errorf("%s: the choice is undone: %d %s", name, got.status, got.body)
		}
		s.exec("DELETE FROM term_ends")
		s.exec("DELETE FROM domains")
	}
}

func TestDeletedDomain_AllPagesNameTheSameLastDay(t *testing.T) {
	t.Parallel()
	s := newEnvWith(t, (&fakeOrders{}).install)
	erika := s.newMember("erika@example.org")
	id := s.addDomainOf(erika.ID, "x", ".io", registrar.DomainRedemption)
	now := s.clock.now()
	s.addTermEnd(id, erika.ID, 45, map[string]any{"state": "redemption", "deleted_at": now.AddDate(0, 0, -10).UnixMicro()})
	b := s.signedInBrowser("erika@example.org")
	last := lastFullDay(now.AddDate(0, 0, 20))
	for _, path := range []string{"/portal/domains/" + id, "/portal/domains", "/portal"} {
		if page := b.get(path).body; !strings.Contains(page, "wiederherstellbar bis "+last) {
			t.Errorf("%s lacks %s: %s", path, last, page)
		}
	}
	s.exec("UPDATE term_ends SET deleted_at = $1", now.AddDate(-2, 0, 0).UnixMicro())
	home := b.get("/portal").body
	if strings.Contains(home, "x.io") || !strings.Contains(home, "Sie haben keine Domains mehr") {
		t.Errorf("the overview: %s", home)
	}
}

func TestExpiredDomain_PageExplainsFromWhenARenewalCounts(t *testing.T) {
	t.Parallel()
	s := newEnvWith(t, (&fakeOrders{}).install)
	erika := s.newMember("erika@example.org")
	id := s.addDomainOf(erika.ID, "x", ".at", registrar.DomainExpired)
	ended := s.clock.now().AddDate(0, 0, -47)
	s.addTermEnd(id, erika.ID, 47, map[string]any{"waits_for": "consent"})
	must(t, s.db.PutRegistryRecord(t.Context(), id, domainchange.Record{Expires: ended.AddDate(1, 0, 0), Statuses: []string{"ok"}, ReadAt: time.Now()}))
	page := s.signedInBrowser("erika@example.org").get("/portal/domains/" + id).body
	if !strings.Contains(page, "zählt ab dem Ende der bezahlten Laufzeit am "+ended.UTC().Format("02.01.2006")) || !strings.Contains(page, ", bis "+ended.AddDate(1, 0, 0).UTC().Format("02.01.2006")) || !strings.Contains(page, "Diese Registry verlängert von selbst.") {
		t.Errorf("the page: %s", page)
	}
}

func TestDomainPage_DenicHasNoExpiry(t *testing.T) {
	t.Parallel()
	s := newEnvWith(t, (&fakeOrders{}).install)
	erika := s.newMember("erika@example.org")
	b := s.signedInBrowser("erika@example.org")
	for tld, want := range map[string]bool{".de": false, ".org": true} {
		id := s.addDomainOf(erika.ID, "x", tld, registrar.DomainExpired)
		s.addTermEnd(id, erika.ID, 5, map[string]any{"step_at": s.clock.now().AddDate(0, 0, 9).UnixMicro()})
		must(t, s.db.PutRegistryRecord(t.Context(), id, domainchange.Record{Expires: s.clock.now().AddDate(0, 11, 0), Statuses: []string{"ok"}, ReadAt: time.Now()}))
		page := b.get("/portal/domains/" + id).body
		if strings.Contains(page, "Läuft bei der Registry ab") != want || tld == ".de" && strings.Count(page, "an DENIC zurück") != 1 {
			t.Errorf("%s: %s", tld, page)
		}
	}
}

func TestDomainThatLeft_ShowsNothingOfItsLastTime(t *testing.T) {
	t.Parallel()
	s := newEnvWith(t, (&fakeOrders{}).install)
	erika := s.newMember("erika@example.org")
	id := s.addDomainOf(erika.ID, "x", ".org", registrar.DomainTransferredOut)
	must(t, s.db.PutRegistryRecord(t.Context(), id, domainchange.Record{Statuses: []string{"pendingTransfer"}, Expires: s.clock.now().AddDate(1, 0, 0), ReadAt: time.Now()}))
	b := s.signedInBrowser("erika@example.org")
	if page := b.get("/portal/domains/" + id).body; strings.Contains(page, "pendingTransfer") || strings.Contains(page, "Status der Registry") || strings.Contains(page, "Läuft bei der Registry ab") || !strings.Contains(page, "nicht mehr bei uns") {
		t.Errorf("the page: %s", page)
	}
	if list := b.get("/portal/domains").body; !strings.Contains(list, `data-label="Bezahlt bis">–</td>`) {
		t.Errorf("the list: %s", list)
	}
}

func TestDomainList_SwitchNamesAutomaticRenewalUnlessTheTextDoes(t *testing.T) {
	t.Parallel()
	orders := &fakeOrders{}
	s := newEnvWith(t, orders.install)
	erika := s.newMember("erika@example.org")
	id := s.addDomainOf(erika.ID, "x", ".org", registrar.DomainActive)
	s.exec("UPDATE domains SET at_term_end = 'renew' WHERE id = $1", id)
	b := s.signedInBrowser("erika@example.org")
	if list := b.get("/portal/domains").body; !strings.Contains(list, ">ausschalten</button>") {
		t.Errorf("the list: %s", list)
	}
	s.exec(`INSERT INTO outgoing_transfers (id, customer_id, domain_id, name, tld, account, gaining, requested_at, acts_at, state, registry_status, due_at, created_at, updated_at)
		VALUES ('out_1', $1, $2, 'x.org', '.org', '', '', 1, 0, 'pending', '', 0, 1, 1)`, erika.ID, id)
	if list := b.get("/portal/domains").body; strings.Contains(list, ">ausschalten</button>") || !strings.Contains(list, ">Automatische Verlängerung ausschalten</button>") {
		t.Errorf("the list, leaving: %s", list)
	}
	orders.err = &order.ItemsRefused{Items: []order.RefusedItem{{Reason: registrar.Conflict(provision.NotRenewable)}}}
	if got := b.post("/portal/domains/"+id+"/renew", nil); got.status != http.StatusConflict || !strings.Contains(got.body, "Solange der Umzug läuft, verlängert die Registry sie nicht.") {
		t.Errorf("the refusal: %d %s", got.status, got.body)
	}
}

func TestFormerDomain_StaysReadableForItsFormerCustomerOnly(t *testing.T) {
	t.Parallel()
	s := newEnvWith(t, (&fakeOrders{}).install)
	erika, day := s.newMember("erika@example.org"), s.clock.now().AddDate(0, 0, -3)
	b := s.signedInBrowser("erika@example.org")
	if list := b.get("/portal/domains").body; !strings.Contains(list, "Sie haben noch keine Domains.") || strings.Contains(list, "Frühere Domains") {
		t.Errorf("an account that never had domains: %s", list)
	}
	for id, tld := range map[string]string{"dom_handed": ".de", "dom_deleted": ".org", "dom_paid": ".com"} {
		state := "closed"
		if id == "dom_paid" {
			state = "paid"
		}
		s.exec(`INSERT INTO term_ends (domain_id, term_end, customer_id, name, tld, account, state, step_at, due_at, held_at, deleted_at, ended_at, updated_at)
			VALUES ($1, $2, $3, $4, $5, 'desk', $6, 0, 0, 0, $7, $7, $7)`, id, day.AddDate(0, 0, -14).UnixMicro(), erika.ID, "teeladen"+tld, tld, state, day.UnixMicro())
	}
	s.exec(`INSERT INTO sent_notices (id, customer_id, domain_id, name, term_end, kind, recipient, subject, body, queued_at, sent_at, accepted, response)
		VALUES ('mai_1', $1, 'dom_handed', 'teeladen.de', 1, 'domain_closed', 'erika@example.org', 'ist nicht mehr bei uns', 'x', 1, 2, 1, '250 ok')`, erika.ID)
	written := day.UTC().Format("02.01.2006")
	for id, want := range map[string][]string{
		"dom_handed":  {"Am " + written + " haben wir sie an die Registry DENIC übergeben", "TRANSIT-Passwort", `href="https://transit.denic.de/"`, "ist nicht mehr bei uns"},
		"dom_deleted": {"seit " + written + " endgültig gelöscht", "auch Sie"},
	} {
		got := b.get("/portal/domains/" + id)
		for _, part := range want {
			if got.status != http.StatusOK || !strings.Contains(got.body, part) {
				t.Errorf("%s: %d lacks %q: %s", id, got.status, part, got.body)
			}
		}
	}
	if list := b.get("/portal/domains").body; !strings.Contains(list, "Sie haben keine Domains mehr.") || !strings.Contains(list, "Frühere Domains (2)") || !strings.Contains(list, "/portal/domains/dom_handed") {
		t.Errorf("the list: %s", list)
	}
	if home := b.get("/portal").body; !strings.Contains(home, "Sie haben keine Domains mehr") || strings.Contains(home, "Suchen Sie zuerst") {
		t.Errorf("the overview: %s", home)
	}
	s.newMember("mallory@example.org")
	stranger := s.signedInBrowser("mallory@example.org")
	for _, path := range []string{"/portal/domains/dom_handed", "/portal/domains/dom_paid"} {
		if got := stranger.get(path); got.status != http.StatusNotFound {
			t.Errorf("another customer sees %s: %d", path, got.status)
		}
	}
	if got := b.get("/portal/domains/dom_paid"); got.status != http.StatusNotFound {
		t.Errorf("a domain that was not lost: %d", got.status)
	}
}

func TestOverview_ExpiredCardOfRenewingDomainsNeedsAttention(t *testing.T) {
	t.Parallel()
	s := newEnvWith(t, (&fakeOrders{}).install)
	erika := s.newMember("erika@example.org")
	s.addDomain(erika.ID, "laufend", registrar.DomainActive)
	b := s.signedInBrowser("erika@example.org")
	const warning = "gilt nur bis 01/2020"
	for _, test := range []struct {
		choice, expires string
		want            bool
	}{{"renew", "2020-01", true}, {"renew", "2099-12", false}, {"", "2020-01", false}} {
		must(t, s.db.PutPaymentMethod(t.Context(), erika.ID, order.PaymentMethod{ProviderCustomer: "cus_x", ID: "pm_1", Label: testCard, Expires: test.expires}, time.Now()))
		s.exec("UPDATE saved_methods SET expires = $1", test.expires)
		s.exec("UPDATE domains SET at_term_end = $1", test.choice)
		if page := b.get("/portal").body; strings.Contains(page, warning) != test.want || test.want && !strings.Contains(page, "Zahlungsmittel ändern") {
			t.Errorf("%+v: %s", test, page)
		}
	}
}
