package oauth

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/oauth"
)

func (s *env) revoke(a app, token string, changes ...string) httpResponse {
	s.t.Helper()
	form := formValues("token", token, "client_id", a.id)
	if a.secret != "" {
		form.Set("client_secret", a.secret)
	}
	return s.post("/oauth/revoke/", withChanges(form, changes...))
}

func TestRevoke_EitherTokenEndsBoth(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, s *env) {
		session, _ := s.newAccount("anna@example.org")
		for _, method := range []string{"none", "client_secret_post"} {
			a := s.newApp(method, callback)
			for i := range 2 {
				accessToken, refresh := s.connect(session, a)
				hint := []string{"access_token", "refresh_token"}[1-i] // a wrong hint is ignored
				if got := s.revoke(a, []string{accessToken, refresh}[i], "token_type_hint", hint); got.status != 200 || got.header.Get("Cache-Control") != "no-store" {
					t.Errorf("%d %s", got.status, got.text)
				}
				s.wantToolStatus(accessToken, 401)
				s.wantError(s.tokenRequest(a.refreshRequest(refresh)), 400, "invalid_grant")
			}
		}
	})
}

func TestRevoke_UsedRefreshTokenEndsItsFamily(t *testing.T) {
	s := newSQLiteEnv(t)
	session, _ := s.newAccount("anna@example.org")
	a := s.newApp("none", callback)
	_, old := s.connect(session, a)
	got := s.tokenRequest(a.refreshRequest(old))
	s.revoke(a, old)
	s.wantToolStatus(got.field("access_token"), 401)
}

func TestRevoke_OtherClientChangesAndLearnsNothing(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, s *env) {
		session, id := s.newAccount("anna@example.org")
		owner, other := s.newApp("none", callback), s.newApp("none", callback)
		accessToken, refresh := s.connect(session, owner)
		actor := s.actor(session)
		_, personal, err := s.access.Create(t.Context(), actor, oauth.TokenParams{Name: "mine"})
		if err != nil {
			t.Fatal(err)
		}
		for _, token := range []string{accessToken, refresh, personal, "unknown", accessToken + "x", "dotkontor_access_x"} {
			if got := s.revoke(other, token); got.status != 200 || got.text != "" {
				t.Errorf("%d %s", got.status, got.text)
			}
		}
		s.wantToolStatus(accessToken, 200)
		s.wantToolStatus(personal, 200)
		if got := s.tokenRequest(owner.refreshRequest(refresh)); got.status != 200 {
			t.Errorf("%s: %d %s", id, got.status, got.text)
		}
	})
}

func TestRevoke_NeedsKnownClient(t *testing.T) {
	s := newSQLiteEnv(t)
	session, _ := s.newAccount("anna@example.org")
	a := s.newApp("client_secret_post", callback)
	accessToken, _ := s.connect(session, a)
	s.wantError(s.revoke(a, accessToken, "client_id", ""), 401, "invalid_client")
	s.wantError(s.revoke(a, accessToken, "client_id", "client_unknown"), 401, "invalid_client")
	s.wantError(s.revoke(a, accessToken, "client_secret", ""), 401, "invalid_client")
	s.wantError(s.revoke(a, accessToken, "token", ""), 400, "invalid_request")
	s.wantError(s.doRequest("POST", "/oauth/revoke/", "", formType, "token=x", "Authorization", "Basic eDp5"), 401, "invalid_client")
	s.wantError(s.doRequest("POST", "/oauth/revoke/?token="+accessToken, "", formType, ""), 400, "invalid_request")
	s.wantToolStatus(accessToken, 200)
}

func TestDisconnect_EndsAllTokensOfTheApplication(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, s *env) {
		anna, _ := s.newAccount("anna@example.org")
		bert, _ := s.newAccount("bert@example.org")
		a, other := s.newApp("none", callback), s.newApp("none", "http://localhost:1/cb")
		first, refresh := s.connect(anna, a)
		s.clock.advance(time.Minute)
		second, _ := s.connect(anna, a, "scope", "mcp:read")
		open := s.authorizationCode(anna, a)
		kept, _ := s.connect(anna, other)
		berts, _ := s.connect(bert, a)
		apps, err := s.apps.ListConnectedApps(t.Context(), s.actor(anna))
		if err != nil || len(apps) != 2 {
			t.Fatalf("%v, %v", apps, err)
		}
		var id string
		for _, one := range apps {
			if one.Hosts[0] == "app.example" {
				id = one.ID
				if one.Name != "Test App" || !one.MayWrite || !one.ConnectedAt.Equal(s.clock.read().Add(-time.Minute)) || len(one.Hosts) != 1 {
					t.Errorf("listed as %+v", one)
				}
			}
		}
		if err := s.apps.Disconnect(t.Context(), s.actor(bert), id); registrar.KindOf(err) != registrar.KindNotFound {
			t.Errorf("another customer: %v", err)
		}
		s.wantToolStatus(first, 200)
		for range 2 { // repeating it is no error
			if err := s.apps.Disconnect(t.Context(), s.actor(anna), id); err != nil {
				t.Error(err)
			}
		}
		s.wantToolStatus(first, 401)
		s.wantToolStatus(second, 401)
		s.wantError(s.tokenRequest(a.refreshRequest(refresh)), 400, "invalid_grant")
		s.wantError(s.tokenRequest(a.codeRequest(open)), 400, "invalid_grant")
		s.wantToolStatus(kept, 200)
		s.wantToolStatus(berts, 200)
		if apps, _ := s.apps.ListConnectedApps(t.Context(), s.actor(anna)); len(apps) != 1 {
			t.Errorf("still listed: %+v", apps)
		}
		events, err := s.db.ListAuditEvents(t.Context(), s.actor(anna).Customer, "", 100)
		if err != nil {
			t.Fatal(err)
		}
		count := 0
		for _, event := range events {
			if event.Action == oauth.AppDisconnected {
				count++
			}
		}
		if count != 1 {
			t.Errorf("the audit log has it %d times", count)
		}
	})
}

