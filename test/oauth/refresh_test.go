package oauth

import (
	"net/http"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

func TestEveryRefreshRotates(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(s *stage) {
		session, _ := s.person("anna@example.org")
		for _, method := range []string{"none", "client_secret_post"} {
			a := s.newApp(method, callback)
			_, refresh := s.connect(session, a)
			for range 3 {
				s.clock.move(time.Hour)
				got := s.token(a.renewal(refresh))
				if got.status != 200 || got.field("refresh_token") == refresh || got.field("scope") != "mcp:write" || got.header.Get("Cache-Control") != "no-store" {
					t.Fatalf("%d %s", got.status, got.text)
				}
				refresh = got.field("refresh_token")
				s.wantOpen(got.field("access_token"), 200)
			}
		}
	})
}

func TestReuseAfterTheLeewayEndsTheFamily(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(s *stage) {
		session, _ := s.person("anna@example.org")
		a := s.newApp("none", callback)
		_, first := s.connect(session, a)
		second := s.token(a.renewal(first))
		s.clock.move(20*time.Second - time.Microsecond)
		sibling := s.token(a.renewal(first))
		if sibling.status != 200 {
			t.Fatalf("within the leeway: %d %s", sibling.status, sibling.text)
		}
		s.wantOpen(second.field("access_token"), 200)
		s.wantOpen(sibling.field("access_token"), 200)
		s.clock.move(time.Microsecond)
		s.wantError(s.token(a.renewal(first)), 400, "invalid_grant")
		for _, got := range []answer{second, sibling} {
			s.wantOpen(got.field("access_token"), 401)
			s.wantError(s.token(a.renewal(got.field("refresh_token"))), 400, "invalid_grant")
		}
	})
}

// siblings are n pairs of one refresh token, issued within the leeway.
func (s *stage) siblings(a app, refresh string, n int) []answer {
	s.t.Helper()
	pairs := make([]answer, n)
	for i := range pairs {
		if pairs[i] = s.token(a.renewal(refresh)); pairs[i].status != http.StatusOK {
			s.t.Fatalf("sibling %d: %d %s", i, pairs[i].status, pairs[i].text)
		}
	}
	return pairs
}

// wantReplayMail wants n mails that tell of a replay.
func (s *stage) wantReplayMail(n int) {
	s.t.Helper()
	got := 0
	for _, letter := range s.letters() {
		if letter.Kind == registrar.LetterApplicationReplayed {
			got++
			if letter.To != "anna@example.org" || letter.Facts["name"] != "Test App" || letter.Facts["host"] != "app.example" || letter.Facts["address"] == "" {
				s.t.Errorf("%+v", letter)
			}
		}
	}
	if got != n {
		s.t.Errorf("%d mails tell of a replay, want %d", got, n)
	}
}

func TestRefresh_FirstSiblingAfterLeewayRevokesOthers(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(s *stage) {
		session, _ := s.person("anna@example.org")
		a := s.newApp("none", callback)
		_, first := s.connect(session, a)
		pairs := s.siblings(a, first, 3)
		s.clock.move(time.Hour)
		winner := s.token(a.renewal(pairs[1].field("refresh_token")))
		s.wantOpen(winner.field("access_token"), 200)
		for range 3 { // the winner goes on
			s.clock.move(time.Hour)
			winner = s.token(a.renewal(winner.field("refresh_token")))
			s.wantOpen(winner.field("access_token"), 200)
		}
		s.wantReplayMail(0)
		s.wantError(s.token(a.renewal(pairs[0].field("refresh_token"))), 400, "invalid_grant")
		s.wantOpen(winner.field("access_token"), 401)
		s.wantError(s.token(a.renewal(winner.field("refresh_token"))), 400, "invalid_grant")
		s.wantReplayMail(1)
		s.wantError(s.token(a.renewal(pairs[2].field("refresh_token"))), 400, "invalid_grant")
		s.wantReplayMail(1) // one for each connection that ends
	})
}

// Whoever copied a token can time its refreshes to those of the original.
func TestRefresh_SecondSiblingRightAfterTheFirstEndsTheFamily(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(s *stage) {
		session, _ := s.person("anna@example.org")
		a := s.newApp("none", callback)
		_, first := s.connect(session, a)
		pairs := s.siblings(a, first, 2)
		s.clock.move(20 * time.Second) // the leeway is over to the microsecond
		winner := s.token(a.renewal(pairs[0].field("refresh_token")))
		s.wantOpen(winner.field("access_token"), 200)
		s.wantError(s.token(a.renewal(pairs[1].field("refresh_token"))), 400, "invalid_grant")
		s.wantOpen(winner.field("access_token"), 401)
		s.wantReplayMail(1)
	})
}

