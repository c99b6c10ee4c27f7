package oauth

import (
	"net/http"
	"net/netip"
	"net/url"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/ratelimit"
	"github.com/dotkontor/dotkontor/test/testkit/dbtest"
)

func TestTokenAndRevoke_AddressOverLimitIsRefusedFirst(t *testing.T) {
	t.Parallel()
	s := newEnv(t, dbtest.SQLite(t))
	wrong := url.Values{"grant_type": {"refresh_token"}, "client_id": {"nobody"}, "refresh_token": {"x"}}
	if got := s.tokenRequest(wrong); got.status != http.StatusUnauthorized && got.status != http.StatusBadRequest {
		t.Fatalf("within the budget: %d %s", got.status, got.text)
	}
	here := netip.MustParseAddr("127.0.0.1")
	for range 599 { // the one above was the first
		if d := s.badTokens.Fail(here, ""); !d.Allowed {
			t.Fatal("a wrong token was not counted exactly once")
		}
	}
	for name, got := range map[string]httpResponse{
		"token": s.tokenRequest(wrong), "revoke": s.post("/oauth/revoke/", url.Values{"token": {"x"}, "client_id": {"nobody"}}),
	} {
		if got.status != http.StatusTooManyRequests || got.header.Get("Retry-After") == "" {
			t.Errorf("%s over the budget: %d %v %s", name, got.status, got.header, got.text)
		}
	}
}

// exhaustLimit sends wrong credentials of the given form from an address until it is
// refused.
func exhaustLimit(gate *ratelimit.Gate, kind registrar.SecretKind) {
	here := netip.MustParseAddr("127.0.0.1")
	for d := (ratelimit.Decision{Allowed: true}); d.Allowed; {
		wrong, _ := registrar.NewSecret(kind)
		d = gate.Fail(here, wrong)
	}
}

func TestToken_BadBearerFloodDoesNotCloseIt(t *testing.T) {
	s := newSQLiteEnv(t)
	session, _ := s.newAccount("anna@example.org")
	a := s.newApp("none", callback)
	exhaustLimit(s.badBearers, registrar.AccessToken)
	accessToken, refresh := s.connect(session, a)
	s.wantToolStatus(accessToken, http.StatusOK) // issued recently and not used before
	if got := s.tokenRequest(a.refreshRequest(refresh)); got.status != http.StatusOK {
		t.Errorf("refresh: %d %s", got.status, got.text)
	}
}

func TestToken_RecentlyIssuedCredentialsPassDuringFlood(t *testing.T) {
	s := newSQLiteEnv(t)
	session, _ := s.newAccount("anna@example.org")
	a := s.newApp("none", callback)
	_, refresh := s.connect(session, a)
	exhaustLimit(s.badTokens, registrar.RefreshToken)
	wrong, _ := registrar.NewSecret(registrar.RefreshToken)
	if got := s.tokenRequest(a.refreshRequest(wrong)); got.status != http.StatusTooManyRequests {
		t.Errorf("a wrong token: %d %s", got.status, got.text)
	}
	got := s.tokenRequest(a.refreshRequest(refresh))
	if got.status != http.StatusOK {
		t.Fatalf("refresh: %d %s", got.status, got.text)
	}
	other, _ := s.connect(session, a) // the code was issued recently, too
	for _, token := range []string{got.field("access_token"), other} {
		if answer := s.revoke(a, token); answer.status != http.StatusOK {
			t.Errorf("revoke: %d %s", answer.status, answer.text)
		}
		s.wantToolStatus(token, http.StatusUnauthorized)
	}
}

func TestToken_FloodWithoutCredentialSparesUnknownCredentials(t *testing.T) {
	s := newSQLiteEnv(t)
	here := netip.MustParseAddr("127.0.0.1")
	for s.badTokens.Fail(here, "").Allowed {
	}
	a := s.newApp("none", callback)
	unknown, _ := registrar.NewSecret(registrar.RefreshToken) // plausible: another node may have issued it
	s.wantError(s.tokenRequest(a.refreshRequest(unknown)), http.StatusBadRequest, "invalid_grant")
}

func TestRevoke_OnlyUnknownTokensAreCounted(t *testing.T) {
	s := newSQLiteEnv(t)
	session, _ := s.newAccount("anna@example.org")
	a := s.newApp("none", callback)
	here := netip.MustParseAddr("127.0.0.1")
	for range 599 {
		s.badTokens.Fail(here, "")
	}
	accessToken, _ := s.connect(session, a)
	s.revoke(a, accessToken)
	if !s.badTokens.Admit(here, "").Allowed {
		t.Error("a revoked token is counted as a wrong one")
	}
	s.revoke(a, accessToken)
	if s.badTokens.Admit(here, "").Allowed {
		t.Error("revoking an unknown token is not counted")
	}
}
