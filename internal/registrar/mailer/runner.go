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
	// batchSize is how many mails are read at a time; they are claimed one by one.
	batchSize = 16
	// concurrency bounds the connections to the mail server.
	concurrency = 4
	// pollInterval is how often the loop looks for mails queued by other nodes.
	pollInterval = 2 * time.Second

	defaultDeadline = 20 * time.Second
	// storeTimeout bounds the write after sending, also during shutdown.
	storeTimeout = 5 * time.Second

	minBackoff = 10 * time.Second
	maxBackoff = time.Hour
	maxAge     = 24 * time.Hour
)

// Config configures a Runner. Store and Sender are required.
type Config struct {
	Store  Store
	Sender Sender
	// BaseURL is the base of links, without a trailing slash.
	BaseURL string
	// Deadline bounds sending one mail; 0 means 20 s.
	Deadline time.Duration
	// Now is the clock; nil means time.Now.
	Now    func() time.Time
	Logger *slog.Logger
	// OnSent, OnFailed and OnAbandoned count mails by kind; optional.
	OnSent, OnFailed, OnAbandoned func(registrar.MailKind)
	// RecordError stores why a mail was postponed; optional.
	RecordError func(ctx context.Context, mail string, code registrar.Code)
}

// Runner sends due mails.
type Runner struct {
	cfg  Config
	loop *jobs.Loop[QueuedMail]
}

// New returns a Runner that does nothing until Run.
func New(cfg Config) (*Runner, error) {
	if cfg.Store == nil || cfg.Sender == nil {
		return nil, errors.New("mailer: Config.Store and Sender are required")
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

// Wake makes Run look for queued mails. It never blocks.
func (r *Runner) Wake() { r.loop.Wake() }

// Run sends mails until ctx ends, and lets those in flight finish.
func (r *Runner) Run(ctx context.Context) { r.loop.Run(ctx) }

// deliver claims one mail, sends it and records the result.
func (r *Runner) deliver(ctx context.Context, mail QueuedMail) {
	lease := jobs.LeaseEnd(r.cfg.Now(), r.cfg.Deadline, storeTimeout)
	claimed, err := r.cfg.Store.ClaimMail(ctx, mail.ID, mail.DueAt, lease)
	if err != nil || !claimed {
		if err != nil && ctx.Err() == nil {
			r.cfg.Logger.ErrorContext(ctx, "mail not claimed", "kind", string(mail.Kind), "error", err.Error())
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
		r.cfg.Logger.ErrorContext(resultCtx, "mail result not stored", "kind", string(mail.Kind), "error", err.Error())
	}
}

// errWithdrawn means that the mail must not be sent any more.
var errWithdrawn = errors.New("mail withdrawn")

// send generates and stores the link and sends the mail. A mail that the server accepted
// but whose row stays is sent again.
func (r *Runner) send(ctx context.Context, mail QueuedMail, lease time.Time) error {
	sendCtx, cancel := jobs.CallContext(ctx, r.cfg.Deadline)
	defer cancel()
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
		log.ErrorContext(ctx, "mail abandoned")
		return r.cfg.Store.DeleteMail(ctx, mail.ID)
	}
	r.cfg.RecordError(ctx, mail.ID, registrar.CodeOf(sendErr))
	delay := jobs.Backoff(mail.Attempts, minBackoff, maxBackoff)
	log.WarnContext(ctx, "mail not sent, will retry", "retry_in", delay.String())
	return r.cfg.Store.PostponeMail(ctx, mail.ID, lease, now.Add(delay))
}
