package admin

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/cli"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

type OrdersCommand struct {
	List ordersListCommand `cmd:"" help:"List all orders, or those of one customer."`
	Show ordersShowCommand `cmd:"" help:"Show one order with its items, payments and refunds."`

	Refund ordersRefundCommand `cmd:"" help:"Refund an order or one of its items."`
}

type ordersListCommand struct {
	cli.ServiceFlags
	Customer string `help:"Only orders of the customer with this email address." placeholder:"EMAIL"`
	Open     bool   `help:"Only orders in progress or with a refund due."`
	JSON     bool   `name:"json" help:"Print one JSON array."`
}

// Run prints all orders oldest first, a customer's newest first.
func (c ordersListCommand) Run(t *cli.Terminal) error {
	return c.WithSession(t, func(d cli.Session) error {
		customer, err := d.CustomerID(c.Customer)
		if err != nil {
			return err
		}
		next := func(last string, limit int) ([]order.Order, error) {
			if customer != "" {
				return d.Services.DB.ListOrders(d.Ctx, customer, last, limit)
			}
			return d.Services.DB.ListOrdersAfter(d.Ctx, last, limit)
		}
		list := newList(t, c.JSON, "%-30s  %-21s  %-16s  %10s  %-30s  %s", "ID", "Status", "Created (UTC)", "EUR", "Customer", "Domains")
		return list.end(eachRow(next, func(o order.Order) string { return o.ID }, func(o order.Order) error {
			if !c.Open || !o.State.Final() || o.RefundsDue() > 0 {
				list.addOrder(o)
			}
			return nil
		}))
	})
}

func (l *list) addOrder(o order.Order) {
	domains := []string{}
	for _, item := range o.Items {
		domains = append(domains, item.Name)
	}
	l.add(struct {
		ID         string          `json:"id"`
		Customer   string          `json:"customer"`
		Status     order.State     `json:"status"`
		Domains    []string        `json:"domains"`
		Gross      registrar.Cents `json:"gross"`
		RefundsDue int             `json:"refunds_due"`
		CreatedAt  *time.Time      `json:"created_at"`
		PaidAt     *time.Time      `json:"paid_at"`
	}{o.ID, o.Customer, o.State, domains, o.Totals.Gross, o.RefundsDue(), jsonTime(o.CreatedAt), jsonTime(o.PaidAt)},
		o.ID, o.State, formatTime(o.CreatedAt), o.Totals.Gross, o.Customer, strings.Join(domains, " "))
}

type ordersShowCommand struct {
	cli.ServiceFlags
	ID string `arg:"" help:"The order's ID (ord_…)."`
}

// Run prints the order without its payment links, which are credentials of the customer.
func (c ordersShowCommand) Run(t *cli.Terminal) error {
	return c.WithSession(t, func(d cli.Session) error {
		o, found, err := d.Services.DB.OrderByID(d.Ctx, c.ID)
		if err != nil {
			return err
		}
		if !found {
			return errors.New("no such order")
		}
		printOrder(d.Out, o)
		return nil
	})
}

func printOrder(out io.Writer, o order.Order) {
	row := func(label, value string) { fmt.Fprintf(out, "  %-23s  %s\n", label, cli.Printable(value)) }
	fmt.Fprintf(out, "%s  %s\n", o.ID, o.State)
	row("customer", o.Customer)
	row("created (UTC)", formatTime(o.CreatedAt))
	row("created by", strings.TrimSpace(fmt.Sprintf("%s %s %s", o.By.Kind, o.By.Through, o.ByName)))
	row("expires (UTC)", formatTime(o.ExpiresAt))
	row("paid (UTC)", formatTime(o.PaidAt))
	row("consent (UTC)", strings.TrimSpace(formatTime(o.Consent.At)+" "+o.Consent.Wording))
	row("next check (UTC)", formatTime(o.DueAt))
	rule := fmt.Sprintf("%s %s %d.%02d %%", o.Totals.Rule, o.Totals.Country, o.Totals.RateBasisPoints/100, o.Totals.RateBasisPoints%100)
	if o.Totals.Unchecked {
		rule += " (VAT ID not verified)"
	}
	row("VAT", rule)
	row("net + VAT = gross (EUR)", fmt.Sprintf("%s + %s = %s", o.Totals.Net, o.Totals.VAT, o.Totals.Gross))
	for _, item := range o.Items {
		failure := ""
		if item.Failure != "" {
			failure = "  (" + string(item.Failure) + ")"
		}
		fmt.Fprintf(out, "  %s  %-8s  %-12s  %10s  %s  %s%s\n",
			item.ID, item.Kind, item.State, item.Gross, item.Name, orDash(item.ProvisionItem), failure)
	}
	for _, payment := range o.Payments {
		fmt.Fprintf(out, "  %s  %-8s  %-12s  %10s  %s  %s  %s\n", payment.ID, "payment", payment.State, payment.Amount,
			formatTime(payment.UpdatedAt), orDash(payment.Session), orDash(payment.Intent))
	}
	for _, refund := range o.Refunds {
		at := refund.CreatedAt
		if refund.Provider != "" {
			at = refund.MadeAt
		}
		fmt.Fprintf(out, "  %s  %-8s  %-12s  %10s  %s  %s  %s\n", refund.ID, "refund", refund.State(), refund.Amount,
			formatTime(at), orDash(refund.Provider), strings.TrimSpace(orDash(refund.Item)+" "+refund.ReasonOf()))
	}
}
