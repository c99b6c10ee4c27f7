package portal

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
)

// fakeRegistry has every name and returns what a test sets.
type fakeRegistry struct {
	mu      sync.Mutex
	records map[string]domainchange.Record
	err     error
	codes   []string

	maxYears int
	noLock   bool
	noCode   bool
}

func (d *fakeRegistry) Capabilities(tld string) domainchange.Capabilities {
	return domainchange.Capabilities{NoHold: tld == ".uk", MinNameservers: 2, MaxNameservers: 13, Lock: !d.noLock, Code: !d.noCode, CodeLength: 16, CodeDays: 30, Contacts: true, MaxYears: d.maxYears}
}

func (d *fakeRegistry) FetchRecord(_ context.Context, name string) (domainchange.Record, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.records[name], d.err
}

func (d *fakeRegistry) ApplyChange(_ context.Context, task domainchange.Task) (domainchange.Result, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	record := d.records[task.Name]
	switch task.Kind {
	case domainchange.Nameservers:
		if len(record.DS) > 0 && !task.Immediate {
			return domainchange.Result{Signed: true, Record: record}, d.err
		}
		record.Nameservers = task.Nameservers
	case domainchange.AddDS:
		record.DS = append(record.DS, task.DS)
	case domainchange.RemoveAllDS:
		record.DS = nil
	case domainchange.RemoveDS:
		record.DS = slices.DeleteFunc(record.DS, func(ds domainchange.DS) bool { return ds == task.DS })
	case domainchange.Lock, domainchange.Secure:
		record.Statuses = []string{"clientTransferProhibited"}
	case domainchange.Unlock:
		record.Statuses = nil
	case domainchange.AuthCode:
		d.codes = append(d.codes, task.Code)
	case domainchange.UpdateRegistrant:
		record.Handle = task.Handle
	case domainchange.Hold, domainchange.Release:
	}
	if d.err == nil {
		d.records[task.Name] = record
	}
	return domainchange.Result{Record: record}, d.err
}

func TestDomainPage_ChangesReachTheRegistry(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	id := s.addDomain(s.newMember("erika@example.org").ID, "eigene", registrar.DomainActive)
	b := s.signedInBrowser("erika@example.org")
	path := "/portal/domains/" + id
	if list := b.get("/portal/domains").body; !strings.Contains(list, `<a href="`+path+`">eigene.de</a>`) {
		t.Fatalf("the list does not link to the page: %s", list)
	}
	const ds = "2371 13 2 1F987CC6583E92DF0890718C42A50A6E4C2C6F6F3E0C0DBE9C30BFD40AE8BC1F"
	for _, step := range []struct {
		action string
		fields url.Values
		says   string
	}{
		{"/nameservers", url.Values{"nameservers": {"ns1.example.net\r\nns1.eigene.de 192.0.2.1"}}, "ns1.eigene.de 192.0.2.1"},
		{"/ds", url.Values{"ds": {"eigene.de. IN DS " + ds}}, ds},
		{"/lock", url.Values{"on": {"yes"}}, "Die Domain kann nicht umziehen."},
		{"/lock", nil, "Wer den Auth-Code kennt, kann die Domain"},
	} {
		if got := b.post(path+step.action, step.fields); got.status != http.StatusSeeOther || got.location() != path {
			t.Fatalf("%s: %d %s", step.action, got.status, got.body)
		}
		if mail := s.waitForMail(registrar.MailDomainChanged); mail.Data["domain"] != "eigene.de" {
			t.Errorf("%s: the mail contains %v", step.action, mail.Data)
		}
		if got := b.get(path); !strings.Contains(got.body, step.says) || !strings.Contains(got.body, `class="note good"`) {
			t.Errorf("%s: the page lacks %q: %s", step.action, step.says, got.body)
		}
	}
	if got := b.post(path+"/ds/remove", url.Values{"ds": {ds}}); got.status != http.StatusSeeOther || len(s.registry.records["eigene.de"].DS) != 0 {
		t.Errorf("the DS record was not removed: %d", got.status)
	}
	if got := b.get(path).body; strings.Count(got, "Browser") < 5 || !strings.Contains(got, "DS-Eintrag entfernt") {
		t.Errorf("the history is incomplete: %s", got)
	}
}

