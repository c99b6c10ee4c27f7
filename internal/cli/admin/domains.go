package admin

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/cli"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

type DomainsCommand struct {
	List     domainsListCommand     `cmd:"" help:"List all domains, or those of one customer."`
	Show     domainsShowCommand     `cmd:"" help:"Show one domain and its provision items."`
	Register domainsRegisterCommand `cmd:"" help:"Register a name for a customer who paid outside the service. The running service executes it."`
	Renew    domainsRenewCommand    `cmd:"" help:"Renew a domain for a customer who paid outside the service. The running service executes it."`
}

type domainsListCommand struct {
	cli.ServiceFlags
	Customer string `help:"Only domains of the customer with this email address." placeholder:"EMAIL"`
	JSON     bool   `name:"json" help:"Print one JSON array."`
}

func (c domainsListCommand) Run(t *cli.Terminal) error {
	return c.WithSession(t, func(d cli.Session) error {
		only, err := d.CustomerID(c.Customer)
		if err != nil {
			return err
		}
		list := newList(t, c.JSON, "%-40s  %-15s  %-10s  %-10s  %s", "Domain", "Status", "Paid until", "Expires", "Customer")
		next := func(last string, limit int) ([]provision.Domain, error) {
			return d.Services.DB.ListDomainsAfter(d.Ctx, last, limit)
		}
		return list.end(eachRow(next, func(domain provision.Domain) string { return domain.ID }, func(domain provision.Domain) error {
			if only == "" || domain.Customer == only {
				list.addDomain(domain)
			}
			return nil
		}))
	})
}

func (l *list) addDomain(one provision.Domain) {
	l.add(struct {
		ID              string                 `json:"id"`
		Domain          string                 `json:"domain"`
		Customer        string                 `json:"customer"`
		Status          registrar.DomainStatus `json:"status"`
		PaidUntil       *time.Time             `json:"paid_until"`
		Account         string                 `json:"account"`
		RegistryStatus  []string               `json:"registry_status"`
		RegistryExpires *time.Time             `json:"registry_expires"`
		SyncedAt        *time.Time             `json:"synced_at"`
	}{
		one.ID, one.Name, one.Customer, one.Status, jsonTime(one.PaidUntil), one.Account,
		append([]string{}, one.RegistryStatus...), jsonTime(one.RegistryExpires), jsonTime(one.SyncedAt),
	}, one.Name, one.Status, formatDate(one.PaidUntil), formatDate(one.RegistryExpires), one.Customer)
}

type domainsShowCommand struct {
	cli.ServiceFlags
	Name string `arg:"" help:"The domain."`
}

// Run prints stored data only; 'registry info' queries the registry.
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
			return errors.New("no such domain")
		}
		if found {
			fmt.Fprintf(d.Out, "%s  %s\n  paid until         %s\n  customer           %s\n  registry account   %s\n"+
				"  registry status    %s\n  registry expiry    %s\n  last synced (UTC)  %s\n",
				domain.Name, domain.Status, formatDate(domain.PaidUntil), domain.Customer, orDash(domain.Account),
				orDash(strings.Join(domain.RegistryStatus, " ")), formatDate(domain.RegistryExpires), formatTime(domain.SyncedAt))
		}
		for _, item := range items {
			refund := ""
			if item.RefundDue {
				refund = fmt.Sprintf("  (%s; refund due)", item.Failure)
			}
			fmt.Fprintf(d.Out, "  %s  %-8s  %-9s  %s  %s%s\n",
				item.ID, item.Kind, item.State, formatTime(item.UpdatedAt), cli.Printable(item.Payment), refund)
		}
		return nil
	})
}

// manualOrderFlags describe an order that was paid outside the service.
type manualOrderFlags struct {
	cli.ServiceFlags
	Name          string        `arg:"" help:"The domain."`
	Customer      string        `required:"" help:"The customer's email address." placeholder:"EMAIL"`
	ManualPayment string        `required:"" help:"Payment reference, such as your invoice number. A reference can pay for a name only once." placeholder:"REF"`
	Years         int           `help:"Term in years. Default: the extension's shortest."`
	Wait          bool          `help:"Wait for the outcome and print each state. Requires a running service."`
	Patience      time.Duration `default:"10m" help:"Time limit of --wait."`
}

type domainsRegisterCommand struct{ manualOrderFlags }

func (c domainsRegisterCommand) Run(t *cli.Terminal) error { return c.order(t, provision.Register) }

type domainsRenewCommand struct{ manualOrderFlags }

func (c domainsRenewCommand) Run(t *cli.Terminal) error { return c.order(t, provision.Renew) }

// order checks availability at the registry and stores the paid item.
func (c manualOrderFlags) order(t *cli.Terminal, kind provision.Kind) error {
	return c.WithCustomer(t, c.Customer, func(d cli.Session, account account.Customer) error {
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
		if err := d.Println("item %s: %s", item.ID, item.State); err != nil || !c.Wait {
			return err
		}
		return waitForItem(d, provisioning, item, c.Patience)
	})
}

func waitForItem(d cli.Session, provisioning *provision.Service, item provision.Item, patience time.Duration) error {
	ctx, cancel := context.WithTimeout(d.Ctx, patience)
	defer cancel()
	shown := item.State
	for !item.State.Final() {
		select {
		case <-ctx.Done():
			return errors.New("timed out; is the service running? The item stays queued")
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
		return fmt.Errorf("item failed (%s); refund the payment", item.Failure)
	}
	if item.Kind.ForHeldDomain() {
		return d.Println("renewed: %s", item.Name)
	}
	return d.Println("registered: %s", item.Name)
}
