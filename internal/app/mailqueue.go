package app

import (
	"context"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/mailer"
	"github.com/dotkontor/dotkontor/internal/upstream/smtp"
)

// mailQueue is the way of letters out of the house.
type mailQueue struct {
	runner *mailer.Runner // nil where no mail server is set
	// health is how the mail server did lately.
	health upstreamHealth
	// onOutcome is told what became of each letter; nil means that nobody counts.
	onOutcome func(kind registrar.MailKind, outcome string)
	// onError is told which letter has to wait, and why; nil means that nobody asks.
	onError func(ctx context.Context, letter string, code registrar.Code)
}

// newMailQueue builds what sends letters. Links in them count by the true time, as
// sign-ins do, whatever time a sandbox plays.
func newMailQueue(cfg config.Config, stored mailer.Store, logger *slog.Logger) (*mailQueue, error) {
	p := &mailQueue{}
	if cfg.Mail.Server == "" {
		return p, nil
	}
	sender, err := smtp.New(MailOptions(cfg))
	if err != nil {
		return nil, err
	}
	count := func(outcome string) func(registrar.MailKind) {
		return func(kind registrar.MailKind) {
			if p.onOutcome != nil {
				p.onOutcome(kind, outcome)
			}
		}
	}
	p.runner, err = mailer.New(mailer.Config{
		Store: stored, Sender: sender, BaseURL: cfg.BaseURL, Logger: logger,
		RecordError: func(ctx context.Context, mailID string, code registrar.Code) {
			if p.onError != nil {
				p.onError(ctx, mailID, code)
			}
		},
		OnSent: count("sent"), OnFailed: count("failed"), OnAbandoned: count("given_up"),
	})
	return p, err
}

// MailOptions says how the mail server of a configuration is reached.
func MailOptions(cfg config.Config) smtp.Options {
	return smtp.Options{
		Server: cfg.Mail.Server, TLS: cfg.Mail.TLS, User: cfg.Mail.User, Password: string(cfg.Mail.Password),
		From: cfg.Sender(), Portal: cfg.BaseURL + "/portal",
	}
}

// wake says that a letter was stored.
func (p *mailQueue) wake() {
	if p.runner != nil {
		p.runner.Wake()
	}
}

// run sends letters until ctx ends.
func (p *mailQueue) run(ctx context.Context) {
	if p.runner != nil {
		p.runner.Run(ctx)
	}
}

// registerMetrics registers the figures. It is called before run.
func (p *mailQueue) registerMetrics(metrics *prometheus.Registry) error {
	counter := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "dotkontor_mails_total",
		Help: "Attempts to send a letter, by its kind and what became of it: sent, failed (and tried again, unless given up too), given_up.",
	}, []string{"kind", "outcome"})
	initCounters(counter, labelValues(smtp.MailKinds()...), []string{"sent", "failed", "given_up"})
	p.onOutcome = func(kind registrar.MailKind, outcome string) {
		p.health.record(outcome == "sent", "")
		counter.WithLabelValues(string(kind), outcome).Inc()
	}
	return metrics.Register(counter)
}
