package customer

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Service is what people and operators can do with accounts. It is safe for
// concurrent use.
type Service struct {
	cfg     Config
	hasher  *hasher
	seal    *registrar.Seal
	origins relyingParties
	// failures are failed sign-ins on their way into the audit. They are written
	// by Run, because a write that happens for known accounts only could be
	// measured.
	failures chan registrar.Deed
}

// waitingFailures bounds what an attack on many accounts can pile up.
const waitingFailures = 256

// New makes a Service, or says what is wrong with cfg.
func New(cfg Config) (*Service, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	origins, err := newRelyingParties(cfg.Origins, cfg.Issuer)
	if err != nil {
		return nil, err
	}
	return &Service{
		cfg: cfg, hasher: newHasher(cfg), seal: cfg.Seal, origins: origins,
		failures: make(chan registrar.Deed, waitingFailures),
	}, nil
}

func (s *Service) read() Reader { return s.cfg.Store.ReadCustomers() }

// tx is one transaction with one time.
type tx struct {
	Tx
	now    time.Time
	posted bool
}

// change runs one transaction, and has its letters sent afterwards.
func (s *Service) change(ctx context.Context, change func(*tx) error) error {
	var posted bool
	err := s.cfg.Store.ChangeCustomers(ctx, func(inner Tx) error {
		t := &tx{Tx: inner, now: s.cfg.Now()}
		err := change(t)
		posted = t.posted
		return err
	})
	if err == nil && posted {
		s.cfg.LettersWaiting()
	}
	return err
}

// record writes what was done into the audit of the account.
func (t *tx) record(ctx context.Context, actor registrar.Actor, action registrar.Action, customer, object string) error {
	return t.RecordDeed(ctx, registrar.Deed{Actor: actor, Action: action, Customer: customer, Object: object, At: t.now})
}

// post stores a letter that also says from which address its cause came.
func (t *tx) post(ctx context.Context, actor registrar.Actor, letter registrar.Letter) error {
	t.posted = true
	if actor.Address.IsValid() {
		if letter.Facts == nil {
			letter.Facts = make(map[string]string, 1)
		}
		letter.Facts[factAddress] = actor.Address.String()
	}
	return t.StoreLetter(ctx, letter, t.now)
}

// tell records a deed and posts a letter about it to the account's owner.
func (t *tx) tell(ctx context.Context, actor registrar.Actor, action registrar.Action, object string, letter registrar.Letter) error {
	letter.Customer = actor.Customer
	if err := t.record(ctx, actor, action, actor.Customer, object); err != nil {
		return err
	}
	return t.post(ctx, actor, letter)
}

// hold keeps everybody else from changing how one gets into the account until
// the transaction ends, by writing what the account's row holds already. It fails
// if that has changed since the account was read.
func (t *tx) hold(ctx context.Context, account Account) error {
	ok, err := t.ReplacePasswordHash(ctx, account, account.PasswordHash)
	if err == nil && !ok {
		err = fail(registrar.KindUnauthenticated, registrar.SignInAgain)
	}
	return err
}

// signedIn is the account of an actor who is a person.
func (s *Service) signedIn(ctx context.Context, r accountReader, actor registrar.Actor) (Account, error) {
	if actor.Kind != registrar.ActorPerson || actor.Customer == "" {
		return Account{}, fail(registrar.KindUnauthenticated, SignInFirst)
	}
	account, ok, err := r.AccountByID(ctx, actor.Customer)
	if err != nil {
		return Account{}, err
	}
	if !ok || !account.DisabledAt.IsZero() {
		return Account{}, fail(registrar.KindUnauthenticated, SignInFirst)
	}
	return account, nil
}

// recent is signedIn for what matters.
func (s *Service) recent(ctx context.Context, r accountReader, actor registrar.Actor) (Account, error) {
	if err := actor.RequireRecentSignIn(s.cfg.Now()); err != nil {
		return Account{}, err
	}
	return s.signedIn(ctx, r, actor)
}

// newAccount is an account without any way in.
func newAccount(email, key, language string, now time.Time) Account {
	var handle [32]byte
	_, _ = rand.Read(handle[:]) // never fails
	return Account{
		Customer:   Customer{ID: registrar.NewID("cus_", now), Email: email, Language: language, CreatedAt: now},
		EmailKey:   key,
		UserHandle: base64.RawURLEncoding.EncodeToString(handle[:]),
	}
}
