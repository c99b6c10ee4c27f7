package oauth

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"

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

// everything is all text in the database.
func (s *stage) everything() string {
	s.t.Helper()
	driver, address, list := "pgx", s.place.URL, "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'"
	if address == "" {
		driver, address, list = "sqlite", filepath.Join(s.place.Data, "dotkontor.db"), "SELECT name FROM sqlite_master WHERE type = 'table'"
	}
	pool, err := sql.Open(driver, address)
	if err != nil {
		s.t.Fatal(err)
	}
	defer pool.Close()
	var text bytes.Buffer
	for _, table := range column(s, pool, list) {
		rows, err := pool.QueryContext(s.t.Context(), `SELECT * FROM "`+table+`"`)
		if err != nil {
			s.t.Fatal(err)
		}
		names, _ := rows.Columns()
		for rows.Next() {
			row, cells := make([]any, len(names)), make([]any, len(names))
			for i := range cells {
				cells[i] = &row[i]
			}
			if err := rows.Scan(cells...); err != nil {
				s.t.Fatal(err)
			}
			fmt.Fprintf(&text, "%s %s\n", table, row)
		}
		if err := rows.Err(); err != nil {
			s.t.Fatal(err)
		}
	}
	return text.String()
}

func column(s *stage, pool *sql.DB, query string) []string {
	rows, err := pool.QueryContext(s.t.Context(), query)
	if err != nil {
		s.t.Fatal(err)
	}
	defer rows.Close()
	var list []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			s.t.Fatal(err)
		}
		list = append(list, name)
	}
	if err := rows.Err(); err != nil {
		s.t.Fatal(err)
	}
	return list
}

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
		dump, log := s.everything(), s.log.String()
		if !strings.Contains(dump, "anna@example.org") || !strings.Contains(log, "/oauth/token/") {
			t.Fatal("the dump or the log is not one")
		}
		for name, secret := range map[string]string{
			"client secret": a.secret, "consent": question, "code": code, "access": got.field("access_token"), "refresh": got.field("refresh_token"),
			"next access": again.field("access_token"), "next refresh": again.field("refresh_token"), "session": session,
		} {
			for _, part := range []string{secret, secret[len(secret)-20:], url.QueryEscape(secret)} {
				if strings.Contains(dump, part) || strings.Contains(log, part) {
					t.Errorf("the %s is in the dump or the log", name)
				}
			}
		}
		if registrar.HoldsSecret(dump) || registrar.HoldsSecret(log) || strings.Contains(log, "anna@") || strings.Contains(log, verifier) {
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
		dump := s.everything()
		for table, most := range map[string]int{"consents ": 0, "codes ": 0, "access_tokens ": 2, "refresh_tokens ": 4, "grants ": 1, "clients ": 1} {
			if n := strings.Count("\n"+dump, "\n"+table); n > most {
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
