package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

type domainsCommand struct {
	List     domainsListCommand     `cmd:"" help:"Show domains, everybody's or one customer's."`
	Show     domainsShowCommand     `cmd:"" help:"Show one domain, and the paid lines that wanted it."`
	Register domainsRegisterCommand `cmd:"" help:"Register a name for a customer who has paid you otherwise. The running service carries it out."`
	Renew    domainsRenewCommand    `cmd:"" help:"Renew a customer's domain that they have paid you for otherwise. The running service carries it out."`
}

type domainsListCommand struct {
	servicePlace
	Customer string `help:"Only those of the customer with this e-mail address." placeholder:"EMAIL"`
	JSON     bool   `name:"json" help:"Print one JSON array."`
}

// Run prints page by page.
func (c domainsListCommand) Run(t *terminal) error {
	return c.operate(t, func(d desk) error {
		only := ""
		if c.Customer != "" {
			account, err := d.find(c.Customer)
			if err != nil {
				return err
			}
			only = account.ID
		}
		list := newList(d.out, c.JSON, fmt.Sprintf("%-40s  %-15s  %-10s  %-10s  %s", "Domain", "Status", "bezahlt bis", "Registry", "Kunde/customer"))
		last := ""
		for {
			page, err := d.people.db.DomainsAfter(d.ctx, last, listPage)
			if err != nil {
				return err
			}
			for _, domain := range page {
				last = domain.ID
				if only != "" && domain.Customer != only {
					continue
				}
				if err := list.add(newDomainRow(domain)); err != nil {
					return err
				}
			}
			if len(page) < listPage {
				return list.end()
			}
		}
	})
}

// domainRow is one domain in a list.
type domainRow struct {
	ID              string     `json:"id"`
	Domain          string     `json:"domain"`
	Customer        string     `json:"customer"`
	Status          string     `json:"status"`
	PaidUntil       *time.Time `json:"paid_until"`
	Account         string     `json:"account"`
	RegistryStatus  []string   `json:"registry_status"`
	RegistryExpires *time.Time `json:"registry_expires"`
	SyncedAt        *time.Time `json:"synced_at"`

	paid, expires time.Time
}

func newDomainRow(domain provision.Domain) domainRow {
	return domainRow{
		ID: domain.ID, Domain: domain.Name, Customer: domain.Customer, Status: domain.Status, PaidUntil: stamp(domain.PaidUntil),
		Account: domain.Account, RegistryStatus: append([]string{}, domain.RegistryStatus...), RegistryExpires: stamp(domain.RegistryExpires),
		SyncedAt: stamp(domain.SyncedAt), paid: domain.PaidUntil, expires: domain.RegistryExpires,
	}
}

func (r domainRow) String() string {
	return fmt.Sprintf("%-40s  %-15s  %-10s  %-10s  %s", r.Domain, r.Status, day(r.paid), day(r.expires), r.Customer)
}

// day is a date as lists print it: a dash for none.
func day(at time.Time) string {
	if at.IsZero() {
		return "-"
	}
	return at.UTC().Format(time.DateOnly)
}

type domainsShowCommand struct {
	servicePlace
	Name string `arg:"" help:"The domain."`
}

// Run prints what is known here. 'registry info' asks the registry.
func (c domainsShowCommand) Run(t *terminal) error {
	return c.operate(t, func(d desk) error {
		name, err := registrar.ParseHost(c.Name)
		if err != nil {
			return err
		}
		domain, found, err := d.people.db.DomainByName(d.ctx, name)
		if err != nil {
			return err
		}
		lines, err := d.people.db.LinesOfName(d.ctx, name)
		if err != nil {
			return err
		}
		if !found && len(lines) == 0 {
			return errors.New("diese Domain kennen wir nicht / we do not know this domain")
		}
		if found {
			fmt.Fprintf(d.out, "%s  %s\n  bezahlt bis / paid until      %s\n  Kunde / customer              %s\n"+
				"  Registry-Konto / account      %s\n  Registry: Status              %s\n  Registry: Ablauf / expires    %s\n  abgeglichen / compared (UTC)  %s\n",
				domain.Name, domain.Status, day(domain.PaidUntil), domain.Customer, dash(domain.Account),
				dash(strings.Join(domain.RegistryStatus, " ")), day(domain.RegistryExpires), moment(domain.SyncedAt))
		}
		for _, line := range lines {
			if err := d.printLine(line); err != nil {
				return err
			}
		}
		return nil
	})
}

