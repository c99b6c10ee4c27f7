package oauth

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

func TestAuthorize_ResponseCarriesIssAndState(t *testing.T) {
	s := newSQLiteEnv(t)
	session, _ := s.newAccount("anna@example.org")
	a := s.newApp("none", callback)
	for decision, want := range map[string]string{"approve": "code", "deny": "error"} {
		got := s.decide(session, s.consentSecret(s.authorize(session, s.authorizationRequest(a))), decision)
		place, query := got.location()
		if got.status != 303 || place != callback || query.Get("iss") != s.base || query.Get("state") != "a state & more" || query.Get(want) == "" {
			t.Errorf("%s: %d %s", decision, got.status, got.header.Get("Location"))
		}
		if decision == "deny" && query.Get("error") != "access_denied" {
			t.Errorf("denied: %v", query)
		}
	}
}

func TestAuthorize_SignInReturnsToTheRequest(t *testing.T) {
	s := newSQLiteEnv(t)
	a := s.newApp("none", callback)
	got := s.authorize("", s.authorizationRequest(a))
	place, query := got.location()
	back, err := url.Parse(query.Get("next"))
	if got.status != 303 || place != "/portal/sign-in" || err != nil || back.Path != "/oauth/authorize/" || back.Query().Encode() != s.authorizationRequest(a).Encode() {
		t.Errorf("%d %s", got.status, got.header.Get("Location"))
	}
}

func TestConsent_WorksOnceInItsSessionAndAccount(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, s *env) {
		anna, id := s.newAccount("anna@example.org")
		bert, _ := s.newAccount("bert@example.org")
		otherSession := s.signIn(id)
		a := s.newApp("none", callback)
		question := s.consentSecret(s.authorize(anna, s.authorizationRequest(a)))
		s.wantPage(s.decide(bert, question, "approve"), "another person")
		s.wantPage(s.decide(otherSession, question, "approve"), "another session")
		s.wantPage(s.decide(anna, question+"x", "approve"), "another secret")
		s.wantPage(s.decide(anna, "", "approve"), "no secret")
		s.wantPage(s.decide(anna, question, "maybe"), "neither yes nor no")
		if got := s.decide("", question, "approve"); got.status != 303 || !strings.HasPrefix(got.header.Get("Location"), "/portal/sign-in") {
			t.Errorf("another session: %d %s", got.status, got.header.Get("Location"))
		}
		won := 0
		for _, got := range inParallel(50, func(int) httpResponse { return s.decide(anna, question, "approve") }) {
			if got.status == 303 {
				won++
				continue
			}
			s.wantPage(got, "the second time")
		}
		if won != 1 {
			t.Errorf("it was approved %d times", won)
		}
		s.wantPage(s.decide(anna, question, "deny"), "denied after it was approved")
	})
}

func TestConsent_ExpiresAfterTenMinutes(t *testing.T) {
	s := newSQLiteEnv(t)
	session, _ := s.newAccount("anna@example.org")
	a := s.newApp("none", callback)
	question := s.consentSecret(s.authorize(session, s.authorizationRequest(a)))
	s.clock.advance(10 * time.Minute)
	s.wantPage(s.decide(session, question, "approve"), "after ten minutes")
}

func TestConsent_WriteScopeNeedsRecentSignIn(t *testing.T) {
	s := newSQLiteEnv(t)
	session, _ := s.newAccount("anna@example.org")
	a := s.newApp("none", callback)
	s.clock.advance(10*time.Minute + time.Second)
	got := s.authorize(session, s.authorizationRequest(a))
	if to := got.header.Get("Location"); got.status != http.StatusSeeOther || !strings.HasPrefix(to, "/portal/sign-in-again?next=%2Foauth%2Fauthorize") {
		t.Errorf("an old sign-in: %d, Location %q", got.status, to)
	}
	// A request for anonymous tools only needs no recent sign-in.
	reading := s.authorizationRequest(a)
	reading.Set("scope", "mcp:read")
	s.consentSecret(s.authorize(session, reading))
}

