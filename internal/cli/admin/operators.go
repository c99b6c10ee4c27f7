package admin

import (
	"fmt"

	"github.com/dotkontor/dotkontor/internal/cli"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/web/portal"
)

type OperatorsCommand struct {
	Add    operatorsAddCommand    `cmd:"" help:"Grant an account the operator role. Without a passkey or second factor it gets a single-use enrolment link."`
	List   operatorsListCommand   `cmd:"" help:"List operator accounts."`
	Remove operatorsRemoveCommand `cmd:"" help:"Revoke the operator role at once."`
}

type operatorsAddCommand struct {
	cli.ServiceFlags
	Email string `arg:"" help:"The email address of an account."`
}

// Run prints the factors that open the operator pages, or the enrolment link for the first one.
func (c operatorsAddCommand) Run(t *cli.Terminal) error {
	return c.WithCustomer(t, c.Email, func(d cli.Session, account account.Customer) error {
		grant, err := d.Services.Customers.AddOperator(d.Ctx, d.Operator, account.ID)
		if err != nil {
			return err
		}
		fmt.Fprintf(d.Out, "operator: %s, pages at %s/operator\n", account.Email, d.Config.BaseURL)
		if grant.EnrolmentLink != "" {
			return d.Println("The account has no second factor. Hand this link to its owner over a trusted channel;\n"+
				"it works once, for an hour, after a sign-in with the account's password:\n\n%s", portal.EnrolmentURL(d.Config.BaseURL, grant.EnrolmentLink))
		}
		fmt.Fprintln(d.Out, "Check with the owner that each of these factors is theirs:")
		if grant.HasSecondFactor {
			fmt.Fprintln(d.Out, "  authenticator app")
		}
		for _, passkey := range grant.Passkeys {
			fmt.Fprintf(d.Out, "  passkey %q, added %s\n", passkey.Name, passkey.CreatedAt.UTC().Format("2006-01-02 15:04 UTC"))
		}
		return nil
	})
}

type operatorsRemoveCommand struct {
	cli.ServiceFlags
	Email string `arg:"" help:"The email address of the account."`
}

func (c operatorsRemoveCommand) Run(t *cli.Terminal) error {
	return c.WithCustomer(t, c.Email, func(d cli.Session, account account.Customer) error {
		return d.Report(d.Services.Customers.RemoveOperator(d.Ctx, d.Operator, account.ID), "operator role revoked: %s", account.Email)
	})
}

type operatorsListCommand struct{ listFlags }

func (c operatorsListCommand) Run(t *cli.Terminal) error {
	return c.WithSession(t, func(d cli.Session) error {
		operators, err := d.Services.Customers.ListOperators(d.Ctx, d.Operator)
		if err != nil {
			return err
		}
		list := newCustomerList(t, c.JSON)
		for _, account := range operators {
			list.addCustomer(account)
		}
		return list.end(nil)
	})
}
