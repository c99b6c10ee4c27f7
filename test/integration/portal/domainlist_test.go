package portal

import (
	"context"
	"encoding/csv"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
	"github.com/dotkontor/dotkontor/internal/store/sqldb"
	"github.com/dotkontor/dotkontor/test/testkit"
)

// exec changes the database in ways that only registries and time do.
func (s *env) exec(text string, values ...any) {
	s.t.Helper()
	must(s.t, s.db.SQL().Write(s.t.Context(), func(tx sqldb.DBTX) error {
		_, err := tx.ExecContext(s.t.Context(), text, values...)
		return err
	}))
}

// runChanges executes queued domain changes during the test.
func (s *env) runChanges() {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); s.domains.Run(ctx) }()
	s.t.Cleanup(func() { cancel(); <-done })
}

var listedName = regexp.MustCompile(`<strong><a href="/portal/domains/dom_[a-z0-9]+">([^< ]+)`)

// listed returns the names on a page of the list.
func listed(page pageResponse) (names []string) {
	for _, match := range listedName.FindAllStringSubmatch(page.body, -1) {
		names = append(names, match[1])
	}
	return names
}

func TestDomainList_SortsAndFilters(t *testing.T) {
	t.Parallel()
	s := newEnvWith(t, (&fakeOrders{}).install)
	erika := s.newMember("erika@example.org")
	ids := map[string]string{}
	for i, d := range []struct {
		label, tld string
		status     registrar.DomainStatus
		days       int
	}{
		{"bald", ".de", registrar.DomainActive, 10},
		{"lange", ".org", registrar.DomainActive, 300},
		{"alt", ".de", registrar.DomainExpired, -5},
		{"neu", ".org", registrar.DomainPending, 0},
		{"weg", ".de", registrar.DomainTransferredOut, -400},
		{"mitte", ".de", registrar.DomainActive, 100},
	} {
		params := portfolio.AddParams{Customer: erika.ID, Name: registrar.NewName(d.label, d.tld), Status: d.status}
		if d.days != 0 {
			params.PaidUntil = s.clock.now().AddDate(0, 0, d.days)
		}
		added, err := s.portfolio.Add(t.Context(), registrar.Actor{Kind: registrar.ActorOperator, Through: "test"}, params)
		must(t, err)
		ids[d.label] = fmt.Sprintf("dom_0%d", i) + added.ID[len("dom_00"):] // in the order of their addition
		s.exec("UPDATE domains SET id = $1 WHERE id = $2", ids[d.label], added.ID)
	}
	s.exec("UPDATE domains SET registry_status = 'clientTransferProhibited ok' WHERE name = 'bald.de'")
	s.exec("UPDATE domains SET registry_status = 'ok', folder = 'Kunden', at_term_end = 'renew' WHERE name = 'mitte.de'")
	// Automatic renewal of lange.org begins with its next term.
	s.exec("UPDATE domains SET at_term_end = 'renew' WHERE name = 'lange.org'")
	s.exec("INSERT INTO renewals (domain_id, customer_id, name, tld, term_end, state, years, gross, announced_at, charge_at, updated_at) SELECT id, customer_id, name, tld, paid_until, 'stopped', 1, 1190, 1, 0, 1 FROM domains WHERE name = 'lange.org'")
	b := s.signedInBrowser("erika@example.org")
	for query, want := range map[string]string{
		"":                            "alt.de bald.de lange.org mitte.de neu.org weg.de",
		"sort=term":                   "alt.de bald.de mitte.de lange.org neu.org weg.de",
		"sort=status":                 "alt.de neu.org bald.de lange.org mitte.de weg.de",
		"sort=added":                  "mitte.de weg.de neu.org alt.de lange.org bald.de",
		"sort=term&state=active":      "bald.de mitte.de lange.org",
		"sort=term&state=pending":     "neu.org",
		"state=expiring":              "bald.de",
		"state=unlocked":              "mitte.de",
		"state=attention":             "alt.de bald.de lange.org",
		"tld=.org":                    "lange.org neu.org",
		"folder=Kunden":               "mitte.de",
		"auto=on":                     "lange.org mitte.de",
		"auto=off&state=active":       "bald.de",
		"auto=off":                    "alt.de bald.de neu.org",
		"q=l":                         "alt.de bald.de lange.org",
		"q=l&sort=added&tld=.de":      "alt.de bald.de",
		"sort=nonsense&auto=nonsense": "alt.de bald.de lange.org mitte.de neu.org weg.de",
		"folder=Gibt-es-nicht":        "",
		"state=%00":                   "",
	} {
		if got := strings.Join(listed(b.get("/portal/domains?"+query)), " "); got != want && query != "state=%00" {
			t.Errorf("%s: got %s, want %s", query, got, want)
		}
	}
	page := b.get("/portal/domains").body
	for _, option := range []string{`"attention">braucht Ihre Aufmerksamkeit (3)<`, `<span class="badge warn">bitte selbst verlängern</span>`, `"expiring">läuft in 30 Tagen ab (1)<`, `"unlocked">für Umzüge entsperrt (1)<`} {
		if !strings.Contains(page, option) {
			t.Errorf("the filter has no %s", option)
		}
	}
	if narrowed := b.get("/portal/domains?tld=.org").body; !strings.Contains(narrowed, "Gefundene Domains: 2") || strings.Contains(narrowed, "alle (6)") || strings.Contains(narrowed, "Aufmerksamkeit (2)") {
		t.Errorf("the list counts regardless of its filter: %s", narrowed)
	}
	if csv := b.get("/portal/domains.csv?q=weg").body; !strings.Contains(csv, "weg.de") || strings.Contains(csv, s.clock.now().AddDate(0, 0, -400).Format(time.DateOnly)) {
		t.Errorf("the file says until when a domain that has left is paid: %s", csv)
	}

	// Nothing can be decided about a domain that can't be restored any more.
	s.exec("UPDATE domains SET status = 'redemption', tld = '.be', at_term_end = 'renew' WHERE name = 'alt.de'") // .be has no redemption period
	page = b.get("/portal/domains").body
	if !strings.Contains(page, "Aufmerksamkeit (2)") || strings.Contains(page, "/portal/domains/"+ids["alt"]+"/auto-renew/off") {
		t.Errorf("a domain that can't be restored waits for its customer: %s", page)
	}
	if got := strings.Join(listed(b.get("/portal/domains?state=attention")), " "); got != "bald.de lange.org" {
		t.Errorf("attention: %s", got)
	}
}

