package portal

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/oauth"
)

func TestLanguage_GermanByDefaultAndChoiceIsStored(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	s.newMember("erika@example.org")
	b := s.newBrowser()
	if got := b.get("/portal/sign-in"); !strings.Contains(got.body, `<html lang="de">`) || !strings.Contains(got.body, "<h1>Anmelden</h1>") {
		t.Errorf("an anonymous visitor sees %s", got.body)
	}
	b.post("/portal/language", url.Values{"language": {"en"}, "next": {"/portal/sign-in"}})
	if got := b.get("/portal/sign-in"); !strings.Contains(got.body, `<html lang="en">`) || !strings.Contains(got.body, "<h1>Sign in</h1>") {
		t.Errorf("after the choice: %s", got.body)
	}
	// The choice is stored in the account at the sign-in.
	b.post("/portal/sign-in", url.Values{"email": {"erika@example.org"}, "password": {password}})
	if got := b.get("/portal/profile"); !strings.Contains(got.body, `<html lang="en">`) {
		t.Error("the sign-in replaced the language that was chosen before")
	}
	b.post("/portal/language", url.Values{"language": {"en"}})
	if got := s.signedInBrowser("erika@example.org").get("/portal/profile"); !strings.Contains(got.body, `<html lang="en">`) {
		t.Error("the account lost its language")
	}
	if got := b.post("/portal/language", url.Values{"language": {"xx"}}); got.status != http.StatusBadRequest {
		t.Errorf("an unknown language: %d", got.status)
	}
}

func TestRegistrantForm_ProblemsShownAtFields(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	s.newMember("erika@example.org")
	b := s.signedInBrowser("erika@example.org")
	form := url.Values{
		"kind": {"person"}, "name": {"Erika Mustermann"}, "street": {"Heidestraße 17"}, "postal_code": {"ABC"}, "city": {"Köln"},
		"country": {"DE"}, "phone": {"call me"},
	}
	got := b.post("/portal/profile/registrant", form)
	if got.status != http.StatusUnprocessableEntity {
		t.Fatalf("got %d %s", got.status, got.body)
	}
	wrong := map[string]bool{}
	for _, input := range elements(got.tree(t), "input") {
		if attribute(input, "aria-invalid") == "true" {
			wrong[attribute(input, "name")] = true
			if !strings.Contains(attribute(input, "aria-describedby"), attribute(input, "id")+"-problem") {
				t.Errorf("%s is not described", attribute(input, "name"))
			}
		}
		if attribute(input, "name") == "street" && attribute(input, "value") != "Heidestraße 17" {
			t.Error("the input was lost")
		}
	}
	if len(wrong) != 2 || !wrong["postal_code"] || !wrong["phone"] {
		t.Errorf("marked fields: %v", wrong)
	}
	form.Set("postal_code", "51147")
	form.Set("phone", "+49 221 123456")
	if got := b.post("/portal/profile/registrant", form); got.location() != "/portal/profile" {
		t.Fatalf("got %d %s", got.status, got.body)
	}
	if page := b.get("/portal/profile"); !strings.Contains(page.body, "Erika Mustermann") || !strings.Contains(page.body, "Deutschland") {
		t.Errorf("the profile shows %s", page.body)
	}
}

func TestSessions_SignOutAndEndOthers(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	s.newMember("erika@example.org")
	first, second, third := s.signedInBrowser("erika@example.org"), s.signedInBrowser("erika@example.org"), s.signedInBrowser("erika@example.org")
	if got := first.post("/portal/sign-out", nil); got.location() != "/portal/sign-in" || first.cookie("dotkontor") != "" {
		t.Errorf("got %d, cookie %q", got.status, first.cookie("dotkontor"))
	}
	ends := 0
	for _, form := range elements(second.get("/portal/security").tree(t), "form") {
		if action := attribute(form, "action"); strings.HasSuffix(action, "/end") {
			ends++
			second.post(action, nil)
		}
	}
	if ends != 1 || third.get("/portal/profile").status != http.StatusSeeOther || second.get("/portal/profile").status != http.StatusOK {
		t.Errorf("%d sessions could be ended", ends)
	}
	fourth := s.signedInBrowser("erika@example.org")
	if got := second.post("/portal/sign-out-everywhere", nil); got.location() != "/portal/sign-in" {
		t.Errorf("got %d", got.status)
	}
	if fourth.get("/portal/profile").status != http.StatusSeeOther {
		t.Error("a session survived")
	}
}

