package oauth

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/access"
	"github.com/dotkontor/dotkontor/internal/registrar/customer"
)

func (s *stage) revoke(a app, token string, changes ...string) answer {
	s.t.Helper()
	form := values("token", token, "client_id", a.id)
	if a.secret != "" {
		form.Set("client_secret", a.secret)
	}
	return s.post("/oauth/revoke/", but(form, changes...))
}

func TestRevokingEitherTokenEndsBoth(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(s *stage) {
		session, _ := s.person("anna@example.org")
		for _, method := range []string{"none", "client_secret_post"} {
			a := s.newApp(method, callback)
			for i := range 2 {
				accessToken, refresh := s.connect(session, a)
				hint := []string{"access_token", "refresh_token"}[1-i] // a wrong hint does no harm
				if got := s.revoke(a, []string{accessToken, refresh}[i], "token_type_hint", hint); got.status != 200 || got.header.Get("Cache-Control") != "no-store" {
					t.Errorf("%d %s", got.status, got.text)
				}
				s.wantOpen(accessToken, 401)
				s.wantError(s.token(a.renewal(refresh)), 400, "invalid_grant")
			}
		}
	})
}

func TestAUsedRefreshTokenStillEndsItsFamily(t *testing.T) {
	s := anyEngine(t)
	session, _ := s.person("anna@example.org")
	a := s.newApp("none", callback)
	_, old := s.connect(session, a)
	got := s.token(a.renewal(old))
	s.revoke(a, old)
	s.wantOpen(got.field("access_token"), 401)
}

func TestAStrangerRevokesNothingAndLearnsNothing(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(s *stage) {
		session, id := s.person("anna@example.org")
		owner, stranger := s.newApp("none", callback), s.newApp("none", callback)
		accessToken, refresh := s.connect(session, owner)
		actor := s.visitor(session)
		_, personal, err := s.access.Create(t.Context(), actor, "mine")
		if err != nil {
			t.Fatal(err)
		}
		for _, token := range []string{accessToken, refresh, personal, "unknown", accessToken + "x", "dotkontor_access_x"} {
			if got := s.revoke(stranger, token); got.status != 200 || got.text != "" {
				t.Errorf("%d %s", got.status, got.text)
			}
		}
		s.wantOpen(accessToken, 200)
		s.wantOpen(personal, 200)
		if got := s.token(owner.renewal(refresh)); got.status != 200 {
			t.Errorf("%s: %d %s", id, got.status, got.text)
		}
	})
}

func TestRevocationNeedsAKnownClient(t *testing.T) {
	s := anyEngine(t)
	session, _ := s.person("anna@example.org")
	a := s.newApp("client_secret_post", callback)
	accessToken, _ := s.connect(session, a)
	s.wantError(s.revoke(a, accessToken, "client_id", ""), 401, "invalid_client")
	s.wantError(s.revoke(a, accessToken, "client_id", "client_unknown"), 401, "invalid_client")
	s.wantError(s.revoke(a, accessToken, "client_secret", ""), 401, "invalid_client")
	s.wantError(s.revoke(a, accessToken, "token", ""), 400, "invalid_request")
	s.wantError(s.do("POST", "/oauth/revoke/", "", formType, "token=x", "Authorization", "Basic eDp5"), 401, "invalid_client")
	s.wantError(s.do("POST", "/oauth/revoke/?token="+accessToken, "", formType, ""), 400, "invalid_request")
	s.wantOpen(accessToken, 200)
}

func TestDisconnectingEndsAllOfAnApplicationAtOnce(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(s *stage) {
		anna, _ := s.person("anna@example.org")
		bert, _ := s.person("bert@example.org")
		a, other := s.newApp("none", callback), s.newApp("none", "http://localhost:1/cb")
		first, refresh := s.connect(anna, a)
		s.clock.move(time.Minute)
		second, _ := s.connect(anna, a, "scope", "mcp:read")
		open := s.code(anna, a)
		kept, _ := s.connect(anna, other)
		berts, _ := s.connect(bert, a)
		apps, err := s.apps.Apps(t.Context(), s.visitor(anna))
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
		if err := s.apps.Disconnect(t.Context(), s.visitor(bert), id); registrar.KindOf(err) != registrar.KindNotFound {
			t.Errorf("a stranger: %v", err)
		}
		s.wantOpen(first, 200)
		for range 2 { // again is no error
			if err := s.apps.Disconnect(t.Context(), s.visitor(anna), id); err != nil {
				t.Error(err)
			}
		}
		s.wantOpen(first, 401)
		s.wantOpen(second, 401)
		s.wantError(s.token(a.renewal(refresh)), 400, "invalid_grant")
		s.wantError(s.token(a.redemption(open)), 400, "invalid_grant")
		s.wantOpen(kept, 200)
		s.wantOpen(berts, 200)
		if apps, _ := s.apps.Apps(t.Context(), s.visitor(anna)); len(apps) != 1 {
			t.Errorf("still listed: %+v", apps)
		}
		deeds, err := s.db.DeedsOf(t.Context(), s.visitor(anna).Customer, "", 100)
		if err != nil {
			t.Fatal(err)
		}
		count := 0
		for _, deed := range deeds {
			if deed.Action == access.AppDisconnected {
				count++
			}
		}
		if count != 1 {
			t.Errorf("the audit tells it %d times", count)
		}
	})
}

