package oauth

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

func TestCode_ExchangedForWorkingTokens(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, s *env) {
		session, id := s.newAccount("anna@example.org")
		for _, method := range []string{"none", "client_secret_post"} {
			a := s.newApp(method, callback)
			got := s.tokenRequest(a.codeRequest(s.authorizationCode(session, a)))
			if got.status != http.StatusOK || got.field("token_type") != "Bearer" || got.body["expires_in"] != 3600.0 ||
				got.field("scope") != "mcp:write" || got.header.Get("Cache-Control") != "no-store" {
				t.Errorf("%s: %d %s", method, got.status, got.text)
			}
			if listed := s.callTool(got.field("access_token")); listed.status != 200 || !strings.Contains(listed.text, id) {
				t.Errorf("%s: the tool returns %d %s", method, listed.status, listed.text)
			}
		}
	})
}

func TestCode_ReplayRevokesItsTokens(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, s *env) {
		session, _ := s.newAccount("anna@example.org")
		a := s.newApp("none", callback)
		code := s.authorizationCode(session, a)
		first := s.tokenRequest(a.codeRequest(code))
		s.wantToolStatus(first.field("access_token"), 200)
		s.clock.advance(2 * time.Hour) // long after the code has expired
		renewed := s.tokenRequest(a.refreshRequest(first.field("refresh_token")))
		s.wantToolStatus(renewed.field("access_token"), 200)
		s.wantError(s.tokenRequest(a.codeRequest(code)), 400, "invalid_grant")
		s.wantToolStatus(renewed.field("access_token"), 401)
		s.wantError(s.tokenRequest(a.refreshRequest(renewed.field("refresh_token"))), 400, "invalid_grant")
	})
}

func TestCode_RaceHasOneWinnerWhoseTokensAreRevoked(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, s *env) {
		session, _ := s.newAccount("anna@example.org")
		a := s.newApp("none", callback)
		code := s.authorizationCode(session, a)
		won := 0
		for _, got := range inParallel(50, func(int) httpResponse { return s.tokenRequest(a.codeRequest(code)) }) {
			if got.status == http.StatusOK {
				won++
				s.wantToolStatus(got.field("access_token"), 401)
				s.wantError(s.tokenRequest(a.refreshRequest(got.field("refresh_token"))), 400, "invalid_grant")
				continue
			}
			s.wantError(got, 400, "invalid_grant")
		}
		if won > 1 {
			t.Errorf("%d won", won)
		}
	})
}

func TestCode_WrongVerifierInvalidatesIt(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, s *env) {
		session, _ := s.newAccount("anna@example.org")
		a := s.newApp("none", callback)
		for _, wrong := range []string{strings.Repeat("x", 43), "short", strings.Repeat("x", 200), challenge()} {
			code := s.authorizationCode(session, a)
			s.wantError(s.tokenRequest(withChanges(a.codeRequest(code), "code_verifier", wrong)), 400, "invalid_grant")
			s.wantError(s.tokenRequest(a.codeRequest(code)), 400, "invalid_grant")
		}
		code := s.authorizationCode(session, a)
		s.wantError(s.tokenRequest(withChanges(a.codeRequest(code), "redirect_uri", callback+"/")), 400, "invalid_grant")
		s.wantError(s.tokenRequest(a.codeRequest(code)), 400, "invalid_grant")
	})
}

func TestCode_MissingVerifierIsRefused(t *testing.T) {
	s := newSQLiteEnv(t)
	session, _ := s.newAccount("anna@example.org")
	a := s.newApp("none", callback)
	code := s.authorizationCode(session, a)
	s.wantError(s.tokenRequest(withChanges(a.codeRequest(code), "code_verifier", "")), 400, "invalid_request")
	form := a.codeRequest(code)
	form.Set("code_verifier", "")
	s.wantError(s.tokenRequest(form), 400, "invalid_request")
}

func TestCode_RedirectURIOptionalAtTokenEndpoint(t *testing.T) {
	s := newSQLiteEnv(t)
	session, _ := s.newAccount("anna@example.org")
	a := s.newApp("none", callback)
	if got := s.tokenRequest(withChanges(a.codeRequest(s.authorizationCode(session, a)), "redirect_uri", "")); got.status != 200 {
		t.Errorf("got %d %s", got.status, got.text)
	}
}

