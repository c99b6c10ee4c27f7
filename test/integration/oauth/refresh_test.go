package oauth

import (
	"net/http"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

func TestRefresh_RotatesEveryTime(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, s *env) {
		session, _ := s.newAccount("anna@example.org")
		for _, method := range []string{"none", "client_secret_post"} {
			a := s.newApp(method, callback)
			_, refresh := s.connect(session, a)
			for range 3 {
				s.clock.advance(time.Hour)
				got := s.tokenRequest(a.refreshRequest(refresh))
				if got.status != 200 || got.field("refresh_token") == refresh || got.field("scope") != "mcp:write" || got.header.Get("Cache-Control") != "no-store" {
					t.Fatalf("%d %s", got.status, got.text)
				}
				refresh = got.field("refresh_token")
				s.wantToolStatus(got.field("access_token"), 200)
			}
		}
	})
}

func TestRefresh_ReuseAfterLeewayEndsTheFamily(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, s *env) {
		session, _ := s.newAccount("anna@example.org")
		a := s.newApp("none", callback)
		_, first := s.connect(session, a)
		second := s.tokenRequest(a.refreshRequest(first))
		s.clock.advance(20*time.Second - time.Microsecond)
		sibling := s.tokenRequest(a.refreshRequest(first))
		if sibling.status != 200 {
			t.Fatalf("within the leeway: %d %s", sibling.status, sibling.text)
		}
		s.wantToolStatus(second.field("access_token"), 200)
		s.wantToolStatus(sibling.field("access_token"), 200)
		s.clock.advance(time.Microsecond)
		s.wantError(s.tokenRequest(a.refreshRequest(first)), 400, "invalid_grant")
		for _, got := range []httpResponse{second, sibling} {
			s.wantToolStatus(got.field("access_token"), 401)
			s.wantError(s.tokenRequest(a.refreshRequest(got.field("refresh_token"))), 400, "invalid_grant")
		}
	})
}

// siblings returns n pairs of one refresh token, issued within the leeway.
func (s *env) siblings(a app, refresh string, n int) []httpResponse {
	s.t.Helper()
	pairs := make([]httpResponse, n)
	for i := range pairs {
		if pairs[i] = s.tokenRequest(a.refreshRequest(refresh)); pairs[i].status != http.StatusOK {
			s.t.Fatalf("sibling %d: %d %s", i, pairs[i].status, pairs[i].text)
		}
	}
	return pairs
}

// wantReplayMail checks for n mails about a replay.
func (s *env) wantReplayMail(n int) {
	s.t.Helper()
	got := 0
	for _, mail := range s.dueMails() {
		if mail.Kind == registrar.MailApplicationReplayed {
			got++
			if mail.To != "anna@example.org" || mail.Data["name"] != "Test App" || mail.Data["host"] != "app.example" || mail.Data["address"] == "" {
				s.t.Errorf("%+v", mail)
			}
		}
	}
	if got != n {
		s.t.Errorf("%d mails about a replay, want %d", got, n)
	}
}

func TestRefresh_FirstSiblingAfterLeewayRevokesOthers(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, s *env) {
		session, _ := s.newAccount("anna@example.org")
		a := s.newApp("none", callback)
		_, first := s.connect(session, a)
		pairs := s.siblings(a, first, 3)
		s.clock.advance(time.Hour)
		winner := s.tokenRequest(a.refreshRequest(pairs[1].field("refresh_token")))
		s.wantToolStatus(winner.field("access_token"), 200)
		for range 3 { // the winner continues
			s.clock.advance(time.Hour)
			winner = s.tokenRequest(a.refreshRequest(winner.field("refresh_token")))
			s.wantToolStatus(winner.field("access_token"), 200)
		}
		s.wantReplayMail(0)
		s.wantError(s.tokenRequest(a.refreshRequest(pairs[0].field("refresh_token"))), 400, "invalid_grant")
		s.wantToolStatus(winner.field("access_token"), 401)
		s.wantError(s.tokenRequest(a.refreshRequest(winner.field("refresh_token"))), 400, "invalid_grant")
		s.wantReplayMail(1)
		s.wantError(s.tokenRequest(a.refreshRequest(pairs[2].field("refresh_token"))), 400, "invalid_grant")
		s.wantReplayMail(1) // one per ended grant
	})
}

// A thief can time refreshes to those of the original.
func TestRefresh_SecondSiblingAfterLeewayEndsTheFamily(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, s *env) {
		session, _ := s.newAccount("anna@example.org")
		a := s.newApp("none", callback)
		_, first := s.connect(session, a)
		pairs := s.siblings(a, first, 2)
		s.clock.advance(20 * time.Second) // exactly the end of the leeway
		winner := s.tokenRequest(a.refreshRequest(pairs[0].field("refresh_token")))
		s.wantToolStatus(winner.field("access_token"), 200)
		s.wantError(s.tokenRequest(a.refreshRequest(pairs[1].field("refresh_token"))), 400, "invalid_grant")
		s.wantToolStatus(winner.field("access_token"), 401)
		s.wantReplayMail(1)
	})
}

