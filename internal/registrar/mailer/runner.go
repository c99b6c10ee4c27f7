package mailer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/dotkontor/dotkontor/internal/jobs"
	"github.com/dotkontor/dotkontor/internal/registrar"
)

const (
	// batchSize is how many letters are read at a time; claiming is one by one.
	batchSize = 16
	// concurrency bounds the connections to the mail server.
	concurrency = 4
	// pollInterval is how often letters are looked for that other nodes stored or left.
	pollInterval = 2 * time.Second

	defaultDeadline = 20 * time.Second
	// storeTimeout bounds what follows a sending, also while the service stops.
	storeTimeout = 5 * time.Second
	// shutdownGrace is how long a letter under way may take when the service stops.
	shutdownGrace = 5 * time.Second

	minBackoff = 10 * time.Second
	maxBackoff = time.Hour
	maxAge     = 24 * time.Hour
)

// Config is what a Runner is made of.
type Config struct {
	Store  Store
	Sender Sender
	// BaseURL is where links lead to, without a trailing slash.
	BaseURL string
	// Deadline bounds one sending; 0 means 20 s.
	Deadline time.Duration
	// Now is the clock; nil means time.Now.
	Now    func() time.Time
	Logger *slog.Logger
	// Sent, Failed and GivenUp are told the kind of each letter; nil means that
	// nobody counts.
	OnSent, OnFailed, OnAbandoned func(registrar.MailKind)
	// RecordError is told which letter has to wait, and why; nil means that nobody asks.
	RecordError func(ctx context.Context, mail string, code registrar.Code)
}

// Runner sends what is due.
type Runner struct {
	cfg  Config
	loop *jobs.Loop[QueuedMail]
}

// New returns a Runner that does nothing until Run.
func New(cfg Config) (*Runner, error) {
	if cfg.Store == nil || cfg.Sender == nil {
		return nil, errors.New("letters: a store and a sender are needed")
	}
	if cfg.Deadline == 0 {
		cfg.Deadline = defaultDeadline
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	for _, hook := range []*func(registrar.MailKind){&cfg.OnSent, &cfg.OnFailed, &cfg.OnAbandoned} {
		if *hook == nil {
			*hook = func(registrar.MailKind) {}
		}
	}
	if cfg.RecordError == nil {
		cfg.RecordError = func(context.Context, string, registrar.Code) {}
	}
	r := &Runner{cfg: cfg}
	r.loop = &jobs.Loop[QueuedMail]{
		ListDue: func(ctx context.Context, limit int) ([]QueuedMail, error) {
			return r.cfg.Store.ListDueMails(ctx, r.cfg.Now(), limit)
		},
		Key:      func(mail QueuedMail) string { return mail.ID },
		Do:       r.deliver,
		OnError:  jobs.ErrorLogger(cfg.Logger, "mail"),
		Interval: pollInterval, BatchSize: batchSize, Concurrency: concurrency,
	}
	return r, nil
}

// Wake says that a letter was stored. It never waits.
func (r *Runner) Wake() { r.loop.Wake() }

// Run sends letters until ctx ends, and lets those under way finish.
func (r *Runner) Run(ctx context.Context) { r.loop.Run(ctx) }

// deliver claims one letter, sends it, and settles what becomes of it.
func (r *Runner) deliver(ctx context.Context, mail QueuedMail) {
	// The lease outlives everything below, so that nobody else sends meanwhile.
	lease := r.cfg.Now().Add(r.cfg.Deadline + 2*storeTimeout + time.Minute).Truncate(time.Microsecond)
	claimed, err := r.cfg.Store.ClaimMail(ctx, mail.ID, mail.DueAt, lease)
	if err != nil || !claimed {
		if err != nil && ctx.Err() == nil {
			r.cfg.Logger.ErrorContext(ctx, "a letter can't be claimed", "kind", string(mail.Kind), "error", err.Error())
		}
		return
	}
	mail.Attempts++
	sendErr := r.send(ctx, mail, lease)
	if errors.Is(sendErr, errWithdrawn) {
		return
	}
	resultCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
	defer cancel()
	if err := r.recordResult(resultCtx, mail, lease, sendErr); err != nil {
		r.cfg.Logger.ErrorContext(resultCtx, "what became of a letter can't be stored", "kind", string(mail.Kind), "error", err.Error())
	}
}

// errWithdrawn says that the letter is not to be sent any more.
var errWithdrawn = errors.New("the letter was withdrawn")

// send makes the link, stores its hash, and hands the letter over. When the
// service stops, it has a short time left: a letter that the mail server took
// and whose row stays would be sent again.
func (r *Runner) send(ctx context.Context, mail QueuedMail, lease time.Time) error {
	sendCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.cfg.Deadline)
	defer cancel()
	stopWatching := context.AfterFunc(ctx, func() {
		select {
		case <-time.After(shutdownGrace):
			cancel()
		case <-sendCtx.Done():
		}
	})
	defer stopWatching()

	message := Message{
		ID: fmt.Sprintf("%s.%d", mail.ID, mail.Attempts), Kind: mail.Kind, To: mail.To,
		Language: mail.Language, At: mail.CreatedAt, Data: mail.Data,
	}
	if link, has := linkSpecs[mail.Kind]; has {
		secret, hash := registrar.NewSecret(registrar.LinkSecret)
		message.Link = LinkURL(r.cfg.BaseURL, mail.Kind, secret)
		message.LinkExpiresAt = r.cfg.Now().Add(link.ttl)
		stored, err := r.cfg.Store.StoreLink(sendCtx, mail.ID, lease, Link{
			Hash: hash, Kind: mail.Kind, Customer: mail.Customer, Email: mail.To, ExpiresAt: message.LinkExpiresAt,
		})
		if err != nil {
			return &registrar.Error{Kind: registrar.KindInternal, Code: "link_not_stored", Err: err}
		}
		if !stored {
			return errWithdrawn
		}
	}
	return r.cfg.Sender.Send(sendCtx, message)
}

func (r *Runner) recordResult(ctx context.Context, mail QueuedMail, lease time.Time, sendErr error) error {
	if sendErr == nil {
		r.cfg.OnSent(mail.Kind)
		return r.cfg.Store.DeleteMail(ctx, mail.ID)
	}
	r.cfg.OnFailed(mail.Kind)
	log := r.cfg.Logger.With("kind", string(mail.Kind), "attempts", mail.Attempts,
		"reason", registrar.KindOf(sendErr).String(), "code", string(registrar.CodeOf(sendErr)), "cause", registrar.CauseOf(sendErr))
	now := r.cfg.Now()
	if registrar.CodeOf(sendErr) == Undeliverable || now.Sub(mail.CreatedAt) >= maxAge {
		r.cfg.OnAbandoned(mail.Kind)
		log.ErrorContext(ctx, "a letter was given up")
		return r.cfg.Store.DeleteMail(ctx, mail.ID)
	}
	r.cfg.RecordError(ctx, mail.ID, registrar.CodeOf(sendErr))
	delay := jobs.Backoff(mail.Attempts, minBackoff, maxBackoff)
	log.WarnContext(ctx, "a letter was not sent", "again_in", delay.String())
	return r.cfg.Store.PostponeMail(ctx, mail.ID, lease, now.Add(delay))
}
