package app

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/invoicepdf"
	"github.com/dotkontor/dotkontor/internal/registrar/invoice"
	"github.com/dotkontor/dotkontor/internal/web"
)

// startInvoices starts the issuing of invoices and corrections.
func (p *App) startInvoices(ctx context.Context) error {
	issued := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "dotkontor_invoices_total", Help: "Documents issued, by kind: invoice, correction.",
	}, []string{"kind"})
	owed := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "dotkontor_invoices_waiting",
		Help: "Invoices and corrections due but not issued yet, at most 100 counted; -1 if the database does not respond.",
	}, func() float64 {
		const within, most = 2 * time.Second, 100
		queryCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), within)
		defer cancel()
		due, err := p.services.DB.ListPendingDocuments(queryCtx, "", most)
		if err != nil {
			return -1
		}
		return float64(len(due))
	})
	initCounters(issued, labelValues(invoice.Invoice, invoice.Correction))
	for _, collector := range []prometheus.Collector{issued, owed} {
		if err := p.metrics.Register(collector); err != nil {
			return err
		}
	}
	invoices, err := invoice.New(invoice.Config{
		Store: p.services.DB, Seller: sellerOf(p.cfg.Company),
		Numbering: invoice.Numbering{Invoices: p.cfg.Company.InvoicePrefix, Corrections: p.cfg.Company.CorrectionPrefix},
		Now:       p.now, Logger: p.logger,
		OnIssued: func(kind invoice.Kind) { issued.WithLabelValues(string(kind)).Inc() },
	})
	if err != nil {
		return err
	}
	p.invoices = invoices
	p.background = append(p.background, invoices.Run)
	return nil
}

func sellerOf(c config.Company) invoice.Seller {
	return invoice.Seller{
		Name: c.Name, Street: c.Street, PostalCode: c.PostalCode, City: c.City, Country: "DE", Register: c.Register,
		VATID: c.VATID, TaxNumber: c.TaxNumber, Email: c.Email, Phone: c.Phone,
	}
}

// addInvoicePages adds the invoice downloads.
func (p *App) addInvoicePages(webConfig *web.Config) error {
	renderer, err := invoicepdf.New()
	if err != nil {
		return err
	}
	webConfig.Checkout.Invoices, webConfig.Checkout.InvoiceRenderer = p.invoices, renderer
	return nil
}