// The registry's answer to a renewal is newer than the record that the page has.
func TestDomainPage_SignedDomainSaysWhatHappensToDNSSEC(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	path, b := "/portal/domains/"+s.addDomain(s.newMember("erika@example.org").ID, "eigene", registrar.DomainActive), s.signedInBrowser("erika@example.org")
	const ds = "2371 13 2 1F987CC6583E92DF0890718C42A50A6E4C2C6F6F3E0C0DBE9C30BFD40AE8BC1F"
	if got := b.post(path+"/ds", url.Values{"ds": {"eigene.de. IN DS " + ds}}); got.status != http.StatusSeeOther {
		t.Fatalf("got %d", got.status)
	}
	if got := b.get(path).body; !strings.Contains(got, "von da an ist DNSSEC aus") || !strings.Contains(got, "der DS-Eintrag kommt dadurch aber nicht zurück") {
		t.Errorf("the form does not say that DNSSEC ends: %s", got)
	}
	if got := b.post(path+"/nameservers", url.Values{"nameservers": {"ns1.neu.example\nns2.neu.example"}}); got.status != http.StatusSeeOther {
		t.Fatalf("got %d", got.status)
	}
	if got := b.get(path).body; !regexp.MustCompile(`DNSSEC ist damit aus\. Die Nameserver ändern wir am <time[^>]*>[0-9]{2}\.[0-9]{2}\.[0-9]{4}`).MatchString(got) {
		t.Errorf("the confirmation names no day: %s", got)
	}
	if got := b.get(path).body; !strings.Contains(got, "Sperre und Auth-Code können Sie erst wieder ändern, wenn die Nameserver geändert sind, voraussichtlich am <time") ||
		!strings.Contains(got, "Weitere Änderungen sind möglich, sobald die Nameserver geändert sind, voraussichtlich am <time") || strings.Contains(got, "Wieder hinzufügen") {
		t.Errorf("the page does not say until when changes wait: %s", got)
	}
	if got := b.post(path+"/cancel", nil); got.status != http.StatusSeeOther {
		t.Fatalf("got %d", got.status)
	}
	if got := b.get(path).body; !strings.Contains(got, "bleibt DNSSEC aus, bis Sie wieder einen hinzufügen") ||
		!strings.Contains(got, `<input type="hidden" name="ds" value="`+ds+`"><button class="second small" aria-label="DS-Eintrag 2371 wieder hinzufügen">`) {
		t.Errorf("after the cancellation: %s", got)
	}
	if got := b.post(path+"/ds", url.Values{"ds": {ds}}); got.status != http.StatusSeeOther {
		t.Fatalf("got %d", got.status)
	}
	if got := b.get(path).body; strings.Contains(got, "Wieder hinzufügen") || strings.Contains(got, "DNSSEC ist aus") || !strings.Contains(got, "Eingeschaltet mit diesen DS-Einträgen") {
		t.Errorf("with the record back: %s", got)
	}
}

func TestDomainPage_RecordIsReadAgainAfterRenewal(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	id := s.addDomainOf(s.newMember("erika@example.org").ID, "eigene", ".org", registrar.DomainActive)
	before := time.Date(2031, 11, 18, 12, 0, 0, 0, time.UTC)
	after := before.AddDate(5, 0, 0)
	must(t, s.db.PutRegistryRecord(t.Context(), id, domainchange.Record{Expires: before, ReadAt: time.Now()}))
	s.registry.records["eigene.org"] = domainchange.Record{Expires: after}
	b := s.signedInBrowser("erika@example.org")
	if page := b.get("/portal/domains/" + id).body; !strings.Contains(page, "18.11.2031") {
		t.Fatalf("a new record is read again: %s", page)
	}
	was, _, err := s.db.DomainByName(t.Context(), "eigene.org")
	must(t, err)
	now := was
	now.RegistryExpires = after
	if stored, err := s.db.UpdateDomainFromRegistry(t.Context(), was, now, nil); err != nil || !stored {
		t.Fatal(stored, err)
	}
	if page := b.get("/portal/domains/" + id).body; !strings.Contains(page, "18.11.2036") || strings.Contains(page, "18.11.2031") {
		t.Errorf("the page shows the record from before the renewal: %s", page)
	}
}

func TestDomainPage_AuthCodeShownOnce(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	id := s.addDomain(s.newMember("erika@example.org").ID, "eigene", registrar.DomainActive)
	b := s.signedInBrowser("erika@example.org")
	path := "/portal/domains/" + id
	got := b.post(path+"/auth-code", nil)
	code := s.registry.codes[0]
	if got.status != http.StatusOK || !strings.Contains(got.body, ">"+strings.ReplaceAll(code, "+", "&#43;")+"</output>") {
		t.Fatalf("the response is %d and lacks the code: %s", got.status, got.body)
	}
	for _, page := range []string{path, "/portal/activity"} {
		if strings.Contains(b.get(page).body, code) {
			t.Errorf("%s shows it again", page)
		}
	}
	mail := s.waitForMail(registrar.MailAuthCode)
	if strings.Contains(fmt.Sprint(mail), code) || strings.Contains(s.log.String(), code) || strings.Contains(s.log.String(), "eigene.de") {
		t.Error("the code is in a mail, or it or the name is in the log")
	}
	s.clock.advance(registrar.RecentSignIn + time.Minute)
	if got := b.post(path+"/auth-code", nil); got.location() != "/portal/sign-in-again?next="+url.QueryEscape(path) {
		t.Errorf("an old sign-in redirects to %d %s", got.status, got.location())
	}
	if page := b.get(path).body; strings.Contains(page, path+"/auth-code") || !strings.Contains(page, "/portal/sign-in-again?next=") || len(s.registry.codes) != 1 {
		t.Errorf("the page still offers it: %s", page)
	}
}

