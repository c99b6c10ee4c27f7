package app

import (
	"log/slog"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/jobs"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/mailer"
	"github.com/dotkontor/dotkontor/internal/upstream/smtp"
)

// newMailer returns the worker that sends queued mails, nil without a mail server. Links
// in mails expire by real time, like sign-ins.
func newMailer(cfg config.Config, stored mailer.Store, logger *slog.Logger, hooks serviceHooks) (*jobs.Worker[mailer.QueuedMail], error) {
	if cfg.Mail.Server == "" {
		return nil, nil
	}
	sender, err := smtp.New(MailOptions(cfg))
	if err != nil {
		return nil, err
	}
	return mailer.New(mailer.Config{
		Store: stored, Sender: sender, BaseURL: cfg.BaseURL, Logger: logger, OnAttempt: hooks.onMail, RecordError: hooks.recordMailError,
	})
}

// MailOptions returns the mail server settings of a configuration.
func MailOptions(cfg config.Config) smtp.Options {
	return smtp.Options{
		Server: cfg.Mail.Server, TLS: cfg.Mail.TLS, User: cfg.Mail.User, Password: string(cfg.Mail.Password),
		From: cfg.Sender(), Portal: cfg.BaseURL + "/portal",
	}
}

// countMails returns a hook that counts attempts and records whether they succeed.
func (p *App) countMails() func(registrar.MailKind, mailer.Outcome) {
	counter := newCounter(p.metrics, "dotkontor_mails_total",
		"Attempts to send a mail, by kind and outcome: sent, failed (retried unless also abandoned), abandoned.",
		newLabel("kind", smtp.MailKinds()...), newLabel("outcome", mailer.Sent, mailer.Failed, mailer.Abandoned))
	return func(kind registrar.MailKind, outcome mailer.Outcome) {
		p.mailHealth.record(outcome == mailer.Sent, "")
		counter.WithLabelValues(string(kind), string(outcome)).Inc()
	}
}
