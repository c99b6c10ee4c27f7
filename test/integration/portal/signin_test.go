package portal

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/web/portal"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

var tokenValue = regexp.MustCompile(`dotkontor_live_[0-9A-Za-z]{49}`)

func TestTokens_ValueShownOnce(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	s.newMember("erika@example.org")
	b := s.signedInBrowser("erika@example.org")
	made := b.post("/portal/tokens", url.Values{"name": {"Agent auf dem Laptop"}, "life": {"never"}})
	values := tokenValue.FindAllString(made.body, -1)
	if made.status != http.StatusOK || len(values) != 1 {
		t.Fatalf("got %d with %d values", made.status, len(values))
	}
	for header, lines := range made.header {
		if strings.Contains(strings.Join(lines, " "), values[0]) {
			t.Errorf("the value appears in %s", header)
		}
	}
	if grant, err := s.access.Verify(t.Context(), values[0]); err != nil || grant.Customer == "" {
		t.Errorf("the token is not valid: %v", err)
	}
	list := b.get("/portal/tokens")
	if tokenValue.MatchString(list.body) || !strings.Contains(list.body, "Agent auf dem Laptop") {
		t.Errorf("the list shows %s", list.body)
	}
	var revoke string
	for _, form := range elements(list.tree(t), "form") {
		if action := attribute(form, "action"); strings.HasSuffix(action, "/revoke") {
			revoke = action
		}
	}
	if got := b.post(revoke, nil); got.location() != "/portal/tokens" {
		t.Fatalf("%q returned %d", revoke, got.status)
	}
	if _, err := s.access.Verify(t.Context(), values[0]); registrar.KindOf(err) != registrar.KindUnauthenticated {
		t.Errorf("the revoked token is still valid: %v", err)
	}
	if page := b.get("/portal/tokens"); !strings.Contains(page.body, "Sie haben noch kein Token.") || !strings.Contains(page.body, "widerrufen und gilt nicht mehr") ||
		!strings.Contains(page.body, s.base+"/api/mcp") {
		t.Errorf("the page shows %s", page.body)
	}
	if page := b.get("/portal/activity"); strings.Count(page.body, "Agent auf dem Laptop") != 2 || strings.Contains(page.body, "tok_") {
		t.Errorf("the history does not name the revoked token: %s", page.body)
	}
}

func TestTokens_NeedRecentSignInAndValidName(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	s.newMember("erika@example.org")
	b := s.signedInBrowser("erika@example.org")
	for name, want := range map[string]int{"": 422, strings.Repeat("ä", 61): 422, "a\x00b": 422, strings.Repeat("ä", 60): 200} {
		if got := b.post("/portal/tokens", url.Values{"name": {name}, "life": {"never"}}); got.status != want {
			t.Errorf("%q: got %d", name, got.status)
		}
	}
	s.clock.advance(registrar.RecentSignIn + time.Minute)
	if page := b.get("/portal/tokens"); page.status != http.StatusOK || strings.Contains(page.body, `id="token-name"`) ||
		!strings.Contains(page.body, "/portal/sign-in-again?next=%2fportal%2ftokens") && !strings.Contains(page.body, "/portal/sign-in-again?next=%2Fportal%2Ftokens") {
		t.Errorf("the page offers the form, or no way to confirm: %s", page.body)
	}
	got := b.post("/portal/tokens", url.Values{"name": {"late"}, "life": {"never"}})
	if got.status != http.StatusSeeOther || got.location() != "/portal/sign-in-again?next=%2Fportal%2Ftokens" {
		t.Fatalf("got %d %s", got.status, got.location())
	}
	if wrong := b.post("/portal/sign-in-again", url.Values{"password": {"wrong-wrong-wrong"}, "next": {"/portal/tokens"}}); wrong.status != http.StatusUnprocessableEntity {
		t.Errorf("a wrong password: %d", wrong.status)
	}
	if again := b.post("/portal/sign-in-again", url.Values{"password": {password}, "next": {"/portal/tokens"}}); again.location() != "/portal/tokens" {
		t.Fatalf("got %d %s", again.status, again.body)
	}
	if got := b.post("/portal/tokens", url.Values{"name": {"now"}, "life": {"never"}}); got.status != http.StatusOK {
		t.Errorf("after the confirmation: %d", got.status)
	}
}

