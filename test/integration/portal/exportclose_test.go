package portal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/admin"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/registrar/inquiry"
	"github.com/dotkontor/dotkontor/internal/registrar/retention"
	"github.com/dotkontor/dotkontor/internal/registrar/withdrawal"
	"github.com/dotkontor/dotkontor/internal/web/portal"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

var registrantForm = url.Values{
	"kind": {"person"}, "name": {"Erika Mustermann"}, "street": {"Heidestraße 17"}, "postal_code": {"51147"}, "city": {"Köln"},
	"country": {"DE"}, "phone": {"+49 221 123456"},
}

func TestExport_HoldsAllDataAndNoSecret(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	erika := s.newMember("erika@example.org")
	kaffee := s.addDomain(erika.ID, "kaffee", registrar.DomainActive)
	b := s.signedInBrowser("erika@example.org")
	b.post("/portal/profile/registrant", registrantForm)
	b.post("/portal/tokens", url.Values{"name": {"Laptop"}, "life": {"never"}})
	linked := s.newAgent("Einkaufshilfe")
	s.newAgent("Andere")
	b.post("/portal/agents/"+linked+"/link", nil)
	if _, _, err := s.domains.RequestChange(t.Context(), registrar.Actor{
		Kind: registrar.ActorPerson, Customer: erika.ID, Through: "ses_1", SignedInAt: s.clock.now(),
	}, kaffee, domainchange.ChangeRequest{Kind: domainchange.Unlock}); err != nil {
		t.Fatal(err)
	}
	adminService, err := admin.New(admin.Config{Store: s.db, Now: s.clock.now})
	must(t, err)
	_, _, err = adminService.SetLock(t.Context(), cliOperator, admin.LockRequest{
		Name: "kaffee.de", Cause: admin.Court, Reason: "Beschluss 312 O 99/26", Restrictions: []admin.Restriction{admin.Renewal}, ReviewAt: s.clock.now().Add(time.Hour),
	})
	must(t, err)
	for _, address := range []string{"Erika@Example.org", "max@example.org"} {
		must(t, s.db.AddWithdrawalNotice(t.Context(), withdrawal.Notice{
			ID: "dcl_" + address, Kind: withdrawal.Withdrawal, Name: "Erika Mustermann", Email: address, Contract: "Bestellung von " + address,
			Language: "de", At: s.clock.now(),
		}, nil, time.Now()))
	}
	inquiries, err := inquiry.New(inquiry.Config{Store: s.db, Now: s.clock.now})
	must(t, err)
	for _, from := range []struct{ customer, address string }{{erika.ID, "buero@example.org"}, {"", "Erika@Example.org"}, {"", "max@example.org"}, {"cus_max", "erika@example.org"}} {
		_, err := inquiries.Submit(t.Context(), registrar.Actor{Kind: registrar.ActorPerson, Customer: from.customer}, inquiry.Inquiry{
			Name: "Erika", Email: from.address, Topic: "other", Message: "Nachricht von " + from.customer + from.address,
		})
		must(t, err)
	}
	got := b.get("/portal/profile/export")
	if got.status != http.StatusOK || !strings.HasPrefix(got.header.Get("Content-Disposition"), "attachment;") ||
		got.header.Get("Cache-Control") != "no-store" {
		t.Fatalf("%d %v", got.status, got.header)
	}
	var all struct {
		Account    struct{ Email string }
		Registrant struct{ Name, City string }
		Domains    []struct{ Name, Status string }
		Tokens     []struct{ Name string }
		Sessions   []struct{ Address string }
		Agents     []struct{ Name string }
		Activity   []struct{ Action string }
		Changes    []struct{ Domain, Kind, State string }
		Locks      []struct {
			Domain, Reason string
			Restrictions   []string
		}
		Declarations []struct{ Kind, Contract string }
		Inquiries    []struct{ Message string }
	}
	must(t, json.Unmarshal([]byte(got.body), &all))
	if all.Account.Email != "erika@example.org" || all.Registrant.City != "Köln" || len(all.Domains) != 1 || all.Domains[0].Name != "kaffee.de" ||
		len(all.Tokens) != 1 || all.Tokens[0].Name != "Laptop" || len(all.Sessions) != 1 || len(all.Activity) < 3 ||
		len(all.Agents) != 1 || all.Agents[0].Name != "Einkaufshilfe" || len(all.Changes) != 1 || all.Changes[0].State != "done" ||
		len(all.Locks) != 1 || all.Locks[0].Reason != "Beschluss 312 O 99/26" || len(all.Locks[0].Restrictions) != 1 ||
		len(all.Declarations) != 1 || all.Declarations[0].Contract != "Bestellung von Erika@Example.org" ||
		len(all.Inquiries) != 2 || !strings.Contains(got.body, "buero@example.org") || strings.Contains(got.body, "max@") || strings.Contains(got.body, "cus_max") {
		t.Errorf("%s", got.body)
	}
	for _, never := range []string{password, b.cookie("dotkontor"), "dotkontor_live_", "argon2", "hash"} {
		if strings.Contains(got.body, never) {
			t.Errorf("the export contains %q", never)
		}
	}
	s.clock.advance(time.Hour)
	if got := b.get("/portal/profile/export"); got.status != http.StatusSeeOther || !strings.Contains(got.location(), "/portal/sign-in-again") {
		t.Errorf("after an hour: %d %s", got.status, got.location())
	}
}

