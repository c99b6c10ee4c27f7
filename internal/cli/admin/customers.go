package admin

import (
	"fmt"
	"time"

	"github.com/dotkontor/dotkontor/internal/cli"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/mailer"
)

type CustomersCommand struct {
	Add           customersAddCommand     `cmd:"" help:"Make an account, and print a link by which its owner chooses a password."`
	List          customersListCommand    `cmd:"" help:"Show all accounts, the oldest first."`
	Disable       customersDisableCommand `cmd:"" help:"Close an account: sessions end, tokens are refused. Nothing is deleted."`
	Enable        customersEnableCommand  `cmd:"" help:"Open a closed account again."`
	ResetPassword customersResetCommand   `cmd:"" help:"Print a link by which the owner chooses another password. The old one works until then."`
}

type customersAddCommand struct {
	cli.ServiceFlags
	Email    string `arg:"" help:"The customer's e-mail address. You vouch for it: no confirmation is sent."`
	Language string `default:"de" enum:"de,en" help:"The language of pages and mails: de or en."`
}

// Run makes the account.
func (c customersAddCommand) Run(t *cli.Terminal) error {
	return c.WithSession(t, func(d cli.Session) error {
		account, link, err := d.Services.Customers.Add(d.Ctx, d.Operator, c.Email, c.Language)
		if err != nil {
			return err
		}
		return printLink(d, "Konto angelegt", "account made", account, link)
	})
}

type customersResetCommand struct {
	cli.ServiceFlags
	Email string `arg:"" help:"The customer's e-mail address."`
}

// Run makes the link.
func (c customersResetCommand) Run(t *cli.Terminal) error {
	return c.WithSession(t, func(d cli.Session) error {
		account, err := d.FindCustomer(c.Email)
		if err != nil {
			return err
		}
		link, err := d.Services.Customers.CreateResetLink(d.Ctx, d.Operator, account.ID)
		if err != nil {
			return err
		}
		return printLink(d, "Link gemacht", "link made", account, link)
	})
}

// printLink prints a link to hand on. Whoever has it chooses the password, so it
// stands alone on its line and nowhere else.
func printLink(d cli.Session, german, english string, account account.Customer, link string) error {
	address := mailer.LinkURL(d.Config.BaseURL, registrar.MailPasswordReset, link)
	_, err := fmt.Fprintf(d.Out, "%s / %s: %s (%s)\n"+
		"Bitte sicher übergeben; der Link gilt 24 Stunden und nur einmal:\n"+
		"Please hand it over safely; the link works for 24 hours and once only:\n\n%s\n", german, english, account.Email, account.ID, address)
	return err
}

type customersDisableCommand struct {
	cli.ServiceFlags
	Email string `arg:"" help:"The customer's e-mail address."`
}

// Run closes the account.
func (c customersDisableCommand) Run(t *cli.Terminal) error {
	return c.WithSession(t, func(d cli.Session) error {
		account, err := d.FindCustomer(c.Email)
		if err != nil {
			return err
		}
		if err := d.Services.Customers.Disable(d.Ctx, d.Operator, account.ID); err != nil {
			return err
		}
		return d.PrintBilingual("gesperrt: "+account.Email, "disabled")
	})
}

type customersEnableCommand struct {
	cli.ServiceFlags
	Email string `arg:"" help:"The customer's e-mail address."`
}

// Run opens the account.
func (c customersEnableCommand) Run(t *cli.Terminal) error {
	return c.WithSession(t, func(d cli.Session) error {
		account, err := d.FindCustomer(c.Email)
		if err != nil {
			return err
		}
		if err := d.Services.Customers.Enable(d.Ctx, d.Operator, account.ID); err != nil {
			return err
		}
		return d.PrintBilingual("freigegeben: "+account.Email, "enabled")
	})
}

type customersListCommand struct {
	cli.ServiceFlags
	JSON bool `name:"json" help:"Print one JSON array."`
}

// Run prints page by page, so that a million accounts need no memory.
func (c customersListCommand) Run(t *cli.Terminal) error {
	return c.WithSession(t, func(d cli.Session) error {
		list := newRowPrinter(d.Out, c.JSON, fmt.Sprintf("%-30s  %-12s  %-7s  %-16s  %s", "ID", "Status", "Sprache", "seit/since (UTC)", "E-Mail"))
		last := ""
		for {
			page, err := d.Services.Customers.List(d.Ctx, d.Operator, last, listPageSize)
			if err != nil {
				return err
			}
			for _, account := range page {
				last = account.ID
				if err := list.add(newCustomerRow(account)); err != nil {
					return err
				}
			}
			if len(page) < listPageSize {
				return list.end()
			}
		}
	})
}

// customerRow is one account in a list.
type customerRow struct {
	ID          string     `json:"id"`
	Email       string     `json:"email"`
	Status      string     `json:"status"`
	Language    string     `json:"language"`
	CreatedAt   *time.Time `json:"created_at"`
	ConfirmedAt *time.Time `json:"confirmed_at"`
	DisabledAt  *time.Time `json:"disabled_at"`

	since time.Time
}

func newCustomerRow(account account.Customer) customerRow {
	row := customerRow{
		ID: account.ID, Email: account.Email, Status: "active", Language: account.Language, since: account.CreatedAt,
		CreatedAt: jsonTime(account.CreatedAt), ConfirmedAt: jsonTime(account.ConfirmedAt), DisabledAt: jsonTime(account.DisabledAt),
	}
	switch {
	case !account.DisabledAt.IsZero():
		row.Status = "disabled"
	case account.ConfirmedAt.IsZero():
		row.Status = "unconfirmed"
	}
	return row
}

func (r customerRow) String() string {
	labels := map[string]string{"active": "aktiv", "disabled": "gesperrt", "unconfirmed": "unbestätigt"}
	return fmt.Sprintf("%-30s  %s  %-7s  %-16s  %s", r.ID, cli.Pad(labels[r.Status], 12, false), r.Language, formatTime(r.since), cli.Printable(r.Email))
}