// Siblings used within the leeway start lineages, of which only one remains.
func TestRefresh_SiblingsUsedWithinLeewayLeaveOneLineage(t *testing.T) {
	t.Parallel()
	for name, loser := range map[string]int{"shorter lineage loses": 1, "longer lineage loses": 0} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachEngine(t, func(t *testing.T, s *env) {
				session, _ := s.newAccount("anna@example.org")
				a := s.newApp("none", callback)
				_, first := s.connect(session, a)
				lineages := s.siblings(a, first, 2)
				next := func(i int) httpResponse {
					t.Helper()
					lineages[i] = s.tokenRequest(a.refreshRequest(lineages[i].field("refresh_token")))
					return lineages[i]
				}
				s.clock.advance(5 * time.Second)
				s.wantToolStatus(next(0).field("access_token"), 200)
				s.wantToolStatus(next(0).field("access_token"), 200)
				s.wantToolStatus(next(1).field("access_token"), 200)
				s.clock.advance(time.Hour)
				winner := 1 - loser
				spare := lineages[winner].field("refresh_token")
				s.wantToolStatus(next(winner).field("access_token"), 200)
				s.wantToolStatus(s.tokenRequest(a.refreshRequest(spare)).field("access_token"), 200) // it has its own leeway
				s.wantError(next(loser), 400, "invalid_grant")
				s.wantToolStatus(lineages[winner].field("access_token"), 401)
				s.wantReplayMail(1)
			})
		})
	}
}

// A thief who refreshes and reuses continuously must not keep a fork open.
func TestRefresh_ReuseDoesNotExtendSiblingLeeway(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, s *env) {
		session, _ := s.newAccount("anna@example.org")
		a := s.newApp("none", callback)
		_, first := s.connect(session, a)
		pairs := s.siblings(a, first, 2)
		s.clock.advance(19 * time.Second)
		used := pairs[0].field("refresh_token")
		thief := s.siblings(a, used, 2)[1]
		s.clock.advance(2 * time.Second)
		// Within the leeway of its own first use, but the fork is overdue: refused, not ended.
		s.wantError(s.tokenRequest(a.refreshRequest(used)), 400, "invalid_grant")
		s.wantToolStatus(thief.field("access_token"), 200)
		owner := s.tokenRequest(a.refreshRequest(pairs[1].field("refresh_token")))
		s.wantToolStatus(owner.field("access_token"), 200)
		s.wantError(s.tokenRequest(a.refreshRequest(thief.field("refresh_token"))), 400, "invalid_grant")
		s.wantToolStatus(owner.field("access_token"), 401)
		s.wantReplayMail(1)
	})
}

func TestRefresh_SiblingRaceAfterLeewayEndsTheFamily(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, s *env) {
		session, _ := s.newAccount("anna@example.org")
		a := s.newApp("none", callback)
		_, first := s.connect(session, a)
		pairs := s.siblings(a, first, 10)
		s.clock.advance(time.Hour)
		won := 0
		for _, got := range inParallel(len(pairs), func(i int) httpResponse { return s.tokenRequest(a.refreshRequest(pairs[i].field("refresh_token"))) }) {
			if got.status == http.StatusOK {
				won++
				s.wantToolStatus(got.field("access_token"), 401)
				continue
			}
			s.wantError(got, 400, "invalid_grant")
		}
		if won > 1 {
			t.Errorf("%d siblings won", won)
		}
		s.wantReplayMail(1)
	})
}

func TestRefresh_OnlyPreviousTokenHasLeeway(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, s *env) {
		session, _ := s.newAccount("anna@example.org")
		a := s.newApp("none", callback)
		_, first := s.connect(session, a)
		second := s.tokenRequest(a.refreshRequest(first))
		third := s.tokenRequest(a.refreshRequest(second.field("refresh_token")))
		s.wantError(s.tokenRequest(a.refreshRequest(first)), 400, "invalid_grant")
		s.wantToolStatus(third.field("access_token"), 401)
	})
}

func TestRefresh_NoLeewayReuseEndsTheFamily(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, s *env) {
		session, _ := s.newAccount("anna@example.org")
		a := s.newApp("none", callback)
		_, first := s.connect(session, a)
		second := s.tokenRequest(a.refreshRequest(first))
		s.wantError(s.tokenRequest(a.refreshRequest(first)), 400, "invalid_grant")
		s.wantToolStatus(second.field("access_token"), 401)
	}, withLeeway(0))
}

