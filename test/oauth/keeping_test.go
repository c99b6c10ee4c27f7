package oauth

import (
	"context"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/access"
	"github.com/dotkontor/dotkontor/test/dump"
	"github.com/dotkontor/dotkontor/test/fresh"
)

func TestOnlyHashesInADatabaseDumpAndNothingInTheLog(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(s *stage) {
		session, _ := s.person("anna@example.org")
		a := s.newApp("client_secret_post", callback)
		question := s.question(s.authorize(session, s.request(a)))
		code := s.code(session, a)
		got := s.token(a.redemption(code))
		again := s.token(a.renewal(got.field("refresh_token")))
		s.wantOpen(again.field("access_token"), 200)
		s.revoke(a, again.field("access_token"))
		stolen, log := dump.All(t, s.place), s.log.String()
		if !strings.Contains(stolen, "anna@example.org") || !strings.Contains(log, "/oauth/token/") {
			t.Fatal("the dump or the log is not one")
		}
		for name, secret := range map[string]string{
			"client secret": a.secret, "consent": question, "code": code, "access": got.field("access_token"), "refresh": got.field("refresh_token"),
			"next access": again.field("access_token"), "next refresh": again.field("refresh_token"), "session": session,
		} {
			for _, part := range []string{secret, secret[len(secret)-20:], url.QueryEscape(secret)} {
				if strings.Contains(stolen, part) || strings.Contains(log, part) {
					t.Errorf("the %s is in the dump or the log", name)
				}
			}
		}
		if registrar.HoldsSecret(stolen) || registrar.HoldsSecret(log) || strings.Contains(log, "anna@") || strings.Contains(log, verifier) {
			t.Error("there is a secret or a person in the dump or the log")
		}
	})
}