func TestDomainList_EveryOrderPagesWithoutGapsOrRepeats(t *testing.T) {
	t.Parallel()
	s := newEnvWith(t, (&fakeOrders{}).install)
	erika := s.newMember("erika@example.org")
	const domains = 130
	for i := range domains {
		status := registrar.DomainStatuses()[i%len(registrar.DomainStatuses())]
		s.addDomain(erika.ID, fmt.Sprintf("name-%03d", i*37%domains), status)
	}
	b := s.signedInBrowser("erika@example.org")
	next := regexp.MustCompile(`<a href="([^"]+)" rel="next">`)
	for _, sort := range []string{"", "term", "status", "added"} {
		var names []string
		for page := "/portal/domains?size=50&sort=" + sort; page != ""; {
			got := b.get(page)
			names = append(names, listed(got)...)
			page = ""
			if more := next.FindStringSubmatch(got.body); more != nil {
				page = strings.ReplaceAll(more[1], "&amp;", "&")
			}
		}
		unique := slices.Compact(slices.Sorted(slices.Values(names)))
		if len(names) != domains || len(unique) != domains {
			t.Errorf("sorted by %q: %d names, %d different ones", sort, len(names), len(unique))
		}
	}
}

func TestDomainCSV_IsFilteredAndHarmless(t *testing.T) {
	t.Parallel()
	s := newEnvWith(t, (&fakeOrders{}).install)
	erika := s.newMember("erika@example.org")
	id := s.addDomain(erika.ID, "xn--mller-kva", registrar.DomainActive)
	s.addDomainOf(erika.ID, "anders", ".org", registrar.DomainActive)
	b := s.signedInBrowser("erika@example.org")
	labels := url.Values{"folder": {"=1+1"}, "note": {"@SUM(A1), \"Zitat\"\r\nzweite Zeile"}}
	if got := b.post("/portal/domains/"+id+"/labels", labels); got.status != http.StatusSeeOther {
		t.Fatalf("%d %s", got.status, got.body)
	}
	got := b.get("/portal/domains.csv?tld=.de")
	if got.status != http.StatusOK || got.header.Get("Content-Type") != "text/csv; charset=utf-8" || !strings.Contains(got.header.Get("Content-Disposition"), ".csv") {
		t.Fatalf("%d %v", got.status, got.header)
	}
	rows := germanCSV(t, got.body)
	if len(rows) != 2 || rows[0][0] != "Domain" || !strings.HasPrefix(got.body, "\ufeff") || !strings.HasSuffix(got.body, "\r\n") {
		t.Fatalf("%q", got.body)
	}
	if row := rows[1]; row[0] != "müller.de" || row[1] != "xn--mller-kva.de" || row[2] != "aktiv" || row[6] != "'=1+1" || row[7] != "'@SUM(A1), \"Zitat\"\nzweite Zeile" {
		t.Errorf("%q", row)
	}
	if page := b.get("/portal/domains/" + id); !strings.Contains(page.body, "<title>müller.de verwalten · dotkontor</title>") || !strings.Contains(page.body, "zweite Zeile</textarea>") {
		t.Errorf("the page lacks title or note: %s", page.body)
	}
}

