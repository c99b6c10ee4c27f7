package portal

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/pquerna/otp/totp"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/test/testkit/passkey"
)

// fillPath fills the {id} of a route.
func fillPath(path string) string {
	return strings.NewReplacer("{id}", "tok_unknown", "{file}", "style.css", "{$}", "").Replace(path)
}

func TestSignIn_ChangesSessionCookie(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	s.newMember("erika@example.org")
	b := s.newBrowser()
	if b.get("/portal/sign-in"); b.cookie("dotkontor") != "" {
		t.Error("an anonymous visitor has a session")
	}
	sign := func(path string, fields url.Values) string {
		t.Helper()
		if got := b.post(path, fields); got.status != http.StatusSeeOther {
			t.Fatalf("%s returned %d %s", path, got.status, got.body)
		}
		return b.cookie("dotkontor")
	}
	form := url.Values{"email": {"erika@example.org"}, "password": {password}}
	first := sign("/portal/sign-in", form)
	again := sign("/portal/sign-in-again", url.Values{"password": {password}})
	second := sign("/portal/sign-in", form)
	if first == "" || first == again || again == second || first == second {
		t.Error("the sign-in kept the session's secret")
	}
	for name, old := range map[string]string{"before the confirmation": first, "before the second sign-in": again} {
		stolen := s.newBrowser()
		base, _ := url.Parse(s.base)
		stolen.client.Jar.SetCookies(base, []*http.Cookie{{Name: "dotkontor", Value: old}})
		if got := stolen.get("/portal/profile"); got.status != http.StatusSeeOther {
			t.Errorf("the session %s still opens the profile: %d", name, got.status)
		}
	}
	if got := b.get("/portal/profile"); got.status != http.StatusOK {
		t.Errorf("the new session is not valid: %d", got.status)
	}
}

// addDevice adds a passkey of a device to the account that is signed in.
func (b *browser) addDevice() *passkey.Device {
	b.t.Helper()
	b.origin = account.PasskeyOrigins(b.base)[0]
	device := passkey.NewDevice(b.t, b.origin)
	b.finishPasskey("/portal/passkeys/add/", device.Create)
	return device
}

// finishPasskey begins a ceremony and answers it.
func (b *browser) finishPasskey(path string, answer func(options []byte) []byte) pageResponse {
	b.t.Helper()
	var began struct {
		Ceremony string
		Options  json.RawMessage
	}
	must(b.t, json.Unmarshal([]byte(b.postJSON(path+"begin", "{}").body), &began))
	got := b.postJSON(path+"finish", `{"ceremony":"`+began.Ceremony+`","name":"Laptop","response":`+string(answer(began.Options))+`}`)
	if got.status != http.StatusOK {
		b.t.Fatalf("%s: %d %s", path, got.status, got.body)
	}
	return got
}

func TestSignIn_EndsPreviousSession(t *testing.T) {
	t.Parallel()
	const email = "erika@example.org"
	s := newEnv(t, true)
	added := s.newMember(email)
	form := url.Values{"email": {email}, "password": {password}}
	waiting := s.signedInBrowser(email) // will be asked for a code
	owner := s.signedInBrowser(email)
	device := owner.addDevice()
	for _, step := range []struct {
		name   string
		b      *browser
		signIn func(b *browser) pageResponse
		want   int
	}{
		{"password", s.signedInBrowser(email), func(b *browser) pageResponse { return b.post("/portal/sign-in", form) }, http.StatusSeeOther},
		{"passkey", owner, func(b *browser) pageResponse { return b.finishPasskey("/portal/passkeys/sign-in/", device.Get) }, http.StatusOK},
		{"password with a code to come", waiting, func(b *browser) pageResponse {
			s.enableSecondFactor(b)
			return b.post("/portal/sign-in", form)
		}, http.StatusSeeOther},
	} {
		old := step.b.cookie("dotkontor")
		if got := step.signIn(step.b); got.status != step.want || step.b.cookie("dotkontor") == old {
			t.Fatalf("%s: %d %s", step.name, got.status, got.body)
		}
		if _, err := s.customers.Visitor(t.Context(), old); registrar.KindOf(err) != registrar.KindUnauthenticated {
			t.Errorf("%s: the session from before is still open: %v", step.name, err)
		}
	}
	sessions, err := s.customers.Sessions(t.Context(), registrar.Actor{Kind: registrar.ActorPerson, Customer: added.ID})
	must(t, err)
	if len(sessions) != 0 { // enabling the second factor has ended the others
		t.Errorf("%d sessions are open", len(sessions))
	}
}

