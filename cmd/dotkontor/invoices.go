package main

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/paper"
	"github.com/dotkontor/dotkontor/internal/registrar/invoice"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/web"
)

// issueInvoices issues what is owed for as long as the product runs.
func (p *product) issueInvoices(ctx context.Context, now func() time.Time) error {
	issued := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "dotkontor_invoices_total", Help: "Documents that were issued, by kind: invoice, correction.",
	}, []string{"kind"})
	owed := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "dotkontor_invoices_waiting",
		Help: "Invoices and corrections that are owed and not issued yet, 100 meaning that or more; -1 if the database does not answer.",
	}, func() float64 {
		const within, most = 2 * time.Second, 100
		asking, cancel := context.WithTimeout(context.WithoutCancel(ctx), within)
		defer cancel()
		due, err := p.people.db.DueDocuments(asking, "", most)
		if err != nil {
			return -1
		}
		return float64(len(due))
	})
	startAtZero(issued, values(invoice.Invoice, invoice.Correction))
	for _, collector := range []prometheus.Collector{issued, owed} {
		if err := p.metrics.Register(collector); err != nil {
			return err
		}
	}
	invoices, err := invoice.New(invoice.Config{
		Store: p.people.db, Seller: sellerOf(p.cfg.Company),
		Numbering: invoice.Numbering{Invoices: p.cfg.Company.InvoicePrefix, Corrections: p.cfg.Company.CorrectionPrefix},
		Now:       now, Logger: p.logger,
		Issued: func(kind invoice.Kind) { issued.WithLabelValues(string(kind)).Inc() },
	})
	if err != nil {
		return err
	}
	p.invoices = invoices
	p.background = append(p.background, invoices.Run)
	return nil
}

// sellerOf is who sells, from the settings.
func sellerOf(c config.Company) invoice.Seller {
	return invoice.Seller{
		Name: c.Name, Street: c.Street, PostalCode: c.PostalCode, City: c.City, Country: "DE", Register: c.Register,
		VATID: c.VATID, TaxNumber: c.TaxNumber, Email: c.Email, Phone: c.Phone,
	}
}

// wakeInvoices has documents issued as soon as they are owed.
func wakeInvoices(settings *order.Config, invoices *invoice.Service) {
	if invoices == nil {
		return
	}
	reached, refunded := settings.Reached, settings.Refunded
	settings.Reached = func(state order.State) {
		if reached != nil {
			reached(state)
		}
		if state == order.Provisioning {
			invoices.Wake()
		}
	}
	settings.Refunded = func(reason string) {
		if refunded != nil {
			refunded(reason)
		}
		invoices.Wake()
	}
}

// showInvoices lets customers have theirs.
func (p *product) showInvoices(front *web.Config) error {
	press, err := paper.New()
	if err != nil {
		return err
	}
	front.Checkout.Invoices, front.Checkout.Papers = p.invoices, press
	return nil
}
