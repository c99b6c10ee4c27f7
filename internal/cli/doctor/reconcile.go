package doctor

import (
	"context"
	"fmt"
	"time"

	"github.com/dotkontor/dotkontor/internal/app"
	"github.com/dotkontor/dotkontor/internal/cli"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/billing"
	"github.com/dotkontor/dotkontor/internal/registrar/billing/reconcile"
)

// reconcileReport is what 'doctor --reconcile --json' prints.
type reconcileReport struct {
	OK bool `json:"ok"`
	reconcile.Report
	// EUConsumerSales is this year's amount; Warn means that it is near the One-Stop-Shop threshold.
	EUConsumerSales registrar.Cents `json:"euConsumerSalesEur"`
	Warn            bool            `json:"warn"`
}

func (c *Command) runReconcile(t *cli.Terminal) error {
	if c.Patience < 0 {
		return cli.UsageError("--patience must not be negative")
	}
	var report reconcileReport
	err := c.WithSession(t, func(d cli.Session) error {
		provider := app.NewStripe(d.Config.Stripe)
		var theirs reconcile.Provider // stays a nil interface if there is no provider
		if provider != nil {
			theirs = provider
		} else {
			t.Notice("no payment provider is configured; only the database is checked")
		}
		var err error
		if report.Report, err = reconcile.Run(t.Ctx, d.Services.DB, theirs, reconcile.Options{Now: time.Now(), GracePeriod: c.Patience}); err != nil {
			return err
		}
		report.OK = len(report.Findings) == 0
		report.EUConsumerSales, report.Warn, err = app.EUConsumerSales(t.Ctx, d.Config.VAT, d.Services.DB)
		return err
	})
	if context.Cause(t.Ctx) != nil {
		return cli.ExitCode(cli.ExitInterrupted)
	}
	if err != nil {
		return err
	}
	if c.JSON {
		if report.Findings == nil {
			report.Findings = []reconcile.Finding{}
		}
		if err := t.PrintJSON(report); err != nil {
			return err
		}
	} else {
		report.print(t)
	}
	if !report.OK {
		return cli.ExitCode(cli.ExitError)
	}
	return nil
}

func (r reconcileReport) print(t *cli.Terminal) {
	for _, finding := range r.Findings {
		fmt.Fprintf(t.Out, "%-4s  %-9s  %s: %s\n", cli.StatusFail, finding.Rule, finding.About, singleLine(finding.Text))
	}
	if r.Warn {
		fmt.Fprintf(t.Out, "%-4s  %-9s  sales to consumers in other EU countries are %s EUR this year; at %s EUR their countries' VAT is due: register for the One-Stop-Shop, then set vat.oss\n",
			cli.StatusWarn, "vat", r.EUConsumerSales, billing.Threshold)
	}
	verdict := "no differences"
	if !r.OK {
		verdict = fmt.Sprintf("%d findings", len(r.Findings))
	}
	fmt.Fprintf(t.Out, "%s: %d orders, %d invoices, %d provision items, %d automatic renewals, %d domains; %d charges of %s EUR, %d refunds of %s EUR", verdict,
		r.Orders, r.Documents, r.ProvisionItems, r.Renewals, r.Domains, r.Charges, r.Charged, r.Refunds, r.Refunded)
	if r.Disputes > 0 {
		fmt.Fprintf(t.Out, ", %d disputes: %s EUR open, %s EUR won, %s EUR lost", r.Disputes, r.Disputed, r.DisputesWon, r.DisputesLost)
	}
	if r.Fresh > 0 {
		fmt.Fprintf(t.Out, "; %d skipped because they changed recently", r.Fresh)
	}
	fmt.Fprintln(t.Out)
}
