package store

import (
	"context"
	"iter"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/billing/reconcile"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

var _ reconcile.Database = (*DB)(nil)

// reconcilePageSize is the number of rows read at a time; the service keeps running while
// all rows are read.
const reconcilePageSize = 500

// pages reads all pages, ordered by id.
func pages[Row, Booked any](next func(after string, limit int) ([]Row, error), id func(Row) string, booked func(Row) Booked) iter.Seq2[Booked, error] {
	return func(yield func(Booked, error) bool) {
		for last := ""; ; {
			rows, err := next(last, reconcilePageSize)
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
			if len(rows) < reconcilePageSize {
				return
			}
		}
	}
}

// ReconciliationOrders returns all orders.
func (db *DB) ReconciliationOrders(ctx context.Context) iter.Seq2[reconcile.Order, error] {
	return pages(func(after string, limit int) ([]order.Order, error) { return db.ListOrdersAfter(ctx, after, limit) },
		func(o order.Order) string { return o.ID }, reconcileOrderOf)
}

// ReconciliationItems returns all provision items.
func (db *DB) ReconciliationItems(ctx context.Context) iter.Seq2[reconcile.ProvisionItem, error] {
	return pages(func(after string, limit int) ([]provision.Item, error) {
		return db.ListProvisionItemsAfter(ctx, after, limit)
	},
		func(l provision.Item) string { return l.ID }, reconcileItemOf)
}

// ReconciliationDomains returns all domains.
func (db *DB) ReconciliationDomains(ctx context.Context) iter.Seq2[reconcile.Domain, error] {
	return pages(func(after string, limit int) ([]provision.Domain, error) {
		return db.ListDomainsAfter(ctx, after, limit)
	},
		func(d provision.Domain) string { return d.ID }, reconcileDomainOf)
}

var itemStages = map[order.ItemState]reconcile.Stage{
	order.ItemWaiting: reconcile.ItemOpen, order.ItemProvisioning: reconcile.ItemOpen, order.ItemActive: reconcile.ItemDone,
	order.ItemFailed: reconcile.ItemFailed, order.ItemRefunded: reconcile.ItemRefunded,
}

var paymentStatuses = map[order.PaymentState]reconcile.PaymentStatus{
	order.PaymentOpening: reconcile.PaymentInFlight, order.PaymentOpen: reconcile.PaymentInFlight, order.PaymentClosing: reconcile.PaymentInFlight,
	order.PaymentCaptured: reconcile.PaymentCaptured, order.PaymentUnmatched: reconcile.PaymentUnmatched, order.PaymentRefunded: reconcile.PaymentRefunded,
	order.PaymentClosed: reconcile.PaymentClosed,
}

func reconcileOrderOf(o order.Order) reconcile.Order {
	booked := reconcile.Order{
		ID: o.ID, Customer: o.Customer, State: string(o.State), Paid: !o.PaidAt.IsZero(), Ended: o.State.Final(),
		Net: o.Totals.Net, VAT: o.Totals.VAT, Gross: o.Totals.Gross, RateBasisPoints: o.Totals.RateBasisPoints,
		UpdatedAt: o.UpdatedAt, DueAt: o.DueAt,
	}
	for _, item := range o.Items {
		booked.Items = append(booked.Items, reconcile.Item{
			ID: item.ID, Name: item.Name, Kind: string(item.Kind), Net: item.Net, VAT: item.VAT, Gross: item.Gross,
			ProvisionItem: item.ProvisionItem, Stage: itemStages[item.State],
		})
	}
	for _, payment := range o.Payments {
		booked.Payments = append(booked.Payments, reconcile.Payment{
			ID: payment.ID, Status: paymentStatuses[payment.State], Amount: payment.Amount, Intent: payment.Intent, UpdatedAt: payment.UpdatedAt,
		})
	}
	for _, refund := range o.Refunds {
		booked.Refunds = append(booked.Refunds, reconcile.Refund{
			ID: refund.ID, Payment: refund.Payment, Item: refund.Item, Amount: refund.Amount, Provider: refund.Provider, CreatedAt: refund.CreatedAt,
		})
	}
	return booked
}

func reconcileItemOf(l provision.Item) reconcile.ProvisionItem {
	stage := reconcile.ItemOpen
	switch l.State {
	case provision.StateActive:
		stage = reconcile.ItemDone
	case provision.StateFailed:
		stage = reconcile.ItemFailed
	default:
	}
	paidBy, _ := order.OrderOfPayment(l.Payment)
	return reconcile.ProvisionItem{
		ID: l.ID, Customer: l.Customer, Name: l.Name, Kind: string(l.Kind), Order: paidBy, Domain: l.Domain, Stage: stage,
		RefundDue: l.RefundDue, UpdatedAt: l.UpdatedAt, DueAt: l.DueAt,
	}
}

func reconcileDomainOf(d provision.Domain) reconcile.Domain {
	return reconcile.Domain{
		ID: d.ID, Customer: d.Customer, Name: d.Name, ViaItem: d.Account != "", Pending: d.Status == registrar.DomainPending, UpdatedAt: d.UpdatedAt,
	}
}