// germanCSV reads a file of the German pages.
func germanCSV(t *testing.T, body string) [][]string {
	t.Helper()
	file := csv.NewReader(strings.NewReader(strings.TrimPrefix(body, "\ufeff")))
	file.Comma = ';'
	rows, err := file.ReadAll()
	must(t, err)
	return rows
}

func TestDomainCSV_SaysThatItIsIncomplete(t *testing.T) {
	t.Parallel()
	s := newEnvWith(t, (&fakeOrders{}).install)
	erika := s.newMember("erika@example.org")
	s.exec(`INSERT INTO domains (id, customer_id, name, tld, status, created_at, updated_at)
		WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $1)
		SELECT 'dom_' || i, $2, 'name-' || i || '.de', '.de', 'active', 1, 1 FROM n`, portfolio.MaxListed, erika.ID)
	b := s.signedInBrowser("erika@example.org")
	for _, complete := range []bool{true, false} {
		rows := germanCSV(t, b.get("/portal/domains.csv").body)
		want := portfolio.MaxListed + 1
		if !complete {
			want++
		}
		if last := rows[len(rows)-1][0]; len(rows) != want || strings.Contains(last, "unvollständig: Sie endet nach 20000 Domains") == complete {
			t.Errorf("complete %t: %d rows, the last one is %q", complete, len(rows), last)
		}
		if complete {
			s.addDomain(erika.ID, "eine-mehr", registrar.DomainActive)
		}
	}
}

func TestLabels_LimitsAndOwner(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	erika, otto := s.newMember("erika@example.org"), s.newMember("otto@example.org")
	id, others := s.addDomain(erika.ID, "eigene", registrar.DomainActive), s.addDomain(otto.ID, "fremde", registrar.DomainActive)
	b := s.signedInBrowser("erika@example.org")
	for _, wrong := range []url.Values{{"folder": {strings.Repeat("ä", 41)}}, {"note": {strings.Repeat("ä", 1001)}}, {"folder": {"a\x01b"}}} {
		if got := b.post("/portal/domains/"+id+"/labels", wrong); got.status != http.StatusUnprocessableEntity {
			t.Errorf("%v: %d", wrong, got.status)
		}
	}
	if got := b.post("/portal/domains/"+id+"/labels", url.Values{"note": {strings.Repeat("ä", 1001)}}); !strings.Contains(got.body, "Die Notiz darf höchstens 1000 Zeichen haben.") {
		t.Errorf("a long note: %s", got.body)
	}
	if got := b.post("/portal/domains/"+others+"/labels", url.Values{"note": {"meins"}}); got.status != http.StatusNotFound {
		t.Errorf("another customer's domain: %d", got.status)
	}
	for i := range portfolio.MaxFolders {
		one := s.addDomain(erika.ID, fmt.Sprintf("ordner-%d", i), registrar.DomainActive)
		must(t, s.portfolio.SetFolder(t.Context(), registrar.Actor{Kind: registrar.ActorPerson, Customer: erika.ID, Through: "ses_1"}, one, fmt.Sprint("Ordner ", i)))
	}
	if got := b.post("/portal/domains/"+id+"/labels", url.Values{"folder": {"einer zu viel"}}); got.status != http.StatusUnprocessableEntity || !strings.Contains(got.body, "höchstens 50 Ordner") {
		t.Errorf("%d %s", got.status, got.body)
	}
	if got := b.post("/portal/domains/"+id+"/labels", url.Values{"folder": {" Ordner  1 "}}); got.status != http.StatusSeeOther {
		t.Errorf("an existing folder: %d", got.status)
	}
}