// mailedLink returns the path and query of the link in a mail.
func (s *env) mailedLink(kind registrar.MailKind) string {
	s.t.Helper()
	link := s.waitForMail(kind).Link
	return strings.TrimPrefix(link, s.base)
}

// linkSecret returns the secret of a link.
func linkSecret(t *testing.T, link string) string {
	t.Helper()
	u, err := url.Parse(link)
	must(t, err)
	return u.Query().Get("link")
}

func TestRegister_LinkIsUsedOnlyByItsButton(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	b := s.newBrowser()
	if got := b.post("/portal/register", url.Values{"email": {"neu@example.org"}}); got.location() != "/portal/register/sent" {
		t.Fatalf("got %d %s", got.status, got.body)
	}
	if got := b.get("/portal/register/sent"); !strings.Contains(got.body, `value="neu@example.org"`) || !strings.Contains(got.body, "Noch einmal schicken") {
		t.Fatalf("got %d %s", got.status, got.body)
	}
	link := s.mailedLink(registrar.MailConfirm)
	for range 3 { // mail scanners open links
		if got := s.newBrowser().get(link); got.status != http.StatusOK || !strings.Contains(got.body, "neu@example.org") {
			t.Fatalf("opening the link: %d", got.status)
		}
	}
	secret := linkSecret(t, link)
	if got := b.post("/portal/confirm", url.Values{"link": {secret}, "password": {"kurz"}}); got.status != http.StatusUnprocessableEntity ||
		!strings.Contains(got.body, "mindestens 10 Zeichen") || strings.Contains(got.body, "kurz\"") {
		t.Errorf("a short password: %d %s", got.status, got.body)
	}
	got := b.post("/portal/confirm", url.Values{"link": {secret}, "password": {password}})
	if got.location() != "/portal" || b.get("/portal/profile").status != http.StatusOK {
		t.Fatalf("confirming: %d %s", got.status, got.location())
	}
	for _, again := range []pageResponse{b.get(link), b.post("/portal/confirm", url.Values{"link": {secret}, "password": {password}})} {
		if again.status != http.StatusGone {
			t.Errorf("the used link returns %d", again.status)
		}
	}
	if other := s.signedInBrowser("neu@example.org"); other.get("/portal/domains").status != http.StatusOK {
		t.Error("the password does not work")
	}
}