// Of two concurrent requests, the loser may have read the clock first; the clocks of
// two nodes differ as well.
func TestRefresh_NoLeewayLaggingClockEndsTheFamily(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, s *env) {
		session, _ := s.newAccount("anna@example.org")
		a := s.newApp("none", callback)
		_, first := s.connect(session, a)
		s.clock.advance(time.Second)
		second := s.tokenRequest(a.refreshRequest(first))
		s.clock.advance(-time.Millisecond)
		s.wantError(s.tokenRequest(a.refreshRequest(first)), 400, "invalid_grant")
		s.wantToolStatus(second.field("access_token"), 401)
	}, withLeeway(0))
}

func TestRefresh_NoLeewayRaceEndsTheFamily(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, s *env) {
		session, _ := s.newAccount("anna@example.org")
		a := s.newApp("none", callback)
		_, refresh := s.connect(session, a)
		won := 0
		for _, got := range inParallel(50, func(int) httpResponse { return s.tokenRequest(a.refreshRequest(refresh)) }) {
			if got.status == http.StatusOK {
				won++
				s.wantToolStatus(got.field("access_token"), 401)
				continue
			}
			s.wantError(got, 400, "invalid_grant")
		}
		if won > 1 {
			t.Errorf("%d won", won)
		}
	}, withLeeway(0))
}

func TestRefresh_RaceWithinLeewayIsBounded(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, s *env) {
		session, _ := s.newAccount("anna@example.org")
		a := s.newApp("none", callback)
		_, refresh := s.connect(session, a)
		won := 0
		for _, got := range inParallel(50, func(int) httpResponse { return s.tokenRequest(a.refreshRequest(refresh)) }) {
			if got.status == http.StatusOK {
				won++
				s.wantToolStatus(got.field("access_token"), 200)
				continue
			}
			s.wantError(got, 400, "invalid_grant")
		}
		if won != 11 { // the first, and ten more
			t.Errorf("%d won", won)
		}
	})
}

func TestRefresh_FiftyConcurrentFamiliesAllSucceed(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, s *env) {
		session, _ := s.newAccount("anna@example.org")
		a := s.newApp("none", callback)
		refresh := make([]string, 50)
		for i := range refresh {
			_, refresh[i] = s.connect(session, a)
		}
		for range 3 {
			for i, got := range inParallel(50, func(i int) httpResponse { return s.tokenRequest(a.refreshRequest(refresh[i])) }) {
				if got.status != 200 {
					t.Fatalf("%d: %d %s", i, got.status, got.text)
				}
				refresh[i] = got.field("refresh_token")
			}
		}
	})
}

func TestRefresh_ScopeCannotWiden(t *testing.T) {
	s := newSQLiteEnv(t)
	session, _ := s.newAccount("anna@example.org")
	a := s.newApp("none", callback)
	_, reader := s.connect(session, a, "scope", "mcp:read")
	s.wantError(s.tokenRequest(withChanges(a.refreshRequest(reader), "scope", "mcp:write")), 400, "invalid_scope")
	s.wantError(s.tokenRequest(withChanges(a.refreshRequest(reader), "scope", "mcp:read mcp:write")), 400, "invalid_scope")
	same := s.tokenRequest(withChanges(a.refreshRequest(reader), "scope", "openid"))
	if same.field("scope") != "mcp:read" {
		t.Errorf("unknown scopes: %s", same.text)
	}
	s.wantToolStatus(same.field("access_token"), 403)

	_, both := s.connect(session, a, "scope", "mcp:read mcp:write")
	less := s.tokenRequest(withChanges(a.refreshRequest(both), "scope", "mcp:read"))
	s.wantToolStatus(less.field("access_token"), 403)
	// The grant keeps its scope (RFC 6749, 6).
	more := s.tokenRequest(a.refreshRequest(less.field("refresh_token")))
	if more.field("scope") != "mcp:read mcp:write" {
		t.Errorf("afterwards: %s", more.text)
	}
	s.wantToolStatus(more.field("access_token"), 200)
}

func TestRefresh_OtherClientIsRefusedWithoutConsumingIt(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, s *env) {
		session, _ := s.newAccount("anna@example.org")
		owner, other := s.newApp("none", callback), s.newApp("none", callback)
		_, refresh := s.connect(session, owner)
		s.wantError(s.tokenRequest(other.refreshRequest(refresh)), 400, "invalid_grant")
		s.wantError(s.tokenRequest(withChanges(owner.refreshRequest(refresh), "resource", "https://other.example")), 400, "invalid_target")
		s.wantError(s.tokenRequest(withChanges(owner.refreshRequest(refresh), "refresh_token", "")), 400, "invalid_request")
		s.wantError(s.tokenRequest(owner.refreshRequest(refresh+"x")), 400, "invalid_grant")
		if got := s.tokenRequest(owner.refreshRequest(refresh)); got.status != 200 {
			t.Errorf("the owner gets %d %s", got.status, got.text)
		}
	})
}