func TestCleaningKeepsWhatIsAlive(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(s *stage) {
		session, _ := s.person("anna@example.org")
		live, ended, idle := s.newApp("none", callback), s.newApp("none", callback), s.newApp("none", callback)
		_, refresh := s.connect(session, live)
		token, _ := s.connect(session, ended)
		s.revoke(ended, token)
		s.question(s.authorize(session, s.request(idle)))
		known := func(a app) bool {
			_, known, err := s.db.Client(t.Context(), a.id)
			if err != nil {
				t.Fatal(err)
			}
			return known
		}
		clean := func() {
			if _, err := s.apps.Clean(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		for range 5 { // the live one refreshes every 20 days
			s.clock.move(20 * 24 * time.Hour)
			got := s.token(live.renewal(refresh))
			if got.status != 200 {
				t.Fatalf("%d %s", got.status, got.text)
			}
			refresh = got.field("refresh_token")
			clean()
		}
		if !known(live) || known(idle) || known(ended) {
			t.Errorf("after 100 days: live %v, ended %v, idle %v", known(live), known(ended), known(idle))
		}
		if got := s.token(live.renewal(refresh)); got.status != 200 {
			t.Errorf("the live one gets %d %s", got.status, got.text)
		}
		s.wantError(s.token(ended.renewal(refresh)), 401, "invalid_client")
		stolen := dump.All(t, s.place)
		for table, most := range map[string]int{"consents ": 0, "codes ": 0, "access_tokens ": 2, "refresh_tokens ": 4, "grants ": 1, "clients ": 1} {
			if n := strings.Count("\n"+stolen, "\n"+table); n > most {
				t.Errorf("%d rows of %s", n, table)
			}
		}
		// Unused, it goes: its connection 30 days after it expired, and then itself.
		s.clock.move(45 * 24 * time.Hour)
		clean()
		if !known(live) {
			t.Error("it is gone 15 days after its connection expired")
		}
		s.clock.move(46 * 24 * time.Hour)
		clean()
		if known(live) {
			t.Error("it is still there")
		}
	})
}

func TestAClientIsKnownForThirtyDaysAfterItsConnectionWasEnded(t *testing.T) {
	s := anyEngine(t)
	session, _ := s.person("anna@example.org")
	a := s.newApp("none", callback)
	_, refresh := s.connect(session, a)
	for range 3 {
		s.clock.move(25 * 24 * time.Hour)
		refresh = s.token(a.renewal(refresh)).field("refresh_token")
	}
	s.revoke(a, refresh)
	s.clock.move(29 * 24 * time.Hour)
	if _, err := s.apps.Clean(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.connect(session, a)
}

// documents plays what applications say about themselves.
type documents map[string]access.Document

func (d documents) Document(_ context.Context, address string) (access.Document, error) {
	document, ok := d[address]
	if !ok {
		return access.Document{}, registrar.Fault(registrar.FaultRefused, "", nil)
	}
	return document, nil
}

func TestAClientIsKnownByItsDocument(t *testing.T) {
	t.Parallel()
	const id, liar, secretive, bad = "https://app.example/client", "https://liar.example/client", "https://secret.example/client", "https://bad.example/client"
	known := documents{
		id:        {ClientID: id, Name: "By Document", RedirectURIs: []string{callback}, AuthMethod: "none"},
		liar:      {ClientID: id, Name: "Liar", RedirectURIs: []string{callback}},
		secretive: {ClientID: secretive, RedirectURIs: []string{callback}, AuthMethod: "client_secret_post"},
		bad:       {ClientID: bad, RedirectURIs: []string{"javascript:alert(1)"}},
	}
	eachEngine(t, func(s *stage) {
		session, _ := s.person("anna@example.org")
		a := app{id: id, redirect: callback}
		s.wantError(s.token(a.redemption("x")), 401, "invalid_client") // nobody has approved it yet
		for range 2 {
			accessToken, refresh := s.connect(session, a)
			s.wantOpen(accessToken, 200)
			if got := s.token(a.renewal(refresh)); got.status != 200 {
				t.Errorf("%d %s", got.status, got.text)
			}
		}
		for _, id := range []string{liar, secretive, bad, "https://app.example", "https://app.example/", "https://app.example/x/../client", "https://user@app.example/client", "https://app.example/client#x"} {
			s.wantPage(s.authorize(session, but(s.request(a), "client_id", id)), id)
		}
		s.wantPage(s.authorize(session, but(s.request(a), "redirect_uri", "https://app.example/other")), "another redirect")
		// Strangers can't make us fetch.
		if got := s.authorize("", but(s.request(a), "client_id", liar)); got.status != 303 || !strings.HasPrefix(got.header.Get("Location"), "/portal/sign-in") {
			t.Errorf("a stranger: %d", got.status)
		}
		apps, err := s.apps.Apps(t.Context(), s.visitor(session))
		if err != nil || len(apps) != 1 || apps[0].Name != "By Document" {
			t.Errorf("%+v, %v", apps, err)
		}
	}, func(cfg *access.ApplicationsConfig) { cfg.Documents = known })
}

func TestTheAuditTellsWhatHappened(t *testing.T) {
	s := anyEngine(t, leeway(0))
	session, id := s.person("anna@example.org")
	a := s.newApp("none", callback)
	_, refresh := s.connect(session, a)
	s.clock.move(time.Second)
	s.token(a.renewal(refresh))
	s.token(a.renewal(refresh))
	s.token(a.renewal(refresh))
	s.decide(session, s.question(s.authorize(session, s.request(a))), "deny")
	deeds, err := s.db.DeedsOf(t.Context(), id, "", 100)
	if err != nil {
		t.Fatal(err)
	}
	count := make(map[registrar.Action]int)
	for _, deed := range deeds {
		count[deed.Action]++
		if deed.Actor.Address.String() != "127.0.0.1" || deed.Object == "" || deed.Actor.Through == "" {
			t.Errorf("the audit says %+v", deed)
		}
	}
	for action, want := range map[registrar.Action]int{access.AppApproved: 1, access.AppConnected: 1, access.AppReplayed: 1, access.AppDenied: 1} {
		if count[action] != want {
			t.Errorf("%s stands there %d times", action, count[action])
		}
	}
}

// With one connection in the pool, a step that takes a second one inside its
// transaction waits for itself.
func TestNoTransactionTakesASecondConnection(t *testing.T) {
	t.Parallel()
	s := newStage(t, fresh.Postgres(t, 1))
	session, _ := s.person("anna@example.org")
	a := s.newApp("none", callback)
	done := make(chan struct{})
	go func() {
		defer close(done)
		code := s.code(session, a)
		s.decide(session, s.question(s.authorize(session, s.request(a))), "deny")
		first := s.token(a.redemption(code))
		refresh := first.field("refresh_token")
		race(8, func(int) answer { return s.token(a.renewal(refresh)) })
		s.wantOpen(first.field("access_token"), 200)
		s.token(a.redemption(code)) // ends it
		s.wantOpen(first.field("access_token"), 401)
		_, refresh = s.connect(session, a)
		s.token(a.renewal(refresh))
		s.clock.move(time.Minute)
		s.wantError(s.token(a.renewal(refresh)), 400, "invalid_grant") // ends it
		_, refresh = s.connect(session, a)
		s.revoke(a, refresh)
		accessToken, _ := s.connect(session, a)
		apps, err := s.apps.Apps(t.Context(), s.visitor(session))
		if err != nil || len(apps) != 1 {
			t.Errorf("%v, %v", apps, err)
			return
		}
		if err := s.apps.Disconnect(t.Context(), s.visitor(session), apps[0].ID); err != nil {
			t.Error(err)
		}
		s.wantOpen(accessToken, 401)
		s.clock.move(100 * 24 * time.Hour)
		if _, err := s.apps.Clean(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("something waits for a second connection")
	}
}

// PostgreSQL refuses such texts with an error; that is no failure of ours.
func TestAClientIDThatNoDatabaseKeepsIsAnUnknownOne(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(s *stage) {
		session, _ := s.person("anna@example.org")
		a := s.newApp("none", callback)
		for _, id := range []string{"client_\x00", "\xff\xfe", "https://app.example/\x00", "https://\xff", strings.Repeat("x", 3000)} {
			s.wantError(s.token(but(a.redemption("x"), "client_id", id)), 401, "invalid_client")
			s.wantError(s.token(but(a.renewal("x"), "client_id", id)), 401, "invalid_client")
			s.wantError(s.revoke(a, "x", "client_id", id), 401, "invalid_client")
			s.wantPage(s.authorize(session, but(s.request(a), "client_id", id)), "client id")
		}
		if err := s.apps.Disconnect(t.Context(), s.visitor(session), "grant_\x00"); registrar.KindOf(err) != registrar.KindNotFound {
			s.t.Errorf("disconnecting: %v", err)
		}
		for _, state := range []string{"\x00", "\xff", "a\r\nb"} {
			got := s.decide(session, s.question(s.authorize(session, but(s.request(a), "state", state))), "approve")
			if _, query := got.location(); got.status != 303 || query.Get("state") != state {
				s.t.Errorf("the state %q comes back as %q: %d", state, query.Get("state"), got.status)
			}
		}
	})
}