func TestPKCE_OnlyS256(t *testing.T) {
	s := newSQLiteEnv(t)
	session, _ := s.newAccount("anna@example.org")
	a := s.newApp("none", callback)
	for name, changes := range map[string][]string{
		"plain": {"code_challenge_method", "plain"}, "no method": {"code_challenge_method", ""}, "unknown method": {"code_challenge_method", "s256"},
		"missing": {"code_challenge", ""}, "short": {"code_challenge", challenge()[:42]}, "long": {"code_challenge", challenge() + "A"},
		"padded": {"code_challenge", challenge() + "="}, "not base64url": {"code_challenge", strings.Repeat("+", 43)},
	} {
		got := s.authorize(session, withChanges(s.authorizationRequest(a), changes...))
		place, query := got.location()
		if place != callback || query.Get("error") != "invalid_request" || query.Get("code") != "" {
			t.Errorf("%s: %d %s", name, got.status, got.header.Get("Location"))
		}
	}
	empty := s.authorizationRequest(a)
	empty["code_challenge"] = []string{""}
	if _, query := s.authorize(session, empty).location(); query.Get("error") != "invalid_request" {
		t.Errorf("empty: %v", query)
	}
}

func TestCode_OtherClientIsRefusedWithoutConsumingIt(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, s *env) {
		session, _ := s.newAccount("anna@example.org")
		owner, other := s.newApp("none", callback), s.newApp("client_secret_post", callback)
		code := s.authorizationCode(session, owner)
		s.wantError(s.tokenRequest(other.codeRequest(code)), 400, "invalid_grant")
		if got := s.tokenRequest(owner.codeRequest(code)); got.status != 200 {
			t.Errorf("the owner gets %d %s", got.status, got.text)
		}
	})
}

func TestCode_ExpiresAfterSixtySeconds(t *testing.T) {
	s := newSQLiteEnv(t)
	session, _ := s.newAccount("anna@example.org")
	a := s.newApp("none", callback)
	for wait, want := range map[time.Duration]int{60*time.Second - time.Microsecond: 200, 60 * time.Second: 400} {
		code := s.authorizationCode(session, a)
		s.clock.advance(wait)
		if got := s.tokenRequest(a.codeRequest(code)); got.status != want {
			t.Errorf("after %v: %d %s", wait, got.status, got.text)
		}
	}
}

func TestTokens_ExpireExactlyOnTime(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, s *env) {
		session, _ := s.newAccount("anna@example.org")
		a := s.newApp("none", callback)
		accessToken, refresh := s.connect(session, a)
		s.clock.advance(time.Hour - time.Microsecond)
		s.wantToolStatus(accessToken, 200)
		s.clock.advance(time.Microsecond)
		s.wantToolStatus(accessToken, 401)
		s.clock.advance(30*24*time.Hour - time.Hour - time.Microsecond)
		got := s.tokenRequest(a.refreshRequest(refresh))
		if got.status != 200 {
			t.Fatalf("just before its end: %d %s", got.status, got.text)
		}
		s.clock.advance(30 * 24 * time.Hour)
		s.wantError(s.tokenRequest(a.refreshRequest(got.field("refresh_token"))), 400, "invalid_grant")
	})
}

