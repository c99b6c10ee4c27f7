package account

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
	// failedSignIns are failed sign-ins on their way into the audit. They are written
	// by Run, because a write that happens for known accounts only could be
	// measured.
	failedSignIns chan registrar.AuditEvent
}

// maxQueuedFailures bounds what an attack on many accounts can pile up.
const maxQueuedFailures = 256

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
		failedSignIns: make(chan registrar.AuditEvent, maxQueuedFailures),
	}, nil
}

func (s *Service) read() Reader { return s.cfg.Store.ReadCustomers() }

// tx is one transaction with one time.
type tx struct {
	Tx
	now        time.Time
	mailQueued bool
}

// inTx runs one transaction, and has its letters sent afterwards.
func (s *Service) inTx(ctx context.Context, fn func(*tx) error) error {
	var mailQueued bool
	err := s.cfg.Store.UpdateCustomers(ctx, func(inner Tx) error {
		t := &tx{Tx: inner, now: s.cfg.Now()}
		err := fn(t)
		mailQueued = t.mailQueued
		return err
	})
	if err == nil && mailQueued {
		s.cfg.MailQueued()
	}
	return err
}

// recordEvent writes what was done into the audit of the account.
func (t *tx) recordEvent(ctx context.Context, actor registrar.Actor, action registrar.Action, customer, object string) error {
	return t.RecordAuditEvent(ctx, registrar.AuditEvent{Actor: actor, Action: action, Customer: customer, Object: object, At: t.now})
}

// queueMail stores a letter that also says from which address its cause came.
func (t *tx) queueMail(ctx context.Context, actor registrar.Actor, mail registrar.Mail) error {
	t.mailQueued = true
	mail.SetAddress(actor)
	return t.QueueMail(ctx, mail, t.now)
}

// recordAndMail records a deed and posts a letter about it to the account's owner.
func (t *tx) recordAndMail(ctx context.Context, actor registrar.Actor, action registrar.Action, object string, mail registrar.Mail) error {
	mail.Customer = actor.Customer
	if err := t.recordEvent(ctx, actor, action, actor.Customer, object); err != nil {
		return err
	}
	return t.queueMail(ctx, actor, mail)
}

// lockCredentials keeps everybody else from changing how one gets into the account until
// the transaction ends, by writing what the account's row holds already. It fails
// if that has changed since the account was read.
func (t *tx) lockCredentials(ctx context.Context, account Account) error {
	ok, err := t.ReplacePasswordHash(ctx, account, account.PasswordHash)
	if err == nil && !ok {
		err = fail(registrar.KindUnauthenticated, registrar.SignInAgain)
	}
	return err
}

// signedInAccount is the account of an actor who is a person.
func (s *Service) signedInAccount(ctx context.Context, r accountReader, actor registrar.Actor) (Account, error) {
	if err := actor.RequireSignedIn(); err != nil {
		return Account{}, err
	}
	account, ok, err := r.AccountByID(ctx, actor.Customer)
	if err != nil {
		return Account{}, err
	}
	if !ok || !account.DisabledAt.IsZero() {
		return Account{}, fail(registrar.KindUnauthenticated, registrar.SignInFirst)
	}
	return account, nil
}

// recentlySignedInAccount is signedIn for what matters.
func (s *Service) recentlySignedInAccount(ctx context.Context, r accountReader, actor registrar.Actor) (Account, error) {
	if err := actor.RequireRecentSignIn(s.cfg.Now()); err != nil {
		return Account{}, err
	}
	return s.signedInAccount(ctx, r, actor)
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