func TestSignInAgain_WithoutPasswordMailedLinkReturnsToPage(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	b := s.newBrowser()
	b.post("/portal/register", url.Values{"email": {"neu@example.org"}})
	if got := b.post("/portal/confirm", url.Values{"link": {linkSecret(t, s.mailedLink(registrar.MailConfirm))}, "later": {"1"}}); got.status != http.StatusSeeOther {
		t.Fatalf("confirming: %d %s", got.status, got.body)
	}
	s.clock.advance(registrar.RecentSignIn + time.Minute)
	again := b.get("/portal/profile/password").location()
	if page := b.get(again); !strings.Contains(page.body, `action="/portal/sign-in/link/request"`) || !strings.Contains(page.body, "neu@example.org") {
		t.Fatalf("the page %s offers no link: %s", again, page.body)
	}
	wanted := url.Values{"next": {"/portal/profile/password"}}
	if sent := b.post("/portal/sign-in/link/request", wanted); sent.status != http.StatusSeeOther || b.get(sent.location()).status != http.StatusOK {
		t.Fatalf("requesting the link: %d %s", sent.status, sent.body)
	}
	link := s.mailedLink(registrar.MailSignIn)
	for range 3 { // mail scanners open links
		if got := s.newBrowser().get(link); got.status != http.StatusOK || !strings.Contains(got.body, "/portal/profile/password") {
			t.Fatalf("opening the link: %d %s", got.status, got.body)
		}
	}
	wanted.Set("link", linkSecret(t, link))
	phone := s.newBrowser()
	if got := phone.post("/portal/sign-in/link", wanted); got.location() != "/portal/profile/password" || phone.get(got.location()).status != http.StatusOK {
		t.Fatalf("using the link: %d %s", got.status, got.body)
	}
	if got := b.get("/portal/profile/password"); got.status != http.StatusSeeOther {
		t.Errorf("the browser that requested the link counts as signed in again: %d", got.status)
	}
	if got := b.post("/portal/sign-in/link", wanted); got.status != http.StatusGone {
		t.Errorf("the used link returns %d", got.status)
	}
	// A password, once chosen, is required.
	b.post("/portal/sign-in/link/request", nil)
	link = s.mailedLink(registrar.MailSignIn)
	if got := phone.post("/portal/profile/password", url.Values{"password": {password}}); got.status != http.StatusSeeOther {
		t.Fatalf("choosing a password: %d %s", got.status, got.body)
	}
	if got := b.get(link); got.status != http.StatusGone {
		t.Errorf("the link of an account with a password returns %d", got.status)
	}
	if got := phone.post("/portal/sign-in/link/request", nil); got.location() == "/portal/sign-in/link/request" {
		t.Error("an account with a password was mailed a link")
	}
}

func TestSignInLink_NeedsCodeOfSecondFactor(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	b := s.newBrowser()
	b.post("/portal/register", url.Values{"email": {"neu@example.org"}})
	b.post("/portal/confirm", url.Values{"link": {linkSecret(t, s.mailedLink(registrar.MailConfirm))}, "later": {"1"}})
	s.enableSecondFactor(b)
	b.post("/portal/sign-in/link/request", nil)
	link := s.mailedLink(registrar.MailSignIn)
	thief := s.newBrowser()
	if got := thief.post("/portal/sign-in/link", url.Values{"link": {linkSecret(t, link)}}); got.location() != "/portal/sign-in/code" {
		t.Fatalf("got %d %s", got.status, got.location())
	}
	if got := thief.get("/portal/profile"); got.status != http.StatusSeeOther {
		t.Errorf("the mailbox alone opens the account: %d", got.status)
	}
}

func TestPassword_FirstOneIsChosenNotChanged(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	b := s.newBrowser()
	b.post("/portal/register", url.Values{"email": {"erika@example.org"}})
	b.post("/portal/confirm", url.Values{"link": {linkSecret(t, s.mailedLink(registrar.MailConfirm))}, "password": {""}})
	const path = "/portal/profile/password"
	if page := b.get(path).body; !strings.Contains(page, "<h1>Passwort wählen</h1>") || strings.Contains(page, "ändern</h1>") || strings.Contains(page, "abgemeldet") {
		t.Errorf("the first password: %s", page)
	}
	if got := b.post(path, url.Values{"password": {password}}); got.status != http.StatusSeeOther || !strings.Contains(b.get(got.location()).body, "Ihr Passwort ist gespeichert.") {
		t.Errorf("%d %s", got.status, got.body)
	}
	if page := b.get(path).body; !strings.Contains(page, "<h1>Passwort ändern</h1>") {
		t.Errorf("the second password: %s", page)
	}
}

func TestSignIn_OldBasketDoesNotLeadToTheCheckout(t *testing.T) {
	t.Parallel()
	for next, want := range map[string]string{"": "/portal", "/warenkorb": "/checkout/order"} {
		s := newEnvWith(t, func(_ *env, pages *portal.Config) {
			pages.OrderBasket = func(*ui.Request) string { return "/checkout/order" }
		})
		s.newMember("erika@example.org")
		b := s.newBrowser()
		address, err := url.Parse(b.origin)
		must(t, err)
		b.client.Jar.SetCookies(address, []*http.Cookie{{Name: "dotkontor_basket", Value: "register:tee.de", Path: "/"}})
		got := b.post("/portal/sign-in", url.Values{"email": {"erika@example.org"}, "password": {password}, "next": {next}})
		if got.location() != want {
			t.Errorf("from %q: %d %s, want %s", next, got.status, got.location(), want)
		}
	}
}

