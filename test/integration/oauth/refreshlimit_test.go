package oauth

import (
	"strconv"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/mailer"
	"github.com/dotkontor/dotkontor/internal/registrar/oauth"
	"github.com/dotkontor/dotkontor/internal/registrar/ratelimit"
)

// withRefreshLimit limits the refreshes per grant and hour of real time.
func withRefreshLimit(t *testing.T, limit int) option {
	t.Helper()
	limiter, err := ratelimit.New(ratelimit.Config{Windows: []ratelimit.Window{{Limit: limit, Per: time.Hour}}})
	if err != nil {
		t.Fatal(err)
	}
	return func(cfg *oauth.AuthorizationServerConfig) { cfg.AllowRefresh = limiter.AllowText }
}

func TestRefreshLimit_LoopIsDelayedAndTokenStaysValid(t *testing.T) {
	const limit = 5
	s := newSQLiteEnv(t, withRefreshLimit(t, limit))
	session, _ := s.newAccount("anna@example.org")
	a := s.newApp("none", callback)
	opened, refresh := s.connect(session, a)
	_, other := s.connect(session, a)
	for range limit {
		got := s.tokenRequest(a.refreshRequest(refresh))
		if got.status != 200 {
			t.Fatalf("%d %s", got.status, got.text)
		}
		refresh = got.field("refresh_token")
	}
	for range 3 {
		got := s.tokenRequest(a.refreshRequest(refresh))
		s.wantError(got, 429, "temporarily_unavailable")
		if wait, err := strconv.Atoi(got.header.Get("Retry-After")); err != nil || wait < 1 || wait > 3600 {
			t.Errorf("Retry-After is %q", got.header.Get("Retry-After"))
		}
	}
	s.wantToolStatus(opened, 200)
	if got := s.tokenRequest(a.refreshRequest(other)); got.status != 200 {
		t.Errorf("another grant of the same application is limited: %d %s", got.status, got.text)
	}
	// The token was not used up: on another node, which counts separately, it is still
	// valid.
	node, err := oauth.NewAuthorizationServer(oauth.AuthorizationServerConfig{Store: s.db, Resource: s.base + "/api/mcp", Now: s.clock.read})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := node.Refresh(t.Context(), oauth.RefreshRequest{ClientCredentials: oauth.ClientCredentials{ClientID: a.id}, Refresh: refresh}); err != nil {
		t.Error(err)
	}
}

// A thief could otherwise refresh in a loop and prevent the detection.
func TestRefreshLimit_ReuseStillEndsTheFamily(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, s *env) {
		session, _ := s.newAccount("anna@example.org")
		a := s.newApp("none", callback)
		_, stolen := s.connect(session, a)
		thief := s.tokenRequest(a.refreshRequest(stolen))
		for range 2 {
			next := s.tokenRequest(a.refreshRequest(thief.field("refresh_token")))
			if next.status == 429 {
				break
			}
			thief = next
		}
		s.wantError(s.tokenRequest(a.refreshRequest(thief.field("refresh_token"))), 429, "temporarily_unavailable")
		s.wantToolStatus(thief.field("access_token"), 200)
		s.wantError(s.tokenRequest(a.refreshRequest(stolen)), 400, "invalid_grant")
		s.wantToolStatus(thief.field("access_token"), 401)
		s.wantError(s.tokenRequest(a.refreshRequest(thief.field("refresh_token"))), 400, "invalid_grant")
	}, withRefreshLimit(t, 2))
}

func TestConsent_ApprovalIsMailedToTheAccount(t *testing.T) {
	s := newSQLiteEnv(t)
	session, id := s.newAccount("anna@example.org")
	a := s.newApp("none", callback)
	s.decide(session, s.consentSecret(s.authorize(session, s.authorizationRequest(a))), "deny")
	if waiting := s.dueMails(); len(waiting) != 0 {
		t.Errorf("mail after a denial: %v", waiting)
	}
	s.connect(session, a)
	waiting := s.dueMails()
	if len(waiting) != 1 {
		t.Fatalf("%d mails", len(waiting))
	}
	got := waiting[0]
	if got.Kind != registrar.MailApplicationConnected || got.Customer != id || got.To != "anna@example.org" || got.Data["name"] != "Test App" ||
		got.Data["host"] != "app.example" || got.Data["address"] != "127.0.0.1" {
		t.Errorf("%+v", got)
	}
}

// dueMails returns the queued mails, which stay due.
func (s *env) dueMails() []mailer.QueuedMail {
	s.t.Helper()
	at := s.clock.read().Add(time.Hour)
	waiting, err := s.db.ClaimDueMails(s.t.Context(), at, at, 100)
	if err != nil {
		s.t.Fatal(err)
	}
	return waiting
}