func TestCloseAccount_EndsAccessAndFreesAddress(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	erika := s.newMember("erika@example.org")
	b := s.signedInBrowser("erika@example.org")
	b.post("/portal/profile/registrant", registrantForm)
	b.post("/portal/tokens", url.Values{"name": {"Laptop"}, "life": {"never"}})
	other := s.signedInBrowser("erika@example.org")
	if got := b.post("/portal/profile/close", url.Values{}); got.status != http.StatusUnprocessableEntity {
		t.Errorf("without the confirmation: %d", got.status)
	}
	kept := func(page string) (found int) { // each with its last day
		for _, rule := range retention.RulesOfKept() {
			found += strings.Count(page, ">"+ui.FormatDate("de", rule.Until(s.clock.now()))+"</td>")
		}
		return found
	}
	if page := b.get("/portal/profile/close").body; kept(page) < len(retention.RulesOfKept()) || !strings.Contains(page, "§ 257 HGB") {
		t.Errorf("the page does not say what is kept: %s", page)
	}
	got := b.post("/portal/profile/close", url.Values{"sure": {"on"}})
	if kept(got.body) < len(retention.RulesOfKept()) {
		t.Errorf("the result does not say what is kept: %s", got.body)
	}
	if got.status != http.StatusOK || !strings.Contains(got.body, "Ihr Konto ist geschlossen") || b.cookie("dotkontor") != "" {
		t.Fatalf("%d %s", got.status, got.body)
	}
	if mail := s.waitForMail(registrar.MailAccountClosed); mail.To != "erika@example.org" || mail.Language != "de" {
		t.Errorf("%+v", mail)
	}
	if got := other.get("/portal/profile"); got.status != http.StatusSeeOther {
		t.Errorf("another session is still open: %d", got.status)
	}
	if got := s.newBrowser().post("/portal/sign-in", url.Values{"email": {"erika@example.org"}, "password": {password}}); got.status == http.StatusSeeOther {
		t.Error("the password still works")
	}
	account, found, err := s.db.ReadCustomers().AccountByID(t.Context(), erika.ID)
	must(t, err)
	if !found || account.DisabledAt.IsZero() || strings.Contains(account.Email, "erika") || account.PasswordHash != "" {
		t.Errorf("%+v", account)
	}
	if _, known, err := s.db.ReadCustomers().GetRegistrant(t.Context(), erika.ID); err != nil || known {
		t.Errorf("the registrant still exists: %t, %v", known, err)
	}
	if again := s.newMember("erika@example.org"); again.ID == erika.ID {
		t.Error("the old account was reopened")
	}
}

func TestCloseAccount_RefusedWhileDomainsRemain(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	erika := s.newMember("erika@example.org")
	s.addDomain(erika.ID, "kaffee", registrar.DomainExpired)
	b := s.signedInBrowser("erika@example.org")
	if got := b.get("/portal/profile/close"); !strings.Contains(got.body, "Domains in Ihrem Konto: 1") || strings.Contains(got.body, `name="sure"`) {
		t.Errorf("%s", got.body)
	}
	if got := b.post("/portal/profile/close", url.Values{"sure": {"on"}}); got.status != http.StatusConflict || !strings.Contains(got.body, "enthält noch Domains") {
		t.Errorf("%d %s", got.status, got.body)
	}
	if got := b.get("/portal/profile"); got.status != http.StatusOK {
		t.Errorf("the account is closed: %d", got.status)
	}
	s.clock.advance(time.Hour)
	if got := b.post("/portal/profile/close", url.Values{"sure": {"on"}}); got.status != http.StatusSeeOther || !strings.Contains(got.location(), "sign-in-again") {
		t.Errorf("without a recent sign-in: %d %s", got.status, got.location())
	}
}

func TestRegistrantCheck_ReportsProblemsWithoutStoring(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	s.newMember("erika@example.org")
	b := s.signedInBrowser("erika@example.org")
	got := b.postJSON("/portal/profile/registrant/check", `{"kind":"person","name":"Erika","country":"DE","postal_code":"123","phone":"abc"}`)
	var response struct{ Problems map[string]string }
	must(t, json.Unmarshal([]byte(got.body), &response))
	if got.status != http.StatusOK || response.Problems["name"] != "" || response.Problems["postal_code"] != "Diese Postleitzahl passt nicht zum Land." ||
		response.Problems["phone"] == "" || response.Problems["street"] == "" {
		t.Errorf("%d %s", got.status, got.body)
	}
	got = b.postJSON("/portal/profile/registrant/check", `{"kind":"person","country":"DE","phone":"+49 30 123456789012"}`)
	if !strings.Contains(got.body, "Mit Ländervorwahl darf sie höchstens 15 Ziffern haben.") {
		t.Errorf("a number of 16 digits: %s", got.body)
	}
	if got := b.get("/portal/profile"); strings.Contains(got.body, "Erika<") {
		t.Error("the check changed something")
	}
	if got := s.newBrowser().postJSON("/portal/profile/registrant/check", `{}`); got.status != http.StatusUnauthorized {
		t.Errorf("anonymous: %d", got.status)
	}
	if got := b.postJSON("/portal/profile/registrant/check", `[1]`); got.status != http.StatusBadRequest {
		t.Errorf("no form: %d", got.status)
	}
}

