package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/billing"
	"github.com/dotkontor/dotkontor/internal/registrar/billing/books"
)

// booksReport is what 'doctor --books --json' prints.
type booksReport struct {
	OK bool `json:"ok"`
	books.Report
	// EUConsumerSales are the year's; Warn says that the One-Stop-Shop comes near.
	EUConsumerSales registrar.Cents `json:"euConsumerSalesEur"`
	Warn            bool            `json:"warn"`
}

// runBooks compares the service's database with the payment provider.
func (c *doctorCommand) runBooks(t *terminal) error {
	if c.Patience < 0 {
		return usageError("--patience is not a span of time like 10m")
	}
	var report booksReport
	err := c.operate(t, func(d desk) error {
		provider, err := newStripe(d.cfg.Stripe, slog.New(slog.DiscardHandler), nil, nil)
		if err != nil {
			return err
		}
		var theirs books.Provider // no provider must be none, and not a nil one
		if provider != nil {
			theirs = provider
		} else {
			t.note("kein Zahlungsdienst eingestellt; nur die eigene Seite wird verglichen", "no payment provider is set; only our own side is compared")
		}
		if report.Report, err = books.Audit(t.ctx, d.people.db, theirs, books.Options{Now: time.Now(), Patience: c.Patience}); err != nil {
			return err
		}
		report.OK = len(report.Findings) == 0
		tax, err := newVAT(vatParts{cfg: d.cfg.VAT, db: d.people.db, now: time.Now, logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			return err
		}
		defer tax.vies.Close()
		report.EUConsumerSales, report.Warn, err = tax.watch.Sold(t.ctx)
		return err
	})
	if context.Cause(t.ctx) != nil {
		return exitCode(exitInterrupted)
	}
	if err != nil {
		return err
	}
	if c.JSON {
		if report.Findings == nil {
			report.Findings = []books.Finding{}
		}
		encoder := json.NewEncoder(t.out)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		if err := encoder.Encode(report); err != nil {
			return err
		}
	} else {
		report.print(t)
	}
	if !report.OK {
		return exitCode(exitError)
	}
	return nil
}

func (r booksReport) print(t *terminal) {
	for _, finding := range r.Findings {
		fmt.Fprintf(t.out, "%-4s  %-9s  %s: %s\n", statusFail, finding.Rule, finding.About, tidy(finding.Text))
	}
	if r.Warn {
		fmt.Fprintf(t.out, "%-4s  %-9s  sales to consumers in other EU countries are %s EUR this year; at %s EUR their countries' VAT is due: register for the One-Stop-Shop, then set vat.oss\n",
			statusWarn, "vat", r.EUConsumerSales, billing.Threshold)
	}
	verdict := "the books agree"
	if !r.OK {
		verdict = fmt.Sprintf("%d findings", len(r.Findings))
	}
	fmt.Fprintf(t.out, "%s: %d orders, %d invoices, %d lines, %d domains; %d charges of %s EUR, %d refunds of %s EUR", verdict,
		r.Orders, r.Documents, r.Lines, r.Domains, r.Charges, r.Charged, r.Returns, r.GivenBack)
	if r.Fresh > 0 {
		fmt.Fprintf(t.out, "; %d not judged, because they have just changed", r.Fresh)
	}
	fmt.Fprintln(t.out)
}