// Otherwise it comes back in this browser after the account has ordered it in another one.
func TestConfirm_MovesBasketToTheAccount(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	b := s.newBrowser()
	address, err := url.Parse(b.origin)
	must(t, err)
	b.client.Jar.SetCookies(address, []*http.Cookie{{Name: "dotkontor_basket", Value: "register:tee.de", Path: "/"}})
	b.post("/portal/register", url.Values{"email": {"neu@example.org"}})
	b.post("/portal/confirm", url.Values{"link": {linkSecret(t, s.mailedLink(registrar.MailConfirm))}, "password": {""}})
	for _, cookie := range b.client.Jar.Cookies(address) {
		if cookie.Name == "dotkontor_basket" {
			t.Errorf("the browser keeps %q", cookie.Value)
		}
	}
	var basket string
	must(t, s.db.SQL().Reader().QueryRowContext(t.Context(), "SELECT basket FROM customers WHERE email = 'neu@example.org'").Scan(&basket))
	if basket != "register:tee.de" {
		t.Errorf("the account has %q", basket)
	}
}

func TestConfirm_WithoutPasswordLeadsToPasskeys(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	b := s.newBrowser()
	b.post("/portal/register", url.Values{"email": {"neu@example.org"}})
	got := b.post("/portal/confirm", url.Values{"link": {linkSecret(t, s.mailedLink(registrar.MailConfirm))}, "password": {""}})
	if got.location() != "/portal/security" {
		t.Fatalf("got %d %s", got.status, got.location())
	}
	page := b.get("/portal/security")
	if !strings.Contains(page.body, `data-passkey="create"`) || !strings.Contains(page.body, "Legen Sie jetzt einen Passkey an") {
		t.Errorf("the page shows %s", page.body)
	}
	if !strings.Contains(page.body, `href="/portal/profile/password">Passwort wählen<`) {
		t.Errorf("an account without a password gets no link to set one: %s", page.body)
	}
	// A passkey can't belong to an IP address.
	b.origin = strings.Replace(s.base, "127.0.0.1", "localhost", 1)
	begun := b.postJSON("/portal/passkeys/add/begin", "{}")
	if begun.status != http.StatusOK || !strings.Contains(begun.body, `"publicKey"`) || !strings.Contains(begun.body, `"challenge"`) {
		t.Errorf("the script gets %d %s", begun.status, begun.body)
	}
	broken := b.postJSON("/portal/passkeys/add/finish", `{"ceremony":"x","response":{},"name":"Laptop"}`)
	if broken.status < 400 || broken.status >= 500 || !strings.Contains(broken.body, `"error"`) {
		t.Errorf("a forged response gets %d %s", broken.status, broken.body)
	}
}

func TestRegister_NextSurvivesMailedLink(t *testing.T) {
	t.Parallel()
	for next, want := range map[string]string{
		"/transfer": "/transfer", "/umzug": "/umzug", "/portal/transfers": "/portal/transfers",
		"https://evil.example/": "/portal", "//evil.example": "/portal", `/\evil.example`: "/portal",
		"/checkout/dotkontor_pay_x": "/portal", "/oauth/authorize?client_id=x": "/portal", // their paths have secrets, which no mail contains
	} {
		s := newEnv(t, true)
		b := s.newBrowser()
		page := b.get("/portal/register?" + url.Values{"next": {next}}.Encode())
		b.post("/portal/register/sent", url.Values{"email": {"neu@example.org"}, "next": {attributeOf(t, page, "next")}})
		link := s.mailedLink(registrar.MailConfirm)
		if strings.Contains(link, "evil") || strings.Contains(link, "pay_x") {
			t.Errorf("the mailed link of %s is %s", next, link)
		}
		other := s.newBrowser() // mail is read elsewhere
		form := url.Values{"link": {linkSecret(t, link)}, "password": {password}, "next": {attributeOf(t, other.get(link), "next")}}
		if got := other.post("/portal/confirm", form); got.location() != want {
			t.Errorf("registration from %s ends at %q, want %q", next, got.location(), want)
		}
	}
}

