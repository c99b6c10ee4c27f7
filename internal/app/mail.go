package app

import (
	"context"
	"log/slog"
	"time"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/invoicepdf"
	"github.com/dotkontor/dotkontor/internal/jobs"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/invoice"
	"github.com/dotkontor/dotkontor/internal/registrar/mailer"
	"github.com/dotkontor/dotkontor/internal/upstream/smtp"
)

// mailStore is the queue and the invoices that are attached.
type mailStore interface {
	mailer.Store
	GetInvoice(ctx context.Context, order string) (invoice.Document, bool, error)
}

// newMailer returns the worker that sends queued mails, nil without a mail server. Links
// in mails expire by real time, like sign-ins.
func newMailer(cfg config.Config, stored mailStore, logger *slog.Logger, hooks serviceHooks) (*jobs.Worker[mailer.QueuedMail], error) {
	if cfg.Mail.Server == "" {
		return nil, nil
	}
	sender, err := smtp.New(MailOptions(cfg))
	if err != nil {
		return nil, err
	}
	attach, err := newInvoiceAttacher(cfg, stored)
	if err != nil {
		return nil, err
	}
	return mailer.New(mailer.Config{
		Store: stored, Sender: sender, BaseURL: cfg.BaseURL, Logger: logger, OnAttempt: hooks.onMail, RecordError: hooks.recordMailError, Attach: attach,
	})
}

const (
	// invoiceWait is how long a receipt waits for its invoice, which is issued within
	// seconds unless something is wrong.
	invoiceWait = 10 * time.Minute

	invoicePending registrar.Code = "invoice_pending"
)

// newInvoiceAttacher returns what attaches invoices to receipts.
func newInvoiceAttacher(cfg config.Config, stored mailStore) (func(context.Context, mailer.QueuedMail) ([]mailer.Attachment, error), error) {
	renderer, err := invoicepdf.New()
	if err != nil || cfg.Company.Name == "" { // nothing is issued
		return nil, err
	}
	return func(ctx context.Context, mail mailer.QueuedMail) ([]mailer.Attachment, error) {
		receipt := mail.Kind == registrar.MailOrderPaid || mail.Kind == registrar.MailOrderCompleted
		if gross := mail.Data["gross"]; !receipt || gross == registrar.Cents(0).String() {
			return nil, nil
		}
		document, issued, err := stored.GetInvoice(ctx, mail.Data["order"])
		if err != nil {
			return nil, err
		}
		if !issued {
			if time.Since(mail.CreatedAt) > invoiceWait {
				return nil, nil // the portal has it later
			}
			return nil, &registrar.Error{Kind: registrar.KindUpstream, Code: invoicePending}
		}
		pdf, err := renderer.PDF(document)
		if err != nil {
			return nil, err
		}
		return []mailer.Attachment{{Name: document.Number + ".pdf", Type: "application/pdf", Content: pdf}}, nil
	}, nil
}

// MailOptions returns the mail server settings of a configuration.
func MailOptions(cfg config.Config) smtp.Options {
	return smtp.Options{
		Server: cfg.Mail.Server, TLS: cfg.Mail.TLS, User: cfg.Mail.User, Password: string(cfg.Mail.Password),
		From: cfg.Sender(), ReplyTo: cfg.Company.Email, Portal: cfg.BaseURL + "/portal",
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
