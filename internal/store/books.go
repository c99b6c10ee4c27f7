package store

import (
	"context"
	"iter"
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar/billing/books"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

var _ books.Ours = (*DB)(nil)

// booksPage is how many rows are read at a time: all of them are read, and the
// service goes on beside it.
const booksPage = 500

// pages reads page after page, in the order of the ids.
func pages[Row, Booked any](next func(after string, limit int) ([]Row, error), id func(Row) string, booked func(Row) Booked) iter.Seq2[Booked, error] {
	return func(yield func(Booked, error) bool) {
		for last := ""; ; {
			rows, err := next(last, booksPage)
			if err != nil {
				var none Booked
				yield(none, err)
				return
			}
			for _, row := range rows {
				last = id(row)
				if !yield(booked(row), nil) {
					return
				}
			}
			if len(rows) < booksPage {
				return
			}
		}
	}
}

// BookedOrders are all orders, for an audit.
func (db *DB) BookedOrders(ctx context.Context) iter.Seq2[books.Order, error] {
	return pages(func(after string, limit int) ([]order.Order, error) { return db.OrdersAfter(ctx, after, limit) },
		func(o order.Order) string { return o.ID }, bookedOrder)
}

// BookedLines are all lines, for an audit.
func (db *DB) BookedLines(ctx context.Context) iter.Seq2[books.Line, error] {
	return pages(func(after string, limit int) ([]provision.Line, error) { return db.LinesAfter(ctx, after, limit) },
		func(l provision.Line) string { return l.ID }, bookedLine)
}

// BookedDomains are all domains, for an audit.
func (db *DB) BookedDomains(ctx context.Context) iter.Seq2[books.Domain, error] {
	return pages(func(after string, limit int) ([]provision.Domain, error) { return db.DomainsAfter(ctx, after, limit) },
		func(d provision.Domain) string { return d.ID }, bookedDomain)
}

var itemStages = map[order.ItemState]books.Stage{
	order.ItemWaiting: books.Open, order.ItemProvisioning: books.Open, order.ItemActive: books.Done,
	order.ItemFailed: books.Failed, order.ItemRefunded: books.GivenBack,
}

var standings = map[order.PaymentState]books.Standing{
	order.PaymentOpening: books.InFlight, order.PaymentOpen: books.InFlight, order.PaymentClosing: books.InFlight,
	order.PaymentKept: books.Kept, order.PaymentSurplus: books.Surplus, order.PaymentReturned: books.Returned,
	order.PaymentClosed: books.Closed,
}

func bookedOrder(o order.Order) books.Order {
	booked := books.Order{
		ID: o.ID, Customer: o.Customer, State: string(o.State), Paid: !o.PaidAt.IsZero(), Ended: o.State.Final(),
		Net: o.Totals.Net, VAT: o.Totals.VAT, Gross: o.Totals.Gross, RateBasisPoints: o.Totals.RateBasisPoints,
		UpdatedAt: o.UpdatedAt, DueAt: o.DueAt,
	}
	for _, item := range o.Items {
		booked.Items = append(booked.Items, books.Item{
			ID: item.ID, Name: item.Name, Kind: string(item.Kind), Net: item.Net, VAT: item.VAT, Gross: item.Gross,
			Line: item.Line, Stage: itemStages[item.State],
		})
	}
	for _, payment := range o.Payments {
		booked.Payments = append(booked.Payments, books.Payment{
			ID: payment.ID, Standing: standings[payment.State], Amount: payment.Amount, Intent: payment.Intent, UpdatedAt: payment.UpdatedAt,
		})
	}
	for _, refund := range o.Refunds {
		booked.Refunds = append(booked.Refunds, books.Refund{
			ID: refund.ID, Payment: refund.Payment, Item: refund.Item, Amount: refund.Amount, Provider: refund.Provider, CreatedAt: refund.CreatedAt,
		})
	}
	return booked
}

func bookedLine(l provision.Line) books.Line {
	stage := books.Open
	switch l.State {
	case provision.StateActive:
		stage = books.Done
	case provision.StateFailed:
		stage = books.Failed
	default:
	}
	paidBy, byOrder := strings.CutPrefix(l.Payment, order.PaymentOf(""))
	if !byOrder {
		paidBy = ""
	}
	return books.Line{
		ID: l.ID, Customer: l.Customer, Name: l.Name, Kind: string(l.Kind), Order: paidBy, Domain: l.Domain, Stage: stage,
		RefundDue: l.RefundDue, UpdatedAt: l.UpdatedAt, DueAt: l.DueAt,
	}
}

func bookedDomain(d provision.Domain) books.Domain {
	return books.Domain{
		ID: d.ID, Customer: d.Customer, Name: d.Name, Ours: d.Account != "", Pending: d.Status == "pending", UpdatedAt: d.UpdatedAt,
	}
}
