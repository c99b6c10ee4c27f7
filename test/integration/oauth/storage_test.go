package oauth

import (
	"context"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/oauth"
	"github.com/dotkontor/dotkontor/test/testkit/dbtest"
	"github.com/dotkontor/dotkontor/test/testkit/dump"
)

func TestStorage_NoSecretInDatabaseOrLog(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, s *env) {
		session, _ := s.newAccount("anna@example.org")
		a := s.newApp("client_secret_post", callback)
		question := s.consentSecret(s.authorize(session, s.authorizationRequest(a)))
		code := s.authorizationCode(session, a)
		got := s.tokenRequest(a.codeRequest(code))
		again := s.tokenRequest(a.refreshRequest(got.field("refresh_token")))
		s.wantToolStatus(again.field("access_token"), 200)
		s.revoke(a, again.field("access_token"))
		databaseDump, log := dump.Database(t, s.dbOptions), s.log.String()
		if !strings.Contains(databaseDump, "anna@example.org") || !strings.Contains(log, "/oauth/token/") {
			t.Fatal("the dump or the log is empty")
		}
		for name, secret := range map[string]string{
			"client secret": a.secret, "consent": question, "code": code, "access": got.field("access_token"), "refresh": got.field("refresh_token"),
			"next access": again.field("access_token"), "next refresh": again.field("refresh_token"), "session": session,
		} {
			for _, part := range []string{secret, secret[len(secret)-20:], url.QueryEscape(secret)} {
				if strings.Contains(databaseDump, part) || strings.Contains(log, part) {
					t.Errorf("the %s is in the dump or the log", name)
				}
			}
		}
		if registrar.ContainsSecret(databaseDump) || registrar.ContainsSecret(log) || strings.Contains(log, "anna@") || strings.Contains(log, verifier) {
			t.Error("the dump or the log contains a secret or personal data")
		}
	})
}

func TestClean_KeepsLiveClientsAndGrants(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, s *env) {
		session, _ := s.newAccount("anna@example.org")
		live, ended, idle := s.newApp("none", callback), s.newApp("none", callback), s.newApp("none", callback)
		_, refresh := s.connect(session, live)
		token, _ := s.connect(session, ended)
		s.revoke(ended, token)
		s.consentSecret(s.authorize(session, s.authorizationRequest(idle)))
		known := func(a app) bool {
			_, known, err := s.db.GetOAuthClient(t.Context(), a.id)
			if err != nil {
				t.Fatal(err)
			}
			return known
		}
		clean := func() {
			if _, err := s.apps.DeleteExpired(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		for range 5 { // the live one refreshes every 20 days
			s.clock.advance(20 * 24 * time.Hour)
			got := s.tokenRequest(live.refreshRequest(refresh))
			if got.status != 200 {
				t.Fatalf("%d %s", got.status, got.text)
			}
			refresh = got.field("refresh_token")
			clean()
		}
		if !known(live) || known(idle) || known(ended) {
			t.Errorf("after 100 days: live %v, ended %v, idle %v", known(live), known(ended), known(idle))
		}
		if got := s.tokenRequest(live.refreshRequest(refresh)); got.status != 200 {
			t.Errorf("the live one gets %d %s", got.status, got.text)
		}
		s.wantError(s.tokenRequest(ended.refreshRequest(refresh)), 401, "invalid_client")
		databaseDump := dump.Database(t, s.dbOptions)
		for table, most := range map[string]int{"consents ": 0, "codes ": 0, "access_tokens ": 2, "refresh_tokens ": 4, "grants ": 1, "clients ": 1} {
			if n := strings.Count("\n"+databaseDump, "\n"+table); n > most {
				t.Errorf("%d rows of %s", n, table)
			}
		}
		// An unused client is deleted 30 days after its grant expired.
		s.clock.advance(45 * 24 * time.Hour)
		clean()
		if !known(live) {
			t.Error("the client is gone 15 days after its grant expired")
		}
		s.clock.advance(46 * 24 * time.Hour)
		clean()
		if known(live) {
			t.Error("the client still exists")
		}
	})
}