// brokenExport writes pieces of 64 KiB and then fails, if err is set.
type brokenExport struct {
	pieces int
	err    error
}

func (b brokenExport) Write(_ context.Context, _ registrar.Actor, w io.Writer) error {
	for range b.pieces {
		if _, err := w.Write(bytes.Repeat([]byte("x"), 64<<10)); err != nil {
			return err
		}
	}
	return b.err
}

func TestExport_AbortedDownloadIsDetectable(t *testing.T) {
	t.Parallel()
	away := errors.New("database unavailable")
	for name, c := range map[string]struct {
		brokenExport
		status int
		whole  bool
	}{
		"at its beginning":     {brokenExport{1, away}, http.StatusInternalServerError, true}, // an error page
		"in the middle":        {brokenExport{32, away}, http.StatusOK, false},
		"not, and it is large": {brokenExport{32, nil}, http.StatusOK, true},
	} {
		s := newEnvWith(t, func(_ *env, pages *portal.Config) { pages.Exporter = c.brokenExport })
		s.newMember("erika@example.org")
		b := s.signedInBrowser("erika@example.org")
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, b.base+"/portal/profile/export", nil)
		must(t, err)
		response, err := b.client.Do(r)
		must(t, err)
		content, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if whole := err == nil; response.StatusCode != c.status || whole != c.whole {
			t.Errorf("%s: %d, %d bytes, %v", name, response.StatusCode, len(content), err)
		}
		file := strings.HasPrefix(response.Header.Get("Content-Disposition"), "attachment;")
		if file != (c.status == http.StatusOK) || file && c.whole && len(content) != 32*64<<10 {
			t.Errorf("%s: a file %t of %d bytes", name, file, len(content))
		}
	}
}

// exportRequest is a request that is passed to the pages without a connection.
func (b *browser) exportRequest() *http.Request {
	r := httptest.NewRequest(http.MethodGet, b.base+"/portal/profile/export", nil)
	for _, cookie := range b.client.Jar.Cookies(r.URL) {
		r.AddCookie(cookie)
	}
	return r
}

// blockedExport is an export that waits for release.
type blockedExport struct{ started, release chan struct{} }

func (h blockedExport) Write(_ context.Context, _ registrar.Actor, w io.Writer) error {
	h.started <- struct{}{}
	<-h.release
	_, err := io.WriteString(w, "{}\n")
	return err
}

func TestExport_ConcurrencyLimitedPerAccount(t *testing.T) {
	t.Parallel()
	const enough = 100 // far more than needed
	extracts := blockedExport{make(chan struct{}, enough), make(chan struct{})}
	s := newEnvWith(t, func(_ *env, pages *portal.Config) { pages.Exporter = extracts })
	s.newMember("erika@example.org")
	b := s.signedInBrowser("erika@example.org")
	ask := func() int {
		w := httptest.NewRecorder()
		s.handler.ServeHTTP(&deadlineRecorder{ResponseRecorder: w}, b.exportRequest())
		return w.Code
	}
	answers, refused := make(chan int, enough), 0
	for asked := 0; asked < enough && refused == 0; asked++ {
		go func() { answers <- ask() }()
		select {
		case <-extracts.started:
		case status := <-answers:
			if status != http.StatusTooManyRequests {
				t.Fatalf("request %d got %d", asked+1, status)
			}
			refused = asked + 1
		}
	}
	if refused < 2 {
		t.Errorf("request %d was refused; 0 means none", refused)
	}
	close(extracts.release)
	for range refused - 1 {
		if status := <-answers; status != http.StatusOK {
			t.Errorf("an accepted request got %d", status)
		}
	}
	if status := ask(); status != http.StatusOK {
		t.Errorf("afterwards: %d", status)
	}
}

// deadlineRecorder records its write deadline.
type deadlineRecorder struct {
	*httptest.ResponseRecorder
	until time.Time
}

func (p *deadlineRecorder) SetWriteDeadline(at time.Time) error { p.until = at; return nil }

// The server's deadline starts with the request, and creating the file may take most of
// it.
func TestExport_ExtendsWriteDeadline(t *testing.T) {
	t.Parallel()
	s := newEnvWith(t, func(_ *env, pages *portal.Config) { pages.Exporter = brokenExport{pieces: 1} })
	s.newMember("erika@example.org")
	w := &deadlineRecorder{ResponseRecorder: httptest.NewRecorder()}
	began := time.Now()
	s.handler.ServeHTTP(w, s.signedInBrowser("erika@example.org").exportRequest())
	if w.Code != http.StatusOK || w.Body.Len() != 64<<10 || !w.until.After(began) {
		t.Errorf("%d, %d bytes, until %s", w.Code, w.Body.Len(), w.until)
	}
}