func TestRegister_NextIsReachedWithoutPassword(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	b := s.newBrowser()
	if page := b.get("/portal/sign-in?next=%2Ftransfer").body; !strings.Contains(page, "/portal/register?next=%2Ftransfer") {
		t.Errorf("the sign-in page loses it: %s", page)
	}
	b.post("/portal/register/sent", url.Values{"email": {"neu@example.org"}, "next": {"/transfer"}})
	got := b.post("/portal/confirm", url.Values{"link": {linkSecret(t, s.mailedLink(registrar.MailConfirm))}, "password": {""}, "next": {"/transfer"}})
	if got.location() != "/transfer" || !strings.Contains(b.get("/portal/profile").body, "Legen Sie später unter „Sicherheit“ einen Passkey") {
		t.Errorf("got %d %s", got.status, got.location())
	}
}

// attributeOf returns the value of the last field with a name: the header has forms, too.
func attributeOf(t *testing.T, page pageResponse, name string) (value string) {
	t.Helper()
	for _, input := range elements(page.tree(t), "input") {
		if attribute(input, "name") == name {
			value = attribute(input, "value")
		}
	}
	return value
}

func TestPages_DoNotRevealAccounts(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	s.newMember("erika@example.org")
	for _, path := range []string{"/portal/register", "/portal/reset/sent"} {
		sent := func(email string) pageResponse {
			b := s.newBrowser()
			if got := b.post(path, url.Values{"email": {email}}); got.status != http.StatusSeeOther {
				t.Errorf("%s: got %d", path, got.status)
			} else {
				path = got.location()
			}
			return b.get(path)
		}
		known, unknown := sent("erika@example.org"), sent("nobody@example.org")
		if known.status != unknown.status || known.location() != unknown.location() || strings.ReplaceAll(known.body, "erika@", "nobody@") != unknown.body {
			t.Errorf("%s: %d %s and %d %s", path, known.status, known.location(), unknown.status, unknown.location())
		}
	}
	bad := func(email string) string {
		got := s.newBrowser().post("/portal/sign-in", url.Values{"email": {email}, "password": {"wrong-wrong-wrong"}})
		return strings.ReplaceAll(http.StatusText(got.status)+got.body, email, "")
	}
	if bad("erika@example.org") != bad("nobody@example.org") {
		t.Error("the sign-in page differs")
	}
}

func TestReset_SetsPasswordAndEndsSessions(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	s.newMember("erika@example.org")
	s.newMember("otto@example.org")
	// The link may be opened while signed in to another account.
	old, b := s.signedInBrowser("erika@example.org"), s.signedInBrowser("otto@example.org")
	if got := b.post("/portal/reset/sent", url.Values{"email": {"erika@example.org"}}); got.location() != "/portal/reset/sent" {
		t.Fatalf("got %d %s", got.status, got.location())
	}
	got := b.get("/portal/reset/sent")
	if got.status != http.StatusOK || !strings.Contains(got.body, `value="erika@example.org"`) || !strings.Contains(got.body, "Noch einmal schicken") {
		t.Fatalf("got %d %s", got.status, got.body)
	}
	link := s.mailedLink(registrar.MailPasswordReset)
	if got := b.get(link); got.status != http.StatusOK {
		t.Fatalf("got %d", got.status)
	}
	form := url.Values{"link": {linkSecret(t, link)}, "password": {"another-horse-battery"}}
	if got := b.post("/portal/reset/new", form); got.location() != "/portal/sign-in" || b.cookie("dotkontor") != "" {
		t.Fatalf("got %d %s, session %q", got.status, got.body, b.cookie("dotkontor"))
	}
	if got := b.post("/portal/reset/new", form); got.status != http.StatusGone {
		t.Errorf("the used link returns %d", got.status)
	}
	if got := old.get("/portal/profile"); got.status != http.StatusSeeOther {
		t.Errorf("the old session returns %d", got.status)
	}
	if got := b.post("/portal/sign-in", url.Values{"email": {"erika@example.org"}, "password": {"another-horse-battery"}}); got.status != http.StatusSeeOther {
		t.Errorf("the new password: %d", got.status)
	}
}

