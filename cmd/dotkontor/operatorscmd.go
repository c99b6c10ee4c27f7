package main

import "fmt"

type operatorsCommand struct {
	Add    operatorsAddCommand    `cmd:"" help:"Let the owner of an account open the operators' pages. A passkey or a second factor is asked for there."`
	List   operatorsListCommand   `cmd:"" help:"Show who may."`
	Remove operatorsRemoveCommand `cmd:"" help:"End that, at once."`
}

type operatorsAddCommand struct {
	servicePlace
	Email string `arg:"" help:"The e-mail address of an account."`
}

// Run gives the role.
func (c operatorsAddCommand) Run(t *terminal) error {
	return c.operate(t, func(d desk) error {
		account, err := d.find(c.Email)
		if err != nil {
			return err
		}
		if err := d.people.customers.MakeOperator(d.ctx, d.operator, account.ID, true); err != nil {
			return err
		}
		return d.tell("Betreiber: "+account.Email+", Seiten unter "+d.cfg.BaseURL+"/operator", "operator, pages there")
	})
}

type operatorsRemoveCommand struct {
	servicePlace
	Email string `arg:"" help:"The e-mail address of the account."`
}

// Run takes the role.
func (c operatorsRemoveCommand) Run(t *terminal) error {
	return c.operate(t, func(d desk) error {
		account, err := d.find(c.Email)
		if err != nil {
			return err
		}
		if err := d.people.customers.MakeOperator(d.ctx, d.operator, account.ID, false); err != nil {
			return err
		}
		return d.tell("kein Betreiber mehr: "+account.Email, "no operator any more")
	})
}

type operatorsListCommand struct {
	servicePlace
	JSON bool `name:"json" help:"Print one JSON array."`
}

// Run prints the operators.
func (c operatorsListCommand) Run(t *terminal) error {
	return c.operate(t, func(d desk) error {
		operators, err := d.people.customers.Operators(d.ctx, d.operator)
		if err != nil {
			return err
		}
		list := newList(d.out, c.JSON, fmt.Sprintf("%-30s  %-12s  %-7s  %-16s  %s", "ID", "Status", "Sprache", "seit/since (UTC)", "E-Mail"))
		for _, account := range operators {
			if err := list.add(newCustomerRow(account)); err != nil {
				return err
			}
		}
		return list.end()
	})
}
