package oauth

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

func TestAnApplicationIsConnected(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(s *stage) {
		session, id := s.person("anna@example.org")
		for _, method := range []string{"none", "client_secret_post"} {
			a := s.newApp(method, callback)
			got := s.token(a.redemption(s.code(session, a)))
			if got.status != http.StatusOK || got.field("token_type") != "Bearer" || got.body["expires_in"] != 3600.0 ||
				got.field("scope") != "mcp:write" || got.header.Get("Cache-Control") != "no-store" {
				t.Errorf("%s: %d %s", method, got.status, got.text)
			}
			if listed := s.opens(got.field("access_token")); listed.status != 200 || !strings.Contains(listed.text, id) {
				t.Errorf("%s: the tool answers %d %s", method, listed.status, listed.text)
			}
		}
	})
}

func TestACodeWorksOnceAndItsReplayEndsWhatCameOutOfIt(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(s *stage) {
		session, _ := s.person("anna@example.org")
		a := s.newApp("none", callback)
		code := s.code(session, a)
		first := s.token(a.redemption(code))
		s.wantOpen(first.field("access_token"), 200)
		s.clock.move(2 * time.Hour) // long after the code has expired
		renewed := s.token(a.renewal(first.field("refresh_token")))
		s.wantOpen(renewed.field("access_token"), 200)
		s.wantError(s.token(a.redemption(code)), 400, "invalid_grant")
		s.wantOpen(renewed.field("access_token"), 401)
		s.wantError(s.token(a.renewal(renewed.field("refresh_token"))), 400, "invalid_grant")
	})
}

func TestARaceForACodeHasAtMostOneWinnerAndItsTokensAreDead(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(s *stage) {
		session, _ := s.person("anna@example.org")
		a := s.newApp("none", callback)
		code := s.code(session, a)
		won := 0
		for _, got := range race(50, func(int) answer { return s.token(a.redemption(code)) }) {
			if got.status == http.StatusOK {
				won++
				s.wantOpen(got.field("access_token"), 401)
				s.wantError(s.token(a.renewal(got.field("refresh_token"))), 400, "invalid_grant")
				continue
			}
			s.wantError(got, 400, "invalid_grant")
		}
		if won > 1 {
			t.Errorf("%d won", won)
		}
	})
}

func TestAWrongVerifierBurnsTheCode(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(s *stage) {
		session, _ := s.person("anna@example.org")
		a := s.newApp("none", callback)
		for _, wrong := range []string{strings.Repeat("x", 43), "short", strings.Repeat("x", 200), challenge()} {
			code := s.code(session, a)
			s.wantError(s.token(but(a.redemption(code), "code_verifier", wrong)), 400, "invalid_grant")
			s.wantError(s.token(a.redemption(code)), 400, "invalid_grant")
		}
		code := s.code(session, a)
		s.wantError(s.token(but(a.redemption(code), "redirect_uri", callback+"/")), 400, "invalid_grant")
		s.wantError(s.token(a.redemption(code)), 400, "invalid_grant")
	})
}

func TestACodeWithoutAVerifierIsNotRedeemed(t *testing.T) {
	s := anyEngine(t)
	session, _ := s.person("anna@example.org")
	a := s.newApp("none", callback)
	code := s.code(session, a)
	s.wantError(s.token(but(a.redemption(code), "code_verifier", "")), 400, "invalid_request")
	form := a.redemption(code)
	form.Set("code_verifier", "")
	s.wantError(s.token(form), 400, "invalid_request")
}

func TestARedirectURIMayBeLeftOutAtTheTokenEndpoint(t *testing.T) {
	s := anyEngine(t)
	session, _ := s.person("anna@example.org")
	a := s.newApp("none", callback)
	if got := s.token(but(a.redemption(s.code(session, a)), "redirect_uri", "")); got.status != 200 {
		t.Errorf("got %d %s", got.status, got.text)
	}
}

func TestPKCEIsS256OrNothing(t *testing.T) {
	s := anyEngine(t)
	session, _ := s.person("anna@example.org")
	a := s.newApp("none", callback)
	for name, changes := range map[string][]string{
		"plain": {"code_challenge_method", "plain"}, "no method": {"code_challenge_method", ""}, "unknown method": {"code_challenge_method", "s256"},
		"missing": {"code_challenge", ""}, "short": {"code_challenge", challenge()[:42]}, "long": {"code_challenge", challenge() + "A"},
		"padded": {"code_challenge", challenge() + "="}, "not base64url": {"code_challenge", strings.Repeat("+", 43)},
	} {
		got := s.authorize(session, but(s.request(a), changes...))
		place, query := got.location()
		if place != callback || query.Get("error") != "invalid_request" || query.Get("code") != "" {
			t.Errorf("%s: %d %s", name, got.status, got.header.Get("Location"))
		}
	}
	empty := s.request(a)
	empty["code_challenge"] = []string{""}
	if _, query := s.authorize(session, empty).location(); query.Get("error") != "invalid_request" {
		t.Errorf("empty: %v", query)
	}
}

func TestAnotherClientsCodeIsRefusedAndStaysItsOwners(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(s *stage) {
		session, _ := s.person("anna@example.org")
		owner, other := s.newApp("none", callback), s.newApp("client_secret_post", callback)
		code := s.code(session, owner)
		s.wantError(s.token(other.redemption(code)), 400, "invalid_grant")
		if got := s.token(owner.redemption(code)); got.status != 200 {
			t.Errorf("the owner gets %d %s", got.status, got.text)
		}
	})
}