func TestReset_SignInReturnsToTheCheckout(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	s.newMember("erika@example.org")
	for next, want := range map[string]string{
		"/checkout/dotkontor_pay_x": "/portal/sign-in?next=%2Fcheckout%2Fdotkontor_pay_x",
		"//evil.example/":           "/portal/sign-in",
	} {
		b := s.newBrowser()
		reset := "/portal/reset?next=" + url.QueryEscape(next)
		if got := b.get("/portal/sign-in?next=" + url.QueryEscape(next)); strings.Contains(got.body, `href="`+reset+`"`) != strings.HasPrefix(want, "/portal/sign-in?") {
			t.Errorf("sign-in that leads to %s: the link to the reset is wrong", next)
		}
		if got := b.post("/portal/reset/sent", url.Values{"email": {"erika"}, "next": {next}}); got.status != http.StatusUnprocessableEntity {
			t.Errorf("an invalid address: %d", got.status)
		}
		b.post("/portal/reset/sent", url.Values{"email": {"erika@example.org"}, "next": {next}})
		if got := b.get("/portal/reset/sent"); !strings.Contains(got.body, `href="`+want+`"`) {
			t.Errorf("no link to %s", want)
		}
		link := s.mailedLink(registrar.MailPasswordReset)
		if strings.Contains(link, "checkout") {
			t.Error("the mail has the secret of the order")
		}
		form := url.Values{"link": {linkSecret(t, link)}, "password": {"another-horse-battery"}}
		if got := b.post("/portal/reset/new", form); got.location() != want || b.cookie("dotkontor_next") != "" {
			t.Errorf("%s: got %d %s, cookie %q", next, got.status, got.location(), b.cookie("dotkontor_next"))
		}
	}
}

