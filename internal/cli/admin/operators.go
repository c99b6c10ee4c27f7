package admin

import (
	"fmt"
	"io"
	"strings"

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

func (c operatorsAddCommand) Run(t *cli.Terminal) error {
	return c.WithSession(t, func(d cli.Session) error {
		account, err := d.FindCustomer(c.Email)
		if err != nil {
			return err
		}
		grant, err := d.Services.Customers.AddOperator(d.Ctx, d.Operator, account.ID)
		if err != nil {
			return err
		}
		return printGrant(d, account, grant)
	})
}

// printGrant prints the factors that open the operator pages, or the enrolment link for
// the first one.
func printGrant(d cli.Session, account account.Customer, grant account.OperatorGrant) error {
	var out strings.Builder
	fmt.Fprintf(&out, "operator: %s, pages at %s/operator\n", account.Email, d.Config.BaseURL)
	if grant.EnrolmentLink != "" {
		fmt.Fprintf(&out, "The account has no second factor. Hand this link to its owner over a trusted channel;\n"+
			"it works once, for an hour, after a sign-in with the account's password:\n\n%s\n", portal.EnrolmentURL(d.Config.BaseURL, grant.EnrolmentLink))
	} else {
		out.WriteString("Check with the owner that each of these factors is theirs:\n")
		if grant.HasSecondFactor {
			out.WriteString("  authenticator app\n")
		}
		for _, passkey := range grant.Passkeys {
			fmt.Fprintf(&out, "  passkey %q, added %s\n", passkey.Name, passkey.CreatedAt.UTC().Format("2006-01-02 15:04 UTC"))
		}
	}
	_, err := io.WriteString(d.Out, out.String())
	return err
}

type operatorsRemoveCommand struct {
	cli.ServiceFlags
	Email string `arg:"" help:"The email address of the account."`
}

func (c operatorsRemoveCommand) Run(t *cli.Terminal) error {
	return c.WithSession(t, func(d cli.Session) error {
		account, err := d.FindCustomer(c.Email)
		if err != nil {
			return err
		}
		if err := d.Services.Customers.RemoveOperator(d.Ctx, d.Operator, account.ID); err != nil {
			return err
		}
		return d.Println("operator role revoked: %s", account.Email)
	})
}

type operatorsListCommand struct {
	cli.ServiceFlags
	JSON bool `name:"json" help:"Print one JSON array."`
}

func (c operatorsListCommand) Run(t *cli.Terminal) error {
	return c.WithSession(t, func(d cli.Session) error {
		operators, err := d.Services.Customers.ListOperators(d.Ctx, d.Operator)
		if err != nil {
			return err
		}
		list := newRowPrinter(d.Out, c.JSON, fmt.Sprintf("%-30s  %-12s  %-8s  %-16s  %s", "ID", "Status", "Language", "Created (UTC)", "Email"))
		for _, account := range operators {
			if err := list.add(newCustomerRow(account)); err != nil {
				return err
			}
		}
		return list.end()
	})
}