func TestBulk_EachDomainHasItsOwnResult(t *testing.T) {
	t.Parallel()
	s := newEnvWith(t, (&fakeOrders{}).install)
	erika, otto := s.newMember("erika@example.org"), s.newMember("otto@example.org")
	one, gone := s.addDomain(erika.ID, "eins", registrar.DomainActive), s.addDomain(erika.ID, "weg", registrar.DomainTransferredOut)
	two, others := s.addDomain(erika.ID, "zwei", registrar.DomainActive), s.addDomain(otto.ID, "fremde", registrar.DomainActive)
	s.runChanges()
	b := s.signedInBrowser("erika@example.org")
	got := b.post("/portal/domain-actions", url.Values{"action": {"lock"}, "id": {one, two, gone, others, others}})
	if got.status != http.StatusSeeOther || !strings.HasPrefix(got.location(), "/portal/domain-actions/blk_") {
		t.Fatalf("%d %s %s", got.status, got.location(), got.body)
	}
	var page pageResponse
	testkit.Eventually(t, "locks", func() bool {
		page = b.get(got.location())
		return strings.Contains(page.body, "<p role=\"status\">Erledigt: eins.de, zwei.de. Nicht möglich: 2 Domains, darunter weg.de.</p>")
	})
	if !strings.Contains(page.body, "bei einem anderen Anbieter") || strings.Contains(page.body, "fremde.de") || strings.Count(page.body, ">Umzugssperre gesetzt<") != 2 {
		t.Errorf("%s", page.body)
	}
	for name, want := range map[string]bool{"eins.de": true, "zwei.de": true, "fremde.de": false} {
		if s.registry.lockedAt(name) != want {
			t.Errorf("%s is locked: %t", name, !want)
		}
	}
	changes, err := s.db.ListDomainChanges(t.Context(), one, 10)
	must(t, err)
	for range 3 { // a reload changes nothing
		b.get(got.location())
	}
	if len(changes) != 1 {
		t.Errorf("there are %d changes", len(changes))
	}
	if stranger := s.signedInBrowser("otto@example.org").get(got.location()); stranger.status != http.StatusNotFound {
		t.Errorf("another customer sees the result: %d", stranger.status)
	}
	for _, wrong := range []url.Values{{"action": {"lock"}}, {"action": {"lock"}, "id": {"../x"}}} {
		if got := b.post("/portal/domain-actions", wrong); got.status != http.StatusConflict || !strings.Contains(got.body, "mindestens eine Domain") {
			t.Errorf("%v: %d", wrong, got.status)
		}
	}
	many := url.Values{"action": {"lock"}}
	for i := range 201 {
		many.Add("id", fmt.Sprintf("dom_%026d", i))
	}
	if got := b.post("/portal/domain-actions", many); got.status != http.StatusConflict || !strings.Contains(got.body, "höchstens 200") {
		t.Errorf("201 domains: %d", got.status)
	}
	if got := b.post("/portal/domain-actions", url.Values{"action": {"sell"}, "id": {one}}); got.status != http.StatusNotFound {
		t.Errorf("an unknown action: %d", got.status)
	}
}

// lockedAt reports whether the registry has locked a name.
func (d *fakeRegistry) lockedAt(name string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.records[name].Locked()
}

