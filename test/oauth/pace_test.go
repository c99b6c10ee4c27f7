package oauth

import (
	"strconv"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/access"
	"github.com/dotkontor/dotkontor/internal/registrar/letters"
	"github.com/dotkontor/dotkontor/internal/registrar/quota"
)

// pace lets each connection refresh so often in an hour of real time.
func pace(t *testing.T, limit int) set {
	t.Helper()
	limiter, err := quota.New(quota.Config{Windows: []quota.Window{{Limit: limit, Per: time.Hour}}})
	if err != nil {
		t.Fatal(err)
	}
	return func(cfg *access.ApplicationsConfig) {
		cfg.Pace = func(grant string) (time.Duration, bool) {
			decision := limiter.Allow(quota.TextKey(grant))
			return decision.RetryAfter, decision.Allowed
		}
	}
}

func TestAConnectionThatRefreshesInALoopMustWaitAndKeepsItsToken(t *testing.T) {
	const limit = 5
	s := anyEngine(t, pace(t, limit))
	session, _ := s.person("anna@example.org")
	a := s.newApp("none", callback)
	opened, refresh := s.connect(session, a)
	_, other := s.connect(session, a)
	for range limit {
		got := s.token(a.renewal(refresh))
		if got.status != 200 {
			t.Fatalf("%d %s", got.status, got.text)
		}
		refresh = got.field("refresh_token")
	}
	for range 3 {
		got := s.token(a.renewal(refresh))
		s.wantError(got, 429, "temporarily_unavailable")
		if wait, err := strconv.Atoi(got.header.Get("Retry-After")); err != nil || wait < 1 || wait > 3600 {
			t.Errorf("Retry-After is %q", got.header.Get("Retry-After"))
		}
	}
	s.wantOpen(opened, 200)
	if got := s.token(a.renewal(other)); got.status != 200 {
		t.Errorf("another connection of the same application pays for it: %d %s", got.status, got.text)
	}
	// Nothing was used up by waiting: on another node, which counts for itself,
	// the same token is still good.
	node, err := access.NewApplications(access.ApplicationsConfig{Store: s.db, Resource: s.base + "/api/mcp", Now: s.clock.read})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := node.Refresh(t.Context(), access.Renewal{Credentials: access.Credentials{ClientID: a.id}, Refresh: refresh}); err != nil {
		t.Error(err)
	}
}

// A thief could otherwise refresh without a pause and be left alone.
func TestATokenThatComesAgainEndsTheFamilyHoweverOftenItWasRefreshed(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(s *stage) {
		session, _ := s.person("anna@example.org")
		a := s.newApp("none", callback)
		_, stolen := s.connect(session, a)
		thief := s.token(a.renewal(stolen))
		for range 2 {
			next := s.token(a.renewal(thief.field("refresh_token")))
			if next.status == 429 {
				break
			}
			thief = next
		}
		s.wantError(s.token(a.renewal(thief.field("refresh_token"))), 429, "temporarily_unavailable")
		s.wantOpen(thief.field("access_token"), 200)
		s.wantError(s.token(a.renewal(stolen)), 400, "invalid_grant")
		s.wantOpen(thief.field("access_token"), 401)
		s.wantError(s.token(a.renewal(thief.field("refresh_token"))), 400, "invalid_grant")
	}, pace(t, 2))
}

func TestWhoApprovesAnApplicationGetsALetterAboutIt(t *testing.T) {
	s := anyEngine(t)
	session, id := s.person("anna@example.org")
	a := s.newApp("none", callback)
	s.decide(session, s.question(s.authorize(session, s.request(a))), "deny")
	if waiting := s.letters(); len(waiting) != 0 {
		t.Errorf("a no is no news: %v", waiting)
	}
	s.connect(session, a)
	waiting := s.letters()
	if len(waiting) != 1 {
		t.Fatalf("%d letters", len(waiting))
	}
	got := waiting[0]
	if got.Kind != registrar.LetterApplication || got.Customer != id || got.To != "anna@example.org" || got.Facts["name"] != "Test App" ||
		got.Facts["host"] != "app.example" || got.Facts["address"] != "127.0.0.1" {
		t.Errorf("%+v", got)
	}
}

// letters are those that wait to be sent.
func (s *stage) letters() []letters.Stored {
	s.t.Helper()
	waiting, err := s.db.DueLetters(s.t.Context(), s.clock.read().Add(time.Hour), 100)
	if err != nil {
		s.t.Fatal(err)
	}
	return waiting
}