// enableSecondFactor turns it on.
func (s *env) enableSecondFactor(b *browser) {
	s.t.Helper()
	for _, p := range elements(b.get("/portal/security/second-factor").tree(s.t), "p") {
		if attribute(p, "class") != "secret" {
			continue
		}
		secret := strings.ReplaceAll(text(p), " ", "")
		code, err := totp.GenerateCode(secret, s.clock.now())
		must(s.t, err)
		if got := b.post("/portal/security/second-factor", url.Values{"code": {code}}); got.status != http.StatusOK {
			s.t.Fatalf("switching it on: %d %s", got.status, got.body)
		}
		return
	}
	s.t.Fatal("the page shows no secret")
}

func TestRoutes_CrossSitePostIsRefused(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	added := s.newMember("erika@example.org")
	b := s.signedInBrowser("erika@example.org")
	session := b.cookie("dotkontor")
	b.crossSite = true
	posts := 0
	for _, route := range s.routes {
		if route.Method != http.MethodPost {
			continue
		}
		posts++
		got := b.post(fillPath(route.Path), url.Values{"name": {"x"}, "language": {"en"}, "email": {"erika@example.org"}, "password": {password}})
		if got.status != http.StatusForbidden || got.header.Get("Set-Cookie") != "" {
			t.Errorf("%s returned %d, cookies %q", route.Path, got.status, got.header["Set-Cookie"])
		}
	}
	if posts < 20 {
		t.Fatalf("only %d routes were tried", posts)
	}
	b.crossSite = false
	if b.cookie("dotkontor") != session || b.get("/portal/profile").status != http.StatusOK {
		t.Error("the session did not survive")
	}
	list, err := s.access.List(t.Context(), registrar.Actor{Kind: registrar.ActorPerson, Customer: added.ID})
	must(t, err)
	if len(list) != 0 {
		t.Error("a token was created")
	}
}

func TestRoutes_SecurityHeaders(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	s.newMember("erika@example.org")
	want := map[string]string{
		"X-Frame-Options": "DENY", "Referrer-Policy": "same-origin", "X-Content-Type-Options": "nosniff",
		"Cross-Origin-Opener-Policy": "same-origin",
		"Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; manifest-src 'self'; " +
			"base-uri 'none'; frame-ancestors 'none'; form-action 'self'",
	}
	see := func(name string, got pageResponse) {
		t.Helper()
		for header, value := range want {
			if got.header.Get(header) != value {
				t.Errorf("%s (%d): %s is %q", name, got.status, header, got.header.Get(header))
			}
		}
		if cache := got.header.Get("Cache-Control"); cache != "no-store" {
			t.Errorf("%s may be cached: %q", name, cache)
		}
		if !strings.Contains(got.header.Get("Permissions-Policy"), "publickey-credentials-get=(self)") {
			t.Errorf("%s: Permissions-Policy is %q", name, got.header.Get("Permissions-Policy"))
		}
	}
	b, member := s.newBrowser(), s.signedInBrowser("erika@example.org")
	for _, route := range s.routes {
		name := route.Method + " " + route.Path
		see("anonymous "+name, b.do(route.Method, fillPath(route.Path), "application/x-www-form-urlencoded", ""))
		if member.cookie("dotkontor") == "" { // signed out by the previous route
			member = s.signedInBrowser("erika@example.org")
		}
		see("a member's "+name, member.do(route.Method, fillPath(route.Path), "application/x-www-form-urlencoded", ""))
	}
	see("an unknown page", b.get("/portal/nothing"))
	see("a wrong method", b.do(http.MethodDelete, "/portal/tokens", "", ""))
}

func TestStatic_OnlyCurrentVersionIsImmutable(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	b := s.newBrowser()
	for _, link := range elements(b.get("/portal/sign-in").tree(t), "link") {
		if !strings.Contains(attribute(link, "href"), "?v=") {
			continue // the icon and the manifest have no versions
		}
		got := b.get(attribute(link, "href"))
		if got.status != http.StatusOK || !strings.Contains(got.header.Get("Cache-Control"), "immutable") {
			t.Errorf("%s: %d %q", attribute(link, "href"), got.status, got.header.Get("Cache-Control"))
		}
	}
	if got := b.get("/portal/static/style.css?v=old"); got.status != http.StatusOK || got.header.Get("Cache-Control") != "no-store" {
		t.Errorf("another version: %d %q", got.status, got.header.Get("Cache-Control"))
	}
	if got := b.get("/portal/static/german.go"); got.status != http.StatusNotFound {
		t.Errorf("an unknown file: %d", got.status)
	}
}

