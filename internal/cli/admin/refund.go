package admin

import (
	"fmt"
	"strings"

	"github.com/dotkontor/dotkontor/internal/cli"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

type ordersRefundCommand struct {
	cli.ServiceFlags
	ID     string `arg:"" help:"The order's ID (ord_…)."`
	Domain string `help:"Only the item of this domain." placeholder:"NAME"`
	Amount string `help:"Gross amount in euros, such as 12.90. Default: all that is left." placeholder:"EUR"`
	Reason string `required:"" enum:"withdrawal,termination,goodwill,mistake,service_fault,fraud,other" help:"Why: ${enum}."`
	Note   string `required:"" help:"A note for other operators."`
	Notice string `help:"The withdrawal that the refund completes (dcl_…)." placeholder:"ID"`
	Delete bool   `help:"Delete the domains whose registration is refunded in full, once the refund is made."`
	Yes    bool   `help:"Refund. Without it, the command only prints what it would do."`
}

// Run prints what a refund does and, with --yes, stores it. The running service calls the
// payment provider.
func (c ordersRefundCommand) Run(t *cli.Terminal) error {
	return c.WithSession(t, func(d cli.Session) error {
		refunds, err := order.NewRefunds(order.RefundsConfig{Store: d.Services.DB})
		if err != nil {
			return err
		}
		request := order.RefundRequested{Order: c.ID, Reason: c.Reason, Note: c.Note, Notice: c.Notice, Delete: c.Delete}
		if c.Amount != "" {
			if request.Amount, err = registrar.ParseCents(c.Amount); err != nil {
				return err
			}
			if request.Amount == 0 {
				return registrar.Invalid(order.BadRefund)
			}
		}
		if c.Domain != "" {
			if request.Item, err = itemOf(d, c.ID, strings.ToLower(c.Domain)); err != nil {
				return err
			}
		}
		preview, err := refunds.Preview(d.Ctx, d.Operator, request)
		if err != nil {
			return err
		}
		for _, line := range preview.Lines {
			fmt.Fprintf(d.Out, "  %10s  of %10s  %s\n", line.Gross, line.Item.Gross, line.Item.Name)
		}
		fmt.Fprintf(d.Out, "  %10s  net %s + VAT %s, on one credit note\n", preview.Amount, preview.Net, preview.VAT)
		for _, domain := range preview.Deletable {
			what := "stays with the customer (--delete deletes it)"
			if c.Delete {
				what = "is deleted"
			}
			fmt.Fprintf(d.Out, "  %s %s; the registry's fee is %s\n", domain.Name, what, domain.Fee)
		}
		if !c.Yes {
			return d.Println("Nothing was changed. Add --yes to refund.")
		}
		request.Seen = preview.Seen
		refund, err := refunds.Order(d.Ctx, d.Operator, request)
		return d.Report(err, "Refund %s of %s EUR stored. The service sends it to the payment provider.", refund.ID, refund.Amount)
	})
}

// itemOf returns the item of a domain.
func itemOf(d cli.Session, id, name string) (string, error) {
	o, found, err := d.Services.DB.OrderByID(d.Ctx, id)
	if err != nil {
		return "", err
	}
	if !found {
		return "", registrar.NotFound(order.NoSuchOrder)
	}
	for _, item := range o.Items {
		if item.Name == name {
			return item.ID, nil
		}
	}
	return "", registrar.NotFound(provision.NoSuchItem)
}