func TestDomainPage_GetOfFormTargetRedirectsToDomain(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	path := "/portal/domains/" + s.addDomain(s.newMember("erika@example.org").ID, "eigene", registrar.DomainActive)
	b := s.signedInBrowser("erika@example.org")
	for _, form := range []string{"/nameservers", "/auth-code", "/ds", "/lock", "/renew"} {
		if got := b.get(path + form); got.status != http.StatusSeeOther || got.location() != path {
			t.Errorf("%s: %d %s", form, got.status, got.location())
		}
	}
	if got := b.get("/portal/domain-actions"); got.location() != "/portal/domains" {
		t.Errorf("the target of actions for many domains: %d %s", got.status, got.location())
	}
	if got := b.get(path + "/other"); got.status != http.StatusNotFound {
		t.Errorf("an unknown page: %d", got.status)
	}
}

func TestDomainPage_ErrorsShownAtFields(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	id := s.addDomain(s.newMember("erika@example.org").ID, "eigene", registrar.DomainActive)
	b := s.signedInBrowser("erika@example.org")
	path := "/portal/domains/" + id
	for typed, says := range map[string]string{
		"ns1.example.net": "mehr Nameserver", "ns1.example.net\nns1.example.net": "doppelt angegeben", "ns2.example.net\nns1": "Zeile 2 („ns1“): Dieser Nameserver hat keinen gültigen Namen",
		"ns1.eigene.de\nns2.example.net": "braucht eine IP-Adresse", "ns1.example.net 192.0.2.1\nns2.example.net": "Nur Nameserver unter der Domain",
		"192.0.2.1\n192.0.2.2": "keinen gültigen Namen", "ns1.example.net, ns2.example.net": "Bitte einen pro Zeile",
	} {
		got := b.post(path+"/nameservers", url.Values{"nameservers": {typed}})
		if got.status != http.StatusUnprocessableEntity || !strings.Contains(got.body, says) || !strings.Contains(got.body, typed+"</textarea>") {
			t.Errorf("%q: %d, and the page lacks %q or the input", typed, got.status, says)
		}
		if !strings.Contains(got.body, `role="alert">Nicht gespeichert. Bitte prüfen Sie: <a href="#nameservers">`) || !strings.Contains(got.body, `aria-invalid="true" autofocus`) {
			t.Errorf("%q: no summary at the top, or the field has no focus", typed)
		}
		if !strings.Contains(got.body, `name="next" value="`+path+`"`) {
			t.Errorf("%q: a change of language does not return to the domain", typed)
		}
	}
	for typed, says := range map[string]string{"2371 13 2": "ungültig", "2371 13 1 AABB": "nicht mehr sicher", "2371 13 2 AABB": "ungültig"} {
		if got := b.post(path+"/ds", url.Values{"ds": {typed}}); got.status != http.StatusUnprocessableEntity || !strings.Contains(got.body, says) || !strings.Contains(got.body, `value="`+typed+`"`) {
			t.Errorf("%q: %d", typed, got.status)
		}
	}
	s.registry.err = &registrar.Error{Kind: registrar.KindConflict, Code: "epp_status_prohibits"}
	if got := b.post(path+"/lock", nil); got.status != http.StatusConflict || !strings.Contains(got.body, "Der Status der Domain lässt das") {
		t.Errorf("a refusal: %d %s", got.status, got.body)
	}
	s.registry.err = registrar.Fault(registrar.FaultTimeout, "epp.example", nil)
	if got := b.post(path+"/lock", nil); got.status != http.StatusSeeOther {
		t.Errorf("an unavailable registry: %d %s", got.status, got.body)
	}
	got := b.get(path)
	if !strings.Contains(got.body, "an die Registry übermittelt") || got.header.Get("Refresh") != "3" || strings.Contains(got.body, path+"/nameservers") {
		t.Errorf("the page of an open change: %s", got.body)
	}
}