func TestNext_OnlyLocalPaths(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	s.newMember("erika@example.org")
	b := s.signedInBrowser("erika@example.org")
	for next, want := range map[string]string{
		"/portal/tokens": "/portal/tokens", "/oauth/authorize?client_id=a": "/oauth/authorize?client_id=a", "": "/portal",
		"https://evil.example/": "/portal", "//evil.example": "/portal", "/\\evil.example": "/portal",
		"/portal/\r\nX: y": "/portal", "/api/mcp": "/portal", "/portal//evil.example": "/portal",
		"javascript:alert(1)": "/portal",
	} {
		if got := b.get("/portal/sign-in?next=" + url.QueryEscape(next)); got.location() != want {
			t.Errorf("signed in, next %q redirects to %q", next, got.location())
		}
		if got := b.post("/portal/language", url.Values{"language": {"de"}, "next": {next}}); got.location() != want {
			t.Errorf("changing the language, next %q redirects to %q", next, got.location())
		}
		visitor := s.newBrowser().get("/portal/sign-in?next=" + url.QueryEscape(next))
		if strings.Contains(visitor.body, "evil.example") && !strings.Contains(want, "evil") {
			for _, input := range elements(visitor.tree(t), "input") {
				// The language switch returns to this page with its own query.
				if strings.Contains(attribute(input, "value"), "evil") && !strings.HasPrefix(attribute(input, "value"), "/portal/sign-in?next=") {
					t.Errorf("next %q appears in the form", next)
				}
			}
		}
		// Hashing is expensive; the other values are in the test of ui.LocalPath.
		if !slices.Contains([]string{"/portal/tokens", "https://evil.example/", "//evil.example"}, next) {
			continue
		}
		if got := b.post("/portal/sign-in-again", url.Values{"password": {password}, "next": {next}}); got.location() != want {
			t.Errorf("confirming, next %q redirects to %q", next, got.location())
		}
		if got := b.post("/portal/sign-in", url.Values{"email": {"erika@example.org"}, "password": {password}, "next": {next}}); got.location() != want {
			t.Errorf("signing in, next %q redirects to %q", next, got.location())
		}
	}
	// A page request is redirected to sign in and returns.
	got := s.newBrowser().get("/portal/activity?before=act_1")
	if got.location() != "/portal/sign-in?next=%2Fportal%2Factivity%3Fbefore%3Dact_1" {
		t.Errorf("an anonymous visitor is redirected to %q", got.location())
	}
}