// Siblings used within the leeway leave lineages; of these, too, one is left.
func TestRefresh_SiblingsUsedWithinTheLeewayLeaveOneLineage(t *testing.T) {
	t.Parallel()
	for name, loser := range map[string]int{"shorter lineage loses": 1, "longer lineage loses": 0} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachEngine(t, func(s *stage) {
				session, _ := s.person("anna@example.org")
				a := s.newApp("none", callback)
				_, first := s.connect(session, a)
				lineages := s.siblings(a, first, 2)
				next := func(i int) answer {
					t.Helper()
					lineages[i] = s.token(a.renewal(lineages[i].field("refresh_token")))
					return lineages[i]
				}
				s.clock.move(5 * time.Second)
				s.wantOpen(next(0).field("access_token"), 200)
				s.wantOpen(next(0).field("access_token"), 200)
				s.wantOpen(next(1).field("access_token"), 200)
				s.clock.move(time.Hour)
				winner := 1 - loser
				spare := lineages[winner].field("refresh_token")
				s.wantOpen(next(winner).field("access_token"), 200)
				s.wantOpen(s.token(a.renewal(spare)).field("access_token"), 200) // its leeway is its own
				s.wantError(next(loser), 400, "invalid_grant")
				s.wantOpen(lineages[winner].field("access_token"), 401)
				s.wantReplayMail(1)
			})
		})
	}
}

// A thief who refreshes and reuses all the time must not keep a fork open.
func TestRefresh_ReuseDoesNotProlongTheTimeOfSiblings(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(s *stage) {
		session, _ := s.person("anna@example.org")
		a := s.newApp("none", callback)
		_, first := s.connect(session, a)
		pairs := s.siblings(a, first, 2)
		s.clock.move(19 * time.Second)
		used := pairs[0].field("refresh_token")
		thief := s.siblings(a, used, 2)[1]
		s.clock.move(2 * time.Second)
		// Within the leeway of its own first use, but the fork is overdue: refused, not ended.
		s.wantError(s.token(a.renewal(used)), 400, "invalid_grant")
		s.wantOpen(thief.field("access_token"), 200)
		owner := s.token(a.renewal(pairs[1].field("refresh_token")))
		s.wantOpen(owner.field("access_token"), 200)
		s.wantError(s.token(a.renewal(thief.field("refresh_token"))), 400, "invalid_grant")
		s.wantOpen(owner.field("access_token"), 401)
		s.wantReplayMail(1)
	})
}

func TestRefresh_RaceOfSiblingsAfterLeewayHasAtMostOneWinnerAndEndsTheFamily(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(s *stage) {
		session, _ := s.person("anna@example.org")
		a := s.newApp("none", callback)
		_, first := s.connect(session, a)
		pairs := s.siblings(a, first, 10)
		s.clock.move(time.Hour)
		won := 0
		for _, got := range race(len(pairs), func(i int) answer { return s.token(a.renewal(pairs[i].field("refresh_token"))) }) {
			if got.status == http.StatusOK {
				won++
				s.wantOpen(got.field("access_token"), 401)
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

func TestOnlyTheDirectlyPrecedingTokenHasALeeway(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(s *stage) {
		session, _ := s.person("anna@example.org")
		a := s.newApp("none", callback)
		_, first := s.connect(session, a)
		second := s.token(a.renewal(first))
		third := s.token(a.renewal(second.field("refresh_token")))
		s.wantError(s.token(a.renewal(first)), 400, "invalid_grant")
		s.wantOpen(third.field("access_token"), 401)
	})
}

func TestWithoutALeewayEveryReuseEndsTheFamily(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(s *stage) {
		session, _ := s.person("anna@example.org")
		a := s.newApp("none", callback)
		_, first := s.connect(session, a)
		second := s.token(a.renewal(first))
		s.wantError(s.token(a.renewal(first)), 400, "invalid_grant")
		s.wantOpen(second.field("access_token"), 401)
	}, leeway(0))
}

// Of two who race, the loser may have read the clock first; two nodes' clocks
// differ as well.
func TestWithoutALeewayAClockThatLagsIsNoExcuse(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(s *stage) {
		session, _ := s.person("anna@example.org")
		a := s.newApp("none", callback)
		_, first := s.connect(session, a)
		s.clock.move(time.Second)
		second := s.token(a.renewal(first))
		s.clock.move(-time.Millisecond)
		s.wantError(s.token(a.renewal(first)), 400, "invalid_grant")
		s.wantOpen(second.field("access_token"), 401)
	}, leeway(0))
}

func TestARaceForARefreshTokenWithoutLeewayHasAtMostOneWinnerAndEndsTheFamily(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(s *stage) {
		session, _ := s.person("anna@example.org")
		a := s.newApp("none", callback)
		_, refresh := s.connect(session, a)
		won := 0
		for _, got := range race(50, func(int) answer { return s.token(a.renewal(refresh)) }) {
			if got.status == http.StatusOK {
				won++
				s.wantOpen(got.field("access_token"), 401)
				continue
			}
			s.wantError(got, 400, "invalid_grant")
		}
		if won > 1 {
			t.Errorf("%d won", won)
		}
	}, leeway(0))
}