func TestToken_AmbiguousRequestsAreRefused(t *testing.T) {
	s := newSQLiteEnv(t)
	session, _ := s.newAccount("anna@example.org")
	public, confidential := s.newApp("none", callback), s.newApp("client_secret_post", callback)
	basic := []string{"Authorization", "Basic Y2xpZW50OnNlY3JldA=="}
	good := public.codeRequest(s.authorizationCode(session, public)).Encode()
	s.wantError(s.doRequest("POST", "/oauth/token/", "", formType, good, basic...), 401, "invalid_client")
	s.wantError(s.doRequest("POST", "/oauth/token/?client_id="+public.id, "", formType, good), 400, "invalid_request")
	s.wantError(s.doRequest("POST", "/oauth/token/?"+good, "", formType, ""), 400, "invalid_request")
	s.wantError(s.doRequest("POST", "/oauth/token/", "", "application/json", "{}"), 400, "invalid_request")
	s.wantError(s.doRequest("POST", "/oauth/token/", "", "", good), 400, "invalid_request")
	s.wantError(s.doRequest("POST", "/oauth/token/", "", formType, good+"&pad="+strings.Repeat("x", 17000)), 413, "invalid_request")
	s.wantError(s.doRequest("POST", "/oauth/token/", "", formType, "%zz"), 400, "invalid_request")
	for _, name := range []string{"client_id", "code", "code_verifier", "grant_type", "redirect_uri", "unknown"} {
		s.wantError(s.doRequest("POST", "/oauth/token/", "", formType, good+"&"+name+"=x&"+name+"=x"), 400, "invalid_request")
	}
	s.wantError(s.doRequest("POST", "/oauth/token/", "", formType, good+"&resource=https://other.example"), 400, "invalid_target")
	s.wantError(s.doRequest("POST", "/oauth/token/", "", formType,
		good+"&resource="+url.QueryEscape(s.base+"/api/mcp")+"&resource=https://other.example"), 400, "invalid_target")
	s.wantError(s.tokenRequest(withChanges(public.codeRequest("x"), "client_secret", "dotkontor_client_x")), 401, "invalid_client")
	s.wantError(s.tokenRequest(withChanges(public.codeRequest("x"), "client_secret", confidential.secret)), 401, "invalid_client")
	s.wantError(s.tokenRequest(withChanges(confidential.codeRequest("x"), "client_secret", "")), 401, "invalid_client")
	s.wantError(s.tokenRequest(withChanges(confidential.codeRequest("x"), "client_secret", confidential.secret[:60]+"xxxxxx")), 401, "invalid_client")
	s.wantError(s.tokenRequest(withChanges(public.codeRequest("x"), "client_id", "client_unknown")), 401, "invalid_client")
	s.wantError(s.tokenRequest(withChanges(public.codeRequest("x"), "client_id", "")), 401, "invalid_client")
	s.wantError(s.tokenRequest(withChanges(public.codeRequest("x"), "grant_type", "")), 400, "invalid_request")
	s.wantError(s.tokenRequest(withChanges(public.codeRequest("x"), "code", "")), 400, "invalid_request")
	for _, grant := range []string{"password", "client_credentials", "implicit"} {
		s.wantError(s.tokenRequest(withChanges(public.codeRequest("x"), "grant_type", grant)), 400, "unsupported_grant_type")
	}
	s.wantError(s.tokenRequest(public.codeRequest("x")), 400, "invalid_grant")
	// None of these requests used the code.
	if got := s.doRequest("POST", "/oauth/token/", "", formType, good); got.status != 200 {
		t.Errorf("the code was used up: %d %s", got.status, got.text)
	}
}

func TestEndpoints_AcceptTrailingSlashWithoutRedirect(t *testing.T) {
	s := newSQLiteEnv(t)
	for _, path := range []string{"/oauth/register", "/oauth/token", "/oauth/revoke"} {
		for _, spelling := range []string{path, path + "/"} {
			got := s.doRequest("POST", spelling, "", formType, "")
			if got.status != 400 || got.header.Get("Access-Control-Allow-Origin") != "*" ||
				got.header.Get("Access-Control-Allow-Credentials") != "" || got.header.Get("Cache-Control") != "no-store" {
				t.Errorf("POST %s: %d %v", spelling, got.status, got.header)
			}
			if got := s.doRequest("OPTIONS", spelling, "", "", ""); got.status != 204 || got.header.Get("Access-Control-Allow-Methods") == "" {
				t.Errorf("OPTIONS %s: %d", spelling, got.status)
			}
			if got := s.doRequest("GET", spelling, "", "", ""); got.status != 405 || got.field("error") != "invalid_request" {
				t.Errorf("GET %s: %d %s", spelling, got.status, got.text)
			}
		}
	}
	for _, spelling := range []string{"/oauth/authorize", "/oauth/authorize/"} {
		if got := s.doRequest("GET", spelling, "", "", ""); got.status != 400 || got.header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("GET %s: %d", spelling, got.status)
		}
	}
}