// foreignPaths has, for every route that names an object, the path of another
// customer's and the expected status. A new route with a parameter fails until it has
// an entry here.
var foreignPaths = map[string]func(ownedObjects) string{
	"/portal/tokens/{id}/revoke":   func(o ownedObjects) string { return "/portal/tokens/" + o.token + "/revoke" },
	"/portal/apps/{id}/disconnect": func(o ownedObjects) string { return "/portal/apps/" + o.app + "/disconnect" },
	// Agents have no owner: a removed one must not be found.
	"/portal/agents/{id}/link":     func(o ownedObjects) string { return "/portal/agents/" + o.agent + "/link" },
	"/portal/agents/{id}/unlink":   func(o ownedObjects) string { return "/portal/agents/" + o.agent + "/unlink" },
	"/portal/sessions/{id}/end":    func(o ownedObjects) string { return "/portal/sessions/" + o.session + "/end" },
	"/portal/passkeys/{id}/remove": func(o ownedObjects) string { return "/portal/passkeys/" + o.passkey + "/remove" },

	"/portal/domains/{id}":                  func(o ownedObjects) string { return "/portal/domains/" + o.domain },
	"/portal/domains/{id}/nameservers":      func(o ownedObjects) string { return "/portal/domains/" + o.domain + "/nameservers" },
	"/portal/domains/{id}/ds":               func(o ownedObjects) string { return "/portal/domains/" + o.domain + "/ds" },
	"/portal/domains/{id}/ds/remove":        func(o ownedObjects) string { return "/portal/domains/" + o.domain + "/ds/remove" },
	"/portal/domains/{id}/cancel":           func(o ownedObjects) string { return "/portal/domains/" + o.domain + "/cancel" },
	"/portal/domains/{id}/lock":             func(o ownedObjects) string { return "/portal/domains/" + o.domain + "/lock" },
	"/portal/domains/{id}/transfer":         func(o ownedObjects) string { return "/portal/domains/" + o.domain + "/transfer" },
	"/portal/domains/{id}/transfer/stop":    func(o ownedObjects) string { return "/portal/domains/" + o.domain + "/transfer/stop" },
	"/portal/domains/{id}/transfer/approve": func(o ownedObjects) string { return "/portal/domains/" + o.domain + "/transfer/approve" },
	"/portal/domains/{id}/auth-code":        func(o ownedObjects) string { return "/portal/domains/" + o.domain + "/auth-code" },
	"/portal/domains/{id}/holder":           func(o ownedObjects) string { return "/portal/domains/" + o.domain + "/holder" },
	"/portal/domains/{id}/renew":            func(o ownedObjects) string { return "/portal/domains/" + o.domain + "/renew" },
	"/portal/domains/{id}/restore":          func(o ownedObjects) string { return "/portal/domains/" + o.domain + "/restore" },
	"/portal/domains/{id}/auto-renew":       func(o ownedObjects) string { return "/portal/domains/" + o.domain + "/auto-renew" },

	"/portal/domains/{id}/auto-renew/off": func(o ownedObjects) string { return "/portal/domains/" + o.domain + "/auto-renew/off" },
	"/portal/domains/{id}/labels":         func(o ownedObjects) string { return "/portal/domains/" + o.domain + "/labels" },
	"/portal/domain-actions/{id}":         func(o ownedObjects) string { return "/portal/domain-actions/" + o.action },
	"/portal/holders/{id}":                func(o ownedObjects) string { return "/portal/holders/" + o.holder },
	"/portal/holders/{id}/delete":         func(o ownedObjects) string { return "/portal/holders/" + o.holder + "/delete" },
	"/portal/holders/{id}/domains":        func(o ownedObjects) string { return "/portal/holders/" + o.holder + "/domains" },
	"/portal/domains/{id}/expire":         func(o ownedObjects) string { return "/portal/domains/" + o.domain + "/expire" },
	"/portal/domains/{id}/keep":           func(o ownedObjects) string { return "/portal/domains/" + o.domain + "/keep" },
}

// ownedObjects belong to one customer.
type ownedObjects struct{ token, session, passkey, app, domain, agent, action, holder string }

func TestRoutes_ForeignObjectsAreNotFound(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	victim := s.newMember("victim@example.org")
	s.newMember("attacker@example.org")
	theirs, b := s.signedInBrowser("victim@example.org"), s.signedInBrowser("attacker@example.org")
	if got := theirs.post("/portal/tokens", url.Values{"name": {"victim's"}, "life": {"never"}}); got.status != http.StatusOK {
		t.Fatalf("got %d", got.status)
	}
	actor := registrar.Actor{Kind: registrar.ActorPerson, Customer: victim.ID}
	tokens, err := s.access.List(t.Context(), actor)
	must(t, err)
	sessions, err := s.customers.Sessions(t.Context(), actor)
	must(t, err)
	owned := ownedObjects{
		token: tokens[0].ID, session: sessions[0].ID, passkey: s.addPasskey(victim.ID), app: s.connectApp(victim.ID),
		domain: s.addDomain(victim.ID, "opfer", registrar.DomainActive), agent: s.newRemovedAgent(),
	}
	locked := theirs.post("/portal/domain-actions", url.Values{"action": {"lock"}, "id": {owned.domain}})
	owned.action = strings.TrimPrefix(locked.location(), "/portal/domain-actions/")
	owned.holder = s.addHolder(victim.ID)
	unknown := ownedObjects{
		token: "tok_00000000000000000000000000", session: "ses_00000000000000000000000000", passkey: "pky_00000000000000000000000000",
		app: "grant_00000000000000000000000000", domain: "dom_00000000000000000000000000", agent: "agt_00000000000000000000000000", action: "blk_00000000000000000000000000",
		holder: "hld_00000000000000000000000000",
	}
	for _, route := range s.routes {
		if !strings.Contains(route.Path, "{id}") {
			continue
		}
		row, ok := foreignPaths[route.Path]
		if !ok {
			t.Errorf("%s names an object but has no entry in the table", route.Path)
			continue
		}
		ask := func(path string) pageResponse { return b.post(path, nil) }
		if route.Method == http.MethodGet {
			ask = b.get
		}
		got, none := ask(row(owned)), ask(row(unknown))
		got.body = strings.NewReplacer(owned.domain, unknown.domain, owned.action, unknown.action, owned.holder, unknown.holder).Replace(got.body) // a page contains its own path
		if got.status != http.StatusNotFound || got.body != none.body || none.status != got.status {
			t.Errorf("%s: %d for another customer's object, %d for an unknown one; the same page: %t", route.Path, got.status, none.status, got.body == none.body)
		}
	}
	if tokens, err = s.access.List(t.Context(), actor); err != nil || len(tokens) != 1 {
		t.Errorf("the victim's token is gone: %v", err)
	}
	if apps, err := s.apps.ListConnectedApps(t.Context(), actor); err != nil || len(apps) != 1 {
		t.Errorf("the victim's application is gone: %v", err)
	}
	if got := theirs.get("/portal/profile"); got.status != http.StatusOK {
		t.Errorf("the victim's session is gone: %d", got.status)
	}
	if passkeys, err := s.customers.Passkeys(t.Context(), actor); err != nil || len(passkeys) != 1 {
		t.Errorf("the victim's passkey is gone: %v", err)
	}
	if got := theirs.post("/portal/passkeys/"+owned.passkey+"/remove", nil); got.status != http.StatusSeeOther {
		t.Errorf("its owner can't remove it: %d", got.status)
	}
	// The one object that is named in a query: the audit entry to continue from.
	entries, err := s.customers.ListAuditEvents(t.Context(), actor, "", 1)
	must(t, err)
	page := b.get("/portal/activity?before=" + entries[0].ID)
	if page.status != http.StatusOK || strings.Contains(page.body, "victim") || strings.Contains(page.body, owned.token) {
		t.Errorf("the attacker reads %s", page.body)
	}
}

