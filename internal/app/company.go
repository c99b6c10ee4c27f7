package app

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"time"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar/inquiry"
	"github.com/dotkontor/dotkontor/internal/registrar/invoice"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/withdrawal"
	"github.com/dotkontor/dotkontor/internal/web"
	"github.com/dotkontor/dotkontor/internal/web/legal"
)

func (p *App) startInvoices() (err error) {
	issued := newCounter(p.metrics, "dotkontor_invoices_total",
		"Documents issued, by kind: invoice, correction.", newLabel("kind", invoice.Invoice, invoice.Correction))
	newBacklogGauge(p.metrics, "dotkontor_invoices_waiting",
		"Invoices and corrections due but not issued yet, at most 100 counted; -1 if the database does not respond.",
		func(ctx context.Context) (int, error) {
			due, err := p.services.DB.ListPendingDocuments(ctx, "", 100)
			return len(due), err
		})
	p.invoices, err = invoice.New(invoice.Config{
		Store: p.services.DB, Seller: sellerOf(p.cfg.Company),
		Numbering: invoice.Numbering{Invoices: p.cfg.Company.InvoicePrefix, Corrections: p.cfg.Company.CorrectionPrefix},
		Now:       p.now, Logger: p.logger,
		OnIssued: func(kind invoice.Kind) { issued.WithLabelValues(string(kind)).Inc() },
	})
	p.inBackground(p.invoices.Run)
	return err
}

func sellerOf(c config.Company) invoice.Seller {
	return invoice.Seller{
		Name: c.Name, Street: c.Street, PostalCode: c.PostalCode, City: c.City, Country: "DE", Register: c.Register,
		VATID: c.VATID, TaxNumber: c.TaxNumber, Email: c.Email, Phone: c.Phone,
	}
}

// Limits of declarations per network address and per confirmed email address: enough
// for an office, too few to flood a mailbox.
const (
	noticesPerHour    = 5
	noticesPer10Hours = 15
)

// Limits of messages from the contact form: of a neighbourhood of networks and of all together
// without signing in. Each may send the operator a mail; using up the total takes 25
// neighbourhoods.
const (
	neighborsPerHour    = 20
	neighborsPer10Hours = 60
	inquiriesPerHour    = 500
	inquiriesPer10Hours = 2000
)

// openNotices builds the services that accept withdrawals, terminations and messages, and the
// sums of invoices. Operators need them, even if nothing is for sale.
func (p *App) openNotices(context.Context) error {
	limit, err := p.newTextLimiter("notices", noticesPerHour, noticesPer10Hours)
	if err != nil {
		return err
	}
	p.notices, err = withdrawal.New(withdrawal.Config{
		Store: p.services.DB, OperatorEmail: p.cfg.Company.Email, RateLimit: limit, MailQueued: p.services.mail.Wake, PeriodEnded: order.PeriodEnded, Now: p.now,
		Seal: p.services.keys.Seal(),
	})
	if err != nil {
		return err
	}
	if err := p.openContact(); err != nil {
		return err
	}
	p.revenue, err = invoice.NewRevenue(p.services.DB, p.now)
	return err
}

func (p *App) openContact() error {
	limit, err := p.newTextLimiter("inquiries", noticesPerHour, noticesPer10Hours)
	if err != nil {
		return err
	}
	neighbors, err := p.newTextLimiter("inquiries of a network", neighborsPerHour, neighborsPer10Hours)
	if err != nil {
		return err
	}
	total, err := p.newTextLimiter("all inquiries", inquiriesPerHour, inquiriesPer10Hours)
	if err != nil {
		return err
	}
	p.contact, err = inquiry.New(inquiry.Config{
		Store: p.services.DB, OperatorEmail: p.cfg.Company.Email, RateLimit: limit, NeighbourhoodLimit: neighbors,
		TotalLimit: func() time.Duration { return total("all") }, MailQueued: p.services.mail.Wake, Now: p.now, Logger: p.logger,
	})
	if err != nil {
		return err
	}
	p.inBackground(p.contact.Run)
	return nil
}

// addLegalPages adds the legally required pages and the declaration forms.
func (p *App) addLegalPages(ctx context.Context, webConfig *web.Config) error {
	if p.cfg.Company.Name == "" {
		p.logger.WarnContext(ctx, "the legal notice is incomplete: no company is configured (company.name)")
	}
	own, err := ownTexts(p.cfg.Company)
	webConfig.Legal = legal.Config{Notices: p.notices, Inquiries: p.contact, Operator: particularsOf(p.cfg), Texts: own}
	return err
}

// ownTexts returns the folder of the operator's own texts; nil if there is none.
func ownTexts(c config.Company) (fs.FS, error) {
	if c.Texts == "" {
		return nil, nil
	}
	if _, err := os.Stat(c.Texts); err != nil {
		return nil, fmt.Errorf("company.texts: %w", err)
	}
	return os.DirFS(c.Texts), nil
}

func particularsOf(cfg config.Config) legal.OperatorInfo {
	c := cfg.Company
	return legal.OperatorInfo{
		Company: c.Name, Street: c.Street, PostalCode: c.PostalCode, City: c.City, Email: c.Email, Phone: c.Phone,
		Representative: c.Representative, Responsible: c.Responsible, Register: c.Register, VATID: c.VATID,
		VerifyOver: strconv.Itoa(cfg.Orders.VerifyOverEUR) + "\u00a0EUR",
	}
}
