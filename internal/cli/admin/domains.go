package admin

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/cli"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

type DomainsCommand struct {
	List     domainsListCommand     `cmd:"" help:"Show domains, everybody's or one customer's."`
	Show     domainsShowCommand     `cmd:"" help:"Show one domain, and the paid lines that wanted it."`
	Register domainsRegisterCommand `cmd:"" help:"Register a name for a customer who has paid you otherwise. The running service carries it out."`
	Renew    domainsRenewCommand    `cmd:"" help:"Renew a customer's domain that they have paid you for otherwise. The running service carries it out."`
}

type domainsListCommand struct {
	cli.ServiceFlags
	Customer string `help:"Only those of the customer with this e-mail address." placeholder:"EMAIL"`
	JSON     bool   `name:"json" help:"Print one JSON array."`
}

// Run prints page by page.
func (c domainsListCommand) Run(t *cli.Terminal) error {
	return c.WithSession(t, func(d cli.Session) error {
		only := ""
		if c.Customer != "" {
			account, err := d.FindCustomer(c.Customer)
			if err != nil {
				return err
			}
			only = account.ID
		}
		list := newRowPrinter(d.Out, c.JSON, fmt.Sprintf("%-40s  %-15s  %-10s  %-10s  %s", "Domain", "Status", "bezahlt bis", "Registry", "Kunde/customer"))
		last := ""
		for {
			page, err := d.Services.DB.ListDomainsAfter(d.Ctx, last, listPageSize)
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
			if len(page) < listPageSize {
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
		ID: domain.ID, Domain: domain.Name, Customer: domain.Customer, Status: string(domain.Status), PaidUntil: jsonTime(domain.PaidUntil),
		Account: domain.Account, RegistryStatus: append([]string{}, domain.RegistryStatus...), RegistryExpires: jsonTime(domain.RegistryExpires),
		SyncedAt: jsonTime(domain.SyncedAt), paid: domain.PaidUntil, expires: domain.RegistryExpires,
	}
}

func (r domainRow) String() string {
	return fmt.Sprintf("%-40s  %-15s  %-10s  %-10s  %s", r.Domain, r.Status, formatDate(r.paid), formatDate(r.expires), r.Customer)
}

type domainsShowCommand struct {
	cli.ServiceFlags
	Name string `arg:"" help:"The domain."`
}

// Run prints what is known here. 'registry info' asks the registry.
func (c domainsShowCommand) Run(t *cli.Terminal) error {
	return c.WithSession(t, func(d cli.Session) error {
		name, err := registrar.ParseHost(c.Name)
		if err != nil {
			return err
		}
		domain, found, err := d.Services.DB.DomainByName(d.Ctx, name)
		if err != nil {
			return err
		}
		items, err := d.Services.DB.ListProvisionItemsByName(d.Ctx, name)
		if err != nil {
			return err
		}
		if !found && len(items) == 0 {
			return errors.New("diese Domain kennen wir nicht / we do not know this domain")
		}
		if found {
			fmt.Fprintf(d.Out, "%s  %s\n  bezahlt bis / paid until      %s\n  Kunde / customer              %s\n"+
				"  Registry-Konto / account      %s\n  Registry: Status              %s\n  Registry: Ablauf / expires    %s\n  abgeglichen / compared (UTC)  %s\n",
				domain.Name, domain.Status, formatDate(domain.PaidUntil), domain.Customer, orDash(domain.Account),
				orDash(strings.Join(domain.RegistryStatus, " ")), formatDate(domain.RegistryExpires), formatTime(domain.SyncedAt))
		}
		for _, item := range items {
			if err := printItem(d, item); err != nil {
				return err
			}
		}
		return nil
	})
}

// printItem prints one line of an order.
func printItem(d cli.Session, item provision.Item) error {
	refund := ""
	if item.RefundDue {
		refund = fmt.Sprintf("  (%s; Geld zurück / refund due)", item.Failure)
	}
	_, err := fmt.Fprintf(d.Out, "  %s  %-8s  %-9s  %s  %s%s\n", item.ID, item.Kind, item.State, formatTime(item.UpdatedAt), cli.Printable(item.Payment), refund)
	return err
}

// manualOrderFlags is what an operator vouches for.
type manualOrderFlags struct {
	cli.ServiceFlags
	Name          string        `arg:"" help:"The domain."`
	Customer      string        `required:"" help:"The customer's e-mail address." placeholder:"EMAIL"`
	ManualPayment string        `required:"" help:"What paid for it, such as the number of your invoice. The same reference pays for the same name once." placeholder:"REF"`
	Years         int           `help:"Term in years. Default: the shortest that the extension has."`
	Wait          bool          `help:"Wait for the outcome and show the way there. It needs a running service."`
	Patience      time.Duration `default:"10m" help:"How long --wait waits."`
}

type domainsRegisterCommand struct{ manualOrderFlags }

// Run registers a name.
func (c domainsRegisterCommand) Run(t *cli.Terminal) error { return c.order(t, provision.Register) }

type domainsRenewCommand struct{ manualOrderFlags }

// Run renews a domain.
func (c domainsRenewCommand) Run(t *cli.Terminal) error { return c.order(t, provision.Renew) }

// order asks the registry whether it can be had, and writes the paid line down.
func (c manualOrderFlags) order(t *cli.Terminal, kind provision.Kind) error {
	return c.WithSession(t, func(d cli.Session) error {
		account, err := d.FindCustomer(c.Customer)
		if err != nil {
			return err
		}
		name, extension, err := parseListedName(d, c.Name)
		if err != nil {
			return err
		}
		provisioning, closeFn, err := openProvisioning(d)
		if err != nil {
			return err
		}
		defer closeFn()
		item, err := provisioning.CreateItem(d.Ctx, d.Operator, provision.PaidItem{
			Customer: account.ID, Name: name, Extension: extension, Kind: kind, Years: c.Years,
			Payment: provision.ManualPayment + c.ManualPayment,
		})
		if err != nil {
			return err
		}
		if err := d.PrintBilingual("Auftrag "+item.ID, "line "+string(item.State)); err != nil || !c.Wait {
			return err
		}
		return waitForItem(d, provisioning, item, c.Patience)
	})
}

// waitForItem shows the states of a line until the last one.
func waitForItem(d cli.Session, provisioning *provision.Service, item provision.Item, patience time.Duration) error {
	ctx, cancel := context.WithTimeout(d.Ctx, patience)
	defer cancel()
	shown := item.State
	for !item.State.Final() {
		select {
		case <-ctx.Done():
			return errors.New("noch nicht fertig; läuft der Dienst? Die Zeile bleibt gültig / not done yet; is the service running? The line stays valid")
		case <-time.After(200 * time.Millisecond):
		}
		var err error
		if item, err = provisioning.GetItem(ctx, d.Operator, item.ID); err != nil {
			return err
		}
		if item.State != shown {
			shown = item.State
			fmt.Fprintln(d.Out, "  "+string(shown))
		}
	}
	if item.State == provision.StateFailed {
		return fmt.Errorf("abgelehnt (%s), das Geld ist zurückzugeben / refused (%s), the money has to be returned", item.Failure, item.Failure)
	}
	if item.Kind == provision.Renew {
		return d.PrintBilingual("verlängert: "+item.Name, "renewed")
	}
	return d.PrintBilingual("registriert: "+item.Name, "registered")
}
