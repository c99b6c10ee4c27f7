package sandbox

import (
	"net/http"
	"net/url"

	"github.com/dotkontor/dotkontor/internal/cli"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/sandbox/registry"
)

// fundsCommand makes the registry account of the sandbox one that is paid in advance.
type fundsCommand struct {
	Show  fundsShow  `cmd:"" default:"1" help:"Show balance and threshold."`
	Set   fundsSet   `cmd:"" help:"Set the balance; from then on every billable command is charged to it."`
	Topup fundsTopup `cmd:"" name:"topup" help:"Pay money in."`
}

type fundsShow struct{}

func (fundsShow) Run(sandbox *Command, t *cli.Terminal) error {
	return sandbox.requestFunds(t, http.MethodGet, "/funds", url.Values{})
}

type fundsSet struct {
	Balance   string `arg:"" help:"Such as 100.00."`
	Threshold string `default:"20.00" help:"Below it the registry sends a low balance message."`
}

func (c fundsSet) Run(sandbox *Command, t *cli.Terminal) error {
	return sandbox.requestFunds(t, http.MethodPost, "/funds", url.Values{"balance": {c.Balance}, "threshold": {c.Threshold}})
}

type fundsTopup struct {
	Amount string `arg:"" help:"Such as 50.00."`
}

func (c fundsTopup) Run(sandbox *Command, t *cli.Terminal) error {
	return sandbox.requestFunds(t, http.MethodPost, "/funds/topup", url.Values{"amount": {c.Amount}})
}

// requestFunds calls the registry's control endpoint and prints the funds.
func (c *Command) requestFunds(t *cli.Terminal, method, path string, query url.Values) error {
	query.Set("of", registry.ProductAccount)
	var funds *registry.Funds
	if err := c.requestControl(t, "funds", method, path+"?"+query.Encode(), &funds); err != nil {
		return err
	}
	if funds == nil {
		return t.Println("The registry account is not paid in advance. 'dotkontor sandbox funds set 100.00' makes it so.")
	}
	return t.Println("balance %s EUR, low below %s EUR", registrar.Cents(funds.Balance), registrar.Cents(funds.Threshold))
}