func TestBulk_NameserversNeedRecentSignIn(t *testing.T) {
	t.Parallel()
	s := newEnvWith(t, (&fakeOrders{}).install)
	erika := s.newMember("erika@example.org")
	one, two := s.addDomain(erika.ID, "eins", registrar.DomainActive), s.addDomain(erika.ID, "zwei", registrar.DomainActive)
	s.runChanges()
	b := s.signedInBrowser("erika@example.org")
	chosen := url.Values{"action": {"nameservers"}, "all": {"yes"}, "page": {one + " " + two}}
	if got := b.post("/portal/domain-actions", chosen); got.status != http.StatusOK || !strings.Contains(got.body, `name="nameservers"`) || !strings.Contains(got.body, "zwei.de") {
		t.Fatalf("the form is missing: %d %s", got.status, got.body)
	}
	entered := url.Values{"action": {"nameservers"}, "confirmed": {"yes"}, "id": {one, two}, "nameservers": {"nur-einer.example"}}
	if got := b.post("/portal/domain-actions", entered); got.status != http.StatusUnprocessableEntity || !strings.Contains(got.body, "mehr Nameserver") || !strings.Contains(got.body, "nur-einer.example") {
		t.Errorf("too few nameservers: %d %s", got.status, got.body)
	}
	entered.Set("nameservers", "ns1.example.net\nns2.example.net")
	entered.Set("asked", "ns1.example.net\r\nns2.example.net")
	got := b.post("/portal/domain-actions", entered)
	testkit.Eventually(t, "nameservers", func() bool { return strings.Contains(b.get(got.location()).body, "Erledigt: eins.de, zwei.de.") })
	s.clock.advance(time.Hour)
	if page := b.get("/portal/domains").body; !strings.Contains(page, "Nameserver oder Inhaber ändern und Sperren aufheben können Sie nur kurz nach einer Anmeldung.") || strings.Contains(page, `value="holder"`) {
		t.Errorf("the list does not name the actions that it lacks: %s", page)
	}
	for _, action := range []string{"nameservers", "unlock", "holder"} {
		entered.Set("action", action)
		if got := b.post("/portal/domain-actions", entered); !strings.HasPrefix(got.location(), "/portal/sign-in-again?next=%2Fportal%2Fdomains") {
			t.Errorf("%s long after signing in: %d %s", action, got.status, got.location())
		}
	}
	if page := b.get("/portal/domains").body; strings.Contains(page, `value="unlock"`) || !strings.Contains(page, "/portal/sign-in-again") {
		t.Errorf("the list offers what is refused")
	}
	changes, err := s.db.ListDomainChanges(t.Context(), one, 10)
	must(t, err)
	if len(changes) != 1 || changes[0].Kind != domainchange.Nameservers {
		t.Errorf("%+v", changes)
	}
}

func TestBulk_RenewalsShareOneOrder(t *testing.T) {
	t.Parallel()
	c := &fakeOrders{base: "https://elsewhere.example"}
	s := newEnvWith(t, c.install)
	erika := s.newMember("erika@example.org")
	one, two := s.addDomain(erika.ID, "eins", registrar.DomainActive), s.addDomain(erika.ID, "zwei", registrar.DomainActive)
	b := s.signedInBrowser("erika@example.org")
	chosen := url.Values{"action": {"renew"}, "id": {one, two}}
	if got := b.post("/portal/domain-actions", chosen); got.location() != "/checkout/dotkontor_pay_x" || len(c.requests) != 1 || len(c.requests[0]) != 2 {
		t.Fatalf("%s, ordered %+v", got.location(), c.requests)
	}
	c.open = 2
	if page := b.get("/portal/domains").body; !strings.Contains(page, "2 × Verlängerung für 23,80") || !strings.Contains(page, `href="/checkout/dotkontor_pay_x"`) {
		t.Errorf("the list lacks the open order: %s", page)
	}
	pending := s.addDomain(erika.ID, "neu", registrar.DomainPending)
	if got := b.post("/portal/domain-actions", url.Values{"action": {"renew"}, "id": {pending}}); len(c.requests) != 1 || !strings.Contains(b.get(got.location()).body, "noch nicht bestätigt") {
		t.Errorf("a pending domain: %d %s, ordered %+v", got.status, got.location(), c.requests)
	}
	c.refused = []order.RefusedItem{{Name: "zwei.de", Kind: order.Renew, Reason: &registrar.Error{Kind: registrar.KindConflict, Code: order.BasketFull}}}
	got := b.post("/portal/domain-actions", chosen)
	if page := b.get(got.location()).body; !strings.Contains(page, "höchstens 100 Verlängerungen") || !strings.Contains(page, "In die Bestellung gelegt: eins.de. Verlängert wird nach der Zahlung.") || !strings.Contains(page, `href="/checkout/dotkontor_pay_x"`) {
		t.Errorf("%s: %s", got.location(), page)
	}
}