func TestSecondFactor_EnrolAndSignIn(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	s.newMember("erika@example.org")
	b := s.signedInBrowser("erika@example.org")
	page := b.get("/portal/security/second-factor")
	secret := ""
	for _, p := range elements(page.tree(t), "p") {
		if attribute(p, "class") == "secret" {
			secret = strings.ReplaceAll(text(p), " ", "")
		}
	}
	if page.status != http.StatusOK || secret == "" || !strings.Contains(page.body, "data:image/png;base64,") {
		t.Fatalf("got %d, secret %q", page.status, secret)
	}
	code := func() string {
		code, err := totp.GenerateCode(secret, s.clock.now())
		must(t, err)
		return code
	}
	if got := b.post("/portal/security/second-factor", url.Values{"code": {"abc"}}); got.status != http.StatusUnprocessableEntity {
		t.Errorf("a wrong code: %d", got.status)
	}
	codes := b.post("/portal/security/second-factor", url.Values{"code": {code()}})
	recovery := elements(codes.tree(t), "code")
	if codes.status != http.StatusOK || len(recovery) != 10 {
		t.Fatalf("got %d with %d codes", codes.status, len(recovery))
	}
	if strings.Contains(b.get("/portal/security").body, text(recovery[0])) {
		t.Error("a recovery code is shown again")
	}

	other := s.newBrowser()
	form := url.Values{"email": {"erika@example.org"}, "password": {password}, "next": {"/portal/tokens"}}
	if got := other.post("/portal/sign-in", form); got.location() != "/portal/sign-in/code?next=%2Fportal%2Ftokens" {
		t.Fatalf("got %d %s", got.status, got.location())
	}
	pending := other.cookie("dotkontor")
	// Signing in again while signed in leaves no session behind, even if the new one
	// waits for a code.
	before := b.cookie("dotkontor")
	b.post("/portal/sign-in", form)
	stolen := s.newBrowser()
	base, _ := url.Parse(s.base)
	stolen.client.Jar.SetCookies(base, []*http.Cookie{{Name: "dotkontor", Value: before}})
	if got := stolen.get("/portal/profile"); got.status != http.StatusSeeOther {
		t.Errorf("the session that was replaced still opens the profile: %d", got.status)
	}
	if got := other.get("/portal/profile"); got.status != http.StatusSeeOther {
		t.Errorf("the pending session opens the profile: %d", got.status)
	}
	if got := other.get("/portal/sign-in/code?next=%2Fportal%2Ftokens"); !strings.Contains(got.body, `autocomplete="one-time-code"`) {
		t.Errorf("the code page shows %s", got.body)
	}
	s.clock.advance(time.Minute) // the code of the setup is used up
	used := code()
	if got := other.post("/portal/sign-in/code", url.Values{"code": {used}, "next": {"/portal/tokens"}}); got.location() != "/portal/tokens" {
		t.Fatalf("got %d %s", got.status, got.body)
	}
	if other.cookie("dotkontor") == pending {
		t.Error("the secret did not change")
	}
	third := s.newBrowser()
	third.post("/portal/sign-in", form)
	if got := third.post("/portal/sign-in/code", url.Values{"code": {used}}); got.status != http.StatusUnprocessableEntity {
		t.Errorf("the same code again: %d", got.status)
	}
	if got := third.post("/portal/sign-in/code", url.Values{"code": {text(recovery[3])}}); got.status != http.StatusSeeOther {
		t.Errorf("a recovery code: %d", got.status)
	}
}

func TestWithoutMail_PagesExplain(t *testing.T) {
	t.Parallel()
	s := newEnv(t, false)
	s.newMember("erika@example.org")
	b := s.newBrowser()
	for _, path := range []string{"/portal/register", "/portal/reset", "/portal/profile/email"} {
		if path == "/portal/profile/email" {
			b = s.signedInBrowser("erika@example.org")
		}
		for _, got := range []pageResponse{b.get(path), b.post(path, url.Values{"email": {"a@example.org"}})} {
			if got.status != http.StatusServiceUnavailable || !strings.Contains(got.body, "Versand ist hier nicht eingerichtet") {
				t.Errorf("%s: %d", path, got.status)
			}
		}
	}
}

func TestSignIn_TooManyWrongPasswordsIs429(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	s.newMember("erika@example.org")
	b := s.newBrowser()
	var got pageResponse
	for range 12 {
		got = b.post("/portal/sign-in", url.Values{"email": {"erika@example.org"}, "password": {"wrong-wrong-wrong"}})
	}
	if got.status != http.StatusTooManyRequests || got.header.Get("Retry-After") == "" || !strings.Contains(got.body, "Bitte versuchen Sie es in") {
		t.Errorf("got %d, Retry-After %q", got.status, got.header.Get("Retry-After"))
	}
}

// A buyer chooses a password after the purchase, and may have lost the session before it. The page
// does not know who reads it, and reveals to nobody whether an account has a password.
func TestSignIn_OnTheWayToAnOrderSaysHowToGetAPassword(t *testing.T) {
	t.Parallel()
	b := newEnv(t, true).newBrowser()
	for next, want := range map[string]bool{"/checkout/dotkontor_pay_x": true, "/portal/domains": false, "": false} {
		got := b.get("/portal/sign-in?next=" + url.QueryEscape(next)).body
		if strings.Contains(got, "Passwort noch nicht festgelegt oder vergessen?") != want || strings.Contains(got, "kein Passwort") {
			t.Errorf("%q: %s", next, got)
		}
	}
}