func dash(text string) string {
	if text == "" {
		return "-"
	}
	return printable(text)
}

// printLine prints one line of an order.
func (d desk) printLine(line provision.Line) error {
	refund := ""
	if line.RefundDue {
		refund = fmt.Sprintf("  (%s; Geld zurück / refund due)", line.Failure)
	}
	_, err := fmt.Fprintf(d.out, "  %s  %-8s  %-9s  %s  %s%s\n", line.ID, line.Kind, line.State, moment(line.UpdatedAt), printable(line.Payment), refund)
	return err
}

// paidFor is what an operator vouches for.
type paidFor struct {
	servicePlace
	Name          string        `arg:"" help:"The domain."`
	Customer      string        `required:"" help:"The customer's e-mail address." placeholder:"EMAIL"`
	ManualPayment string        `required:"" help:"What paid for it, such as the number of your invoice. The same reference pays for the same name once." placeholder:"REF"`
	Years         int           `help:"Term in years. Default: the shortest that the extension has."`
	Wait          bool          `help:"Wait for the outcome and show the way there. It needs a running service."`
	Patience      time.Duration `default:"10m" help:"How long --wait waits."`
}

type domainsRegisterCommand struct{ paidFor }

// Run registers a name.
func (c domainsRegisterCommand) Run(t *terminal) error { return c.order(t, provision.Register) }

type domainsRenewCommand struct{ paidFor }

// Run renews a domain.
func (c domainsRenewCommand) Run(t *terminal) error { return c.order(t, provision.Renew) }

// order asks the registry whether it can be had, and writes the paid line down.
func (c paidFor) order(t *terminal, kind provision.Kind) error {
	return c.operate(t, func(d desk) error {
		account, err := d.find(c.Customer)
		if err != nil {
			return err
		}
		name, extension, err := d.orderable(c.Name)
		if err != nil {
			return err
		}
		lines, closeIt, err := d.provisioning()
		if err != nil {
			return err
		}
		defer closeIt()
		line, err := lines.Order(d.ctx, d.operator, provision.Order{
			Customer: account.ID, Name: name, Extension: extension, Kind: kind, Years: c.Years,
			Payment: provision.ManualPayment + c.ManualPayment,
		})
		if err != nil {
			return err
		}
		if err := d.tell("Auftrag "+line.ID, "line "+string(line.State)); err != nil || !c.Wait {
			return err
		}
		return d.await(lines, line, c.Patience)
	})
}

// await shows the states of a line until the last one.
func (d desk) await(lines *provision.Service, line provision.Line, patience time.Duration) error {
	ctx, cancel := context.WithTimeout(d.ctx, patience)
	defer cancel()
	shown := line.State
	for !line.State.Final() {
		select {
		case <-ctx.Done():
			return errors.New("noch nicht fertig; läuft der Dienst? Die Zeile bleibt gültig / not done yet; is the service running? The line stays valid")
		case <-time.After(200 * time.Millisecond):
		}
		var err error
		if line, err = lines.Line(ctx, d.operator, line.ID); err != nil {
			return err
		}
		if line.State != shown {
			shown = line.State
			fmt.Fprintln(d.out, "  "+string(shown))
		}
	}
	if line.State == provision.StateFailed {
		return fmt.Errorf("abgelehnt (%s), das Geld ist zurückzugeben / refused (%s), the money has to be returned", line.Failure, line.Failure)
	}
	if line.Kind == provision.Renew {
		return d.tell("verlängert: "+line.Name, "renewed")
	}
	return d.tell("registriert: "+line.Name, "registered")
}