func TestBulk_RenewalsBeyondOrderLimitAreOneRequest(t *testing.T) {
	t.Parallel()
	c := &fakeOrders{base: "https://elsewhere.example"}
	s := newEnvWith(t, c.install)
	erika := s.newMember("erika@example.org")
	chosen := url.Values{"action": {"renew"}}
	for i := range order.MaxPortalItems + 1 {
		chosen.Add("id", s.addDomain(erika.ID, fmt.Sprintf("name-%03d", i), registrar.DomainActive))
	}
	s.signedInBrowser("erika@example.org").post("/portal/domain-actions", chosen)
	if len(c.requests) != 1 || len(c.requests[0]) != order.MaxPortalItems+1 {
		t.Errorf("%d requests", len(c.requests))
	}
}

func TestBulk_RefusedRenewalsKeepReasonsOfOthers(t *testing.T) {
	t.Parallel()
	refuse := func(name string, code registrar.Code) []order.RefusedItem {
		return []order.RefusedItem{{Name: name, Kind: order.Renew, Reason: &registrar.Error{Kind: registrar.KindConflict, Code: code}}}
	}
	c := &fakeOrders{
		base: "https://elsewhere.example", refused: refuse("eins.de", order.PaymentOpenElsewhere),
		err: &order.ItemsRefused{Items: refuse("zwei.de", "not_yours")},
	}
	s := newEnvWith(t, c.install)
	erika := s.newMember("erika@example.org")
	one, two := s.addDomain(erika.ID, "eins", registrar.DomainActive), s.addDomain(erika.ID, "zwei", registrar.DomainActive)
	b := s.signedInBrowser("erika@example.org")
	got := b.post("/portal/domain-actions", url.Values{"action": {"renew"}, "id": {one, two}})
	if page := b.get(got.location()).body; !strings.Contains(page, "Diese Verlängerung bezahlen Sie gerade.") || strings.Contains(page, "in der Bestellung") {
		t.Errorf("%s: %s", got.location(), page)
	}
}

func TestBulk_AutomaticRenewalNeedsConsentToEveryOffer(t *testing.T) {
	t.Parallel()
	s := newEnvWith(t, (&fakeOrders{}).install)
	erika := s.newMember("erika@example.org")
	ids := []string{s.addDomain(erika.ID, "eins", registrar.DomainActive), s.addDomain(erika.ID, "zwei", registrar.DomainActive)}
	s.saveMethod(erika.ID)
	b := s.signedInBrowser("erika@example.org")
	page := b.post("/portal/domain-actions", url.Values{"action": {"auto_renew_on"}, "id": append(ids, s.addDomain(erika.ID, "alt", registrar.DomainExpired), s.addDomain(erika.ID, "weg", registrar.DomainTransferredOut))}).tree(t)
	form := url.Values{}
	for _, input := range elements(page, "input") {
		if name := attribute(input, "name"); name != "" && attribute(input, "type") == "hidden" {
			form.Add(name, attribute(input, "value"))
		}
	}
	if len(form["offer"]) != 2 || !strings.Contains(text(page), "alt.de: Die Laufzeit ist vorbei.") {
		t.Fatalf("%v", form)
	}
	if got := b.post("/portal/domain-actions", form); got.location() != "" {
		t.Errorf("turned on without consent: %s", got.location())
	}
	form.Set("agree", "on")
	for _, id := range ids {
		form.Add("id", id)
	}
	form.Set("offer", form["offer"][0]) // the other one was not shown
	got := b.post("/portal/domain-actions", form)
	if result := b.get(got.location()).body; !strings.Contains(result, "Erledigt: eins.de. Nicht möglich: zwei.de.") {
		t.Errorf("%d %s", got.status, result)
	}
	off := url.Values{"action": {"auto_renew_off"}, "id": ids}
	if page := b.post("/portal/domain-actions", off); page.status != http.StatusOK || !strings.Contains(page.body, "Was sich ändert") ||
		strings.Count(page.body, `name="id"`) != 1 || !strings.Contains(page.body, "<li>zwei.de: Die automatische Verlängerung ist schon ausgeschaltet.") {
		t.Errorf("the confirmation: %d %s", page.status, page.body)
	}
	off.Set("confirmed", "yes")
	got = b.post("/portal/domain-actions", off)
	if result := b.get(got.location()).body; !strings.Contains(result, "Erledigt: eins.de, zwei.de.") {
		t.Errorf("%d %s", got.status, result)
	}
}

