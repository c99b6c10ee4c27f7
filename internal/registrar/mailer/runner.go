package mailer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/jobs"
	"github.com/dotkontor/dotkontor/internal/registrar"
)

const (
	concurrency     = 4 // connections to the mail server
	pollInterval    = 2 * time.Second
	defaultDeadline = 20 * time.Second

	minBackoff = 10 * time.Second
	maxBackoff = time.Hour
	maxAge     = 24 * time.Hour
)

// Outcome is the result of an attempt to send a mail.
type Outcome string

// Outcomes of attempts.
const (
	Sent      Outcome = "sent"
	Failed    Outcome = "failed" // retried, unless abandoned too
	Abandoned Outcome = "abandoned"
)

// Config configures the worker. Store and Sender are required.
type Config struct {
	Store    Store
	Sender   Sender
	BaseURL  string           // the base of links, without a trailing slash
	Deadline time.Duration    // of sending one mail; 0 means 20 s
	Now      func() time.Time // the clock; nil means time.Now
	// Business is the business time, at which kept mails are listed; nil means Now.
	Business    func() time.Time
	Logger      *slog.Logger
	OnAttempt   func(registrar.MailKind, Outcome)                           // called with the outcome of each attempt; optional
	RecordError func(ctx context.Context, mail string, code registrar.Code) // why a mail was postponed; optional
	// Attach returns the files of a mail, or an error if they are not ready; optional.
	Attach func(ctx context.Context, mail QueuedMail) ([]Attachment, error)
}

// runner sends due mails.
type runner struct {
	cfg    Config
	worker *jobs.Worker[QueuedMail]
}

// New returns the worker that sends queued mails.
func New(cfg Config) (*jobs.Worker[QueuedMail], error) {
	if cfg.Store == nil || cfg.Sender == nil {
		return nil, errors.New("mailer: Config.Store and Sender are required")
	}
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	registrar.Default(&cfg.Now, time.Now)
	registrar.Default(&cfg.Business, cfg.Now)
	registrar.Default(&cfg.Attach, func(context.Context, QueuedMail) ([]Attachment, error) { return nil, nil })
	registrar.Default(&cfg.OnAttempt, func(registrar.MailKind, Outcome) {})
	r := &runner{cfg: cfg}
	r.worker = &jobs.Worker[QueuedMail]{
		Name: "mail", Logger: cfg.Logger, Clock: cfg.Now, ClaimDue: cfg.Store.ClaimDueMails,
		Key: func(mail QueuedMail) string { return mail.ID }, Attempts: func(mail QueuedMail) int { return mail.Attempts },
		Handle: r.deliver, Postpone: r.postpone, RecordError: cfg.RecordError,
		OnRetry: func(ctx context.Context, log *slog.Logger, mail QueuedMail, _ error) {
			log.WarnContext(ctx, "mail not sent, will retry", "kind", string(mail.Kind))
		},
		Deadline: cmp.Or(cfg.Deadline, defaultDeadline), MinBackoff: minBackoff, MaxBackoff: maxBackoff,
		Interval: pollInterval, Concurrency: concurrency,
	}
	return r.worker, nil
}

// deliver sends one mail and deletes it, unless it is to be sent again.
func (r *runner) deliver(ctx context.Context, mail QueuedMail) (QueuedMail, error) {
	delivery, err := r.send(ctx, mail)
	switch {
	case err == nil:
		r.cfg.OnAttempt(mail.Kind, Sent)
	case errors.Is(err, errWithdrawn):
		return mail, nil
	default:
		if !errors.As(err, new(notReady)) {
			r.cfg.OnAttempt(mail.Kind, Failed)
		}
		if registrar.CodeOf(err) != Undeliverable && r.cfg.Now().Sub(mail.CreatedAt) < maxAge {
			return mail, err
		}
		r.cfg.OnAttempt(mail.Kind, Abandoned)
		r.cfg.Logger.ErrorContext(ctx, "mail abandoned", "kind", string(mail.Kind), "attempts", mail.Attempts, registrar.LogFailure(err))
	}
	storeCtx, cancel := r.worker.StoreContext(ctx)
	defer cancel()
	var evidence *Evidence
	if mail.Kind.IsNotice() {
		now := r.cfg.Business()
		kept := mail
		kept.CreatedAt = now.Add(-r.cfg.Now().Sub(mail.CreatedAt)) // how long it took is measured by the clock
		evidence = &Evidence{Mail: kept, Delivery: delivery, At: now, Accepted: err == nil}
	}
	r.logNotStored(ctx, mail, r.cfg.Store.DeleteMail(storeCtx, mail.ID, evidence))
	return mail, nil
}

// notReady means that the mail was not sent because what it needs is not there yet.
type notReady struct{ error }

func (e notReady) Unwrap() error { return e.error }

// errWithdrawn means that the mail must not be sent any more.
var errWithdrawn = errors.New("mail withdrawn")

// send generates and stores the link and sends the mail. A mail that the server accepted
// but whose row stays is sent again.
func (r *runner) send(ctx context.Context, mail QueuedMail) (Delivery, error) {
	sendCtx, cancel := r.worker.CallContext(ctx)
	defer cancel()
	message := Message{
		ID: fmt.Sprintf("%s.%d", mail.ID, mail.Attempts), Kind: mail.Kind, To: mail.To,
		Language: mail.Language, At: mail.CreatedAt, Data: mail.Data, NoPassword: mail.NoPassword,
	}
	var err error
	if message.Attachments, err = r.cfg.Attach(sendCtx, mail); err != nil {
		return Delivery{}, notReady{err}
	}
	if link, has := linkSpecs[mail.Kind]; has {
		secret, hash := registrar.NewSecret(registrar.LinkSecret)
		message.Link = LinkURL(r.cfg.BaseURL, mail.Kind, secret)
		if next := mail.Data[registrar.MailNext]; next != "" {
			message.Link += "&next=" + url.QueryEscape(next)
		}
		message.LinkExpiresAt = r.cfg.Now().Add(link.ttl)
		stored, err := r.cfg.Store.StoreLink(sendCtx, mail.ID, mail.DueAt, Link{
			Hash: hash, Kind: mail.Kind, Customer: mail.Customer, Email: mail.To, ExpiresAt: message.LinkExpiresAt,
		})
		if err != nil {
			return Delivery{}, &registrar.Error{Kind: registrar.KindInternal, Code: "link_not_stored", Err: err}
		}
		if !stored {
			return Delivery{}, errWithdrawn
		}
	}
	delivery, err := r.cfg.Sender.Send(sendCtx, message)
	if message.Link != "" { // evidence contains no secret
		delivery.Text = strings.ReplaceAll(delivery.Text, message.Link, LinkURL(r.cfg.BaseURL, mail.Kind, "…"))
	}
	return delivery, err
}

func (r *runner) postpone(ctx context.Context, mail QueuedMail, due time.Time) {
	r.logNotStored(ctx, mail, r.cfg.Store.PostponeMail(ctx, mail.ID, mail.DueAt, due))
}

func (r *runner) logNotStored(ctx context.Context, mail QueuedMail, err error) {
	if err != nil {
		r.cfg.Logger.ErrorContext(ctx, "mail result not stored", "kind", string(mail.Kind), "error", err.Error())
	}
}