func TestDomainPage_EachStatusExplainsOptions(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	erika := s.newMember("erika@example.org")
	b := s.signedInBrowser("erika@example.org")
	for status, says := range map[registrar.DomainStatus]string{
		registrar.DomainPending: "noch nicht bestätigt", registrar.DomainExpired: " abgelaufen.", registrar.DomainRedemption: "Die Domain ist gelöscht",
		registrar.DomainTransit: "liegt bei DENIC", registrar.DomainTransferredOut: "bei einem anderen Anbieter",
	} {
		id := s.addDomain(erika.ID, "stand-"+strings.ReplaceAll(string(status), "_", "-"), status)
		if err := s.db.PutRegistryRecord(t.Context(), id, domainchange.Record{ReadAt: time.Now()}); err != nil {
			t.Fatal(err)
		}
		got := b.get("/portal/domains/" + id)
		if got.status != http.StatusOK || !strings.Contains(got.body, says) || strings.Contains(got.body, id+"/nameservers") {
			t.Errorf("%s: %d %s", status, got.status, got.body)
		}
		if warned := strings.Contains(got.body, "Wer den Auth-Code kennt"); warned != (status == registrar.DomainExpired) {
			t.Errorf("%s: the page warns of transfers: %t", status, warned)
		}
		if leaves := strings.Contains(got.body, id+"/auth-code"); leaves != (status == registrar.DomainExpired) {
			t.Errorf("%s: the auth code is offered: %t", status, leaves)
		}
	}
}

func TestDomainList_SearchFilterAndPages(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	erika, other := s.newMember("erika@example.org"), s.newMember("otto@example.org")
	for i := range portfolio.PageSize + 5 {
		s.addDomain(erika.ID, fmt.Sprintf("viele-%03d", i), registrar.DomainActive)
	}
	s.addDomain(erika.ID, "xn--mller-kva", registrar.DomainExpired)
	s.addDomain(other.ID, "viele-fremd", registrar.DomainActive)
	b := s.signedInBrowser("erika@example.org")
	rows := func(body string) int { return strings.Count(body, `<tr><td class="choose">`) }
	first := b.get("/portal/domains").body
	if rows(first) != portfolio.PageSize || strings.Contains(first, "fremd") || !strings.Contains(first, "alle (56)") || !strings.Contains(first, "abgelaufen (1)") {
		t.Errorf("the first page has %d rows", rows(first))
	}
	_, rest, found := strings.Cut(first, `<a href="/portal/domains?after=`)
	more, _, _ := strings.Cut(rest, `"`)
	if second := b.get("/portal/domains?after=" + strings.ReplaceAll(more, "&amp;", "&")).body; !found || rows(second) != 6 || !strings.Contains(second, "viele-054.de") {
		t.Errorf("the second page has %d rows", rows(second))
	}
	for query, want := range map[string]int{
		"?q=viele-00": 10, "?q=VIELE-001.de": 1, "?q=fremd": 0, "?q=%25": 0, "?q=_": 0, "?state=expired": 1, "?state=nonsense": 0, "?q=m%C3%BCller": 1,
		"?q=viele&state=expired": 0, "?after=viele-053.de": 3,
	} {
		if got := b.get("/portal/domains" + query); got.status != http.StatusOK || rows(got.body) != want {
			t.Errorf("%s: %d with %d rows, want %d", query, got.status, rows(got.body), want)
		}
	}
}

// A dispute that restricts nameservers leaves the lock and all unrestricted changes
// available, after signing in again.
func TestDomainPage_LockHidesOnlyForbiddenActions(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	id := s.addDomain(s.newMember("erika@example.org").ID, "streit", registrar.DomainActive)
	s.forbidden = map[domainchange.ChangeKind]registrar.Code{domainchange.Nameservers: domainchange.DomainRestricted, domainchange.AddDS: domainchange.DomainRestricted, domainchange.RemoveDS: domainchange.DomainRestricted}
	b := s.signedInBrowser("erika@example.org")
	path := "/portal/domains/" + id
	page := b.get(path).body
	if !strings.Contains(page, "Wegen einer Sperre geht das zurzeit nicht.") || strings.Contains(page, path+"/nameservers") || !strings.Contains(page, path+"/auth-code") {
		t.Errorf("the page is %s", page)
	}
	s.clock.advance(registrar.RecentSignIn + time.Minute)
	if page := b.get(path).body; !strings.Contains(page, "/portal/sign-in-again?next=") {
		t.Errorf("the page does not link to the sign-in: %s", page)
	}
}

func TestActivity_NamesAreReadable(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	id := s.addDomain(s.newMember("erika@example.org").ID, "xn--ruecklufer-v5a", registrar.DomainActive)
	b := s.signedInBrowser("erika@example.org")
	b.post("/portal/domains/"+id+"/auth-code", nil)
	if page := b.get("/portal/activity").body; !strings.Contains(page, "Auth-Code angezeigt: rueckläufer.de (xn--ruecklufer-v5a.de)") {
		t.Errorf("the page: %s", page)
	}
}