// addPasskey adds a passkey without an authenticator, for lists.
func (s *env) addPasskey(owner string) string {
	s.t.Helper()
	id := registrar.NewID("pky_", s.clock.now())
	must(s.t, s.db.UpdateCustomers(s.t.Context(), func(tx account.Tx) error {
		_, err := tx.InsertPasskey(s.t.Context(), account.StoredPasskey{
			Passkey: account.Passkey{ID: id, Name: "Telefon", CreatedAt: s.clock.now()}, Customer: owner, CredentialID: "c", Credential: "{}",
		})
		return err
	}))
	return id
}

func TestNotFound_IsAPage(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	b := s.newBrowser()
	for path, want := range map[string]int{"/portal/nothing": 404, "/portal/tokens/": 404, "/portal/": 303, "/portal": 303, "/portal/tokens/x": 404} {
		got := b.get(path)
		if got.status != want || want == 404 && !strings.Contains(got.body, "<h1>Nicht gefunden</h1>") {
			t.Errorf("%s: %d", path, got.status)
		}
	}
	got := b.do(http.MethodDelete, "/portal/tokens", "", "")
	if got.status != http.StatusMethodNotAllowed || got.header.Get("Allow") != "GET, HEAD, OPTIONS, POST" || !strings.Contains(got.body, "<h1>") {
		t.Errorf("DELETE: %d %q", got.status, got.header.Get("Allow"))
	}
}

func TestPasskeySignIn_AnonymousBeginIsRateLimited(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	s.newMember("erika@example.org")
	const begin = "/portal/passkeys/sign-in/begin"
	at := strings.Replace(s.base, "127.0.0.1", "localhost", 1) // a passkey can't belong to an IP address
	for i := range account.DefaultWindows().Passkeys.Limit {
		visitor := s.newBrowser() // without cookies, so that the address counts
		visitor.origin = at
		if got := visitor.postJSON(begin, "{}"); got.status != http.StatusOK || !strings.Contains(got.body, `"challenge"`) {
			t.Fatalf("call %d: %d %s", i+1, got.status, got.body)
		}
	}
	visitor := s.newBrowser()
	visitor.origin = at
	got := visitor.postJSON(begin, "{}")
	if got.status != http.StatusTooManyRequests || got.header.Get("Retry-After") == "" || !strings.Contains(got.body, "Bitte versuchen Sie es in") {
		t.Errorf("one more: %d, Retry-After %q, %s", got.status, got.header.Get("Retry-After"), got.body)
	}
	member := s.signedInBrowser("erika@example.org")
	member.origin = at
	if got := member.postJSON(begin, "{}"); got.status != http.StatusOK {
		t.Errorf("a member at the same address: %d %s", got.status, got.body)
	}
}