func TestProfile_OwnerChangesPasswordAndEmail(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	s.newMember("erika@example.org")
	b, other := s.signedInBrowser("erika@example.org"), s.signedInBrowser("erika@example.org")
	wrong := b.post("/portal/profile/password", url.Values{"old": {"wrong-wrong-wrong"}, "password": {"another-horse-battery"}})
	if wrong.status != http.StatusUnprocessableEntity || !strings.Contains(wrong.body, "Das bisherige Passwort ist falsch.") {
		t.Errorf("a wrong password: %d", wrong.status)
	}
	if got := b.post("/portal/profile/password", url.Values{"old": {password}, "password": {"another-horse-battery"}}); got.location() != "/portal/profile" {
		t.Fatalf("got %d %s", got.status, got.body)
	}
	if b.get("/portal/profile").status != http.StatusOK || other.get("/portal/profile").status != http.StatusSeeOther {
		t.Error("the wrong session ended")
	}
	if got := b.post("/portal/profile/email", url.Values{"email": {"not an address"}}); got.status != http.StatusUnprocessableEntity {
		t.Errorf("got %d", got.status)
	}
	if got := b.post("/portal/profile/email", url.Values{"email": {"neu@example.org"}}); got.location() != "/portal/profile" {
		t.Fatalf("got %d %s", got.status, got.body)
	}
	link := s.mailedLink(registrar.MailChangeEmail)
	if got := b.get(link); !strings.Contains(got.body, "neu@example.org") {
		t.Errorf("the link's page shows %s", got.body)
	}
	if got := b.post("/portal/email/confirm", url.Values{"link": {linkSecret(t, link)}}); got.status != http.StatusSeeOther {
		t.Fatalf("got %d %s", got.status, got.body)
	}
	if got := s.newBrowser().post("/portal/sign-in", url.Values{"email": {"neu@example.org"}, "password": {"another-horse-battery"}}); got.status != http.StatusSeeOther {
		t.Errorf("the new address: %d", got.status)
	}
	s.clock.advance(registrar.RecentSignIn + time.Minute)
	for _, path := range []string{"/portal/profile/password", "/portal/profile/email", "/portal/security/second-factor"} {
		s2 := s.newBrowser()
		s2.post("/portal/sign-in", url.Values{"email": {"neu@example.org"}, "password": {"another-horse-battery"}})
		if got := s2.get(path); got.status != http.StatusOK {
			t.Errorf("%s: %d", path, got.status)
		}
		s.clock.advance(registrar.RecentSignIn + time.Minute)
		if got := s2.get(path); got.location() != "/portal/sign-in-again?next="+url.QueryEscape(path) {
			t.Errorf("%s without a recent sign-in: %d %s", path, got.status, got.location())
		}
	}
}

// A mistyped address delivers the link to another person, who may have an account, too.
func TestEmailChangeLink_NeedsSessionOfItsAccount(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	s.newMember("erika@example.org")
	s.newMember("fremd@example.org")
	erika := s.signedInBrowser("erika@example.org")
	erika.post("/portal/profile/email", url.Values{"email": {"vertippt@example.org"}})
	link := s.mailedLink(registrar.MailChangeEmail)
	unknown := strings.Replace(link, linkSecret(t, link), "nothing", 1)
	open := func(b *browser, link string) (answers []string) {
		t.Helper()
		for _, got := range []pageResponse{b.get(link), b.post("/portal/email/confirm", url.Values{"link": {linkSecret(t, link)}})} {
			if strings.Contains(got.body, "vertippt") || strings.Contains(got.body, "erika") {
				t.Errorf("the page reveals the account: %s", got.body)
			}
			answers = append(answers, strconv.Itoa(got.status)+strings.ReplaceAll(got.location(), url.QueryEscape(url.QueryEscape(linkSecret(t, link))), "?"))
		}
		return answers
	}
	visitor, other := s.newBrowser(), s.signedInBrowser("fremd@example.org")
	for name, b := range map[string]*browser{"no session": visitor, "another account": other} {
		if good, bad := open(b, link), open(b, unknown); !slices.Equal(good, bad) {
			t.Errorf("%s: a valid link returns %q, an unknown one %q", name, good, bad)
		}
	}
	if got := visitor.get(link); got.location() != "/portal/sign-in?next="+url.QueryEscape(link) {
		t.Errorf("an anonymous visitor is redirected to %q", got.location())
	}
	if got := other.get(link); got.status != http.StatusGone {
		t.Errorf("another account got %d", got.status)
	}
	// The owner signs in with the old address and returns.
	owner := s.newBrowser()
	got := owner.post("/portal/sign-in", url.Values{"email": {"erika@example.org"}, "password": {password}, "next": {link}})
	if got.location() != link {
		t.Fatalf("after the sign-in: %d %s", got.status, got.location())
	}
	if got := owner.get(link); got.status != http.StatusOK || !strings.Contains(got.body, "vertippt@example.org") {
		t.Errorf("the owner sees %d", got.status)
	}
	if got := owner.post("/portal/email/confirm", url.Values{"link": {linkSecret(t, link)}}); got.location() != "/portal" {
		t.Errorf("the owner got %d", got.status)
	}
}

