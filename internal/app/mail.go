package app

import (
	"context"
	"log/slog"
	"strconv"
	"time"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/invoicepdf"
	"github.com/dotkontor/dotkontor/internal/jobs"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/invoice"
	"github.com/dotkontor/dotkontor/internal/registrar/mailer"
	"github.com/dotkontor/dotkontor/internal/upstream/smtp"
	"github.com/dotkontor/dotkontor/internal/web/legal"
)

// mailStore is the queue and the invoices that are attached.
type mailStore interface {
	mailer.Store
	GetInvoice(ctx context.Context, order string) (invoice.Document, bool, error)
}

// newMailer returns the worker that sends queued mails, nil without a mail server. Links
// in mails expire by real time, like sign-ins; now is the business time.
func newMailer(cfg config.Config, stored mailStore, logger *slog.Logger, now func() time.Time, hooks serviceHooks) (*jobs.Worker[mailer.QueuedMail], error) {
	if cfg.Mail.Server == "" {
		return nil, nil
	}
	options := MailOptions(cfg)
	options.Now = now
	sender, err := smtp.New(options)
	if err != nil {
		return nil, err
	}
	attach, err := newReceiptAttacher(cfg, stored)
	if err != nil {
		return nil, err
	}
	return mailer.New(mailer.Config{
		Store: stored, Sender: sender, BaseURL: cfg.BaseURL, Business: now, Logger: logger, OnAttempt: hooks.onMail, RecordError: hooks.recordMailError, Attach: attach,
	})
}

const (
	// invoiceWait is how long a receipt waits for its invoice, which is issued within
	// seconds unless something is wrong.
	invoiceWait = 10 * time.Minute

	invoicePending registrar.Code = "invoice_pending"
)

// newReceiptAttacher returns what attaches the invoice and the terms to receipts. A consumer's
// terms include the instructions on withdrawal, and so do those of a buyer that is not known.
func newReceiptAttacher(cfg config.Config, stored mailStore) (func(context.Context, mailer.QueuedMail) ([]mailer.Attachment, error), error) {
	if cfg.Company.Name == "" { // nothing is issued, and the terms name no seller
		return nil, nil
	}
	renderer, err := invoicepdf.New()
	if err != nil {
		return nil, err
	}
	own, err := ownTexts(cfg.Company)
	if err != nil {
		return nil, err
	}
	contractFile, err := legal.ContractFiles(own, particularsOf(cfg), cfg.BaseURL)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, mail mailer.QueuedMail) (files []mailer.Attachment, err error) {
		if mail.Kind != registrar.MailOrderPaid && mail.Kind != registrar.MailOrderCompleted {
			return nil, nil
		}
		if mail.Data["gross"] != registrar.Cents(0).String() {
			document, issued, err := stored.GetInvoice(ctx, mail.Data["order"])
			switch {
			case err != nil:
				return nil, err
			case issued:
				pdf, err := renderer.PDF(document)
				if err != nil {
					return nil, err
				}
				files = append(files, mailer.Attachment{Kind: mailer.InvoiceFile, Name: document.Number + ".pdf", Type: "application/pdf", Content: pdf})
			case time.Since(mail.CreatedAt) <= invoiceWait:
				return nil, &registrar.Error{Kind: registrar.KindUpstream, Code: invoicePending}
			} // otherwise the portal has it later
		}
		consumer := mail.Data["consumer"] != strconv.FormatBool(false)
		kind, file := mailer.TermsFile, contractFile(mail.Language, consumer)
		if consumer {
			kind = mailer.ConsumerTermsFile
		}
		return append(files, mailer.Attachment{Kind: kind, Name: file.Name, Type: "text/plain; charset=utf-8", Content: file.Content}), nil
	}, nil
}

// MailOptions returns the mail server settings of a configuration.
func MailOptions(cfg config.Config) smtp.Options {
	c := cfg.Company
	return smtp.Options{
		Server: cfg.Mail.Server, TLS: cfg.Mail.TLS, User: cfg.Mail.User, Password: string(cfg.Mail.Password),
		From: cfg.Sender(), ReplyTo: cfg.Company.Email, Portal: cfg.BaseURL + "/portal",
		Seller: smtp.Seller{
			Name: c.Name, Street: c.Street, PostalCode: c.PostalCode, City: c.City,
			Representative: c.Representative, Register: c.Register, VATID: c.VATID,
		},
	}
}

// countMails returns a hook that counts attempts and records whether they succeed.
func (p *App) countMails() func(registrar.MailKind, mailer.Outcome) {
	counter := newCounter(p.metrics, "dotkontor_mails_total",
		"Attempts to send a mail, by kind and outcome: sent, failed (retried unless also abandoned), abandoned.",
		newLabel("kind", smtp.MailKinds()...), newLabel("outcome", mailer.Sent, mailer.Failed, mailer.Abandoned))
	return func(kind registrar.MailKind, outcome mailer.Outcome) {
		p.mailHealth.record(outcome == mailer.Sent, "", p.now())
		counter.WithLabelValues(string(kind), string(outcome)).Inc()
	}
}
