package app

import (
	"context"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/jobs"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/mailer"
	"github.com/dotkontor/dotkontor/internal/upstream/smtp"
)

// mailQueue sends queued mails.
type mailQueue struct {
	runner *jobs.Worker[mailer.QueuedMail] // nil without a mail server
	health upstreamHealth
	// onOutcome and onError are set before run; they are nil in commands.
	onOutcome func(kind registrar.MailKind, outcome string)
	onError   func(ctx context.Context, mailID string, code registrar.Code)
}

// newMailQueue builds the mail queue. Links in mails expire by real time, like
// sign-ins.
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

// MailOptions returns the mail server settings of a configuration.
func MailOptions(cfg config.Config) smtp.Options {
	return smtp.Options{
		Server: cfg.Mail.Server, TLS: cfg.Mail.TLS, User: cfg.Mail.User, Password: string(cfg.Mail.Password),
		From: cfg.Sender(), Portal: cfg.BaseURL + "/portal",
	}
}

// wake triggers sending after a mail was stored.
func (p *mailQueue) wake() {
	if p.runner != nil {
		p.runner.Wake()
	}
}

// run sends mails until ctx ends.
func (p *mailQueue) run(ctx context.Context) {
	if p.runner != nil {
		p.runner.Run(ctx)
	}
}

// registerMetrics must be called before run.
func (p *mailQueue) registerMetrics(metrics *prometheus.Registry) error {
	counter := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "dotkontor_mails_total",
		Help: "Attempts to send a mail, by kind and outcome: sent, failed (retried unless also given_up), given_up.",
	}, []string{"kind", "outcome"})
	initCounters(counter, labelValues(smtp.MailKinds()...), []string{"sent", "failed", "given_up"})
	p.onOutcome = func(kind registrar.MailKind, outcome string) {
		p.health.record(outcome == "sent", "")
		counter.WithLabelValues(string(kind), outcome).Inc()
	}
	return metrics.Register(counter)
}
