package oauth

import (
	"net/http"
	"net/netip"
	"net/url"
	"testing"

	"github.com/dotkontor/dotkontor/test/fresh"
)

func TestTokenAndRevoke_AddressOverItsBudgetIsRefusedFirst(t *testing.T) {
	t.Parallel()
	s := newStage(t, fresh.SQLite(t))
	wrong := url.Values{"grant_type": {"refresh_token"}, "client_id": {"nobody"}, "refresh_token": {"x"}}
	if got := s.token(wrong); got.status != http.StatusUnauthorized && got.status != http.StatusBadRequest {
		t.Fatalf("within the budget: %d %s", got.status, got.text)
	}
	here := netip.MustParseAddr("127.0.0.1")
	for range 599 { // the one above was the first
		if d := s.badTokens.Fail(here, ""); !d.Allowed {
			t.Fatal("a wrong token was not counted once")
		}
	}
	for name, got := range map[string]answer{
		"token": s.token(wrong), "revoke": s.post("/oauth/revoke/", url.Values{"token": {"x"}, "client_id": {"nobody"}}),
	} {
		if got.status != http.StatusTooManyRequests || got.header.Get("Retry-After") == "" {
			t.Errorf("%s over the budget: %d %v %s", name, got.status, got.header, got.text)
		}
	}
}
