// Package accounts tests package account on SQLite and, if available, PostgreSQL.
package accounts

import (
	"net/netip"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/mailer"
	"github.com/dotkontor/dotkontor/internal/registrar/ratelimit"
	"github.com/dotkontor/dotkontor/internal/store"
	"github.com/dotkontor/dotkontor/test/testkit/dbtest"
)

const (
	origin        = "https://kontor.example"
	email         = "ada@example.org"
	password      = "Vier Pferde am Deich"
	otherPassword = "Sieben Boote im Nebel"
	userAgent     = "Mozilla/5.0 (test)"
)

func TestMain(m *testing.M) { os.Exit(dbtest.Main(m)) }

var operator = registrar.Actor{Kind: registrar.ActorOperator, Through: "root"}

// env is a service on its own store, with a clock that tests advance.
type env struct {
	*testing.T
	*account.Service
	db  *store.DB
	dsn store.Options
	cfg account.Config

	mu  sync.Mutex
	now time.Time
}

// eachEngine runs a test on every store.
func eachEngine(t *testing.T, test func(t *testing.T, e *env)) {
	t.Helper()
	t.Parallel()
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		test(t, newSQLiteEnv(t))
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		test(t, newEnv(t, dbtest.Postgres(t, 6)))
	})
}

// onSQLite is for rules that do not depend on the store.
func onSQLite(t *testing.T, test func(e *env)) {
	t.Helper()
	t.Parallel()
	test(newSQLiteEnv(t))
}

func newEnv(t *testing.T, place store.Options) *env {
	t.Helper()
	db, err := store.Open(t.Context(), place)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	e := &env{T: t, db: db, dsn: place, now: time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)}
	limits, err := account.NewLimits(account.DefaultWindows(), e.newLimiter)
	if err != nil {
		t.Fatal(err)
	}
	e.cfg = account.Config{
		Store: db, Seal: sealWith(1, 2, 3), Origins: []string{origin}, Limits: limits,
		Cost: account.Cost{Memory: 64, Passes: 1}, Now: e.clock,
	}
	e.reconfigure(func(*account.Config) {})
	return e
}

// reconfigure replaces the service by one with another configuration.
func (e *env) reconfigure(change func(*account.Config)) {
	e.Helper()
	cfg := e.cfg
	change(&cfg)
	service, err := account.New(cfg)
	if err != nil {
		e.Fatal(err)
	}
	e.Service = service
}

func (e *env) newLimiter(_ string, window ratelimit.Window) (*ratelimit.Limiter, error) {
	return ratelimit.New(ratelimit.Config{Windows: []ratelimit.Window{window}, MaxKeys: 10_000, Now: e.clock})
}

func (e *env) clock() time.Time {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.now
}

func (e *env) advanceClock(d time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.now = e.now.Add(d)
}

// anonymousActor is a person who has not signed in, at the given address.
func anonymousActor(address string) registrar.Actor {
	return registrar.Actor{Kind: registrar.ActorPerson, Address: netip.MustParseAddr(address)}
}

var (
	home     = anonymousActor("192.0.2.7")
	attacker = anonymousActor("203.0.113.66")
)

// must fails the test on an unexpected error.
func (e *env) must(err error) {
	e.Helper()
	if err != nil {
		e.Fatal(err)
	}
}

// wantError checks the kind and code of an error.
func (e *env) wantError(err error, kind registrar.Kind, code registrar.Code) {
	e.Helper()
	if registrar.KindOf(err) != kind || registrar.CodeOf(err) != code || err == nil {
		e.Errorf("got the error %v, want %v (%s)", err, kind, code)
	}
}

// mail is a delivered mail.
type mail struct {
	kind     registrar.MailKind
	to       string
	link     string
	language string
	facts    map[string]string
}