func TestClean_KeepsClientThirtyDaysAfterDisconnect(t *testing.T) {
	s := newSQLiteEnv(t)
	session, _ := s.newAccount("anna@example.org")
	a := s.newApp("none", callback)
	_, refresh := s.connect(session, a)
	for range 3 {
		s.clock.advance(25 * 24 * time.Hour)
		refresh = s.tokenRequest(a.refreshRequest(refresh)).field("refresh_token")
	}
	s.revoke(a, refresh)
	s.clock.advance(29 * 24 * time.Hour)
	if _, err := s.apps.DeleteExpired(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.connect(session, a)
}

// fakeDocuments serves client metadata documents.
type fakeDocuments map[string]oauth.ClientMetadata

func (d fakeDocuments) FetchClientMetadata(_ context.Context, address string) (oauth.ClientMetadata, error) {
	document, ok := d[address]
	if !ok {
		return oauth.ClientMetadata{}, registrar.Fault(registrar.FaultRefused, "", nil)
	}
	return document, nil
}

func TestClient_ByMetadataDocument(t *testing.T) {
	t.Parallel()
	const id, liar, secretive, bad = "https://app.example/client", "https://liar.example/client", "https://secret.example/client", "https://bad.example/client"
	known := fakeDocuments{
		id:        {ClientID: id, Name: "By Document", RedirectURIs: []string{callback}, AuthMethod: "none"},
		liar:      {ClientID: id, Name: "Liar", RedirectURIs: []string{callback}},
		secretive: {ClientID: secretive, RedirectURIs: []string{callback}, AuthMethod: "client_secret_post"},
		bad:       {ClientID: bad, RedirectURIs: []string{"javascript:alert(1)"}},
	}
	eachEngine(t, func(t *testing.T, s *env) {
		session, _ := s.newAccount("anna@example.org")
		a := app{id: id, redirect: callback}
		s.wantError(s.tokenRequest(a.codeRequest("x")), 401, "invalid_client") // not approved yet
		for range 2 {
			accessToken, refresh := s.connect(session, a)
			s.wantToolStatus(accessToken, 200)
			if got := s.tokenRequest(a.refreshRequest(refresh)); got.status != 200 {
				t.Errorf("%d %s", got.status, got.text)
			}
		}
		for _, id := range []string{liar, secretive, bad, "https://app.example", "https://app.example/", "https://app.example/x/../client", "https://user@app.example/client", "https://app.example/client#x"} {
			s.wantPage(s.authorize(session, withChanges(s.authorizationRequest(a), "client_id", id)), id)
		}
		s.wantPage(s.authorize(session, withChanges(s.authorizationRequest(a), "redirect_uri", "https://app.example/other")), "another redirect")
		// Anonymous requests don't trigger a fetch.
		if got := s.authorize("", withChanges(s.authorizationRequest(a), "client_id", liar)); got.status != 303 || !strings.HasPrefix(got.header.Get("Location"), "/portal/sign-in") {
			t.Errorf("an anonymous request: %d", got.status)
		}
		apps, err := s.apps.ListConnectedApps(t.Context(), s.actor(session))
		if err != nil || len(apps) != 1 || apps[0].Name != "By Document" {
			t.Errorf("%+v, %v", apps, err)
		}
	}, func(cfg *oauth.AuthorizationServerConfig) { cfg.Metadata = known })
}

func TestAudit_RecordsGrantLifecycle(t *testing.T) {
	s := newSQLiteEnv(t, withLeeway(0))
	session, id := s.newAccount("anna@example.org")
	a := s.newApp("none", callback)
	_, refresh := s.connect(session, a)
	s.clock.advance(time.Second)
	s.tokenRequest(a.refreshRequest(refresh))
	s.tokenRequest(a.refreshRequest(refresh))
	s.tokenRequest(a.refreshRequest(refresh))
	s.decide(session, s.consentSecret(s.authorize(session, s.authorizationRequest(a))), "deny")
	events, err := s.db.ListAuditEvents(t.Context(), id, "", 100)
	if err != nil {
		t.Fatal(err)
	}
	count := make(map[registrar.Action]int)
	for _, event := range events {
		count[event.Action]++
		if event.Actor.Address.String() != "127.0.0.1" || event.Object == "" || event.Actor.Through == "" {
			t.Errorf("the audit log has %+v", event)
		}
	}
	for action, want := range map[registrar.Action]int{oauth.AppApproved: 1, oauth.AppConnected: 1, oauth.AppReplayed: 1, oauth.AppDenied: 1} {
		if count[action] != want {
			t.Errorf("%s is recorded %d times", action, count[action])
		}
	}
}

// With one connection in the pool, a step that takes a second one inside its
// transaction deadlocks.
func TestStore_NoTransactionTakesASecondConnection(t *testing.T) {
	t.Parallel()
	s := newEnv(t, dbtest.Postgres(t, 1))
	session, _ := s.newAccount("anna@example.org")
	a := s.newApp("none", callback)
	done := make(chan struct{})
	go func() {
		defer close(done)
		code := s.authorizationCode(session, a)
		s.decide(session, s.consentSecret(s.authorize(session, s.authorizationRequest(a))), "deny")
		first := s.tokenRequest(a.codeRequest(code))
		refresh := first.field("refresh_token")
		inParallel(8, func(int) httpResponse { return s.tokenRequest(a.refreshRequest(refresh)) })
		s.wantToolStatus(first.field("access_token"), 200)
		s.tokenRequest(a.codeRequest(code)) // ends it
		s.wantToolStatus(first.field("access_token"), 401)
		_, refresh = s.connect(session, a)
		s.tokenRequest(a.refreshRequest(refresh))
		s.clock.advance(time.Minute)
		s.wantError(s.tokenRequest(a.refreshRequest(refresh)), 400, "invalid_grant") // ends it
		_, refresh = s.connect(session, a)
		s.revoke(a, refresh)
		accessToken, _ := s.connect(session, a)
		apps, err := s.apps.ListConnectedApps(t.Context(), s.actor(session))
		if err != nil || len(apps) != 1 {
			t.Errorf("%v, %v", apps, err)
			return
		}
		if err := s.apps.Disconnect(t.Context(), s.actor(session), apps[0].ID); err != nil {
			t.Error(err)
		}
		s.wantToolStatus(accessToken, 401)
		s.clock.advance(100 * 24 * time.Hour)
		if _, err := s.apps.DeleteExpired(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("deadlock: a transaction waits for a second connection")
	}
}

// PostgreSQL rejects such text; that must not become an internal error.
func TestClientID_UnstorableIsUnknown(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, s *env) {
		session, _ := s.newAccount("anna@example.org")
		a := s.newApp("none", callback)
		for _, id := range []string{"client_\x00", "\xff\xfe", "https://app.example/\x00", "https://\xff", strings.Repeat("x", 3000)} {
			s.wantError(s.tokenRequest(withChanges(a.codeRequest("x"), "client_id", id)), 401, "invalid_client")
			s.wantError(s.tokenRequest(withChanges(a.refreshRequest("x"), "client_id", id)), 401, "invalid_client")
			s.wantError(s.revoke(a, "x", "client_id", id), 401, "invalid_client")
			s.wantPage(s.authorize(session, withChanges(s.authorizationRequest(a), "client_id", id)), "client id")
		}
		if err := s.apps.Disconnect(t.Context(), s.actor(session), "grant_\x00"); registrar.KindOf(err) != registrar.KindNotFound {
			s.t.Errorf("disconnecting: %v", err)
		}
		for _, state := range []string{"\x00", "\xff", "a\r\nb"} {
			got := s.decide(session, s.consentSecret(s.authorize(session, withChanges(s.authorizationRequest(a), "state", state))), "approve")
			if _, query := got.location(); got.status != 303 || query.Get("state") != state {
				s.t.Errorf("the state %q comes back as %q: %d", state, query.Get("state"), got.status)
			}
		}
	})
}
