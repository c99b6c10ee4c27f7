package admin

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/dotkontor/dotkontor/internal/cli"
	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/cost"
	"github.com/dotkontor/dotkontor/internal/registrar/inbox"
)

type registryFundsCommand struct {
	cli.ServiceFlags
	Account   string `arg:"" help:"Name of the registry account in the configuration."`
	Kind      string `arg:"" enum:"opening,deposit,statement" help:"opening: the balance when the books begin. deposit: what you paid in. statement: the balance that the registry states."`
	Amount    string `arg:"" help:"Amount, such as 500.00."`
	Currency  string `help:"Currency of the account. Default: that of the balance which the registry last reported, or EUR."`
	At        string `help:"When it was booked or stated, such as 2026-11-17T14:00:00Z. Default: now, or just after the balance that the registry last reported if that is later." placeholder:"TIME"`
	Reference string `help:"Reference, such as the number of the statement."`
}

func (c registryFundsCommand) Run(t *cli.Terminal) error {
	return c.WithSession(t, func(d cli.Session) error {
		if !slices.ContainsFunc(d.Config.EPP, func(account config.EPP) bool { return account.Name == c.Account }) {
			return fmt.Errorf("no registry account is named %s", cli.Printable(c.Account))
		}
		amount, err := registrar.ParseAmount(c.Amount)
		if err != nil {
			return cli.UsageError("the amount must be written like 500.00")
		}
		newest, _, err := d.Services.DB.NewestBalance(d.Ctx, c.Account)
		if err != nil {
			return err
		}
		now := time.Now().UTC().Truncate(time.Second)
		at, err := time.Parse(time.RFC3339, cmp.Or(c.At, bookingTime(now, newest).Format(time.RFC3339)))
		if err != nil {
			return cli.UsageError("--at must be written like 2026-11-17T14:00:00Z")
		}
		reported := reportedCurrency(newest)
		if reported != "" && c.Currency != "" && c.Currency != reported {
			return cli.UsageError(fmt.Sprintf("the registry reports the balance of %s in %s", cli.Printable(c.Account), reported))
		}
		entry := cost.Funds{
			Account: c.Account, Kind: cost.FundsKind(c.Kind), At: at, Reference: c.Reference,
			Amount: registrar.Money{Amount: amount, Currency: cmp.Or(c.Currency, reported, cost.Euro)},
		}
		if err := cost.AddFunds(d.Ctx, d.Services.DB, d.Operator, entry, now); err != nil {
			return err
		}
		return t.Println("stored: %s of %s for %s", entry.Kind, entry.Amount, cli.Printable(c.Account))
	})
}

// reportedCurrency returns the currency of the balance that a registry last reported; empty if it
// named none. An entry in another currency would not count.
func reportedCurrency(newest inbox.Stored) string {
	if newest.Details.Balance == nil {
		return ""
	}
	return newest.Details.Balance.Currency
}

// bookingTime returns when an entry without a time was booked: now, but after the balance that the
// registry last reported. That one is stored in business time, and the clock of a sandbox may be
// ahead of this command's; an earlier entry would count as part of that balance.
func bookingTime(now time.Time, newest inbox.Stored) time.Time {
	if reported := newest.ReportedAt(); !now.After(reported) {
		return reported.UTC().Truncate(time.Second).Add(time.Second)
	}
	return now
}

type registryRatesCommand struct {
	cli.ServiceFlags
	File string `arg:"" help:"The European Central Bank's eurofxref.csv or eurofxref-hist.csv, unzipped, or - for standard input."`
}

// Run stores all rates of the file, or none. Running nodes use them within a minute.
func (c registryRatesCommand) Run(t *cli.Terminal) error {
	in, err := t.Open(c.File)
	if err != nil {
		return err
	}
	defer in.Close()
	rates, err := cost.ParseRates(in, time.Now())
	if err != nil {
		return fmt.Errorf("nothing was changed: %w", err)
	}
	return c.WithSession(t, func(d cli.Session) error {
		newest := slices.MaxFunc(rates, func(a, b cost.Rate) int { return cmp.Compare(a.Day, b.Day) })
		if err := d.Services.DB.ImportExchangeRates(d.Ctx, rates, registrar.AuditEvent{
			Actor: d.Operator, Action: cost.RatesImported, Object: fmt.Sprintf("%d rates up to %s", len(rates), newest.Day), At: time.Now(),
		}); err != nil {
			return err
		}
		return t.Println("stored: %d rates up to %s", len(rates), newest.Day)
	})
}