// deliverMails delivers the queued mails, as the mailer does.
func (e *env) deliverMails() []mail {
	e.Helper()
	lease := e.clock().Add(time.Minute)
	due, err := e.db.ClaimDueMails(e.Context(), e.clock(), lease, 100)
	e.must(err)
	var arrived []mail
	for _, dueMail := range due {
		m := mail{kind: dueMail.Kind, to: dueMail.To, language: dueMail.Language, facts: dueMail.Data}
		life, hasLink := map[registrar.MailKind]time.Duration{
			registrar.MailConfirm: 48 * time.Hour, registrar.MailPasswordReset: time.Hour, registrar.MailChangeEmail: 24 * time.Hour,
		}[dueMail.Kind]
		if hasLink {
			var hash registrar.SecretHash
			m.link, hash = registrar.NewSecret(registrar.LinkSecret)
			ours, err := e.db.StoreLink(e.Context(), dueMail.ID, lease, mailer.Link{
				Hash: hash, Kind: dueMail.Kind, Customer: dueMail.Customer, Email: dueMail.To, ExpiresAt: e.clock().Add(life),
			})
			e.must(err)
			if !ours { // a link of this kind was voided meanwhile
				continue
			}
		}
		e.must(e.db.DeleteMail(e.Context(), dueMail.ID, nil))
		arrived = append(arrived, m)
	}
	return arrived
}

// deliverOneMail returns the only queued mail of the kind.
func (e *env) deliverOneMail(kind registrar.MailKind) mail {
	e.Helper()
	all := e.deliverMails()
	var found []mail
	for _, m := range all {
		if m.kind == kind {
			found = append(found, m)
		}
	}
	if len(found) != 1 {
		e.Fatalf("got %d mails %q among %v, want one", len(found), kind, all)
	}
	return found[0]
}

// newMember registers and confirms an account with a password.
func (e *env) newMember(address string) account.SignInResult {
	e.Helper()
	e.must(e.Register(e.Context(), home, address, ""))
	in, err := e.Confirm(e.Context(), home, e.deliverOneMail(registrar.MailConfirm).link, password, userAgent)
	e.must(err)
	return in
}

// signIn signs in by password.
func (e *env) signIn(actor registrar.Actor, device string) account.SignInResult {
	e.Helper()
	in, err := e.SignIn(e.Context(), actor, account.Credentials{Email: email, Password: password, Device: device, UserAgent: userAgent})
	e.must(err)
	return in
}

// signInWithWrongPassword attempts a sign-in that must fail.
func (e *env) signInWithWrongPassword(actor registrar.Actor, device string) error {
	_, err := e.SignIn(e.Context(), actor, account.Credentials{Email: email, Password: "wrong " + password, Device: device})
	return err
}

func actorOf(in account.SignInResult) registrar.Actor { return in.Visitor.Actor(home.Address) }

// sessionValid reports whether a session cookie works.
func (e *env) sessionValid(secret string) bool {
	e.Helper()
	_, err := e.Visitor(e.Context(), secret)
	if err != nil && registrar.KindOf(err) != registrar.KindUnauthenticated {
		e.Fatal(err)
	}
	return err == nil
}

// hasAuditEvent reports whether the account's audit log has the action.
func (e *env) hasAuditEvent(in account.SignInResult, action registrar.Action) bool {
	e.Helper()
	e.must(e.Sweep(e.Context()))
	entries, err := e.db.ListAuditEvents(e.Context(), in.Visitor.Customer.ID, "", 200)
	e.must(err)
	for _, entry := range entries {
		if entry.Action == action {
			return true
		}
	}
	return false
}

func newSQLiteEnv(t *testing.T) *env {
	t.Helper()
	return newEnv(t, dbtest.SQLite(t))
}

// sealWith is a seal whose key begins with the given bytes.
func sealWith(first ...byte) *registrar.Seal {
	var key registrar.SealKey
	copy(key[:], first)
	seal, err := registrar.NewSeal(key)
	if err != nil {
		panic(err)
	}
	return seal
}
