package admin

import (
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

type customerFlags struct {
	cli.ServiceFlags
	Email string `arg:"" help:"The customer's email address."`
}

type customersResetCommand struct{ customerFlags }

func (c customersResetCommand) Run(t *cli.Terminal) error {
	return c.WithCustomer(t, c.Email, func(d cli.Session, account account.Customer) error {
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
	return d.Println("%s: %s (%s)\nSend this link over a secure channel. It works once, within 24 hours:\n\n%s",
		done, account.Email, account.ID, mailer.LinkURL(d.Config.BaseURL, registrar.MailPasswordReset, link))
}

type customersDisableCommand struct{ customerFlags }

func (c customersDisableCommand) Run(t *cli.Terminal) error {
	return c.WithCustomer(t, c.Email, func(d cli.Session, account account.Customer) error {
		return d.Report(d.Services.Customers.Disable(d.Ctx, d.Operator, account.ID), "disabled: %s", account.Email)
	})
}

type customersEnableCommand struct{ customerFlags }

func (c customersEnableCommand) Run(t *cli.Terminal) error {
	return c.WithCustomer(t, c.Email, func(d cli.Session, account account.Customer) error {
		return d.Report(d.Services.Customers.Enable(d.Ctx, d.Operator, account.ID), "enabled: %s", account.Email)
	})
}

type customersListCommand struct{ listFlags }

func (c customersListCommand) Run(t *cli.Terminal) error {
	return c.WithSession(t, func(d cli.Session) error {
		list := newCustomerList(t, c.JSON)
		next := func(last string, limit int) ([]account.Customer, error) {
			return d.Services.Customers.List(d.Ctx, d.Operator, last, limit)
		}
		return list.end(eachRow(next, func(one account.Customer) string { return one.ID }, func(one account.Customer) error {
			list.addCustomer(one)
			return nil
		}))
	})
}

func newCustomerList(t *cli.Terminal, asJSON bool) *list {
	return newList(t, asJSON, "%-30s  %-12s  %-8s  %-16s  %s", "ID", "Status", "Language", "Created (UTC)", "Email")
}

func (l *list) addCustomer(one account.Customer) {
	status := "active"
	switch {
	case !one.DisabledAt.IsZero():
		status = "disabled"
	case one.ConfirmedAt.IsZero():
		status = "unconfirmed"
	}
	l.add(struct {
		ID          string     `json:"id"`
		Email       string     `json:"email"`
		Status      string     `json:"status"`
		Language    string     `json:"language"`
		CreatedAt   *time.Time `json:"created_at"`
		ConfirmedAt *time.Time `json:"confirmed_at"`
		DisabledAt  *time.Time `json:"disabled_at"`
	}{one.ID, one.Email, status, one.Language, jsonTime(one.CreatedAt), jsonTime(one.ConfirmedAt), jsonTime(one.DisabledAt)},
		one.ID, status, one.Language, formatTime(one.CreatedAt), cli.Printable(one.Email))
}