func TestARaceOfDisconnectingAndRedeemingLeavesNothingAlive(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(s *stage) {
		session, _ := s.person("anna@example.org")
		a := s.newApp("none", callback)
		for range 5 {
			s.connect(session, a)
			apps, err := s.apps.Apps(t.Context(), s.visitor(session))
			if err != nil || len(apps) != 1 {
				t.Fatalf("%v %v", apps, err)
			}
			codes := []string{s.code(session, a), s.code(session, a), s.code(session, a)}
			answers := race(4, func(i int) answer {
				if i < len(codes) {
					return s.token(a.redemption(codes[i]))
				}
				if err := s.apps.Disconnect(context.Background(), s.visitor(session), apps[0].ID); err != nil {
					s.t.Error(err)
				}
				return answer{}
			})
			// Whoever came before has ended with the rest; nobody came after.
			for _, got := range answers[:3] {
				if got.status == 200 {
					s.wantOpen(got.field("access_token"), 401)
				} else {
					s.wantError(got, 400, "invalid_grant")
				}
			}
		}
	})
}

func TestADisabledAccountHasNoTokens(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(s *stage) {
		session, id := s.person("anna@example.org")
		a := s.newApp("none", callback)
		code := s.code(session, a)
		accessToken, refresh := s.connect(session, a)
		if err := s.db.ChangeCustomers(t.Context(), func(tx customer.Tx) error {
			_, err := tx.Disable(t.Context(), id, s.clock.read())
			return err
		}); err != nil {
			t.Fatal(err)
		}
		s.wantOpen(accessToken, 401)
		s.wantError(s.token(a.renewal(refresh)), 400, "invalid_grant")
		s.wantError(s.token(a.redemption(code)), 400, "invalid_grant")
	})
}

func TestATokenForAnotherAudienceOpensNothing(t *testing.T) {
	s := anyEngine(t)
	session, _ := s.person("anna@example.org")
	a := s.newApp("none", callback)
	accessToken, refresh := s.connect(session, a)
	elsewhere, err := access.NewApplications(access.ApplicationsConfig{Store: s.db, Resource: "https://other.example/api/mcp", Now: s.clock.read})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := elsewhere.Verify(t.Context(), accessToken); registrar.KindOf(err) != registrar.KindUnauthenticated || err == nil {
		t.Errorf("got %v", err)
	}
	_, err = elsewhere.Refresh(t.Context(), access.Renewal{Credentials: access.Credentials{ClientID: a.id}, Refresh: refresh})
	if registrar.CodeOf(err) != access.BadRefresh {
		t.Errorf("got %v", err)
	}
}

func TestASecretOfOneKindIsNoneOfAnother(t *testing.T) {
	s := anyEngine(t)
	session, _ := s.person("anna@example.org")
	a := s.newApp("client_secret_post", callback)
	code := s.code(session, a)
	_, refresh := s.connect(session, a)
	for _, secret := range []string{code, refresh, a.secret, "dotkontor_access_", ""} {
		s.wantOpen(secret, 401)
	}
	s.wantError(s.token(a.renewal(code)), 400, "invalid_grant")
	s.wantError(s.token(a.redemption(refresh)), 400, "invalid_grant")
}

func TestTheChallengesAreExactlyTheContracts(t *testing.T) {
	s := anyEngine(t)
	session, _ := s.person("anna@example.org")
	a := s.newApp("none", callback)
	metadata := `resource_metadata="` + s.base + `/.well-known/oauth-protected-resource/api/mcp"`
	accessToken, _ := s.connect(session, a)
	s.clock.move(time.Hour)
	if got := s.opens(accessToken); got.status != 401 || got.header.Get("WWW-Authenticate") != "Bearer "+metadata {
		t.Errorf("expired: %d %s", got.status, got.header.Get("WWW-Authenticate"))
	}
	reader, _ := s.connect(session, a, "scope", "mcp:read")
	challenge := s.opens(reader).header.Get("WWW-Authenticate")
	for _, part := range []string{`error="insufficient_scope"`, `scope="mcp:write"`, metadata} {
		if !strings.Contains(challenge, part) {
			t.Errorf("read-only: %s", challenge)
		}
	}
}