func TestMemberPages_RedirectAnonymousToSignIn(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	b := s.newBrowser()
	forAll := map[string]bool{
		"/portal": true, "/portal/{$}": true, "/portal/language": true, "/portal/sign-out": true, "/portal/static/{file}": true,
		"/portal/register": true, "/portal/register/sent": true, "/portal/confirm": true,
		"/portal/reset": true, "/portal/reset/sent": true, "/portal/reset/new": true, "/portal/sign-in": true, "/portal/sign-in/code": true, "/portal/sign-in/link": true,
		"/portal/contact-check": true, "/portal/passkeys/sign-in/begin": true, "/portal/passkeys/sign-in/finish": true,
	}
	seen := 0
	for _, route := range s.routes {
		if forAll[route.Path] {
			continue
		}
		seen++
		path := fillPath(route.Path)
		if strings.HasSuffix(path, "/begin") || strings.HasSuffix(path, "/finish") || strings.HasSuffix(path, "/check") { // scripts get the path in JSON
			got := b.postJSON(path, `{"ceremony":"x","response":{}}`)
			if got.status != http.StatusUnauthorized || !strings.Contains(got.body, `"go":"/portal/sign-in?next=`) {
				t.Errorf("%s: %d %s", path, got.status, got.body)
			}
			continue
		}
		got := b.do(route.Method, path, "application/x-www-form-urlencoded", "")
		to, next, _ := strings.Cut(got.location(), "?next=")
		if got.status != http.StatusSeeOther || to != "/portal/sign-in" || route.Method == http.MethodGet && next != url.QueryEscape(path) {
			t.Errorf("%s %s: %d to %q", route.Method, path, got.status, got.location())
		}
	}
	if seen < 25 {
		t.Errorf("only %d routes were tried", seen)
	}
}

func TestForms_IgnoreQueryParameters(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	s.newMember("erika@example.org")
	b := s.newBrowser()
	if got := b.post("/portal/language?language=en", nil); got.status != http.StatusBadRequest {
		t.Errorf("the language: %d", got.status)
	}
	if got := b.post("/portal/sign-in?email=erika@example.org&password="+password, nil); got.status == http.StatusSeeOther || b.cookie("dotkontor") != "" {
		t.Errorf("signed in by an address: %d", got.status)
	}
}

func TestTokens_TwentyFirstIsRefusedWithMessage(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	added := s.newMember("erika@example.org")
	b := s.signedInBrowser("erika@example.org")
	for range oauth.MaxActiveTokens {
		_, _, err := s.access.Create(t.Context(), registrar.Actor{Kind: registrar.ActorOperator, Through: "test", Customer: added.ID}, oauth.TokenParams{Name: "one"})
		must(t, err)
	}
	got := b.post("/portal/tokens", url.Values{"name": {"one more"}, "life": {"never"}})
	if got.status != http.StatusUnprocessableEntity || !strings.Contains(got.body, "Sie können höchstens 20 Tokens haben.") || tokenValue.MatchString(got.body) {
		t.Errorf("got %d %s", got.status, got.body)
	}
}

func TestActivity_IsPaginated(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	added := s.newMember("erika@example.org")
	b := s.signedInBrowser("erika@example.org")
	actor := registrar.Actor{Kind: registrar.ActorPerson, Customer: added.ID}
	for i := range 60 {
		must(t, s.customers.SetLanguage(t.Context(), actor, []string{"en", "de"}[i%2]))
	}
	all, err := s.customers.ListAuditEvents(t.Context(), actor, "", 200)
	must(t, err)
	rows, path := 0, "/portal/activity"
	for pages := 0; path != "" && pages < 5; pages++ {
		tree := b.get(path).tree(t)
		rows += len(elements(tree, "tr")) - 1 // header row
		path = ""
		for _, link := range elements(tree, "a") {
			if attribute(link, "rel") == "next" {
				path = attribute(link, "href")
			}
		}
	}
	if rows != len(all) || rows < 61 {
		t.Errorf("%d of %d entries were shown", rows, len(all))
	}
}

func TestSecurityPage_LinksToPassword(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	s.newMember("erika@example.org")
	b := s.signedInBrowser("erika@example.org")
	if got := b.get("/portal/security"); !strings.Contains(got.body, `href="/portal/profile/password">Passwort ändern<`) {
		t.Errorf("it is not shown: %s", got.body)
	}
}