func TestBulk_SummaryNamesAFewDomainsAndTheFirstOfMore(t *testing.T) {
	t.Parallel()
	s := newEnvWith(t, (&fakeOrders{}).install)
	erika := s.newMember("erika@example.org")
	b := s.signedInBrowser("erika@example.org")
	move := url.Values{"action": {"folder"}, "folder": {"Kunden"}, "confirmed": {"yes"}}
	for _, label := range []string{"eins", "xn--mller-kva", "drei", "vier"} {
		move.Add("id", s.addDomain(erika.ID, label, registrar.DomainActive))
		want := map[int]string{
			3: "Erledigt: drei.de, eins.de, müller.de.", 4: "Erledigt: 4 Domains, darunter drei.de, eins.de, vier.de.",
		}[len(move["id"])]
		if page := b.get(b.post("/portal/domain-actions", move).location()).body; want != "" && !strings.Contains(page, `<p role="status">`+want+"</p>") {
			t.Errorf("%d domains: %s", len(move["id"]), page)
		}
	}
}

func TestBulk_LockOfLockedDomainSaysThatItWasLocked(t *testing.T) {
	t.Parallel()
	s := newEnvWith(t, (&fakeOrders{}).install)
	id := s.addDomain(s.newMember("erika@example.org").ID, "eins", registrar.DomainActive)
	_, err := s.db.SQL().Writer().ExecContext(t.Context(), "UPDATE domains SET registry_status = 'ok clientTransferProhibited' WHERE id = $1", id)
	must(t, err)
	b := s.signedInBrowser("erika@example.org")
	got := b.post("/portal/domain-actions", url.Values{"action": {"lock"}, "id": {id}}) // no worker runs
	if page := b.get(got.location()).body; !strings.Contains(page, "<p role=\"status\">War bereits gesperrt: eins.de.</p>") || !strings.Contains(page, ">war bereits gesperrt<") {
		t.Errorf("%s", page)
	}
}

func TestBulk_LockOfExtensionWithoutLockIsNoError(t *testing.T) {
	t.Parallel()
	s := newEnvWith(t, (&fakeOrders{}).install)
	s.registry.noLock = true
	id := s.addDomain(s.newMember("erika@example.org").ID, "eins", registrar.DomainActive)
	b := s.signedInBrowser("erika@example.org")
	if page := b.post("/portal/domain-actions", url.Values{"action": {"unlock"}, "id": {id}}).body; !strings.Contains(page, "<li>eins.de: Diese Endung kennt keine Sperre.</li>") {
		t.Errorf("nothing to unlock: %s", page)
	}
	got := b.post("/portal/domain-actions", url.Values{"action": {"lock"}, "id": {id}})
	if page := b.get(got.location()).body; !strings.Contains(page, "<p role=\"status\">Endung ohne Sperre: eins.de.</p>") || strings.Contains(page, "badge bad") || !strings.Contains(page, "Diese Endung kennt keine Sperre.") {
		t.Errorf("%s", page)
	}
}

func TestBulk_NameserversAreConfirmedByOneMail(t *testing.T) {
	t.Parallel()
	s := newEnvWith(t, (&fakeOrders{}).install)
	erika := s.newMember("erika@example.org")
	var ids []string
	for _, label := range []string{"eins", "zwei", "drei"} {
		ids = append(ids, s.addDomain(erika.ID, label, registrar.DomainActive))
	}
	s.runChanges()
	b := s.signedInBrowser("erika@example.org")
	got := b.post("/portal/domain-actions", url.Values{
		"action": {"nameservers"}, "confirmed": {"yes"}, "id": ids, "nameservers": {"ns1.example.net\nns2.example.net"}, "asked": {"ns1.example.net\nns2.example.net"},
	})
	testkit.Eventually(t, "nameservers", func() bool {
		return strings.Contains(b.get(got.location()).body, "Erledigt: drei.de, eins.de, zwei.de.")
	})
	s.clock.advance(time.Minute)
	mail := s.waitForMail(registrar.MailDomainChanged)
	if mail.Data["items"] != "3" || "/portal/domain-actions/"+mail.Data["bulk"] != got.location() || mail.Data["nameservers"] != "ns1.example.net\nns2.example.net" {
		t.Errorf("%v", mail.Data)
	}
}

