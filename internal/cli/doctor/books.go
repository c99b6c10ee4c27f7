package doctor

import (
	"context"
	"fmt"

	"github.com/dotkontor/dotkontor/internal/cli"
	"github.com/dotkontor/dotkontor/internal/registrar/billing/reconcile"
)

// booksReport is what 'doctor --books --json' prints.
type booksReport struct {
	OK bool `json:"ok"`
	reconcile.BooksReport
}

func (c *Command) runBooks(t *cli.Terminal) error {
	var report booksReport
	err := c.WithSession(t, func(d cli.Session) (err error) {
		var accounts []string
		for _, account := range d.Config.EPP {
			accounts = append(accounts, account.Name)
		}
		report.BooksReport, err = reconcile.RunBooks(t.Ctx, d.Services.DB, accounts)
		report.OK = len(report.Findings) == 0
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

func (r booksReport) print(t *cli.Terminal) {
	for _, finding := range r.Findings {
		fmt.Fprintf(t.Out, "%-4s  %-9s  %s: %s\n", cli.StatusFail, finding.Rule, finding.About, singleLine(finding.Text))
	}
	for _, finding := range r.Unknown {
		fmt.Fprintf(t.Out, "%-4s  %-9s  %s: %s\n", cli.StatusWarn, finding.Rule, finding.About, singleLine(finding.Text))
	}
	if hidden := r.UnknownCharges - len(r.Unknown); hidden > 0 {
		fmt.Fprintf(t.Out, "%-4s  %-9s  and %d more\n", cli.StatusWarn, "unknown", hidden)
	}
	for _, balance := range r.Balances {
		stated := balance.Stated + " " + balance.Currency
		if balance.Stated == "" {
			stated = "nothing yet"
		}
		fmt.Fprintf(t.Out, "%-4s  %-9s  %s: the books say %s %s, the registry stated %s\n", cli.StatusOK, "account", balance.Account, balance.Expected, balance.Currency, stated)
	}
	verdict := "no differences"
	if !r.OK {
		verdict = fmt.Sprintf("%d findings", len(r.Findings))
	}
	fmt.Fprintf(t.Out, "%s: %d provision items, %d charges, %d of unknown amount; %d items ended before the first charge\n", verdict, r.Items, r.Charges, r.UnknownCharges, r.Before)
}