func TestDisconnect_RaceWithCodeExchangeLeavesNoToken(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, s *env) {
		session, _ := s.newAccount("anna@example.org")
		a := s.newApp("none", callback)
		for range 5 {
			s.connect(session, a)
			apps, err := s.apps.ListConnectedApps(t.Context(), s.actor(session))
			if err != nil || len(apps) != 1 {
				t.Fatalf("%v %v", apps, err)
			}
			codes := []string{s.authorizationCode(session, a), s.authorizationCode(session, a), s.authorizationCode(session, a)}
			answers := inParallel(4, func(i int) httpResponse {
				if i < len(codes) {
					return s.tokenRequest(a.codeRequest(codes[i]))
				}
				if err := s.apps.Disconnect(context.Background(), s.actor(session), apps[0].ID); err != nil {
					s.t.Error(err)
				}
				return httpResponse{}
			})
			// Earlier redemptions have ended with the others; later ones fail.
			for _, got := range answers[:3] {
				if got.status == 200 {
					s.wantToolStatus(got.field("access_token"), 401)
				} else {
					s.wantError(got, 400, "invalid_grant")
				}
			}
		}
	})
}

func TestDisabledAccount_TokensStopWorking(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, s *env) {
		session, id := s.newAccount("anna@example.org")
		a := s.newApp("none", callback)
		code := s.authorizationCode(session, a)
		accessToken, refresh := s.connect(session, a)
		if err := s.db.UpdateCustomers(t.Context(), func(tx account.Tx) error {
			_, err := tx.Disable(t.Context(), id, s.clock.read())
			return err
		}); err != nil {
			t.Fatal(err)
		}
		s.wantToolStatus(accessToken, 401)
		s.wantError(s.tokenRequest(a.refreshRequest(refresh)), 400, "invalid_grant")
		s.wantError(s.tokenRequest(a.codeRequest(code)), 400, "invalid_grant")
	})
}

func TestToken_OtherAudienceIsRefused(t *testing.T) {
	s := newSQLiteEnv(t)
	session, _ := s.newAccount("anna@example.org")
	a := s.newApp("none", callback)
	accessToken, refresh := s.connect(session, a)
	elsewhere, err := oauth.NewAuthorizationServer(oauth.AuthorizationServerConfig{Store: s.db, Resource: "https://other.example/api/mcp", Now: s.clock.read})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := elsewhere.Verify(t.Context(), accessToken); registrar.KindOf(err) != registrar.KindUnauthenticated || err == nil {
		t.Errorf("got %v", err)
	}
	_, err = elsewhere.Refresh(t.Context(), oauth.RefreshRequest{ClientCredentials: oauth.ClientCredentials{ClientID: a.id}, Refresh: refresh})
	if registrar.CodeOf(err) != oauth.BadRefresh {
		t.Errorf("got %v", err)
	}
}

func TestSecrets_KindsAreNotInterchangeable(t *testing.T) {
	s := newSQLiteEnv(t)
	session, _ := s.newAccount("anna@example.org")
	a := s.newApp("client_secret_post", callback)
	code := s.authorizationCode(session, a)
	_, refresh := s.connect(session, a)
	for _, secret := range []string{code, refresh, a.secret, "dotkontor_access_", ""} {
		s.wantToolStatus(secret, 401)
	}
	s.wantError(s.tokenRequest(a.refreshRequest(code)), 400, "invalid_grant")
	s.wantError(s.tokenRequest(a.codeRequest(refresh)), 400, "invalid_grant")
}

func TestChallenge_ExpiredAndInsufficientScope(t *testing.T) {
	s := newSQLiteEnv(t)
	session, _ := s.newAccount("anna@example.org")
	a := s.newApp("none", callback)
	metadata := `resource_metadata="` + s.base + `/.well-known/oauth-protected-resource/api/mcp"`
	accessToken, _ := s.connect(session, a)
	s.clock.advance(time.Hour)
	if got := s.callTool(accessToken); got.status != 401 || got.header.Get("WWW-Authenticate") != "Bearer "+metadata {
		t.Errorf("expired: %d %s", got.status, got.header.Get("WWW-Authenticate"))
	}
	reader, _ := s.connect(session, a, "scope", "mcp:read")
	challenge := s.callTool(reader).header.Get("WWW-Authenticate")
	for _, part := range []string{`error="insufficient_scope"`, `scope="mcp:write"`, metadata} {
		if !strings.Contains(challenge, part) {
			t.Errorf("read-only: %s", challenge)
		}
	}
}
