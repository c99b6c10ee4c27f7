package account

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"log/slog"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Config configures a Service. Store, Seal and Limits are required.
type Config struct {
	Store Store
	Seal  *registrar.Seal // encrypts the secrets of authenticator apps
	// Origins are the origins at which browsers reach the portal, such as
	// https://example.com. A passkey belongs to one host name. PasskeyOrigins derives
	// the list from a base URL. Without origins, passkeys are disabled.
	Origins []string
	Limits  Limits
	Hashes  int // the number of concurrent password hashes, each using 64 MiB; 0 means DefaultHashes
	// Cost is the cost of one hash. After a change, a password is rehashed when it is next used.
	Cost    Cost
	Deriver Deriver // computes hashes in another process; nil computes them here
	// MaxWaiting limits the sign-ins that wait for a hash, for known browsers and for
	// others separately; 0 means 2048.
	MaxWaiting int
	// Extension looks up the price list. Its registrant requirements are checked when a
	// registrant changes; nil checks none.
	Extension  func(tld string) (registrar.Extension, bool)
	MailQueued func() // called after a mail was stored; nil leaves it to the mailer to poll
	// Now is the clock. Authenticator codes are checked against it, so it must show the true time.
	Now         func() time.Time
	BusinessNow func() time.Time // the business time; nil means Now
	Logger      *slog.Logger     // may be nil
}

const (
	day = 24 * time.Hour
	// sessionIdle and sessionLife are the idle and the absolute timeout of a session.
	sessionIdle = 14 * day
	sessionLife = 90 * day
	issuer      = "dotkontor" // the name shown by authenticator apps and passkey prompts
)

func (cfg Config) withDefaults() (Config, error) {
	switch {
	case cfg.Store == nil:
		return cfg, errors.New("account: Config.Store is required")
	case cfg.Seal == nil:
		return cfg, errors.New("account: Config.Seal is required")
	case cfg.Limits == (Limits{}):
		return cfg, errors.New("account: Config.Limits is required")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	registrar.Default(&cfg.BusinessNow, cfg.Now)
	if cfg.Extension == nil {
		cfg.Extension = func(string) (registrar.Extension, bool) { return registrar.Extension{}, false }
	}
	if cfg.MailQueued == nil {
		cfg.MailQueued = func() {}
	}
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	cfg.MaxWaiting = cmp.Or(cfg.MaxWaiting, 2048)
	return cfg, nil
}

// Service is safe for concurrent use.
type Service struct {
	cfg     Config
	hasher  *hasher
	origins relyingParties
	// failedSignIns queues audit events of failed sign-ins. Run writes them later: a
	// synchronous write, which happens only for existing accounts, would be measurable.
	failedSignIns chan registrar.AuditEvent
}

// maxQueuedFailures bounds the queue during an attack on many accounts.
const maxQueuedFailures = 256

// New returns a Service, or an error if cfg is invalid.
func New(cfg Config) (*Service, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	origins, err := newRelyingParties(cfg.Origins)
	if err != nil {
		return nil, err
	}
	return &Service{
		cfg: cfg, hasher: newHasher(cfg), origins: origins,
		failedSignIns: make(chan registrar.AuditEvent, maxQueuedFailures),
	}, nil
}

func (s *Service) read() Reader { return s.cfg.Store.ReadCustomers() }

// tx is a transaction with a single point in time.
type tx struct {
	Tx
	now        time.Time
	mailQueued bool
}

// inTx runs fn in a transaction and calls MailQueued afterwards if it queued mail.
func (s *Service) inTx(ctx context.Context, fn func(*tx) error) error {
	var t *tx
	err := s.cfg.Store.UpdateCustomers(ctx, func(inner Tx) error {
		t = &tx{Tx: inner, now: s.cfg.Now()}
		return fn(t)
	})
	if err == nil && t.mailQueued {
		s.cfg.MailQueued()
	}
	return err
}

// recordEvent writes an event to the account's audit log.
func (t *tx) recordEvent(ctx context.Context, actor registrar.Actor, action registrar.Action, customer, object string) error {
	return t.RecordAuditEvent(ctx, registrar.AuditEvent{Actor: actor, Action: action, Customer: customer, Object: object, At: t.now})
}

// queueMail stores a mail that mentions the actor's address.
func (t *tx) queueMail(ctx context.Context, actor registrar.Actor, mail registrar.Mail) error {
	t.mailQueued = true
	mail.SetAddress(actor)
	return t.QueueMail(ctx, mail, t.now)
}

// recordAndMail records an event and queues a mail about it to the account's owner.
func (t *tx) recordAndMail(ctx context.Context, actor registrar.Actor, action registrar.Action, object string, mail registrar.Mail) error {
	mail.Customer = actor.Customer
	if err := t.recordEvent(ctx, actor, action, actor.Customer, object); err != nil {
		return err
	}
	return t.queueMail(ctx, actor, mail)
}

// lockCredentials locks the account's credentials until the transaction ends, by rewriting the
// current values of its row. It fails if they have changed since the account was read.
func (t *tx) lockCredentials(ctx context.Context, account Account) error {
	if ok, err := t.ReplacePasswordHash(ctx, account, account.PasswordHash); !ok {
		return cmp.Or(err, registrar.Unauthenticated(registrar.SignInAgain))
	}
	return nil
}

// signedInAccount returns the account of a signed-in person.
func (s *Service) signedInAccount(ctx context.Context, r Reader, actor registrar.Actor) (Account, error) {
	if err := actor.RequireSignedIn(); err != nil {
		return Account{}, err
	}
	account, ok, err := r.AccountByID(ctx, actor.Customer)
	if !ok || !account.DisabledAt.IsZero() {
		return Account{}, cmp.Or(err, registrar.Unauthenticated(registrar.SignInFirst))
	}
	return account, nil
}

// recentlySignedInAccount is signedInAccount for sensitive operations.
func (s *Service) recentlySignedInAccount(ctx context.Context, r Reader, actor registrar.Actor) (Account, error) {
	if err := actor.RequireRecentSignIn(s.cfg.Now()); err != nil {
		return Account{}, err
	}
	return s.signedInAccount(ctx, r, actor)
}

// changeSignedIn runs fn in a transaction on the account of a signed-in person.
func (s *Service) changeSignedIn(ctx context.Context, actor registrar.Actor, fn func(*tx, Account) error) error {
	return s.inTx(ctx, func(t *tx) error {
		account, err := s.signedInAccount(ctx, t, actor)
		if err != nil {
			return err
		}
		return fn(t, account)
	})
}

// changeRecentlySignedIn is changeSignedIn for sensitive operations.
func (s *Service) changeRecentlySignedIn(ctx context.Context, actor registrar.Actor, fn func(*tx, Account) error) error {
	if err := actor.RequireRecentSignIn(s.cfg.Now()); err != nil {
		return err
	}
	return s.changeSignedIn(ctx, actor, fn)
}

// newAccount returns an account without credentials.
func newAccount(email, key, language string, now time.Time) Account {
	return Account{
		Customer: Customer{ID: registrar.NewID("cus_", now), Email: email, Language: language, CreatedAt: now},
		EmailKey: key, UserHandle: base64.RawURLEncoding.EncodeToString(randomBytes(32)),
	}
}

func randomBytes(count int) []byte {
	random := make([]byte, count)
	_, _ = rand.Read(random) // never fails
	return random
}