func TestConsent_AtMostTwentyPendingPerSession(t *testing.T) {
	s := newSQLiteEnv(t)
	session, _ := s.newAccount("anna@example.org")
	a := s.newApp("none", callback)
	first := s.consentSecret(s.authorize(session, s.authorizationRequest(a)))
	for range 20 {
		s.clock.advance(time.Millisecond)
		s.consentSecret(s.authorize(session, s.authorizationRequest(a)))
	}
	s.wantPage(s.decide(session, first, "approve"), "the oldest of twenty-one")
}

func TestConsent_IsAskedEveryTime(t *testing.T) {
	s := newSQLiteEnv(t)
	session, _ := s.newAccount("anna@example.org")
	a := s.newApp("none", callback)
	s.connect(session, a)
	s.consentSecret(s.authorize(session, s.authorizationRequest(a)))
}

func TestConsent_CrossSitePostIsRefused(t *testing.T) {
	s := newSQLiteEnv(t)
	session, _ := s.newAccount("anna@example.org")
	a := s.newApp("none", callback)
	question := s.consentSecret(s.authorize(session, s.authorizationRequest(a)))
	for _, headers := range [][]string{
		{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Origin", "https://evil.example"}, {"Origin", "null"},
	} {
		if got := s.decide(session, question, "approve", headers...); got.status != http.StatusForbidden || got.header.Get("Location") != "" {
			t.Errorf("%v: %d %s", headers, got.status, got.header.Get("Location"))
		}
	}
	if got := s.decide(session, question, "approve", "Sec-Fetch-Site", "same-origin", "Origin", s.base); got.status != 303 {
		t.Errorf("our own form: %d %s", got.status, got.text)
	}
}

func TestConsentPage_NotFramedAndFormMayRedirect(t *testing.T) {
	s := newSQLiteEnv(t)
	session, _ := s.newAccount("anna@example.org")
	a := s.newApp("none", callback)
	for _, page := range []httpResponse{s.authorize(session, s.authorizationRequest(a)), s.authorize(session, withChanges(s.authorizationRequest(a), "client_id", "unknown"))} {
		policy := page.header.Get("Content-Security-Policy")
		if !strings.Contains(policy, "frame-ancestors 'none'") || !strings.Contains(policy, "default-src 'none'") || page.header.Get("X-Frame-Options") != "DENY" ||
			page.header.Get("Cache-Control") != "no-store" || page.header.Get("Referrer-Policy") != "same-origin" {
			t.Errorf("headers: %v", page.header)
		}
	}
	// Chrome applies form-action to the redirect after the form.
	if policy := s.authorize(session, s.authorizationRequest(a)).header.Get("Content-Security-Policy"); strings.Contains(policy, "form-action") {
		t.Errorf("the redirect to the application would be blocked: %s", policy)
	}
}

func TestConsentPage_NamesClientAndScopeWithoutClientContent(t *testing.T) {
	s := newSQLiteEnv(t)
	session, _ := s.newAccount("anna@example.org")
	got := s.register(`{"client_name":"<script>alert('evil')</script><img src=x>","logo_uri":"https://logo.example/l.png","client_uri":"https://claude.ai","redirect_uris":["https://app.example/callback"]}`)
	a := app{id: got.field("client_id"), redirect: callback}
	page := s.authorize(session, s.authorizationRequest(a))
	for _, bad := range []string{"<script>alert", "<img src=x", "logo.example", "claude.ai"} {
		if strings.Contains(page.text, bad) {
			t.Errorf("the page contains %s", bad)
		}
	}
	for _, want := range []string{"&lt;script&gt;alert", "<strong>app.example</strong>", "anna@example.org", "view your domains and orders", "15 Dec 2026", "calls itself"} {
		if !strings.Contains(page.text, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	reader := s.authorize(session, withChanges(s.authorizationRequest(a), "scope", "mcp:read"))
	if strings.Contains(reader.text, "view your domains") || !strings.Contains(reader.text, "anyone can look up") {
		t.Error("mcp:read is not described")
	}
	local := s.newApp("none", "http://127.0.0.1:7777/callback")
	if page := s.authorize(session, s.authorizationRequest(local)); !strings.Contains(page.text, "a program on your own device (127.0.0.1)") {
		t.Error("the page does not identify a local application as such")
	}
}
