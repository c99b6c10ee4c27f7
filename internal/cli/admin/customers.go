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
	Add           customersAddCommand     `cmd:"" help:"Create an account and print a link to set its password."`
	List          customersListCommand    `cmd:"" help:"List all accounts, oldest first."`
	Disable       customersDisableCommand `cmd:"" help:"Disable an account: its sessions end and its tokens are rejected. Nothing is deleted."`
	Enable        customersEnableCommand  `cmd:"" help:"Enable a disabled account."`
	ResetPassword customersResetCommand   `cmd:"" help:"Print a link to set a new password. The old one works until then."`
}

type customersAddCommand struct {
	cli.ServiceFlags
	Email    string `arg:"" help:"The customer's email address. No confirmation mail is sent: verify the address yourself."`
	Language string `default:"de" enum:"de,en" help:"Language of pages and mails: de or en."`
}

func (c customersAddCommand) Run(t *cli.Terminal) error {
	return c.WithSession(t, func(d cli.Session) error {
		account, link, err := d.Services.Customers.Add(d.Ctx, d.Operator, c.Email, c.Language)
		if err != nil {
			return err
		}
		return printLink(d, "account created", account, link)
	})
}

type customersResetCommand struct {
	cli.ServiceFlags
	Email string `arg:"" help:"The customer's email address."`
}

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
		return printLink(d, "link created", account, link)
	})
}

// printLink prints a password link. It is a credential, so it is printed once, on a
// line of its own.
func printLink(d cli.Session, done string, account account.Customer, link string) error {
	address := mailer.LinkURL(d.Config.BaseURL, registrar.MailPasswordReset, link)
	_, err := fmt.Fprintf(d.Out, "%s: %s (%s)\n"+
		"Send this link over a secure channel. It works once, within 24 hours:\n\n%s\n", done, account.Email, account.ID, address)
	return err
}

type customersDisableCommand struct {
	cli.ServiceFlags
	Email string `arg:"" help:"The customer's email address."`
}

func (c customersDisableCommand) Run(t *cli.Terminal) error {
	return c.WithSession(t, func(d cli.Session) error {
		account, err := d.FindCustomer(c.Email)
		if err != nil {
			return err
		}
		if err := d.Services.Customers.Disable(d.Ctx, d.Operator, account.ID); err != nil {
			return err
		}
		return d.Println("disabled: %s", account.Email)
	})
}

type customersEnableCommand struct {
	cli.ServiceFlags
	Email string `arg:"" help:"The customer's email address."`
}

func (c customersEnableCommand) Run(t *cli.Terminal) error {
	return c.WithSession(t, func(d cli.Session) error {
		account, err := d.FindCustomer(c.Email)
		if err != nil {
			return err
		}
		if err := d.Services.Customers.Enable(d.Ctx, d.Operator, account.ID); err != nil {
			return err
		}
		return d.Println("enabled: %s", account.Email)
	})
}

type customersListCommand struct {
	cli.ServiceFlags
	JSON bool `name:"json" help:"Print one JSON array."`
}

// Run prints page by page, so that memory use does not grow with the number of accounts.
func (c customersListCommand) Run(t *cli.Terminal) error {
	return c.WithSession(t, func(d cli.Session) error {
		list := newRowPrinter(d.Out, c.JSON, fmt.Sprintf("%-30s  %-12s  %-8s  %-16s  %s", "ID", "Status", "Language", "Created (UTC)", "Email"))
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
	return fmt.Sprintf("%-30s  %-12s  %-8s  %-16s  %s", r.ID, r.Status, r.Language, formatTime(r.since), cli.Printable(r.Email))
}
