package admin

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/cli"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

type OrdersCommand struct {
	List ordersListCommand `cmd:"" help:"List all orders, or those of one customer."`
	Show ordersShowCommand `cmd:"" help:"Show one order with its items, payments and refunds."`
}

type ordersListCommand struct {
	cli.ServiceFlags
	Customer string `help:"Only orders of the customer with this email address." placeholder:"EMAIL"`
	Open     bool   `help:"Only orders in progress or with a refund due."`
	JSON     bool   `name:"json" help:"Print one JSON array."`
}

// Run prints page by page: all orders oldest first, a customer's newest first.
func (c ordersListCommand) Run(t *cli.Terminal) error {
	return c.WithSession(t, func(d cli.Session) error {
		next := func(last string) ([]order.Order, error) {
			return d.Services.DB.ListOrdersAfter(d.Ctx, last, listPageSize)
		}
		if c.Customer != "" {
			account, err := d.FindCustomer(c.Customer)
			if err != nil {
				return err
			}
			next = func(last string) ([]order.Order, error) {
				return d.Services.DB.ListOrders(d.Ctx, account.ID, last, listPageSize)
			}
		}
		list := newRowPrinter(d.Out, c.JSON, fmt.Sprintf("%-30s  %-21s  %-16s  %10s  %-30s  %s", "ID", "Status", "Created (UTC)", "EUR", "Customer", "Domains"))
		last := ""
		for {
			page, err := next(last)
			if err != nil {
				return err
			}
			for _, o := range page {
				last = o.ID
				if c.Open && o.State.Final() && o.RefundsDue() == 0 {
					continue
				}
				if err := list.add(newOrderRow(o)); err != nil {
					return err
				}
			}
			if len(page) < listPageSize {
				return list.end()
			}
		}
	})
}

type orderRow struct {
	ID         string          `json:"id"`
	Customer   string          `json:"customer"`
	Status     string          `json:"status"`
	Domains    []string        `json:"domains"`
	Gross      registrar.Cents `json:"gross"`
	RefundsDue int             `json:"refunds_due"`
	CreatedAt  *time.Time      `json:"created_at"`
	PaidAt     *time.Time      `json:"paid_at"`

	since time.Time
}

func newOrderRow(o order.Order) orderRow {
	row := orderRow{
		ID: o.ID, Customer: o.Customer, Status: string(o.State), Domains: []string{}, Gross: o.Totals.Gross, RefundsDue: o.RefundsDue(),
		CreatedAt: jsonTime(o.CreatedAt), PaidAt: jsonTime(o.PaidAt), since: o.CreatedAt,
	}
	for _, item := range o.Items {
		row.Domains = append(row.Domains, item.Name)
	}
	return row
}

func (r orderRow) String() string {
	return fmt.Sprintf("%-30s  %-21s  %-16s  %10s  %-30s  %s", r.ID, r.Status, formatTime(r.since), r.Gross, r.Customer, strings.Join(r.Domains, " "))
}

type ordersShowCommand struct {
	cli.ServiceFlags
	ID string `arg:"" help:"The order's id (ord_...)."`
}

// Run prints the order without its payment links, which are credentials of the
// customer.
func (c ordersShowCommand) Run(t *cli.Terminal) error {
	return c.WithSession(t, func(d cli.Session) error {
		o, found, err := d.Services.DB.OrderByID(d.Ctx, c.ID)
		if err != nil {
			return err
		}
		if !found {
			return errors.New("no such order")
		}
		return printOrder(d, o)
	})
}

func printOrder(d cli.Session, o order.Order) error {
	var text strings.Builder
	row := func(label, value string) { fmt.Fprintf(&text, "  %-23s  %s\n", label, cli.Printable(value)) }
	fmt.Fprintf(&text, "%s  %s\n", o.ID, o.State)
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
		fmt.Fprintf(&text, "  %s  %-8s  %-12s  %10s  %s  %s%s\n",
			item.ID, item.Kind, item.State, item.Gross, item.Name, orDash(item.ProvisionItem), failure(item.Failure))
	}
	for _, payment := range o.Payments {
		fmt.Fprintf(&text, "  %s  %-8s  %-12s  %10s  %s  %s  %s\n", payment.ID, "payment", payment.State, payment.Amount,
			formatTime(payment.UpdatedAt), orDash(payment.Session), orDash(payment.Intent))
	}
	for _, refund := range o.Refunds {
		state, at := "due", refund.CreatedAt
		if refund.Provider != "" {
			state, at = "made", refund.MadeAt
		}
		fmt.Fprintf(&text, "  %s  %-8s  %-12s  %10s  %s  %s  %s\n", refund.ID, "refund", state, refund.Amount,
			formatTime(at), orDash(refund.Provider), orDash(refund.Item))
	}
	_, err := fmt.Fprint(d.Out, text.String())
	return err
}

func failure(code registrar.Code) string {
	if code == "" {
		return ""
	}
	return "  (" + string(code) + ")"
}
