// Package accounts tries the rules of accounts on a real store: SQLite, and
// PostgreSQL where there is one.
package accounts

import (
	"net/netip"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/customer"
	"github.com/dotkontor/dotkontor/internal/registrar/letters"
	"github.com/dotkontor/dotkontor/internal/registrar/quota"
	"github.com/dotkontor/dotkontor/internal/store"
	"github.com/dotkontor/dotkontor/test/fresh"
)

const (
	origin   = "https://kontor.example"
	email    = "ada@example.org"
	password = "Vier Pferde am Deich"
	other    = "Sieben Boote im Nebel"
	browser  = "Mozilla/5.0 (test)"
)

func TestMain(m *testing.M) { os.Exit(fresh.Main(m)) }

var operator = registrar.Actor{Kind: registrar.ActorOperator, Through: "root"}

// world is a service on a store of its own, with a clock that stands still.
type world struct {
	*testing.T
	*customer.Service
	db  *store.DB
	dsn store.Options
	cfg customer.Config

	mu  sync.Mutex
	now time.Time
}

// eachEngine runs a test on every store.
func eachEngine(t *testing.T, test func(w *world)) {
	t.Helper()
	t.Parallel()
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		test(newWorldHere(t))
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		test(newWorld(t, fresh.Postgres(t, 6)))
	})
}

// onSQLite is for rules that do not depend on the store.
func onSQLite(t *testing.T, test func(w *world)) {
	t.Helper()
	t.Parallel()
	test(newWorldHere(t))
}

func newWorld(t *testing.T, place store.Options) *world {
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
	w := &world{T: t, db: db, dsn: place, now: time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)}
	limits, err := customer.NewLimits(customer.DefaultWindows(), w.limiter)
	if err != nil {
		t.Fatal(err)
	}
	w.cfg = customer.Config{
		Store: db, Seal: sealWith(1, 2, 3), Origins: []string{origin}, Limits: limits,
		Cost: customer.Cost{Memory: 64, Passes: 1}, Now: w.clock,
	}
	w.restart(func(*customer.Config) {})
	return w
}

// restart replaces the service by one with another configuration.
func (w *world) restart(change func(*customer.Config)) {
	w.Helper()
	cfg := w.cfg
	change(&cfg)
	service, err := customer.New(cfg)
	if err != nil {
		w.Fatal(err)
	}
	w.Service = service
}

type limiter struct{ *quota.Limiter }

func (l limiter) Peek(key string) time.Duration { return l.Limiter.Peek(quota.TextKey(key)).RetryAfter }

func (l limiter) Count(key string) time.Duration {
	return l.Allow(quota.TextKey(key)).RetryAfter
}

func (w *world) limiter(window customer.Window) (customer.Limiter, error) {
	counter, err := quota.New(quota.Config{
		Windows: []quota.Window{{Limit: window.Count, Per: window.Per}}, MaxKeys: 10_000, Now: w.clock,
	})
	return limiter{counter}, err
}

func (w *world) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *world) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

// somebody is a person who has not signed in, at the given address.
func somebody(address string) registrar.Actor {
	return registrar.Actor{Kind: registrar.ActorPerson, Address: netip.MustParseAddr(address)}
}

var (
	home     = somebody("192.0.2.7")
	attacker = somebody("203.0.113.66")
)

// must stops the test at an error that is not part of what it tries.
func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// refused wants an error of a kind with a code.
func (w *world) refused(err error, kind registrar.Kind, code registrar.Code) {
	w.Helper()
	if registrar.KindOf(err) != kind || registrar.CodeOf(err) != code || err == nil {
		w.Errorf("got the error %v, want %v (%s)", err, kind, code)
	}
}

// mail is a letter that has arrived.
type mail struct {
	kind registrar.LetterKind
	to   string
	link string
	lang string
	fact map[string]string
}

// mails delivers what is waiting, as the sender of letters does.
func (w *world) mails() []mail {
	w.Helper()
	due, err := w.db.DueLetters(w.Context(), w.clock(), 100)
	w.must(err)
	var arrived []mail
	for _, letter := range due {
		m := mail{kind: letter.Kind, to: letter.To, lang: letter.Language, fact: letter.Facts}
		life, hasLink := map[registrar.LetterKind]time.Duration{
			registrar.LetterConfirm: 48 * time.Hour, registrar.LetterReset: time.Hour, registrar.LetterChangeEmail: 24 * time.Hour,
		}[letter.Kind]
		lease := w.clock().Add(time.Minute)
		claimed, err := w.db.ClaimLetter(w.Context(), letter.ID, letter.DueAt, lease)
		w.must(err)
		if !claimed {
			w.Fatal("somebody else delivers our letters")
		}
		if hasLink {
			var hash registrar.SecretHash
			m.link, hash = registrar.NewSecret(registrar.LinkSecret)
			ours, err := w.db.StoreLink(w.Context(), letter.ID, lease, letters.Link{
				Hash: hash, Kind: letter.Kind, Customer: letter.Customer, Email: letter.To, ExpiresAt: w.clock().Add(life),
			})
			w.must(err)
			if !ours { // a link of this kind was voided meanwhile
				continue
			}
		}
		w.must(w.db.RemoveLetter(w.Context(), letter.ID))
		arrived = append(arrived, m)
	}
	return arrived
}

// mail wants exactly one letter of the kind among those that are waiting.
func (w *world) mail(kind registrar.LetterKind) mail {
	w.Helper()
	all := w.mails()
	var found []mail
	for _, m := range all {
		if m.kind == kind {
			found = append(found, m)
		}
	}
	if len(found) != 1 {
		w.Fatalf("got %d letters %q among %v, want one", len(found), kind, all)
	}
	return found[0]
}

// member registers and confirms an account with a password.
func (w *world) member(address string) customer.SignedIn {
	w.Helper()
	w.must(w.Register(w.Context(), home, customer.Registration{Email: address}))
	in, err := w.Confirm(w.Context(), home, w.mail(registrar.LetterConfirm).link, customer.Confirmation{Password: password, Agent: browser})
	w.must(err)
	return in
}

// signIn signs in by password.
func (w *world) signIn(actor registrar.Actor, device string) customer.SignedIn {
	w.Helper()
	in, err := w.SignIn(w.Context(), actor, customer.Credentials{Email: email, Password: password, Device: device, Agent: browser})
	w.must(err)
	return in
}

// guess tries a wrong password.
func (w *world) guess(actor registrar.Actor, device string) error {
	_, err := w.SignIn(w.Context(), actor, customer.Credentials{Email: email, Password: "wrong " + password, Device: device})
	return err
}

func actorOf(in customer.SignedIn) registrar.Actor { return in.Visitor.Actor(home.Address) }

// alive is whether a session cookie works.
func (w *world) alive(secret string) bool {
	w.Helper()
	_, err := w.Visitor(w.Context(), secret)
	if err != nil && registrar.KindOf(err) != registrar.KindUnauthenticated {
		w.Fatal(err)
	}
	return err == nil
}

// told is whether the audit of the account has the action.
func (w *world) told(in customer.SignedIn, action registrar.Action) bool {
	w.Helper()
	w.must(w.Sweep(w.Context()))
	entries, err := w.db.DeedsOf(w.Context(), in.Visitor.Customer.ID, "", 200)
	w.must(err)
	for _, entry := range entries {
		if entry.Action == action {
			return true
		}
	}
	return false
}

func newWorldHere(t *testing.T) *world {
	t.Helper()
	return newWorld(t, fresh.SQLite(t))
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