func TestARaceWithinTheLeewayIsBoundedAndHarmless(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(s *stage) {
		session, _ := s.person("anna@example.org")
		a := s.newApp("none", callback)
		_, refresh := s.connect(session, a)
		won := 0
		for _, got := range race(50, func(int) answer { return s.token(a.renewal(refresh)) }) {
			if got.status == http.StatusOK {
				won++
				s.wantOpen(got.field("access_token"), 200)
				continue
			}
			s.wantError(got, 400, "invalid_grant")
		}
		if won != 11 { // the first, and ten more
			t.Errorf("%d won", won)
		}
	})
}

func TestAFiftyWayRaceOfDifferentFamiliesLosesNothing(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(s *stage) {
		session, _ := s.person("anna@example.org")
		a := s.newApp("none", callback)
		refresh := make([]string, 50)
		for i := range refresh {
			_, refresh[i] = s.connect(session, a)
		}
		for range 3 {
			for i, got := range race(50, func(i int) answer { return s.token(a.renewal(refresh[i])) }) {
				if got.status != 200 {
					t.Fatalf("%d: %d %s", i, got.status, got.text)
				}
				refresh[i] = got.field("refresh_token")
			}
		}
	})
}

func TestScopeCanNotWiden(t *testing.T) {
	s := anyEngine(t)
	session, _ := s.person("anna@example.org")
	a := s.newApp("none", callback)
	_, reader := s.connect(session, a, "scope", "mcp:read")
	s.wantError(s.token(but(a.renewal(reader), "scope", "mcp:write")), 400, "invalid_scope")
	s.wantError(s.token(but(a.renewal(reader), "scope", "mcp:read mcp:write")), 400, "invalid_scope")
	same := s.token(but(a.renewal(reader), "scope", "openid"))
	if same.field("scope") != "mcp:read" {
		t.Errorf("unknown scopes: %s", same.text)
	}
	s.wantOpen(same.field("access_token"), 403)

	_, both := s.connect(session, a, "scope", "mcp:read mcp:write")
	less := s.token(but(a.renewal(both), "scope", "mcp:read"))
	s.wantOpen(less.field("access_token"), 403)
	// The family keeps what was granted (RFC 6749, 6).
	more := s.token(a.renewal(less.field("refresh_token")))
	if more.field("scope") != "mcp:read mcp:write" {
		t.Errorf("afterwards: %s", more.text)
	}
	s.wantOpen(more.field("access_token"), 200)
}

func TestAnotherClientsRefreshTokenIsRefusedAndStaysItsOwners(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(s *stage) {
		session, _ := s.person("anna@example.org")
		owner, other := s.newApp("none", callback), s.newApp("none", callback)
		_, refresh := s.connect(session, owner)
		s.wantError(s.token(other.renewal(refresh)), 400, "invalid_grant")
		s.wantError(s.token(but(owner.renewal(refresh), "resource", "https://other.example")), 400, "invalid_target")
		s.wantError(s.token(but(owner.renewal(refresh), "refresh_token", "")), 400, "invalid_request")
		s.wantError(s.token(owner.renewal(refresh+"x")), 400, "invalid_grant")
		if got := s.token(owner.renewal(refresh)); got.status != 200 {
			t.Errorf("the owner gets %d %s", got.status, got.text)
		}
	})
}