func TestBulk_AutomaticRenewalsAreConfirmedByOneMail(t *testing.T) {
	t.Parallel()
	s := newEnvWith(t, (&fakeOrders{}).install)
	erika := s.newMember("erika@example.org")
	s.saveMethod(erika.ID)
	var ids []string
	for _, label := range []string{"zwei", "eins", "drei"} {
		ids = append(ids, s.addDomain(erika.ID, label, registrar.DomainActive))
	}
	b := s.signedInBrowser("erika@example.org")
	form := url.Values{"agree": {"on"}}
	for _, input := range elements(b.post("/portal/domain-actions", url.Values{"action": {"auto_renew_on"}, "id": ids}).tree(t), "input") {
		if name := attribute(input, "name"); name != "" && attribute(input, "type") == "hidden" {
			form.Add(name, attribute(input, "value"))
		}
	}
	for _, action := range []struct {
		kind   registrar.MailKind
		fields url.Values
	}{
		{registrar.MailRenewalOn, form},
		{registrar.MailRenewalOff, url.Values{"action": {"auto_renew_off"}, "confirmed": {"yes"}, "id": ids}},
	} {
		b.post("/portal/domain-actions", action.fields)
		s.clock.advance(time.Minute)
		mail := s.waitForMail(action.kind)
		if mail.Data["items"] != "3" || mail.Data["item1_name"] != "drei.de" || mail.Data["item2_name"] != "eins.de" || mail.Data["item3_name"] != "zwei.de" {
			t.Errorf("%s: %v", action.kind, mail.Data)
		}
	}
	for _, id := range ids {
		testkit.Eventually(t, "evidence", func() bool {
			sent, err := s.db.ListSentNoticesOfDomain(t.Context(), id, 10)
			return err == nil && len(sent) == 2 && sent[0].Kind == registrar.MailRenewalOn && sent[1].Kind == registrar.MailRenewalOff
		})
	}
}

func TestBulk_UnlockListsWhatChangesFirst(t *testing.T) {
	t.Parallel()
	s := newEnvWith(t, (&fakeOrders{}).install)
	erika := s.newMember("erika@example.org")
	locked, open := s.addDomain(erika.ID, "gesperrt", registrar.DomainActive), s.addDomain(erika.ID, "offen", registrar.DomainActive)
	s.exec("UPDATE domains SET registry_status = 'clientTransferProhibited' WHERE id = $1", locked)
	s.exec("UPDATE domains SET registry_status = 'ok' WHERE id = $1", open)
	b := s.signedInBrowser("erika@example.org")
	chosen := url.Values{"action": {"unlock"}, "id": {locked, open}}
	page := b.post("/portal/domain-actions", chosen)
	if page.status != http.StatusOK || strings.Count(page.body, `name="id"`) != 1 || !strings.Contains(page.body, `value="`+locked+`"`) ||
		!strings.Contains(page.body, "<li>offen.de: Diese Domain ist schon für Umzüge entsperrt.") {
		t.Errorf("%d %s", page.status, page.body)
	}
	if changes, err := s.db.ListDomainChanges(t.Context(), locked, 10); err != nil || len(changes) != 0 {
		t.Errorf("changed without confirmation: %+v, %v", changes, err)
	}
	if page := b.post("/portal/domain-actions", url.Values{"action": {"unlock"}, "id": {open}}); page.status != http.StatusOK || strings.Contains(page.body, `name="confirmed"`) {
		t.Errorf("nothing to change: %d %s", page.status, page.body)
	}
	chosen.Set("confirmed", "yes")
	if got := b.post("/portal/domain-actions", chosen); !strings.HasPrefix(got.location(), "/portal/domain-actions/blk_") {
		t.Errorf("%d %s", got.status, got.body)
	}
	if changes, err := s.db.ListDomainChanges(t.Context(), locked, 10); err != nil || len(changes) != 1 || changes[0].Kind != domainchange.Unlock {
		t.Errorf("%+v, %v", changes, err)
	}
}