func TestACodeLivesExactlySixtySeconds(t *testing.T) {
	s := anyEngine(t)
	session, _ := s.person("anna@example.org")
	a := s.newApp("none", callback)
	for wait, want := range map[time.Duration]int{60*time.Second - time.Microsecond: 200, 60 * time.Second: 400} {
		code := s.code(session, a)
		s.clock.move(wait)
		if got := s.token(a.redemption(code)); got.status != want {
			t.Errorf("after %v: %d %s", wait, got.status, got.text)
		}
	}
}

func TestTokensLiveExactlyAsLongAsPromised(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(s *stage) {
		session, _ := s.person("anna@example.org")
		a := s.newApp("none", callback)
		accessToken, refresh := s.connect(session, a)
		s.clock.move(time.Hour - time.Microsecond)
		s.wantOpen(accessToken, 200)
		s.clock.move(time.Microsecond)
		s.wantOpen(accessToken, 401)
		s.clock.move(30*24*time.Hour - time.Hour - time.Microsecond)
		got := s.token(a.renewal(refresh))
		if got.status != 200 {
			t.Fatalf("just before its end: %d %s", got.status, got.text)
		}
		s.clock.move(30 * 24 * time.Hour)
		s.wantError(s.token(a.renewal(got.field("refresh_token"))), 400, "invalid_grant")
	})
}

func TestTheTokenEndpointReadsARequestInOneWayOnly(t *testing.T) {
	s := anyEngine(t)
	session, _ := s.person("anna@example.org")
	public, confidential := s.newApp("none", callback), s.newApp("client_secret_post", callback)
	basic := []string{"Authorization", "Basic Y2xpZW50OnNlY3JldA=="}
	good := public.redemption(s.code(session, public)).Encode()
	s.wantError(s.do("POST", "/oauth/token/", "", formType, good, basic...), 401, "invalid_client")
	s.wantError(s.do("POST", "/oauth/token/?client_id="+public.id, "", formType, good), 400, "invalid_request")
	s.wantError(s.do("POST", "/oauth/token/?"+good, "", formType, ""), 400, "invalid_request")
	s.wantError(s.do("POST", "/oauth/token/", "", "application/json", "{}"), 400, "invalid_request")
	s.wantError(s.do("POST", "/oauth/token/", "", "", good), 400, "invalid_request")
	s.wantError(s.do("POST", "/oauth/token/", "", formType, good+"&pad="+strings.Repeat("x", 17000)), 413, "invalid_request")
	s.wantError(s.do("POST", "/oauth/token/", "", formType, "%zz"), 400, "invalid_request")
	for _, name := range []string{"client_id", "code", "code_verifier", "grant_type", "redirect_uri", "unknown"} {
		s.wantError(s.do("POST", "/oauth/token/", "", formType, good+"&"+name+"=x&"+name+"=x"), 400, "invalid_request")
	}
	s.wantError(s.do("POST", "/oauth/token/", "", formType, good+"&resource=https://other.example"), 400, "invalid_target")
	s.wantError(s.do("POST", "/oauth/token/", "", formType,
		good+"&resource="+url.QueryEscape(s.base+"/api/mcp")+"&resource=https://other.example"), 400, "invalid_target")
	s.wantError(s.token(but(public.redemption("x"), "client_secret", "dotkontor_client_x")), 401, "invalid_client")
	s.wantError(s.token(but(public.redemption("x"), "client_secret", confidential.secret)), 401, "invalid_client")
	s.wantError(s.token(but(confidential.redemption("x"), "client_secret", "")), 401, "invalid_client")
	s.wantError(s.token(but(confidential.redemption("x"), "client_secret", confidential.secret[:60]+"xxxxxx")), 401, "invalid_client")
	s.wantError(s.token(but(public.redemption("x"), "client_id", "client_unknown")), 401, "invalid_client")
	s.wantError(s.token(but(public.redemption("x"), "client_id", "")), 401, "invalid_client")
	s.wantError(s.token(but(public.redemption("x"), "grant_type", "")), 400, "invalid_request")
	s.wantError(s.token(but(public.redemption("x"), "code", "")), 400, "invalid_request")
	for _, grant := range []string{"password", "client_credentials", "implicit"} {
		s.wantError(s.token(but(public.redemption("x"), "grant_type", grant)), 400, "unsupported_grant_type")
	}
	s.wantError(s.token(public.redemption("x")), 400, "invalid_grant")
	// Nothing of all that has touched the code.
	if got := s.do("POST", "/oauth/token/", "", formType, good); got.status != 200 {
		t.Errorf("the code was used up: %d %s", got.status, got.text)
	}
}

func TestEveryPathHasTwoSpellingsAndNeverRedirectsAPost(t *testing.T) {
	s := anyEngine(t)
	for _, path := range []string{"/oauth/register", "/oauth/token", "/oauth/revoke"} {
		for _, spelling := range []string{path, path + "/"} {
			got := s.do("POST", spelling, "", formType, "")
			if got.status != 400 || got.header.Get("Access-Control-Allow-Origin") != "*" ||
				got.header.Get("Access-Control-Allow-Credentials") != "" || got.header.Get("Cache-Control") != "no-store" {
				t.Errorf("POST %s: %d %v", spelling, got.status, got.header)
			}
			if got := s.do("OPTIONS", spelling, "", "", ""); got.status != 204 || got.header.Get("Access-Control-Allow-Methods") == "" {
				t.Errorf("OPTIONS %s: %d", spelling, got.status)
			}
			if got := s.do("GET", spelling, "", "", ""); got.status != 405 || got.field("error") != "invalid_request" {
				t.Errorf("GET %s: %d %s", spelling, got.status, got.text)
			}
		}
	}
	for _, spelling := range []string{"/oauth/authorize", "/oauth/authorize/"} {
		if got := s.do("GET", spelling, "", "", ""); got.status != 400 || got.header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("GET %s: %d", spelling, got.status)
		}
	}
}
